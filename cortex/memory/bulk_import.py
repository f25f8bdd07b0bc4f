"""Many notes and edges into the store in one transaction: of an import. Secrets are out already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import uuid6
from sqlalchemy import Connection, Table, and_, insert, select, update

from cortex.memory.database import count_on, last_number
from cortex.memory.exchange import Arriving, ArrivingEdge, Line, Name, Record, edge_record, note_record
from cortex.memory.forgotten import MANY, any_of, forgotten_hashes
from cortex.memory.forgotten import known as known_hashes
from cortex.memory.note import Note
from cortex.memory.records import Records
from cortex.memory.rows import edge_of, files_of, held_of, labels_of, values_of
from cortex.memory.tables import EDGE, LABEL, NOTE, NOTE_FILE, REVISION
from cortex.memory.transcripts import session_records
from cortex.memory.transcripts.session_records import ArrivingExchange, ArrivingSession

#: numbers that a file may leave out: a store's arrays are as long as its highest number
GAP_MAX = 10_000
#: the number of a note that stands in the same batch
_HERE = -1


@dataclass(slots=True)
class Counts:
    """What became of records: how many notes, edges, sessions and exchanges of them are new, how
    many were known already, were joined with what is there, or are forgotten for good.
    """

    notes: int = 0
    edges: int = 0
    sessions: int = 0
    exchanges: int = 0
    known: int = 0
    merged: int = 0
    forgotten: int = 0

    def add(self, other: Counts) -> None:
        for one in fields(Counts):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


@dataclass(slots=True)
class Intake(Counts):
    """What became of the records of a slice. `refused`: (line, why)."""

    refused: list[tuple[int, str]] = field(default_factory=list)


def take_in(records: Records, arriving: Sequence[Line], project: str, key: bytes) -> Intake:
    """Store what is not there yet; a note that is there under its id stays unless the one that
    arrives is newer, one that says the same in the same project is joined with it.
    """
    done = Intake()
    notes = [one for one in arriving if isinstance(one, Arriving)]
    notes = _not_forgotten(records.connection, notes, key, done)
    names = [one.note.id or one.note.same for one in notes]
    there = _there(records.connection, notes, names)
    new = []
    for one, name in zip(notes, names, strict=True):
        known = there.get(name)
        if known is None:
            new.append(one)
            there[name] = _HERE
        elif known == _HERE:  # twice in this batch: the first one counts
            done.known += 1
        else:
            _bring_up_to_date(records, records.get([known])[0], one.note, done)
    _insert(records, new)
    done.notes = len(new)
    for edge in arriving:
        if isinstance(edge, ArrivingEdge):
            _take_edge(records, edge, project, done)
    said = [one for one in arriving if isinstance(one, ArrivingSession | ArrivingExchange)]
    _count(session_records.take_in(records, said, key), said, done)
    return done


def _count(
    became: Sequence[session_records.Became], said: Sequence[ArrivingSession | ArrivingExchange], done: Intake
) -> None:
    for what, one in zip(became, said, strict=True):
        if what == "refused":
            done.refused.append(
                (one.line, "its session is not there, or is one that was read here: use --trusted")
            )
        elif what == "new":
            done.sessions += isinstance(one, ArrivingSession)
            done.exchanges += isinstance(one, ArrivingExchange)
        else:
            setattr(done, what, getattr(done, what) + 1)


def _not_forgotten(connection: Connection, notes: list[Arriving], key: bytes, done: Intake) -> list[Arriving]:
    if not any_of(connection):
        return notes
    hashes = {id(one): forgotten_hashes(key, one.note) for one in notes}
    known = known_hashes(connection, [each for found in hashes.values() for each in found])
    kept = [one for one in notes if known.isdisjoint(hashes[id(one)])]
    done.forgotten += len(notes) - len(kept)
    return kept


def _there(connection: Connection, notes: Sequence[Arriving], names: Sequence[str]) -> dict[str, int]:
    """Which of the names (ids, or for notes without one what makes two the same) are there → the
    number.
    """
    found: dict[str, int] = {}
    ids = [one.note.id for one in notes if one.note.id]
    same = [name for one, name in zip(notes, names, strict=True) if not one.note.id]
    for column, asked in ((NOTE.c.id, ids), (NOTE.c.same, same)):
        for at in range(0, len(asked), MANY):
            query = select(column, NOTE.c.number).where(column.in_(asked[at : at + MANY]))
            query = query if column is NOTE.c.id else query.where(NOTE.c.state == "active")
            found |= {row[0]: row[1] for row in connection.execute(query)}
    return found


def _bring_up_to_date(records: Records, there: Note, told: Note, done: Intake) -> None:
    before = len(records.did)
    if not told.id:
        records.change(there, joined(there, told))
    elif told.updated_at > there.updated_at:
        kept = {name: getattr(there, name) for name in ("number", "superseded_by", "created_at")}
        records.change(there, replace(told, **kept))
    done.merged += len(records.did) > before
    done.known += len(records.did) == before


def joined(there: Note, told: Note) -> Note:
    """What is there with what is told again: nothing of either is lost, the body is the newer."""
    return replace(
        there,
        body=told.body or there.body,
        facts=tuple(dict.fromkeys((*there.facts, *told.facts))),
        labels=tuple(dict.fromkeys((*there.labels, *told.labels))),
        files=tuple(dict.fromkeys((*there.files, *told.files))),
        modified=tuple(dict.fromkeys((*there.modified, *told.modified))),
        read=tuple(path for path in dict.fromkeys((*there.read, *told.read)) if path not in told.modified),
        mtimes={**there.mtimes, **told.mtimes},
        spoken={**there.spoken, **told.spoken},
        git_commit=told.git_commit or there.git_commit,
        metadata={**there.metadata, **told.metadata},
        importance=max(there.importance, told.importance),
        occurred_at=there.occurred_at or told.occurred_at,
    )


def _insert(records: Records, new: Sequence[Arriving]) -> None:
    """All at once: a few statements for a batch. A number that is free and not far stays."""
    last = last_number(records.connection, "note")
    rows: dict[Table, list[dict[str, Any]]] = {table: [] for table in (NOTE, LABEL, NOTE_FILE, REVISION)}
    for one in new:
        number = one.note.number if last < one.note.number <= last + GAP_MAX else last + 1
        last = number
        now = one.note.created_at or records.now
        heir = one.note.superseded_by if number == one.note.number else 0
        note = replace(
            one.note,
            id=one.note.id or str(uuid6.uuid7()),
            number=number,
            created_at=now,
            updated_at=one.note.updated_at or now,
            superseded_by=heir,
        )
        rows[NOTE].append(values_of(note) | {"number": number})
        records.wrote(note)
        rows[LABEL] += labels_of(note)
        rows[NOTE_FILE] += files_of(note)
        for until, held in one.revisions:
            told = held_of(replace(held, id=note.id, number=number))
            rows[REVISION].append({"note": number, "held": told, "until": until})
        records.did.append(["note", number, 0])
    for table, made in rows.items():
        if made:
            records.connection.execute(insert(table), made)
    count_on(records.connection, NOTE.name)


def _take_edge(records: Records, one: ArrivingEdge, project: str, done: Intake) -> None:
    source, target = (_number(records, name, project) for name in (one.source, one.target))
    if not source or not target or source == target:
        done.refused.append(
            (one.line, "its edge joins a note with itself" if source else "an end of its edge is not there")
        )
        return
    known = records.connection.execute(select(EDGE.c.number).where(EDGE.c.id == one.edge.id)).scalar()
    existed = known is not None or records.join(replace(one.edge, source=source, target=target))[1]
    done.known += existed
    done.edges += not existed
    if one.edge.relation == "supersedes":
        ended = and_(NOTE.c.number == target, NOTE.c.state == "superseded")
        records.connection.execute(update(NOTE).where(ended).values(superseded_by=source))


def _number(records: Records, name: Name, project: str) -> int:
    if isinstance(name, str):
        return records.find(name)
    same = Note(title=name["title"], kind=name["kind"], project=project).same
    query = select(NOTE.c.number).where(NOTE.c.same == same, NOTE.c.state == "active").limit(1)
    return records.connection.execute(query).scalar() or 0


def take_out(
    connection: Connection, after: tuple[int, int], limit: int, project: str
) -> tuple[list[Record], tuple[int, int] | None]:
    """(records, what to go on after, or None at the end): notes after the number after[0], then
    edges after the number after[1], of all projects or of one.
    """
    records = Records(connection, 0)
    own = NOTE.c.project == project if project else NOTE.c.number > 0
    numbers = list(
        connection.execute(
            select(NOTE.c.number).where(own, NOTE.c.number > after[0]).order_by(NOTE.c.number).limit(limit)
        ).scalars()
    )
    if numbers:
        held: dict[int, list[tuple[int, dict[str, Any]]]] = {}
        for row in connection.execute(
            select(REVISION).where(REVISION.c.note.in_(numbers)).order_by(REVISION.c.number)
        ):
            held.setdefault(row.note, []).append((row.until, row.held))
        notes = records.get(numbers)
        return [note_record(note, held.get(note.number, ())) for note in notes], (numbers[-1], 0)
    query = select(EDGE).where(EDGE.c.number > after[1]).order_by(EDGE.c.number).limit(limit)
    edges = [edge_of(row) for row in connection.execute(query)]
    ends = sorted({end for edge in edges for end in (edge.source, edge.target)})
    chosen = select(NOTE.c.number, NOTE.c.id).where(own, NOTE.c.number.in_(ends))
    ids = {row.number: row.id for row in connection.execute(chosen)}
    told = [edge_record(edge, ids) for edge in edges if {edge.source, edge.target} <= ids.keys()]
    return told, (after[0], edges[-1].number) if edges else None
