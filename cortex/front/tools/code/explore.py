"""The tool cortex_explore: one question, the whole picture."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.asking import Asking
from cortex.ask.explore import explore
from cortex.ask.questions import Explore
from cortex.front.tools.arguments import MaxTokens


async def cortex_explore(
    asking: Asking,
    *,
    query: Annotated[
        str, Meta(description='A question, a place ("src/store.py:42") or a symbol ("Store.save").')
    ] = "",
    diff: Annotated[str, Meta(description="A unified diff, in place of query: what `git diff` prints.")] = "",
    max_tokens: MaxTokens = 2_500,
) -> dict[str, Any]:
    """Ask this first: one question, the whole picture. The two to six functions that matter, in the
    order in which they call each other, with their lines, callers, tests and documents.

    For "how does …", "trace …", "where is … and which tests", "what breaks if …". Pass a place or a
    symbol to see what is around it; pass a diff to see what it touches, what may break and which
    tests to run. "⋯ 12-30" stands for lines left out; what is shown need not be read again.

    Example: {"query": "how does a request reach its handler"}

    """
    return await explore(asking, Explore(query, diff, max_tokens))
