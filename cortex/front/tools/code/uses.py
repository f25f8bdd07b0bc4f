"""The tool cortex_uses."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from cortex.ask.query_context import QueryContext


async def cortex_uses(
    context: QueryContext,
    *,
    symbol: Annotated[str, Meta(description="A symbol.")],
    direction: Annotated[Literal["callers", "callees"], Meta(description="Direction.")] = "callers",
    depth: Annotated[int, Meta(description="Steps.")] = 1,
    offset: Annotated[int, Meta(description="Places to skip.")] = 0,
) -> dict[str, Any]:
    """List the uses of a symbol.

    Example: {"symbol": "Store.save"}
    """
    return {"sites": {}, "index": context.freshness.block(context.freshness.current(), [])}
