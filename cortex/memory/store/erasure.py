"""Erasure for good: of notes with their revisions, of sessions and exchanges, and of every trace of
them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, delete, or_, select

from cortex.memory.note import Note
from cortex.memory.store.driver import PLAIN, Driver
from cortex.memory.store.forgotten import forgotten_hashes, forgotten_id, remember
from cortex.memory.store.records import Records
from cortex.memory.store.rows import note_of_revision
from cortex.memory.store.tables import EDGE, FORGOTTEN, NOTE, OPERATION, QUERY_LOG, REVISION
from cortex.memory.times import just_now
from cortex.memory.transcripts import erasure
from cortex.memory.transcripts.erasure import TranscriptRows, notes_made_of, transcript_of
from cortex.memory.transcripts.proposing.changed_files import CHANNEL as CHANGED
from cortex.memory.upkeep.state import forget_patterns
from cortex.system import files


@dataclass(frozen=True, slots=True)
class Erased:
    """The removed notes and transcript rows, and the number of removed exchanges."""

    notes: list[Note]
    transcript: TranscriptRows
    exchanges: int = 0


def erase(records: Records, references: Sequence[str | int], key: bytes) -> Erased:
    """Remove notes, sessions and exchanges for good, by id. A note takes with it the exchange from
    which a rule made it, and an exchange takes its notes. Raises NotFound, and then removes none.
    """
    notes: dict[int, Note] = {}
    sessions, exchanges = list[Row[Any]](), list[Row[Any]]()
    for reference in references:
        transcript = erasure.find(records, reference)
        erased_notes = notes_made_of(records, transcript)
        if not (transcript.sessions or transcript.exchanges):
            erased_notes = [records.need(reference)]
            transcript = transcript_of(records, erased_notes[0])
            erased_notes += notes_made_of(records, transcript, channels=(CHANGED,))
        notes |= {note.number: note for note in erased_notes}
        sessions += transcript.sessions
        exchanges += transcript.exchanges
    whole_sessions = {row.number: row for row in sessions}
    loose_exchanges = {row.number: row for row in exchanges if row.session not in whole_sessions}
    transcript = TranscriptRows(tuple(whole_sessions.values()), tuple(loose_exchanges.values()))
    _erase_notes(records, list(notes.values()), key)
    return Erased(list(notes.values()), transcript, erasure.erase(records, transcript, key))


def _erase_notes(records: Records, notes: Sequence[Note], key: bytes) -> None:
    """Remove the notes with their edges, revisions and operations, and keep keyed hashes of them,
    so that no import brings them back.
    """
    connection = records.connection
    forget_patterns(connection, [note.number for note in notes])
    for note in notes:
        of_note = REVISION.c.note == note.number
        past_notes = [
            note_of_revision(snapshot)
            for snapshot in connection.execute(select(REVISION.c.held).where(of_note)).scalars()
        ]
        hashes = {digest for version in (note, *past_notes) for digest in forgotten_hashes(key, version)}
        remember(connection, hashes, records.now)
        ends = or_(EDGE.c.source == note.number, EDGE.c.target == note.number)
        for number in list(connection.execute(select(EDGE.c.number).where(ends)).scalars()):
            records.disconnect(number)
        connection.execute(
            delete(NOTE).where(NOTE.c.number == note.number)
        )  # cascades to the rows that refer to it
        records.notes.pop(note.number, None)
        records.log("note", note.number)
    numbers = {note.number for note in notes}
    for operation, did in list(connection.execute(select(OPERATION.c.id, OPERATION.c.did))):
        if any(entry[0] == "note" and entry[1] in numbers for entry in did):
            connection.execute(delete(OPERATION).where(OPERATION.c.id == operation))
    connection.execute(delete(QUERY_LOG))  # a query may repeat an erased text
    records.did.clear()  # an erasure cannot be undone


def all_forgotten(connection: Connection) -> frozenset[str]:
    """The hashes of everything that was forgotten for good."""
    return frozenset(connection.execute(select(FORGOTTEN.c.hash)).scalars())


def erase_in_copies(
    folder: Path, key: bytes, hashes: frozenset[str], driver: Driver = PLAIN
) -> Iterator[Path]:
    """Rewrite the back-ups in `folder` without the contents of these hashes, one for each step;
    yield the paths.
    """
    listed = files.names(folder) if folder.is_dir() else []
    for name in sorted(file_name for file_name in listed if file_name.endswith(".sqlite3")):
        with files.replacing_by_name(folder / name) as temporary:
            with driver.connected(folder / name) as source, driver.connected(temporary) as target:
                source.backup(target)
                target.execute("PRAGMA journal_mode = DELETE")
            forget_again(temporary, key, hashes, driver)
        for ending in ("-wal", "-shm"):
            files.remove(folder / f"{name}{ending}")
        yield folder / name


def forgotten_in(database: Path, driver: Driver = PLAIN) -> tuple[frozenset[str], bool]:
    """Return (the hashes of all that was forgotten for good, whether they could be read completely)
    from a closed database, damaged or not. It is opened read-only.
    """
    hashes: set[str] = set()
    try:
        with driver.connected(database, reads=True) as connection:
            for (digest,) in connection.execute("SELECT hash FROM forgotten"):
                hashes.add(digest)
            report = connection.execute("PRAGMA quick_check(forgotten)").fetchone()[0]
    except driver.module.Error:
        return frozenset(hashes), False
    return frozenset(hashes), report == "ok"


def forget_again(database: Path, key: bytes, hashes: frozenset[str], driver: Driver = PLAIN) -> int:
    """Remove from a closed database the contents of these hashes, and store the hashes; return the
    number of removed notes.
    """
    with driver.connected(database) as connection:
        try:
            stored = {digest for (digest,) in connection.execute("SELECT hash FROM forgotten")}
        except driver.module.OperationalError:  # a version from before erasure
            new, has_table = hashes, False
        else:
            new, has_table = hashes - stored, True
        if not new:
            return 0
        if has_table:
            rows = [(digest, just_now()) for digest in sorted(new)]
            connection.executemany("INSERT INTO forgotten (hash, created_at) VALUES (?, ?)", rows)
        ids = [
            note_id
            for (note_id,) in connection.execute("SELECT id FROM note")
            if forgotten_id(key, note_id) in new
        ]
        connection.commit()  # a transaction ignores a change of foreign_keys
        connection.execute("PRAGMA foreign_keys = ON")
        erasure.erase_in_copy(connection, key, new)
        _remove(connection, ids)
    return len(ids)


def _remove(connection: Any, ids: Sequence[str]) -> None:
    connection.executemany("DELETE FROM note WHERE id = ?", [(note_id,) for note_id in ids])
    for table in ("operation", "query_log", "pattern", "upkeep"):  # newer than some copies
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - one of these names
    connection.commit()
    connection.execute("VACUUM")
