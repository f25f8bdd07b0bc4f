"""The tool cortex_read."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.query_context import QueryContext


async def cortex_read(
    context: QueryContext,
    *,
    places: Annotated[tuple[str, ...], Meta(description="Symbols, path:line, path:a-b.")],
    query: Annotated[str, Meta(description="What to look for.")] = "",
) -> dict[str, Any]:
    """Read whole definitions.

    Example: {"places": ["Store.save"]}
    """
    return {"code": [], "index": context.freshness.block(context.freshness.current(), [])}
