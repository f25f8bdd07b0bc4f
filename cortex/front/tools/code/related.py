"""The tool find_related: similar code, callers, tests and documents of a piece of code."""

from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.ask.questions import Related
from cortex.ask.references.related import find_related as find
from cortex.front.form import Form, Word
from cortex.front.text.code import RELATED, draw_related
from cortex.front.text.parts import Drawer
from cortex.front.tools.arguments import Shape, Size


def _is_id(word: str) -> bool:
    """Whether a word is a chunk id, which begins with the chunk's kind; an existing file of that
    name wins.
    """
    return word.startswith(("code-", "doc-")) and not Path(word.partition(":")[0]).exists()


FORMS = {
    "find_related": Form(
        has_hits=lambda answer: any(answer[kind] for kind in RELATED),
        text=Drawer(draw_related, frozenset(("target", *RELATED)), needs=("similar",)),
        words=(Word("file", "place", other="chunk_id", is_other=_is_id, completes="path"),),
    )
}


async def find_related(
    context: QueryContext,
    *,
    file: Annotated[str, Meta(description="Path.")] = "",
    line: Annotated[int, Meta(description="0: whole file.")] = 0,
    chunk_id: Annotated[str, Meta(description="Id of a result, instead of file.")] = "",
    limit: Annotated[int, Meta(description="Results per kind.")] = 10,
    detail: Shape = "auto",
    max_tokens: Size = None,
) -> dict[str, Any]:
    """Before you change code, find similar code elsewhere, its callers, the tests to run, the
    documents to update.

    Example: {"file": "src/auth/session.py", "line": 42}
    """
    question = Related(file, line, chunk_id, limit, detail, max_tokens)
    return await find(context, question)
