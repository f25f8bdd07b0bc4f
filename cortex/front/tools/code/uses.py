"""The tool cortex_uses: every place that uses a definition."""

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.ask.references.definition_uses import TOKENS, Direction
from cortex.ask.references.uses import UsesQuestion, uses
from cortex.front.form import Form, Offer, Word

FORMS = {
    "cortex_uses": Form(
        has_hits=lambda answer: bool(answer.get("sites")),
        words=(Word("symbol", "symbol", completes="symbol"),),
        offer=Offer(
            "List every place that uses a symbol, one a line, tests last, then every other line with its name: no "
            "search for the name is needed after it. Callees with `direction`.",
            {"symbol": "A name or `path:line`.", "direction": "", "depth": "Steps: 1 or 2."},
        ),
    )
}


async def cortex_uses(
    context: QueryContext,
    *,
    symbol: Annotated[str, Meta(description="Name, or path:line.")],
    direction: Annotated[Direction, Meta(description="types: uses of a type.")] = "callers",
    depth: Annotated[int, Meta(description="Steps, 1 to 3.")] = 1,
    offset: Annotated[int, Meta(description="Places to skip.")] = 0,
    max_tokens: Annotated[int, Meta(description="Most tokens.")] = TOKENS,
) -> dict[str, Any]:
    """List every place that calls or uses a definition, and every other line with its name.

    Example: {"symbol": "Router.dispatch"}
    """
    return await uses(context, UsesQuestion(symbol, direction, depth, offset, max_tokens))
