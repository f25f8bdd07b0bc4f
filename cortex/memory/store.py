"""The store: what is remembered, written once and for good. Owns the database of one data folder.

A write carries the number of its operation (a UUID): asked for twice it is carried out once, and
the second asker gets the first one's reply. Operation, change and what was changed are one
transaction. What finds notes is elsewhere: it follows the change numbers.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import uuid6
from sqlalchemy import Connection, delete, func, insert, or_, select, update

from cortex.memory.database import Database
from cortex.memory.note import Edge, Note, Source, State, checked, read_relation
from cortex.memory.rows import note_of, values_of
from cortex.memory.secrets import remove_secrets_in
from cortex.memory.tables import CHANGE, EDGE, LABEL, NOTE, NOTE_FILE, OPERATION, REVISION
from ipc.errors import BadRequest, NotFound

#: milliseconds that the reply of an operation is kept for one that asks again
OPERATION_KEPT_MS = 7 * 86_400_000
#: numbers in one statement; SQLite takes 32 766
MANY = 10_000
#: fields of a note that an edit may change
EDITABLE = frozenset(
    "kind title body subtitle obs_type facts labels files metadata scope importance occurred_at valid_until".split()
)


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a note. `merged`: it was there already, under this id."""

    id: str
    number: int
    merged: bool = False
    #: kinds of what was taken out of it before it was stored
    removed: tuple[str, ...] = ()


class Store:
    """Raises what Database raises when it is opened. Use it in one thread."""

    def __init__(self, folder: Path, now: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._database = Database(folder)
        self._now = now

    def close(self) -> None:
        self._database.close()

    def back_up(self) -> Path:
        """A copy of what is committed, beside the database."""
        return self._database.back_up()

    # Writing

    def put(self, note: Note, operation: str = "") -> Written:
        """Store a note, or join it with the one that is the same: labels and files are added, the
        higher importance stays, another body becomes a revision of it.

        Raises BadRequest and TooLarge for what no note may hold, and for an operation that was
        another one before.
        """
        told, removed = _without_secrets(checked(note))
        payload = asdict(told)

        def carry_out(connection: Connection) -> dict[str, Any]:
            found = connection.execute(
                select(NOTE.c.number).where(NOTE.c.same == told.same, NOTE.c.state == "active").limit(1)
            ).scalar()
            if found is not None:
                there = self._get(connection, [found])[0]
                self._change(connection, there, _joined(there, told))
                return {"id": there.id, "number": there.number, "merged": True}
            made = self._insert(connection, told)
            return {"id": made.id, "number": made.number}

        return Written(**self._once(operation, payload, carry_out), removed=removed)

    def edit(self, reference: str | int, changes: dict[str, Any], operation: str = "") -> Written:
        """Change fields of a note; what it held before is kept as a revision.

        Raises NotFound, and BadRequest for a field that cannot be changed.
        """
        if unknown := sorted(changes.keys() - EDITABLE):
            raise BadRequest(f"{unknown[0]!r} cannot be changed; these can: {', '.join(sorted(EDITABLE))}.")
        removed: tuple[str, ...] = ()

        def carry_out(connection: Connection) -> dict[str, Any]:
            nonlocal removed
            there = self._need(connection, reference)
            told, removed = _without_secrets(checked(replace(there, **changes)))
            self._change(connection, there, told)
            return {"id": there.id, "number": there.number}

        payload = {"edit": str(reference), "changes": changes}
        return Written(**self._once(operation, payload, carry_out), removed=removed)

    def set_state(
        self, reference: str | int, state: State, operation: str = "", superseded_by: str | int = 0
    ) -> Written:
        """Delete (marked only), archive, supersede or bring back. Raises NotFound."""

        def carry_out(connection: Connection) -> dict[str, Any]:
            there = self._need(connection, reference)
            heir = self._need(connection, superseded_by).number if superseded_by else 0
            if heir == there.number:
                raise BadRequest(f"Note {there.id} cannot supersede itself.")
            ended = self._now() if state == "superseded" else there.valid_until
            self._change(
                connection, there, replace(there, state=state, superseded_by=heir, valid_until=ended)
            )
            if heir:
                self._join(connection, Edge(heir, there.number, "supersedes"))
            return {"id": there.id, "number": there.number}

        payload = {"state": state, "of": str(reference), "by": str(superseded_by)}
        return Written(**self._once(operation, payload, carry_out))

    def relate(
        self,
        source: str | int,
        target: str | int,
        relation: str = "relates_to",
        operation: str = "",
        *,
        weight: float = 1.0,
        detection: str = "manual",
    ) -> dict[str, Any]:
        """{"id", "source", "target": titles, "relation", "existed"}: an edge that is there already
        is the answer, too.

        Raises NotFound for a note that is not there, BadRequest for one with itself.
        """
        told, reverse = read_relation(relation)

        def carry_out(connection: Connection) -> dict[str, Any]:
            first, second = self._need(connection, source), self._need(connection, target)
            if first.number == second.number:
                raise BadRequest(f"Note {first.id} cannot be related to itself.")
            if reverse:
                first, second = second, first
            edge, existed = self._join(
                connection, Edge(first.number, second.number, told, weight=weight, detection=detection)
            )
            return {"id": edge, "source": first.number, "target": second.number, "existed": existed}

        payload = {"relate": [str(source), str(target), told, reverse]}
        return self._once(operation, payload, carry_out) | {"relation": told}

    # Reading

    def get(self, references: Iterable[str | int]) -> list[Note]:
        """The notes that are there, in the order that was asked for."""
        with self._database.read() as connection:
            found = [self._find(connection, reference) for reference in references]
            return self._get(connection, [number for number in found if number])

    def need(self, reference: str | int) -> Note:
        """Raises NotFound."""
        with self._database.read() as connection:
            return self._need(connection, reference)

    def edges_of(self, numbers: Sequence[int]) -> list[Edge]:
        """All edges that begin or end at one of the notes."""
        with self._database.read() as connection:
            rows = [
                row
                for part in _parts(numbers)
                for row in connection.execute(
                    select(EDGE).where(or_(EDGE.c.source.in_(part), EDGE.c.target.in_(part)))
                )
            ]
        return list({row.number: _edge_of(row) for row in rows}.values())

    def changes_after(self, number: int, limit: int) -> list[tuple[int, str, int]]:
        """(change, "note" or "edge", number of it) of what changed later, in order."""
        with self._database.read() as connection:
            query = select(CHANGE).where(CHANGE.c.number > number).order_by(CHANGE.c.number).limit(limit)
            return [(row.number, row.what, row.of) for row in connection.execute(query)]

    def edges_by_number(self, numbers: Sequence[int]) -> list[Edge]:
        with self._database.read() as connection:
            return [
                _edge_of(row)
                for part in _parts(numbers)
                for row in connection.execute(select(EDGE).where(EDGE.c.number.in_(part)))
            ]

    def notes_by_number(self, numbers: Sequence[int]) -> list[Note]:
        with self._database.read() as connection:
            return self._get(connection, numbers)

    def revisions(self, number: int) -> list[tuple[int, dict[str, Any]]]:
        """(until when, what the note held), the oldest first."""
        with self._database.read() as connection:
            query = select(REVISION).where(REVISION.c.note == number).order_by(REVISION.c.number)
            return [(row.until, row.held) for row in connection.execute(query)]

    def count(self, project: str = "") -> dict[str, Any]:
        """{"notes", "edges", "by_kind", "by_state", "oldest", "newest": moments, "bytes"}."""
        own = or_(NOTE.c.project == project, NOTE.c.scope == "global") if project else NOTE.c.number > 0
        live = own & (NOTE.c.state != "deleted")
        with self._database.read() as connection:
            kinds = connection.execute(
                select(NOTE.c.kind, func.count()).where(live).group_by(NOTE.c.kind)
            ).all()
            states = connection.execute(
                select(NOTE.c.state, func.count()).where(own).group_by(NOTE.c.state)
            ).all()
            span = connection.execute(
                select(func.min(NOTE.c.created_at), func.max(NOTE.c.created_at)).where(live)
            ).one()
            edges = connection.execute(select(func.count()).select_from(EDGE)).scalar_one()
        return {
            "notes": sum(count for _, count in kinds),
            "edges": edges,
            "by_kind": dict(sorted((kind, count) for kind, count in kinds)),
            "by_state": dict(sorted((state, count) for state, count in states)),
            "oldest": span[0] or 0,
            "newest": span[1] or 0,
            "bytes": self._database.bytes(),
        }

    # In a transaction

    def _once(
        self, operation: str, payload: dict[str, Any], carry_out: Callable[[Connection], dict[str, Any]]
    ) -> dict[str, Any]:
        """The reply of the operation, carried out now or earlier. One without a number is new."""
        held = hashlib.sha256(orjson.dumps(payload, option=orjson.OPT_SORT_KEYS)).hexdigest()
        with self._database.write() as connection:
            if operation:
                known = connection.execute(select(OPERATION).where(OPERATION.c.id == operation)).first()
                if known is not None and known.payload != held:
                    raise BadRequest(f"The operation {operation} was another one before; take a new number.")
                if known is not None:
                    reply: dict[str, Any] = known.reply
                    return reply
            reply = carry_out(connection)
            now = self._now()
            if operation:
                connection.execute(
                    insert(OPERATION).values(id=operation, payload=held, reply=reply, created_at=now)
                )
                connection.execute(delete(OPERATION).where(OPERATION.c.created_at < now - OPERATION_KEPT_MS))
        return reply

    def _insert(self, connection: Connection, note: Note) -> Note:
        now = self._now()
        made = replace(
            note,
            id=note.id or str(uuid6.uuid7()),
            created_at=note.created_at or now,
            updated_at=note.updated_at or now,
            relevance=note.importance,
        )
        number = connection.execute(insert(NOTE).values(**values_of(made))).inserted_primary_key
        made = replace(made, number=number[0] if number else 0)
        _write_lists(connection, made)
        _log(connection, "note", made.number)
        return made

    def _change(self, connection: Connection, there: Note, told: Note) -> None:
        """Write `told` over the note `there`, which becomes a revision; nothing when equal."""
        if replace(told, updated_at=0) == replace(there, updated_at=0):
            return
        now = self._now()
        held = asdict(there) | {"source": asdict(there.source)}
        connection.execute(insert(REVISION).values(note=there.number, held=held, until=now))
        values = values_of(replace(told, updated_at=now))
        connection.execute(update(NOTE).where(NOTE.c.number == there.number).values(**values))
        _write_lists(connection, replace(told, number=there.number))
        _log(connection, "note", there.number)

    def _join(self, connection: Connection, edge: Edge) -> tuple[str, bool]:
        """(the edge's id, whether it was there)."""
        known = connection.execute(
            select(EDGE.c.id).where(
                EDGE.c.source == edge.source, EDGE.c.target == edge.target, EDGE.c.relation == edge.relation
            )
        ).scalar()
        if known is not None:
            return str(known), True
        made = str(uuid6.uuid7())
        values = asdict(edge) | {"id": made, "created_at": edge.created_at or self._now()}
        number = connection.execute(insert(EDGE).values(**values)).inserted_primary_key
        _log(connection, "edge", number[0] if number else 0)
        return made, False

    def _find(self, connection: Connection, reference: str | int) -> int:
        """The number of the note with this id or number; 0 for none."""
        told = str(reference).strip().lower()
        if told.isdecimal() and len(told) < 19:
            found = connection.execute(select(NOTE.c.number).where(NOTE.c.number == int(told))).scalar()
            return found or 0
        return connection.execute(select(NOTE.c.number).where(NOTE.c.id == told)).scalar() or 0

    def _need(self, connection: Connection, reference: str | int) -> Note:
        number = self._find(connection, reference)
        if not number:
            raise NotFound(f"There is no note {str(reference)[:80]!r}; ids are in the answers of searches.")
        return self._get(connection, [number])[0]

    def _get(self, connection: Connection, numbers: Sequence[int]) -> list[Note]:
        found: dict[int, Note] = {}
        for part in _parts(list(dict.fromkeys(numbers))):
            lists = [
                _lists(connection, table, column, part)
                for table, column in ((LABEL, LABEL.c.label), (NOTE_FILE, NOTE_FILE.c.path))
            ]
            for row in connection.execute(select(NOTE).where(NOTE.c.number.in_(part))):
                labels, files = (told.get(row.number, ()) for told in lists)
                found[row.number] = note_of(row, labels, files)
        return [found[number] for number in numbers if number in found]


def _without_secrets(note: Note) -> tuple[Note, tuple[str, ...]]:
    """The note as it may be stored, and the kinds of what was taken out of it."""
    told = {
        name: getattr(note, name)
        for name in ("title", "body", "subtitle", "facts", "labels", "files", "metadata", "obs_type")
    }
    told["source"] = [note.source.agent, note.source.session]
    clean, removed = remove_secrets_in(told)
    agent, session = clean.pop("source")
    source = Source(agent, session, note.source.channel, note.source.trust)
    return replace(note, **clean, source=source), tuple(dict.fromkeys(removed))


def _joined(there: Note, told: Note) -> Note:
    """What is there with what is told again: nothing of either is lost, the body is the newer."""
    body = told.body or there.body
    return replace(
        there,
        body=body,
        facts=tuple(dict.fromkeys((*there.facts, *told.facts))),
        labels=tuple(dict.fromkeys((*there.labels, *told.labels))),
        files=tuple(dict.fromkeys((*there.files, *told.files))),
        metadata={**there.metadata, **told.metadata},
        importance=max(there.importance, told.importance),
        occurred_at=there.occurred_at or told.occurred_at,
    )


def _write_lists(connection: Connection, note: Note) -> None:
    for table, name, values in ((LABEL, "label", note.labels), (NOTE_FILE, "path", note.files)):
        connection.execute(delete(table).where(table.c.note == note.number))
        rows = [{"note": note.number, name: value, "place": at} for at, value in enumerate(values)]
        if rows:
            connection.execute(insert(table), rows)


def _lists(connection: Connection, table: Any, column: Any, numbers: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for note, value in connection.execute(
        select(table.c.note, column).where(table.c.note.in_(numbers)).order_by(table.c.note, table.c.place)
    ):
        found.setdefault(note, []).append(value)
    return found


def _log(connection: Connection, what: str, number: int) -> None:
    connection.execute(insert(CHANGE).values(what=what, of=number))


def _edge_of(row: Any) -> Edge:
    return Edge(row.source, row.target, row.relation, row.weight, row.detection, row.id, row.created_at)


def _parts(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    return (numbers[at : at + MANY] for at in range(0, len(numbers), MANY))
