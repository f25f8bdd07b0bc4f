"""Forgetting for good: a note, what it was before, and every trace that would tell what it said."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlalchemy import delete, insert, or_, select

from cortex.memory.intake import forgotten_hashes
from cortex.memory.note import Note
from cortex.memory.records import Records
from cortex.memory.rows import note_held
from cortex.memory.tables import EDGE, FORGOTTEN, NOTE, OPERATION, REVISION
from cortex.system import files


def erase(records: Records, notes: Sequence[Note], key: bytes) -> None:
    """Remove the notes with their edges, revisions and operations; what stays are keyed hashes, so
    that no import brings them back.
    """
    connection = records.connection
    for note in notes:
        own = REVISION.c.note == note.number
        held = [note_held(each) for each in connection.execute(select(REVISION.c.held).where(own)).scalars()]
        hashes = {each for told in (note, *held) for each in forgotten_hashes(key, told)}
        known = set(
            connection.execute(select(FORGOTTEN.c.hash).where(FORGOTTEN.c.hash.in_(hashes))).scalars()
        )
        if new := [{"hash": each, "created_at": records.now} for each in sorted(hashes - known)]:
            connection.execute(insert(FORGOTTEN), new)
        ends = or_(EDGE.c.source == note.number, EDGE.c.target == note.number)
        for number in list(connection.execute(select(EDGE.c.number).where(ends)).scalars()):
            records.part(number)
        connection.execute(delete(NOTE).where(NOTE.c.number == note.number))  # and what hangs on it
        records.notes.pop(note.number, None)
        records.log("note", note.number)
    numbers = {note.number for note in notes}
    for operation, did in list(connection.execute(select(OPERATION.c.id, OPERATION.c.did))):
        if any(entry[0] == "note" and entry[1] in numbers for entry in did):
            connection.execute(delete(OPERATION).where(OPERATION.c.id == operation))
    records.did.clear()  # it cannot be taken back


def erase_in_copies(folder: Path, ids: Sequence[str]) -> Iterator[Path]:
    """Write the back-ups in `folder` anew without the notes, one at a time."""
    for name in sorted(each for each in files.names(folder) if each.endswith(".sqlite3")):
        with files.replacing_by_name(folder / name) as temporary:
            source, target = sqlite3.connect(folder / name), sqlite3.connect(temporary)
            try:
                source.backup(target)
                target.execute("PRAGMA journal_mode = DELETE")
                target.execute("PRAGMA foreign_keys = ON")
                target.executemany("DELETE FROM note WHERE id = ?", [(each,) for each in ids])
                target.execute("DELETE FROM operation")
                target.commit()
                target.execute("VACUUM")
            finally:
                source.close()
                target.close()
        for left in ("-wal", "-shm"):
            files.remove(folder / f"{name}{left}")
        yield folder / name
