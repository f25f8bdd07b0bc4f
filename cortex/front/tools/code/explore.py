"""The tool cortex_explore: functions, callers, tests and documents for one question."""

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.exploring.explore import explore
from cortex.ask.query_context import QueryContext
from cortex.ask.questions import Explore
from cortex.front.form import Form, Word
from cortex.front.text.code import draw_picture
from cortex.front.text.parts import Drawer
from cortex.front.tools.arguments import MaxTokens

_SHOWN = frozenset(("path", "functions", "callers", "may_break", "documents", "not_indexed"))
FORMS = {
    "cortex_explore": Form(
        has_hits=lambda answer: bool(answer["functions"]),
        text=Drawer(draw_picture, _SHOWN, needs=("functions",)),
        words=(Word("query", "question", other="diff"),),
        piped="diff",
    )
}


async def cortex_explore(
    context: QueryContext,
    *,
    query: Annotated[str, Meta(description='A question, place ("src/store.py:42") or symbol.')] = "",
    diff: Annotated[str, Meta(description="Instead of query: output of `git diff`.")] = "",
    max_tokens: MaxTokens = 2_500,
) -> dict[str, Any]:
    """Ask this first: the whole picture of "how does …", "trace …", "which tests …", "what breaks
    if …": the functions that matter in call order, with lines, callers, tests and documents; for a
    diff, what it may break. "⋯ 12-30" marks omitted lines.

    Example: {"query": "how does a request reach its handler"}
    """
    return await explore(context, Explore(query, diff, max_tokens))
