"""Notes that upkeep of earlier versions closed by itself: listed once, and reopened in one call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import and_, select

from cortex.memory.answers import title_rows
from cortex.memory.library import Library
from cortex.memory.store.census import visible_to
from cortex.memory.store.records import Records
from cortex.memory.store.tables import EDGE, NOTE
from cortex.memory.times import format_moment
from cortex.memory.upkeep.state import read_mark, write_mark

#: detections with which earlier versions of upkeep closed a note
_CLOSED_BY = ("correction", "opposition")
#: milliseconds within which such an edge was made and its note closed
_TOGETHER_MS = 60_000
#: the mark of upkeep for a list that a person saw
_LISTED = "closed"
#: closed notes in one answer
CLOSED_MAX = 100


def closed(library: Library) -> dict[str, Any]:
    """The notes of this project that upkeep of earlier versions closed and that are still closed:
    {"closed": [{"id", "number", "kind", "title", "at", "by", "why"}], "count"}. From then on no
    briefing mentions them.
    """
    store = library.memory.store
    with store.database.write() as connection:
        rows = connection.execute(_closed_query(library.project)).all()
        write_mark(connection, _LISTED, last_run=library.memory.now())
    by_number = {row.number: row for row in rows}
    notes = store.notes_by_number(list(by_number))
    listed = [
        title_row
        | {
            "at": format_moment(note.valid_until),
            "by": by_number[note.number].by,
            "why": by_number[note.number].reason,
        }
        for title_row, note in zip(title_rows(notes), notes, strict=True)
    ]
    return {"closed": listed[:CLOSED_MAX], "count": len(listed)}


def reopen(library: Library, *, operation_id: str = "") -> dict[str, Any]:
    """Make the notes of `closed` active again, in one operation that `undo` reverts: {"reopened":
    count}.
    """

    def carry_out(records: Records) -> dict[str, Any]:
        numbers = list(records.connection.execute(_closed_query(library.project)).scalars())
        for note in records.get(numbers):
            records.change(note, replace(note, state="active", superseded_by=0, valid_until=0))
        return {"reopened": len(numbers)}

    return library.once(operation_id, "reopen", {"reopen": library.project}, carry_out)


def closed_hint(library: Library) -> str:
    """One sentence about the notes of `closed`, until they were listed; "" for none."""
    with library.memory.store.database.read() as connection:
        if read_mark(connection, _LISTED).last_run:
            return ""
        count = len(connection.execute(_closed_query(library.project)).all())
    if not count:
        return ""
    return (
        f"Upkeep of an earlier version closed {count} {'note' if count == 1 else 'notes'} by itself: a person can list "
        "them with `cortex memory closed`, and reopen all with `cortex memory closed --reopen`."
    )


def _closed_query(project: str) -> Any:
    """The notes that were closed at the moment of an edge of upkeep from the note that closed
    them.
    """
    query = select(NOTE.c.number, NOTE.c.superseded_by.label("by"), EDGE.c.reason).join(
        EDGE, and_(EDGE.c.target == NOTE.c.number, EDGE.c.source == NOTE.c.superseded_by)
    )
    made_together = EDGE.c.created_at.between(
        NOTE.c.valid_until - _TOGETHER_MS, NOTE.c.valid_until + _TOGETHER_MS
    )
    query = query.where(NOTE.c.state == "superseded", EDGE.c.detection.in_(_CLOSED_BY), made_together)
    return query.where(visible_to(project)).order_by(NOTE.c.number)
