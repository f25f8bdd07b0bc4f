"""The tool cortex_traverse: notes connected to a note."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.front.tools.memory.arguments import DEPTH_MAX
from cortex.front.tools.memory.fence import fence_rows
from cortex.terms.bounds import clamp


async def cortex_traverse(
    context: QueryContext,
    *,
    node_id: Annotated[str, Meta(description="Note id.")],
    depth: Annotated[int, Meta(description="Steps, 1 to 6.")] = 2,
    direction: Annotated[
        Literal["outgoing", "incoming", "both"], Meta(description="Edge direction.")
    ] = "both",
) -> dict[str, Any]:
    """Walk from a note to notes connected with it: causes, and notes that support, contradict or
    replaced it.

    Example: {"node_id": "12", "depth": 1}
    """
    arguments = {"node_id": node_id, "depth": clamp(depth, 1, DEPTH_MAX), "direction": direction}
    answer = await context.remember("traverse", arguments)
    return answer | {"nodes": fence_rows(answer["nodes"])}
