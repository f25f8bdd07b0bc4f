"""What upkeep keeps of itself: how far each step has come, and what is set. No notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from cortex.memory.tables import PATTERN, PATTERN_NOTE, UPKEEP
from cortex.settings.table import Memory as Settings

#: the status of a pattern that became part of another one
MERGED = "merged"
#: the steps that have a row of their own
RELATIONS, ASSOCIATIONS, PATTERNS, EDGES, DECAY, FORGETTING, MAINTENANCE, CYCLE = (
    "relations", "associations", "patterns", "edges", "decay", "forgetting", "maintenance", "cycle",
)  # fmt: skip


@dataclass(slots=True)
class Upkeep:
    """`running`: what is being carried out now; there is one at a time."""

    settings: Settings = field(default_factory=Settings)
    running: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a step has come; `state`: numbers of its own; moments in milliseconds."""

    cursor: int = 0
    state: Mapping[str, Any] = field(default_factory=dict)
    last_run: int = 0
    last_duration_ms: float = 0.0


def read_mark(connection: Connection, name: str) -> Mark:
    row = connection.execute(select(UPKEEP).where(UPKEEP.c.name == name)).first()
    return Mark(row.cursor, row.state, row.last_run, row.last_duration_ms) if row else Mark()


def write_mark(connection: Connection, name: str, **values: Any) -> None:
    """Change these fields, in the transaction that did the work."""
    done = connection.execute(update(UPKEEP).where(UPKEEP.c.name == name).values(**values))
    if not done.rowcount:
        connection.execute(insert(UPKEEP).values(**({"name": name, "cursor": 0, "state": {}} | values)))


def forget_patterns(connection: Connection, notes: Sequence[int]) -> None:
    """Remove the patterns that notes belong to, which tell what they said; what is left of them is
    looked at again.
    """
    of = select(PATTERN_NOTE.c.pattern).where(PATTERN_NOTE.c.note.in_(notes))
    if connection.execute(delete(PATTERN).where(PATTERN.c.number.in_(of))).rowcount:
        write_mark(connection, PATTERNS, cursor=0)
