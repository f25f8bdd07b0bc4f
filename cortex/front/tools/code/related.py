"""The tool find_related: what belongs to a piece of code that is at hand."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.ask.questions import Related
from cortex.ask.related import find_related as find
from cortex.front.tools.arguments import Shape, Size


async def find_related(
    context: QueryContext,
    *,
    file: Annotated[
        str,
        Meta(description="Path."),
    ] = "",
    line: Annotated[int, Meta(description="0: whole file.")] = 0,
    chunk_id: Annotated[str, Meta(description="Id of a result, for file.")] = "",
    limit: Annotated[int, Meta(description="Per kind.")] = 10,
    detail: Shape = "auto",
    max_tokens: Size = None,
) -> dict[str, Any]:
    """Find what belongs to code at hand, before you change it: similar code elsewhere, callers, the
    tests to run, the documents to keep true.

    Example: {"file": "src/auth/session.py", "line": 42}
    """
    question = Related(file, line, chunk_id, limit, detail, max_tokens)
    return await find(context, question)
