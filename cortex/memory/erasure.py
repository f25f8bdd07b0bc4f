"""Forgetting for good: a note, what it was before, and every trace that would tell what it said."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlalchemy import delete, insert, or_, select

from cortex.memory.forgotten import forgotten_hashes, forgotten_id
from cortex.memory.note import Note
from cortex.memory.records import Records
from cortex.memory.rows import note_held
from cortex.memory.tables import EDGE, FORGOTTEN, NOTE, OPERATION, QUERY_LOG, REVISION
from cortex.memory.times import just_now
from cortex.memory.upkeep.state import forget_patterns
from cortex.system import files


def erase(records: Records, notes: Sequence[Note], key: bytes) -> None:
    """Remove the notes with their edges, revisions and operations; what stays are keyed hashes, so
    that no import brings them back.
    """
    connection = records.connection
    forget_patterns(connection, [note.number for note in notes])
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
    connection.execute(delete(QUERY_LOG))  # what was asked tells what was said
    records.did.clear()  # it cannot be taken back


def erase_in_copies(folder: Path, ids: Sequence[str]) -> Iterator[Path]:
    """Write the back-ups in `folder` anew without the notes, one at a time."""
    for name in sorted(each for each in files.names(folder) if each.endswith(".sqlite3")):
        with files.replacing_by_name(folder / name) as temporary:
            source, target = sqlite3.connect(folder / name), sqlite3.connect(temporary)
            try:
                source.backup(target)
                target.execute("PRAGMA journal_mode = DELETE")
                _remove(target, ids)
            finally:
                source.close()
                target.close()
        for left in ("-wal", "-shm"):
            files.remove(folder / f"{name}{left}")
        yield folder / name


def forgotten_in(database: Path) -> tuple[frozenset[str], bool]:
    """(the hashes of what was forgotten for good, whether these are all) of a database that nobody
    has open, damaged or not; it stays as it is.
    """
    hashes: set[str] = set()
    try:
        with contextlib.closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
            for (each,) in connection.execute("SELECT hash FROM forgotten"):
                hashes.add(each)
            told = connection.execute("PRAGMA quick_check(forgotten)").fetchone()[0]
    except sqlite3.Error:
        return frozenset(hashes), False
    return frozenset(hashes), told == "ok"


def forget_again(database: Path, key: bytes, hashes: frozenset[str]) -> int:
    """Remove from a database that nobody has open what was forgotten for good elsewhere since it
    was written, and remember that; returns how many notes that were.
    """
    with contextlib.closing(sqlite3.connect(database)) as connection:
        try:
            known = {each for (each,) in connection.execute("SELECT hash FROM forgotten")}
        except sqlite3.OperationalError:  # of a version in which nothing could be forgotten
            new, kept = hashes, False
        else:
            new, kept = hashes - known, True
        if not new:
            return 0
        if kept:
            rows = [(each, just_now()) for each in sorted(new)]
            connection.executemany("INSERT INTO forgotten (hash, created_at) VALUES (?, ?)", rows)
        ids = [
            each for (each,) in connection.execute("SELECT id FROM note") if forgotten_id(key, each) in new
        ]
        _remove(connection, ids)
    return len(ids)


def _remove(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    connection.commit()  # in a transaction foreign keys are not switched on
    connection.execute("PRAGMA foreign_keys = ON")
    connection.executemany("DELETE FROM note WHERE id = ?", [(each,) for each in ids])
    for table in ("operation", "query_log", "pattern", "upkeep"):  # the last three are newer than some copies
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - one of these names
    connection.commit()
    connection.execute("VACUUM")
