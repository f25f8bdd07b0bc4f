"""Notes and edges inside one transaction: how they are read, and how they are changed with all that
a change leaves behind: a revision, a number in the log of changes, and what takes it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

import uuid6
from sqlalchemy import Connection, delete, insert, select, update

from cortex.memory.catalog import Outline
from cortex.memory.note import Edge, Note
from cortex.memory.rows import OUTLINE, edge_of, held_of, note_of, values_of
from cortex.memory.tables import CHANGE, EDGE, LABEL, NOTE, NOTE_FILE, REVISION
from ipc.errors import NotFound

#: numbers in one statement; SQLite takes 32 766
MANY = 10_000


class Records:
    """What one transaction reads and changes at the moment `now` (UTC milliseconds).

    `did`, in the order in which it was done: ["note", number, revision (0: it was made)], ["edge",
    number] for one that was made, ["parted", what the edge was].
    """

    def __init__(self, connection: Connection, now: int) -> None:
        self.connection = connection
        self.now = now
        self.did: list[list[Any]] = []

    def find(self, reference: str | int) -> int:
        """The number of the note with this id or number; 0 for none."""
        told = str(reference).strip().lower()
        column = NOTE.c.number if told.isdecimal() and len(told) < 19 else NOTE.c.id
        value = int(told) if column is NOTE.c.number else told
        return self.connection.execute(select(NOTE.c.number).where(column == value)).scalar() or 0

    def need(self, reference: str | int) -> Note:
        """Raises NotFound."""
        number = self.find(reference)
        if not number:
            raise NotFound(f"There is no note {str(reference)[:80]!r}; ids are in the answers of searches.")
        return self.get([number])[0]

    def get(self, numbers: Sequence[int]) -> list[Note]:
        """The notes that are there, in the order that was asked for."""
        found: dict[int, Note] = {}
        for part in parts(list(dict.fromkeys(numbers))):
            lists = [
                _lists(self.connection, table, column, part)
                for table, column in ((LABEL, LABEL.c.label), (NOTE_FILE, NOTE_FILE.c.path))
            ]
            for row in self.connection.execute(select(NOTE).where(NOTE.c.number.in_(part))):
                labels, files = (told.get(row.number, ()) for told in lists)
                found[row.number] = note_of(row, labels, files)
        return [found[number] for number in numbers if number in found]

    def insert(self, note: Note) -> Note:
        made = replace(
            note,
            id=note.id or str(uuid6.uuid7()),
            created_at=note.created_at or self.now,
            updated_at=note.updated_at or self.now,
            relevance=note.importance,
        )
        number = self.connection.execute(insert(NOTE).values(**values_of(made))).inserted_primary_key
        made = replace(made, number=number[0] if number else 0)
        self.write_lists(made)
        self.log("note", made.number)
        self.did.append(["note", made.number, 0])
        return made

    def change(self, there: Note, told: Note) -> None:
        """Write `told` over the note `there`, which becomes a revision; nothing when equal."""
        if replace(told, updated_at=0) == replace(there, updated_at=0):
            return
        held = insert(REVISION).values(note=there.number, held=held_of(there), until=self.now)
        kept = self.connection.execute(held).inserted_primary_key
        values = values_of(replace(told, updated_at=self.now))
        self.connection.execute(update(NOTE).where(NOTE.c.number == there.number).values(**values))
        self.write_lists(replace(told, number=there.number))
        self.log("note", there.number)
        self.did.append(["note", there.number, kept[0] if kept else 0])

    def join(self, edge: Edge) -> tuple[str, bool]:
        """(the edge's id, whether it was there)."""
        known = self.connection.execute(
            select(EDGE.c.id).where(
                EDGE.c.source == edge.source, EDGE.c.target == edge.target, EDGE.c.relation == edge.relation
            )
        ).scalar()
        if known is not None:
            return str(known), True
        made = edge.id or str(uuid6.uuid7())
        values = asdict(edge) | {"id": made, "created_at": edge.created_at or self.now}
        del values["number"]
        number = self.connection.execute(insert(EDGE).values(**values)).inserted_primary_key
        self.log("edge", number[0] if number else 0)
        self.did.append(["edge", number[0] if number else 0])
        return made, False

    def part(self, number: int) -> None:
        """Remove an edge, if it is there."""
        row = self.connection.execute(select(EDGE).where(EDGE.c.number == number)).first()
        if row is None:
            return
        self.connection.execute(delete(EDGE).where(EDGE.c.number == number))
        self.log("edge", number)
        self.did.append(["parted", asdict(edge_of(row))])

    def log(self, what: str, number: int) -> None:
        self.connection.execute(insert(CHANGE).values(what=what, of=number))

    def write_lists(self, note: Note) -> None:
        """The labels and the files of the note, in place of those that it had."""
        for table, name, values in ((LABEL, "label", note.labels), (NOTE_FILE, "path", note.files)):
            self.connection.execute(delete(table).where(table.c.note == note.number))
            rows = [{"note": note.number, name: value, "place": at} for at, value in enumerate(values)]
            if rows:
                self.connection.execute(insert(table), rows)


def parts(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    """As many numbers at once as a statement takes."""
    return (numbers[at : at + MANY] for at in range(0, len(numbers), MANY))


def _lists(connection: Connection, table: Any, column: Any, numbers: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for note, value in connection.execute(
        select(table.c.note, column).where(table.c.note.in_(numbers)).order_by(table.c.note, table.c.place)
    ):
        found.setdefault(note, []).append(value)
    return found


def outlines(connection: Connection, after: int, limit: int) -> list[Outline]:
    """What the catalog asks of the notes after the number `after`, by number."""
    query = select(*OUTLINE).where(NOTE.c.number > after).order_by(NOTE.c.number).limit(limit)
    rows = connection.execute(query).all()
    if not rows:
        return []
    labelled: dict[int, list[str]] = {}
    first, last = rows[0].number, rows[-1].number
    query = select(LABEL.c.note, LABEL.c.label).where(LABEL.c.note.between(first, last))
    for note, label in connection.execute(query).all():
        labelled.setdefault(note, []).append(label)
    return [Outline._make((*row, labelled.get(row[0], ()))) for row in rows]
