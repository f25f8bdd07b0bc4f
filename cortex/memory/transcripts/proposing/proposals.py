"""Proposals of notes in a store's transaction: sentences that rules find in sessions, and the notes
that rules of earlier versions stored. `candidates` has the operations on them.
"""

import hashlib
import hmac
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, and_, exists, func, insert, select, update

from cortex.memory.note import TITLE_CHARS_MAX, Note, Source, Trust, normalise_note
from cortex.memory.store.forgotten import forgotten_hashes, stored_hashes
from cortex.memory.store.records import Records
from cortex.memory.store.tables import CANDIDATE, LABEL, NOTE, REVISION
from cortex.memory.text import cut
from cortex.memory.upkeep.state import read_mark, write_mark

#: milliseconds after which a candidate expires
KEPT_MS = 30 * 86_400_000
#: open candidates of a project; more are not stored
OPEN_MAX = 500
#: label of a person's sentences, and channel of all notes from rules
SENTENCE_LABEL, CHANNEL = "said-in-session", "sessions"
#: the mark of upkeep for the move of earlier notes
_MOVED = "candidates"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A sentence and its origin. `exchange`: the row that contains it; `origin`: metadata of the
    note that it may become.
    """

    kind: str
    text: str
    project: str
    agent: str = ""
    session: str = ""
    exchange: int | None = None
    origin: dict[str, Any] = field(default_factory=dict)
    said_at: int = 0

    @property
    def version_of(self) -> str:
        """The id of the stored note of which this is another version; "" for none."""
        return str(self.origin.get("about") or "")

    def note(self, trust: Trust = "user") -> Note:
        """The note that it becomes when it is taken."""
        text = self.text[:1].upper() + self.text[1:]
        first, _, rest = text.partition("\n")
        text = rest.strip() or first
        return normalise_note(
            Note(
                title=cut(first, TITLE_CHARS_MAX),
                body=text,
                kind=self.kind,
                labels=(SENTENCE_LABEL,),
                project=self.project,
                occurred_at=self.said_at,
                metadata=self.origin,
                prompt_number=int(self.origin.get("exchange") or 0),
                source=Source(self.agent, self.session, CHANNEL, trust),
            )
        )


def propose(records: Records, key: bytes, proposals: Iterable[Proposal]) -> int:
    """Store the new proposals; return their number. One that was proposed, noted, or forgotten for
    good before is skipped.
    """
    connection, count, same = records.connection, 0, select(NOTE.c.number).limit(1)
    expire(connection, records.now)
    for proposal in proposals:
        note, digest = proposal.note(), _hash(key, proposal.project, proposal.text)
        in_project = and_(CANDIDATE.c.project == proposal.project, CANDIDATE.c.state == "open")
        is_known = (
            connection.execute(select(CANDIDATE.c.number).where(CANDIDATE.c.hash == digest)).first()
            or (not proposal.version_of and connection.execute(same.where(NOTE.c.same == note.same)).first())
            or stored_hashes(connection, forgotten_hashes(key, note))
        )
        if is_known or _count(connection, in_project) >= OPEN_MAX:
            continue
        _insert(records, proposal, digest)
        count += 1
    return count


def _insert(records: Records, proposal: Proposal, digest: str, note: int | None = None) -> None:
    """Store a proposal as an open candidate; `note`: the number of its archived note."""
    values = {name: getattr(proposal, name) for name in Proposal.__slots__}
    row = {"hash": digest, "state": "open", "created_at": records.now, "note": note}
    records.connection.execute(insert(CANDIDATE), values | row)


def _hash(key: bytes, project: str, text: str) -> str:
    words = " ".join(text.casefold().split())
    return hmac.new(key, f"candidate {project}\0{words}".encode(), hashlib.sha256).hexdigest()


def _count(connection: Connection, condition: Any) -> int:
    return connection.execute(select(func.count()).select_from(CANDIDATE).where(condition)).scalar_one()


def expire(connection: Connection, now: int) -> int:
    """Remove the text of the candidates that are too old; return their number."""
    too_old = and_(CANDIDATE.c.state == "open", CANDIDATE.c.created_at < now - KEPT_MS)
    return int(connection.execute(update(CANDIDATE).where(too_old).values(state="expired", text="")).rowcount)


# Notes that rules of earlier versions stored


def notes_were_moved(connection: Connection) -> bool:
    return read_mark(connection, _MOVED).last_run > 0


def mark_moved(connection: Connection, now: int) -> None:
    write_mark(connection, _MOVED, last_run=now)


def notes_to_move(connection: Connection) -> list[int]:
    """The numbers of the notes that rules of earlier versions made of sentences and that nobody
    edited or rated.
    """
    labelled = exists().where(LABEL.c.note == NOTE.c.number, LABEL.c.label == SENTENCE_LABEL)
    edited = exists().where(REVISION.c.note == NOTE.c.number)
    query = select(NOTE.c.number).where(
        NOTE.c.channel == CHANNEL, NOTE.c.state == "active", NOTE.c.feedback == 0, labelled, ~edited
    )
    return list(connection.execute(query).scalars())


def move_notes(records: Records, key: bytes) -> int:
    """Archive these notes and propose them; return their number. Done once in the life of a
    store.
    """
    if notes_were_moved(records.connection):  # another machine did it
        return 0
    mark_moved(records.connection, records.now)
    notes = records.get(notes_to_move(records.connection))
    for note in notes:
        source, origin = note.source, dict(note.metadata)
        proposal = Proposal(
            note.kind,
            note.body,
            note.project,
            source.agent,
            source.session,
            origin=origin,
            said_at=note.occurred_at,
        )
        _insert(records, proposal, _hash(key, note.project, note.body), note.number)
        records.change(note, replace(note, state="archived"))
    return len(notes)
