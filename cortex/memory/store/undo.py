"""Undoing an operation, by its record of changes, in a store's transaction."""

from dataclasses import replace
from typing import Any

from sqlalchemy import func, select, update

from cortex.memory.note import Edge
from cortex.memory.store.records import UPKEEP, Records
from cortex.memory.store.rows import note_of_revision
from cortex.memory.store.tables import OPERATION, REVISION
from cortex.memory.team import project_joins
from cortex.memory.transcripts import session_records
from cortex.system.errors import BadRequest, NotFound


def undo(records: Records, undone: str) -> dict[str, Any]:
    """See `Store.undo`; "" for the latest operation. Raises NotFound and BadRequest."""
    query = select(OPERATION).where(OPERATION.c.what.not_in(("undo", "undone", "git")))
    query = query.where(OPERATION.c.id == undone if undone else OPERATION.c.what != UPKEEP)
    query = query.order_by(OPERATION.c.created_at.desc(), OPERATION.c.id.desc()).limit(1)
    row = records.connection.execute(query).first()
    if row is None:
        raise NotFound(
            f"There is no operation {undone[:80]!r} to undo; operations are kept for 7 days."
            if undone
            else "There is no operation to undo; operations are kept for 7 days."
        )
    for entry in reversed(row.did):
        _take_back(records, *entry)
    records.connection.execute(update(OPERATION).where(OPERATION.c.id == row.id).values(what="undone"))
    notes = list(dict.fromkeys(entry[1] for entry in row.did if entry[0] == "note"))
    return {"undone": row.id, "what": row.what, "notes": notes}


def _take_back(records: Records, what: str, which: Any, revision: Any = 0) -> None:
    if what == "edge":
        records.disconnect(which)
    elif what == "parted":
        records.connect(Edge(**which))
    elif what in ("joined", "moved"):
        project_joins.take_back(records, what, which, str(revision))
    elif what in ("session", "exchange"):
        session_records.take_back(records, what, which)
    elif notes := records.get([which]):
        newest = records.connection.execute(
            select(func.max(REVISION.c.number)).where(REVISION.c.note == which)
        ).scalar()
        if not revision:
            records.change(notes[0], replace(notes[0], state="deleted"))
        elif newest != revision:
            raise BadRequest(f"Note {notes[0].id} was changed again since: undo that first.")
        else:
            fields = records.connection.execute(
                select(REVISION.c.held).where(REVISION.c.number == revision)
            ).scalar_one()
            counted = {name: getattr(notes[0], name) for name in ("used_at", "use_count", "shown_count")}
            records.change(notes[0], replace(note_of_revision(fields), **counted))
