"""The tool cortex_search: finds code and documents by meaning and words together."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from cortex.ask.asking import Asking
from cortex.ask.questions import Search
from cortex.ask.search import search
from cortex.front.tools.arguments import (
    LIMIT,
    ChunkTypes,
    ExcludePaths,
    Limit,
    Paths,
    Shape,
    Size,
    Tags,
    make_filters,
)


async def cortex_search(
    asking: Asking,
    *,
    query: Annotated[str, Meta(description="A question, names, or a pasted text.")],
    limit: Limit = LIMIT,
    chunk_types: ChunkTypes = (),
    tags: Tags = (),
    paths: Paths = (),
    exclude_paths: ExcludePaths = (),
    mode: Annotated[
        Literal["hybrid", "semantic"],
        Meta(description="With words, or meaning alone."),
    ] = "hybrid",
    min_score: Annotated[
        float | None,
        Meta(description="0 to 1."),
    ] = None,
    detail: Shape = "auto",
    max_tokens: Size = None,
    explain: Annotated[bool, Meta(description="Show signals.")] = False,
) -> dict[str, Any]:
    """Search for relevant context in the project codebase and documentation, by meaning and words.
    For "how", "why", "where is … handled", and when unsure which tool fits. A stack trace, error
    message or issue text can be passed as it is. What it shows need not be read again.

    Example: {"query": "how does authentication work"}
    """
    return await search(
        asking,
        Search(
            query=query,
            limit=limit,
            counted=limit != LIMIT,
            filters=make_filters(chunk_types, tags, paths, exclude_paths),
            mode=mode,
            min_score=min_score,
            detail=detail,
            max_tokens=max_tokens,
            explain=explain,
        ),
    )
