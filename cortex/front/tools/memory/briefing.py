"""The tool cortex_briefing: a summary of the notes for the start of a session."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from cortex.ask.query_context import QueryContext
from cortex.front.tools.memory.fence import fenced


async def cortex_briefing(
    context: QueryContext,
    *,
    agent_id: Annotated[str, Meta(description="Agent id.")] = "default",
    compact: Annotated[bool, Meta(description="Shorten to a quarter.")] = False,
) -> dict[str, Any]:
    """Summarise this project's notes, at the start of a session: preferences, goals, open
    questions, decisions, patterns and recent events.

    Example: {}
    """
    answer = await context.remember("briefing", {"agent_id": agent_id, "compact": compact})
    return answer | {"briefing": fenced(answer["briefing"])}
