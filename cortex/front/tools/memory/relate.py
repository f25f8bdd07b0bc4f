"""The tool cortex_relate: an edge between two notes."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.front.tools.memory.arguments import OperationId


async def cortex_relate(
    context: QueryContext,
    *,
    from_id: Annotated[str, Meta(description="Note id.")],
    to_id: Annotated[str, Meta(description="Other note id.")],
    relation: Annotated[
        str,
        Meta(
            description="relates-to, supports, contradicts, caused-by, depends-on, similar-to, supersedes, or your own."
        ),
    ] = "relates-to",
    operation_id: OperationId = "",
) -> dict[str, Any]:
    """Connect two notes by a relation; recalling one then ranks the other higher.

    Example: {"from_id": "12", "to_id": "7", "relation": "caused-by"}
    """
    arguments = {"from_id": from_id, "to_id": to_id, "relation": relation}
    return await context.remember("relate", arguments, operation_id=operation_id, writes=True)
