"""Erasure of sessions for good: a session with its subagents', or one exchange, and the notes made
from them. In a store's transaction; keyed hashes stay.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, delete, or_, select, update

from cortex.memory.note import Note
from cortex.memory.store.forgotten import exchange_hash, remember, session_hash
from cortex.memory.store.records import Records
from cortex.memory.store.tables import EXCHANGE, JOINED, NOTE, SESSION
from cortex.memory.transcripts.intake import EXCHANGES, GOES_ON, NOWHERE
from cortex.memory.transcripts.proposing.changed_files import CHANNEL as CHANGED
from cortex.memory.transcripts.proposing.handover import KIND as HANDOVER
from cortex.memory.transcripts.proposing.proposals import CHANNEL
from cortex.memory.transcripts.proposing.proposals import SENTENCE_LABEL as LABEL

#: name of an exchange: its session's id, and its number in it
EXCHANGE_NAME = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):([1-9]\d{0,8})")


@dataclass(frozen=True, slots=True)
class TranscriptRows:
    """Rows of complete sessions, and of exchanges of other sessions."""

    sessions: tuple[Row[Any], ...] = ()
    exchanges: tuple[Row[Any], ...] = ()

    @property
    def names(self) -> set[str]:
        """The sessions' names in their programs."""
        return {row.source_id for row in self.sessions}


_EXCHANGES = select(EXCHANGE, SESSION.c.source_id, SESSION.c.kind, SESSION.c.project, SESSION.c.counts).join(
    SESSION, SESSION.c.number == EXCHANGE.c.session
)


def find(records: Records, reference: str | int) -> TranscriptRows:
    """The session with this id and its subagents' sessions, or the exchange with this name."""
    name, connection = str(reference).strip().lower(), records.connection
    if named_exchange := EXCHANGE_NAME.fullmatch(name):
        query = _EXCHANGES.where(
            SESSION.c.id == named_exchange[1], EXCHANGE.c.place == int(named_exchange[2])
        )
        return TranscriptRows(exchanges=tuple(connection.execute(query)))
    row = connection.execute(select(SESSION).where(SESSION.c.id == name)).first()
    if row is None:
        return TranscriptRows()
    head = row.source_id.partition("/")[0]
    family = or_(SESSION.c.source_id == head, SESSION.c.source_id.startswith(f"{head}/", autoescape=True))
    same = select(SESSION).where(SESSION.c.workstation == row.workstation, SESSION.c.kind == row.kind)
    return TranscriptRows(tuple(connection.execute(same.where(SESSION.c.project == row.project, family))))


def transcript_of(records: Records, note: Note) -> TranscriptRows:
    """The exchange from which a rule made the note."""
    if note.source.channel != CHANNEL or LABEL not in note.labels:
        return TranscriptRows()
    query = _EXCHANGES.where(
        SESSION.c.kind == note.source.agent,
        SESSION.c.source_id == note.source.session,
        EXCHANGE.c.at == note.occurred_at,
    )
    return TranscriptRows(exchanges=tuple(records.connection.execute(query)))


def notes_made_of(
    records: Records, transcript: TranscriptRows, *, channels: Sequence[str] = (CHANNEL, CHANGED)
) -> list[Note]:
    """The notes of these channels that were made from the rows. The note of a session's changed
    files quotes the prompt of each exchange that changed some, its hand-over may quote any.
    """
    collected: list[Note] = []
    for row in (*transcript.sessions, *transcript.exchanges):
        home = select(JOINED.c.into).where(JOINED.c.project == row.project)
        projects = {row.project, records.connection.execute(home).scalar() or row.project}
        query = select(NOTE.c.number).where(
            NOTE.c.channel.in_(channels),
            NOTE.c.agent == row.kind,
            NOTE.c.session.in_((row.source_id, row.source_id.partition("/")[0])),
            NOTE.c.project.in_(projects),
        )
        notes = records.get(list(records.connection.execute(query).scalars()))
        collected += [note for note in notes if row in transcript.sessions or _tells(note, row)]
    return collected


def _tells(note: Note, exchange: Row[Any]) -> bool:
    if note.kind == HANDOVER:
        return True
    if note.source.channel == CHANGED:
        return bool(exchange.files.get("modified"))
    same = note.source.session == exchange.source_id
    return same and bool(note.metadata.get("exchange") == exchange.place)


def erase(records: Records, transcript: TranscriptRows, key: bytes) -> int:
    """Delete the rows and return the number of exchanges. Hashes prevent that any file brings them
    back.
    """
    connection, hashes = records.connection, set[str]()
    gone = {row.number: (row.at, row.user_text) for row in transcript.exchanges}
    connection.execute(delete(EXCHANGE).where(EXCHANGE.c.number.in_(gone)))
    for session in transcript.sessions:
        hashes.add(session_hash(key, session.workstation, session.source_id))
        query = select(EXCHANGE.c.number, EXCHANGE.c.at, EXCHANGE.c.user_text)
        rows = connection.execute(query.where(EXCHANGE.c.session == session.number))
        gone |= {number: (at, prompt) for number, at, prompt in rows}
    for number, (at, prompt) in gone.items():
        hashes.add(exchange_hash(key, at, prompt))
        records.log(EXCHANGES, number)
    for row in transcript.exchanges:
        changes = {"exchange_count": SESSION.c.exchange_count - 1}
        if row.counts.get(GOES_ON) == row.place:  # the agent may continue it
            changes["counts"] = row.counts | {GOES_ON: NOWHERE}
        connection.execute(update(SESSION).where(SESSION.c.number == row.session).values(**changes))
    numbers = [row.number for row in transcript.sessions]
    connection.execute(delete(SESSION).where(SESSION.c.number.in_(numbers)))  # cascades to their exchanges
    remember(connection, hashes, records.now)
    return len(gone)


def erase_in_copy(connection: Any, key: bytes, hashes: frozenset[str]) -> None:
    """Remove the contents of these hashes from a copy of the database."""
    for table in ("session", "exchange"):
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            return
    rows = connection.execute("SELECT number, workstation, source_id FROM session").fetchall()
    whole_sessions = [(row[0],) for row in rows if session_hash(key, row[1], row[2]) in hashes]
    connection.executemany("DELETE FROM session WHERE number = ?", whole_sessions)
    exchanges = [
        (number, session)
        for number, session, at, text in connection.execute(
            "SELECT number, session, at, user_text FROM exchange"
        )
        if exchange_hash(key, at, text) in hashes
    ]
    connection.executemany("DELETE FROM exchange WHERE number = ?", [(number,) for number, _ in exchanges])
    less = "UPDATE session SET exchange_count = exchange_count - 1 WHERE number = ?"
    connection.executemany(less, [(session,) for _, session in exchanges])
