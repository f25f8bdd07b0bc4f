"""Notes and edges in one transaction: reads, and changes with their revision, entry in the log of
changes, and record for `undo`.
"""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import uuid6
from sqlalchemy import BindParameter, Connection, bindparam, delete, insert, select, update

from cortex.memory.find.catalog import Outline
from cortex.memory.note import Edge, Note
from cortex.memory.store.database import rows_by_number
from cortex.memory.store.rows import NOTE_COLUMNS, OUTLINE, edge_of, files_of, labels_of, note_of, values_of
from cortex.memory.store.tables import CHANGE, EDGE, LABEL, NOTE, NOTE_FILE, REVISION
from cortex.system.errors import NotFound
from cortex.terms.text.suggestions import IDS_HINT

#: kind of an operation that no caller asked for: `undo` reverts it by its name only
UPKEEP = "upkeep"
#: numbers in one statement; SQLite takes 32 766
MANY = 10_000
#: bits of a change's mark, which fits a signed BIGINT
MARK_BITS = 62

# Statements made once: making one takes longer than running it.
_NUMBERS: BindParameter[Any] = bindparam("numbers", expanding=True)
_BY_NUMBER = select(NOTE.c.number).where(NOTE.c.number == bindparam("value"))
_BY_ID = select(NOTE.c.number).where(NOTE.c.id == bindparam("value"))
_NOTES = select(*NOTE_COLUMNS).where(NOTE.c.number.in_(_NUMBERS))
_LABELS_OF = (
    select(LABEL.c.note, LABEL.c.label)
    .where(LABEL.c.note.in_(_NUMBERS))
    .order_by(LABEL.c.note, LABEL.c.place)
)
_FILES_OF = (
    select(NOTE_FILE.c.note, NOTE_FILE.c.path, NOTE_FILE.c.use, NOTE_FILE.c.mtime)
    .where(NOTE_FILE.c.note.in_(_NUMBERS))
    .order_by(NOTE_FILE.c.note, NOTE_FILE.c.place)
)
_INSERT = {table: insert(table) for table in (NOTE, LABEL, NOTE_FILE, REVISION, EDGE, CHANGE)}
_LAST = select(CHANGE.c.number, CHANGE.c.mark).order_by(CHANGE.c.number.desc()).limit(1)
_MARK = select(CHANGE.c.mark).where(CHANGE.c.number == bindparam("change"))
_OUTLINES = (
    select(*OUTLINE)
    .where(NOTE.c.number > bindparam("after"))
    .order_by(NOTE.c.number)
    .limit(bindparam("most"))
)
_LABELS = select(LABEL.c.note, LABEL.c.label).where(
    LABEL.c.note.between(bindparam("first"), bindparam("last"))
)


class Point(NamedTuple):
    """A position in the log of changes: the number of a change, 0 for the start, and its mark."""

    number: int = 0
    mark: int = 0


@dataclass(frozen=True, slots=True)
class News:
    """The changes of one transaction: all after `after` up to `reached`; `notes`: by number, None
    for a removed one; `edges`: numbers.
    """

    after: Point
    reached: Point
    notes: dict[int, Note | None]
    edges: set[int]


class Records:
    """Reads and changes of one transaction at the moment `now` (UTC milliseconds).

    `did` lists the changes in order: ["note", number, revision (0 for a new note)], ["edge",
    number] for a new edge, ["parted", fields of a removed edge], and those of `project_joins` and
    of `transcripts.session_records`.
    """

    def __init__(self, connection: Connection, now: int) -> None:
        self.connection, self.now = connection, now
        self.did: list[list[Any]] = []
        #: the notes that were written, in their new form
        self.notes: dict[int, Note] = {}
        self._logged: list[dict[str, Any]] = []

    def find(self, reference: str | int) -> int:
        """The number of the note with this id or number; 0 for none."""
        spelling = str(reference).strip().lower()
        is_number = spelling.isdecimal() and len(spelling) < 19
        query, value = (_BY_NUMBER, int(spelling)) if is_number else (_BY_ID, spelling)
        return self.connection.execute(query, {"value": value}).scalar() or 0

    def need(self, reference: str | int) -> Note:
        """The note with this id or number. Raises NotFound."""
        number = self.find(reference)
        if not number:
            raise NotFound(f"There is no note {str(reference)[:80]!r}; {IDS_HINT}.")
        return self.get([number])[0]

    def get(self, numbers: Sequence[int]) -> list[Note]:
        """The notes that exist, in the order of `numbers`."""
        notes: dict[int, Note] = {}
        for batch in batches(list(dict.fromkeys(numbers))):
            labels: dict[int, list[str]] = {}
            files: dict[int, list[tuple[str, str, int]]] = {}
            for number, label in rows_by_number(self.connection, _LABELS_OF, batch):
                labels.setdefault(number, []).append(label)
            for number, path, use, mtime in rows_by_number(self.connection, _FILES_OF, batch):
                files.setdefault(number, []).append((path, use, mtime))
            for row in rows_by_number(self.connection, _NOTES, batch):
                notes[row[0]] = note_of(row, labels.get(row[0], ()), files.get(row[0], ()))
        return [notes[number] for number in numbers if number in notes]

    def insert(self, note: Note) -> Note:
        stored = replace(
            note,
            id=note.id or str(uuid6.uuid7()),
            created_at=note.created_at or self.now,
            updated_at=note.updated_at or self.now,
            relevance=note.importance,
        )
        number = self.connection.execute(_INSERT[NOTE], values_of(stored)).inserted_primary_key
        stored = replace(stored, number=number[0] if number else 0)
        self._insert_lists(stored)
        self.log_note(stored)
        self.did.append(["note", stored.number, 0])
        return stored

    def change(self, before: Note, after: Note) -> None:
        """Write `after` over `before`, which becomes a revision, unless they are equal."""
        if replace(after, updated_at=0) == replace(before, updated_at=0):
            return
        revision = {"note": before.number, "held": asdict(before), "until": self.now}
        revision_key = self.connection.execute(_INSERT[REVISION], revision).inserted_primary_key
        after = replace(after, number=before.number, updated_at=self.now)
        self.connection.execute(update(NOTE).where(NOTE.c.number == before.number).values(**values_of(after)))
        for table in (LABEL, NOTE_FILE):
            self.connection.execute(delete(table).where(table.c.note == before.number))
        self._insert_lists(after)
        self.log_note(after)
        self.did.append(["note", before.number, revision_key[0] if revision_key else 0])

    def connect(self, edge: Edge) -> tuple[str, bool]:
        """Insert an edge unless it exists; return (its id, whether it existed)."""
        existing = self.connection.execute(
            select(EDGE.c.id).where(
                EDGE.c.source == edge.source, EDGE.c.target == edge.target, EDGE.c.relation == edge.relation
            )
        ).scalar()
        if existing is not None:
            return str(existing), True
        edge_id = edge.id or str(uuid6.uuid7())
        values = asdict(edge) | {"id": edge_id, "created_at": edge.created_at or self.now}
        del values["number"]
        number = self.connection.execute(_INSERT[EDGE], values).inserted_primary_key
        self.log("edge", number[0] if number else 0)
        self.did.append(["edge", number[0] if number else 0])
        return edge_id, False

    def disconnect(self, number: int) -> None:
        """Remove an edge, if it exists."""
        row = self.connection.execute(select(EDGE).where(EDGE.c.number == number)).first()
        if row is None:
            return
        self.connection.execute(delete(EDGE).where(EDGE.c.number == number))
        self.log("edge", number)
        self.did.append(["parted", asdict(edge_of(row))])

    def log_note(self, note: Note) -> None:
        """Log a note's change and keep its new form."""
        self.notes[note.number] = note
        self.log("note", note.number)

    def log(self, what: str, number: int) -> None:
        self._logged.append({"what": what, "of": number})

    def finish(self, after: Point) -> News:
        """Write the log, as the last step; `after`: the change before this transaction."""
        numbers = [entry["of"] for entry in self._logged if entry["what"] == "note"]
        edges = {entry["of"] for entry in self._logged if entry["what"] == "edge"}
        if self._logged:
            mark = {"mark": secrets.randbits(MARK_BITS)}
            self.connection.execute(_INSERT[CHANGE], [entry | mark for entry in self._logged])
        reached = last_change(self.connection) if self._logged else after
        return News(after, reached, {number: self.notes.get(number) for number in numbers}, edges)

    def _insert_lists(self, note: Note) -> None:
        for table, rows in ((LABEL, labels_of(note)), (NOTE_FILE, files_of(note))):
            if rows:
                self.connection.execute(_INSERT[table], rows)


def batches(numbers: Sequence[int]) -> Iterable[Sequence[int]]:
    """The numbers in batches that fit in one statement."""
    return (numbers[at : at + MANY] for at in range(0, len(numbers), MANY))


def last_change(connection: Connection) -> Point:
    row = connection.execute(_LAST).first()
    return Point(*row) if row else Point()


def point_at(connection: Connection, number: int) -> Point | None:
    """The change with this number, None if the log lacks it; 0 is the start."""
    mark = connection.execute(_MARK, {"change": number}).scalar() if number else 0
    return None if mark is None else Point(number, mark)


def outlines(connection: Connection, after: int, limit: int) -> list[Outline]:
    """The catalog's fields of the notes above the number `after`, by number."""
    rows = connection.execute(_OUTLINES, {"after": after, "most": limit}).all()
    if not rows:
        return []
    labelled: dict[int, list[str]] = {}
    for note, label in connection.execute(_LABELS, {"first": rows[0].number, "last": rows[-1].number}).all():
        labelled.setdefault(note, []).append(label)
    return [Outline._make((*row, labelled.get(row[0], ()))) for row in rows]
