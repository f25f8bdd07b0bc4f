"""Notes that another note contradicts: both stay, and their rows name each other."""

from typing import Any

from cortex.memory.find.recall import Memory

#: other notes named in one row
DISPUTES_MAX = 3


def disputed_by(memory: Memory, number: int) -> list[int]:
    """The numbers of active notes in contradiction with this one, the surest first."""
    others = (
        edge.target if edge.source == number else edge.source
        for edge in memory.links.of(number)
        if edge.relation == "contradicts"
    )
    return [other for other in dict.fromkeys(others) if memory.catalog.is_active(other)][:DISPUTES_MAX]


def mark_disputed(memory: Memory, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of notes, with "disputed_by": [numbers] where another active note disagrees."""
    return [
        row | ({"disputed_by": others} if (others := disputed_by(memory, row["number"])) else {})
        for row in rows
    ]
