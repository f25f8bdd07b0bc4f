"""The tool cortex_explore: one question, the whole picture."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.explore import explore
from cortex.ask.query_context import QueryContext
from cortex.ask.questions import Explore
from cortex.front.tools.arguments import MaxTokens


async def cortex_explore(
    context: QueryContext,
    *,
    query: Annotated[str, Meta(description='Or a place ("src/store.py:42"), or a symbol.')] = "",
    diff: Annotated[str, Meta(description="In place of query: what `git diff` prints.")] = "",
    max_tokens: MaxTokens = 2_500,
) -> dict[str, Any]:
    """Ask this first: the whole picture of "how does …", "trace …", "which tests …", "what breaks
    if …": the functions that matter in the order of their calls, with lines, callers, tests and
    documents; of a diff what it may break. "⋯ 12-30" are lines left out; reread none of the rest.

    Example: {"query": "how does a request reach its handler"}
    """
    return await explore(context, Explore(query, diff, max_tokens))
