"""The state of upkeep: the cursor of each job, and the settings. No notes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from cortex.memory.store.tables import PATTERN, PATTERN_NOTE, UPKEEP
from cortex.settings.table import Memory as Settings

#: status of a pattern that was merged into another one
MERGED = "merged"
#: names of the jobs with a row
RELATIONS, PATTERNS, EDGES, DECAY, FORGETTING, MAINTENANCE, CYCLE = (
    "relations", "patterns", "edges", "decay", "forgetting", "maintenance", "cycle",
)  # fmt: skip


@dataclass(slots=True)
class Upkeep:
    """`running`: the name of the current run, "" for none."""

    settings: Settings = field(default_factory=Settings)
    running: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """The cursor of a job; `state`: further numbers; moments in milliseconds."""

    cursor: int = 0
    state: Mapping[str, Any] = field(default_factory=dict)
    last_run: int = 0
    last_duration_ms: float = 0.0


def read_mark(connection: Connection, name: str) -> Mark:
    row = connection.execute(select(UPKEEP).where(UPKEEP.c.name == name)).first()
    return Mark(row.cursor, row.state, row.last_run, row.last_duration_ms) if row else Mark()


def write_mark(connection: Connection, name: str, **values: Any) -> None:
    """Change these columns, in the transaction with the work."""
    done = connection.execute(update(UPKEEP).where(UPKEEP.c.name == name).values(**values))
    if not done.rowcount:
        connection.execute(insert(UPKEEP).values(**({"name": name, "cursor": 0, "state": {}} | values)))


def forget_patterns(connection: Connection, notes: Sequence[int]) -> None:
    """Delete the patterns that quote these notes; their other notes are examined again."""
    of = select(PATTERN_NOTE.c.pattern).where(PATTERN_NOTE.c.note.in_(notes))
    if connection.execute(delete(PATTERN).where(PATTERN.c.number.in_(of))).rowcount:
        write_mark(connection, PATTERNS, cursor=0)
