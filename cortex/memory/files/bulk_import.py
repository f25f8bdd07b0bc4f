"""Import of many notes and edges into the store in one transaction. Secrets are removed before."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import uuid6
from sqlalchemy import Connection, Table, insert, select, update

from cortex.memory.files.exchange import (
    Arriving,
    ArrivingEdge,
    ArrivingRecord,
    Name,
    Record,
    edge_record,
    note_record,
)
from cortex.memory.files.markdown_files import EDITED, digest_of
from cortex.memory.note import Note
from cortex.memory.store.database import advance_sequence, last_number
from cortex.memory.store.forgotten import MANY, forgotten_hashes, has_forgotten
from cortex.memory.store.forgotten import stored_hashes as known_hashes
from cortex.memory.store.records import Records
from cortex.memory.store.rows import edge_of, files_of, labels_of, note_of_revision, values_of
from cortex.memory.store.tables import EDGE, LABEL, NOTE, NOTE_FILE, REVISION
from cortex.memory.transcripts import session_records
from cortex.memory.transcripts.proposing.proposals import Proposal, propose
from cortex.memory.transcripts.session_records import ArrivingExchange, ArrivingSession

#: largest gap that imported note numbers may leave: a store's arrays are as long as its highest
#: number
GAP_MAX = 10_000
#: stands for the number of a note in the same batch
_IN_BATCH = -1


@dataclass(slots=True)
class Counts:
    """Numbers of imported records: notes, edges, sessions and exchanges that are new; records that
    were `known` already, that were `merged` into a stored note, or are `forgotten` for good; and
    those that were `proposed` as candidates, for a stranger's file changes no stored note.
    """

    notes: int = 0
    edges: int = 0
    sessions: int = 0
    exchanges: int = 0
    known: int = 0
    merged: int = 0
    forgotten: int = 0
    proposed: int = 0

    def add(self, other: "Counts") -> None:
        for counter in fields(Counts):
            setattr(self, counter.name, getattr(self, counter.name) + getattr(other, counter.name))


@dataclass(slots=True)
class Intake(Counts):
    """The counts of a batch. `refused`: (line, reason)."""

    refused: list[tuple[int, str]] = field(default_factory=list)


def take_in(records: Records, arriving: Sequence[ArrivingRecord], project: str, key: bytes) -> Intake:
    """Store the records that are not stored yet. A note with the id of a stored note replaces it
    only if it is newer; a note without id is merged into a stored note with the same text in the
    same project.
    """
    done = Intake()
    notes = [arrival for arrival in arriving if isinstance(arrival, Arriving)]
    notes = _drop_forgotten(records.connection, notes, key, done)
    names = [arrival.note.id or arrival.note.same for arrival in notes]
    stored = _stored_numbers(records.connection, notes, names)
    new = []
    for arrival, name in zip(notes, names, strict=True):
        number = stored.get(name)
        if number is None:
            new.append(arrival)
            stored[name] = _IN_BATCH
        elif number == _IN_BATCH:  # twice in this batch: the first counts
            done.known += 1
        else:
            _bring_up_to_date(records, records.get([number])[0], arrival, key, done)
    _insert(records, new)
    done.notes = len(new)
    for edge in arriving:
        if isinstance(edge, ArrivingEdge):
            _take_edge(records, edge, project, done)
    transcript_records = [
        arrival for arrival in arriving if isinstance(arrival, ArrivingSession | ArrivingExchange)
    ]
    _count_outcomes(session_records.take_in(records, transcript_records, key), transcript_records, done)
    return done


def _count_outcomes(
    outcomes: Sequence[session_records.Outcome],
    transcript_records: Sequence[ArrivingSession | ArrivingExchange],
    done: Intake,
) -> None:
    for outcome, arrival in zip(outcomes, transcript_records, strict=True):
        if outcome == "refused":
            done.refused.append(
                (arrival.line, "its session is not stored, or was read on this machine: use --trusted")
            )
        elif outcome == "new":
            done.sessions += isinstance(arrival, ArrivingSession)
            done.exchanges += isinstance(arrival, ArrivingExchange)
        else:
            setattr(done, outcome, getattr(done, outcome) + 1)


def _drop_forgotten(
    connection: Connection, notes: list[Arriving], key: bytes, done: Intake
) -> list[Arriving]:
    if not has_forgotten(connection):
        return notes
    hashes = {id(arrival): forgotten_hashes(key, arrival.note) for arrival in notes}
    forgotten = known_hashes(
        connection, [digest for note_hashes in hashes.values() for digest in note_hashes]
    )
    remaining = [arrival for arrival in notes if forgotten.isdisjoint(hashes[id(arrival)])]
    done.forgotten += len(notes) - len(remaining)
    return remaining


def _stored_numbers(
    connection: Connection, notes: Sequence[Arriving], names: Sequence[str]
) -> dict[str, int]:
    """{name: number} of the names that are stored. A name is a note's id, or, for a note without
    id, its `same` digest.
    """
    numbers: dict[str, int] = {}
    ids = [arrival.note.id for arrival in notes if arrival.note.id]
    same = [name for arrival, name in zip(notes, names, strict=True) if not arrival.note.id]
    for column, wanted in ((NOTE.c.id, ids), (NOTE.c.same, same)):
        for at in range(0, len(wanted), MANY):
            query = select(column, NOTE.c.number).where(column.in_(wanted[at : at + MANY]))
            query = query if column is NOTE.c.id else query.where(NOTE.c.state == "active")
            numbers |= {row[0]: row[1] for row in connection.execute(query)}
    return numbers


def _bring_up_to_date(records: Records, stored: Note, arrival: Arriving, key: bytes, done: Intake) -> None:
    incoming = arrival.note
    if not arrival.trusted and stored.source.trust != "import":
        proposals = [proposal] if (proposal := _proposal(stored, incoming)) else []
        is_new = propose(records, key, proposals) > 0
        done.proposed += is_new
        done.known += not is_new
        return
    before = len(records.did)
    if not incoming.id:
        records.change(stored, merge_notes(stored, incoming))
    elif arrival.edited:
        _take_edit(records, stored, incoming)
    elif incoming.updated_at > stored.updated_at:
        unchanged = {name: getattr(stored, name) for name in ("number", "superseded_by", "created_at")}
        records.change(stored, replace(incoming, **unchanged))
    done.merged += len(records.did) > before
    done.known += len(records.did) == before


def _take_edit(records: Records, stored: Note, incoming: Note) -> None:
    """Store a version that a person edited in a file, unless it was stored before: then the store
    has the newer one.
    """
    wanted = digest_of(incoming)
    query = select(REVISION.c.held).where(REVISION.c.note == stored.number)
    former = map(note_of_revision, records.connection.execute(query).scalars())
    if wanted not in {digest_of(stored), *map(digest_of, former)}:
        names = ("title", "body", "modified", "read", *EDITED.values())
        records.change(stored, replace(stored, **{name: getattr(incoming, name) for name in names}))


def _proposal(stored: Note, incoming: Note) -> Proposal | None:
    """The candidate for a stranger's version of a stored note; None if it says nothing new."""
    body = "\n".join((incoming.body, *(fact for fact in incoming.facts if fact not in stored.facts))).strip()
    if stored.state == "deleted" or (
        incoming.title == stored.title and body in ("", stored.body.strip(), stored.title)
    ):
        return None
    origin = {"import": True, "about": stored.id}
    return Proposal(
        incoming.kind, f"{incoming.title}\n{body}".strip(), stored.project, "import", origin=origin
    )


def merge_notes(stored: Note, incoming: Note) -> Note:
    """Return the stored note with the facts, labels and files of both, and the newer body."""
    return replace(
        stored,
        body=incoming.body or stored.body,
        facts=tuple(dict.fromkeys((*stored.facts, *incoming.facts))),
        labels=tuple(dict.fromkeys((*stored.labels, *incoming.labels))),
        files=tuple(dict.fromkeys((*stored.files, *incoming.files))),
        modified=tuple(dict.fromkeys((*stored.modified, *incoming.modified))),
        read=tuple(
            path for path in dict.fromkeys((*stored.read, *incoming.read)) if path not in incoming.modified
        ),
        mtimes={**stored.mtimes, **incoming.mtimes},
        spoken={**stored.spoken, **incoming.spoken},
        git_commit=incoming.git_commit or stored.git_commit,
        metadata={**stored.metadata, **incoming.metadata},
        importance=max(stored.importance, incoming.importance),
        occurred_at=stored.occurred_at or incoming.occurred_at,
        topic=incoming.topic or stored.topic,
    )


def _insert(records: Records, new: Sequence[Arriving]) -> None:
    """Insert notes with a few statements for the whole batch. A note keeps its number if that is
    free and at most GAP_MAX above the last.
    """
    last = last_number(records.connection, "note")
    rows: dict[Table, list[dict[str, Any]]] = {table: [] for table in (NOTE, LABEL, NOTE_FILE, REVISION)}
    for arrival in new:
        number = arrival.note.number if last < arrival.note.number <= last + GAP_MAX else last + 1
        last = number
        now = arrival.note.created_at or records.now
        heir = arrival.note.superseded_by if number == arrival.note.number else 0
        note = replace(
            arrival.note,
            id=arrival.note.id or str(uuid6.uuid7()),
            number=number,
            created_at=now,
            updated_at=arrival.note.updated_at or now,
            superseded_by=heir,
        )
        rows[NOTE].append(values_of(note) | {"number": number})
        records.log_note(note)
        rows[LABEL] += labels_of(note)
        rows[NOTE_FILE] += files_of(note)
        for until, revision in arrival.revisions:
            snapshot = asdict(replace(revision, id=note.id, number=number))
            rows[REVISION].append({"note": number, "held": snapshot, "until": until})
        records.did.append(["note", number, 0])
    for table, batch in rows.items():
        if batch:
            records.connection.execute(insert(table), batch)
    advance_sequence(records.connection, NOTE.name)


def _take_edge(records: Records, arrival: ArrivingEdge, project: str, done: Intake) -> None:
    source, target = (_number(records, name, project) for name in (arrival.source, arrival.target))
    if not source or not target or source == target:
        done.refused.append(
            (
                arrival.line,
                "its edge joins a note with itself" if source else "a note of its edge is not stored",
            )
        )
        return
    if not arrival.trusted and not _is_strangers(records, source, target):
        done.refused.append(
            (arrival.line, "an untrusted file may only connect notes of imports: use --trusted")
        )
        return
    stored = records.connection.execute(select(EDGE.c.number).where(EDGE.c.id == arrival.edge.id)).scalar()
    existed = stored is not None or records.connect(replace(arrival.edge, source=source, target=target))[1]
    done.known += existed
    done.edges += not existed
    if arrival.edge.relation == "supersedes" and arrival.trusted:
        for note in records.get([target]):
            if note.state == "superseded" and note.superseded_by != source:
                ended = NOTE.c.number == target
                records.connection.execute(update(NOTE).where(ended).values(superseded_by=source))
                records.log_note(replace(note, superseded_by=source))


def _is_strangers(records: Records, source: int, target: int) -> bool:
    query = select(NOTE.c.trust).where(NOTE.c.number.in_((source, target)))
    return set(records.connection.execute(query).scalars()) == {"import"}


def _number(records: Records, name: Name, project: str) -> int:
    if isinstance(name, str):
        return records.find(name)
    same = Note(title=name["title"], kind=name["kind"], project=project).same
    query = select(NOTE.c.number).where(NOTE.c.same == same, NOTE.c.state == "active").limit(1)
    return records.connection.execute(query).scalar() or 0


def take_out(
    connection: Connection, after: tuple[int, int], limit: int, project: str
) -> tuple[list[Record], tuple[int, int] | None]:
    """Return (records, the `after` of the next page or None at the end): notes with numbers above
    after[0], then edges above after[1], of one project or, for "", of all.
    """
    records = Records(connection, 0)
    in_project = NOTE.c.project == project if project else NOTE.c.number > 0
    numbers = list(
        connection.execute(
            select(NOTE.c.number)
            .where(in_project, NOTE.c.number > after[0])
            .order_by(NOTE.c.number)
            .limit(limit)
        ).scalars()
    )
    if numbers:
        revisions: dict[int, list[tuple[int, dict[str, Any]]]] = {}
        for row in connection.execute(
            select(REVISION).where(REVISION.c.note.in_(numbers)).order_by(REVISION.c.number)
        ):
            revisions.setdefault(row.note, []).append((row.until, row.held))
        notes = records.get(numbers)
        return [note_record(note, revisions.get(note.number, ())) for note in notes], (numbers[-1], 0)
    query = select(EDGE).where(EDGE.c.number > after[1]).order_by(EDGE.c.number).limit(limit)
    edges = [edge_of(row) for row in connection.execute(query)]
    ends = sorted({end for edge in edges for end in (edge.source, edge.target)})
    ends_query = select(NOTE.c.number, NOTE.c.id).where(in_project, NOTE.c.number.in_(ends))
    ids = {row.number: row.id for row in connection.execute(ends_query)}
    edge_records = [edge_record(edge, ids) for edge in edges if {edge.source, edge.target} <= ids.keys()]
    return edge_records, (after[0], edges[-1].number) if edges else None
