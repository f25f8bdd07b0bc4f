"""One run of upkeep: its limits, caches and counts, and its writes: each change in one transaction
with the job's cursor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from cortex.memory.find.catalog import Selection
from cortex.memory.store.records import UPKEEP, Records
from cortex.memory.store.tables import CHANGE
from cortex.memory.upkeep.state import Mark, read_mark, write_mark
from cortex.memory.upkeep.traits import Trait, trait_of
from cortex.system.arrays import Array

if TYPE_CHECKING:
    from cortex.memory.find.recall import Memory

#: most notes and edges of a job in one run
NOTES_MAX, EDGES_MAX = 500, 2_000
#: changes read in one batch, and notes
PAGE, READ = 500, 10
#: notes after which a cursor is stored without other writes
CURSOR_EACH = 100
#: most changed notes that are listed
DETAILS_MAX = 20

#: long work in slices of at most 5 ms
Steps = Generator[None, None, None]


@dataclass(slots=True)
class Work:
    """A `dry_run` writes nothing: `related_pairs` and `gone` hold what it would have changed."""

    memory: Memory
    now: int
    dry_run: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    details: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    #: of this run: pairs that are related, and edges that are removed
    related_pairs: set[tuple[int, int]] = field(default_factory=set)
    gone: set[int] = field(default_factory=set)
    _traits: dict[int, Trait] = field(default_factory=dict)

    def mark(self, name: str) -> Mark:
        with self.memory.store.database.read() as connection:
            return read_mark(connection, name)

    def keep(self, name: str, **values: Any) -> None:
        """Store a job's cursor without other writes."""
        if not self.dry_run:
            with self.memory.store.database.write() as connection:
                write_mark(connection, name, **values)

    def write(self, name: str, change: Callable[[Records], None], **values: Any) -> None:
        """Change notes and edges and store the job's cursor, in one transaction that can be undone
        by the name of its operation.
        """
        if self.dry_run:
            return

        def carry_out(records: Records) -> dict[str, Any]:
            change(records)
            if values:
                write_mark(records.connection, name, **values)
            return {}

        self.memory.store.once("", UPKEEP, {}, carry_out)
        self.memory.follow()

    def record_detail(self, what: str, row: dict[str, Any]) -> None:
        self.counts[what] += 1
        if len(self.details.setdefault(what, [])) < DETAILS_MAX:
            self.details[what].append(row)

    def is_active(self, number: int) -> bool:
        return self.memory.catalog.is_active(number)

    def mask(self, trait: Trait) -> Array:
        """The active notes that the note's project sees."""
        return self.memory.catalog.mask(Selection(project=trait.project))

    def is_unchanged(self, trait: Trait) -> bool:
        """Whether the note is active and unchanged since the trait was made."""
        return (
            self.is_active(trait.number) and int(self.memory.catalog["updated"][trait.number]) == trait.stamp
        )

    def traits(self, numbers: Sequence[int]) -> Generator[None, None, dict[int, Trait]]:
        """{number: trait} of the notes that exist, read in slices."""
        new = [number for number in numbers if not self._is_cached(number)]
        for at in range(0, len(new), READ):
            for note in self.memory.store.notes_by_number(new[at : at + READ]):
                self._traits[note.number] = trait_of(note)
            yield
        return {number: self._traits[number] for number in numbers if self._is_cached(number)}

    def _is_cached(self, number: int) -> bool:
        trait = self._traits.get(number)
        return trait is not None and self.is_unchanged(trait)


def changed_notes(work: Work, name: str, done: Callable[[], bool]) -> Iterator[tuple[int, int]]:
    """(note, change up to which all is done after this note) for the notes changed since the cursor
    of the job `name`, at most NOTES_MAX, until `done`. Stores the cursor.
    """
    start = cursor = saved = work.mark(name).cursor
    count = 0
    while changes := work.memory.store.changes_after(cursor, PAGE):
        last = {of: change for change, what, of in changes if what == "note"}
        for number, change in sorted(last.items(), key=lambda pair: pair[1]):
            if count >= NOTES_MAX or done():
                _save_cursor(work, name, saved, cursor)
                return
            count += 1
            yield number, change
            cursor = change
            if count % CURSOR_EACH == 0:
                _save_cursor(work, name, saved, cursor)
                saved = cursor
        cursor = changes[-1][0]
    _save_cursor(work, name, max(start, saved), cursor)


def _save_cursor(work: Work, name: str, saved: int, cursor: int) -> None:
    if cursor > saved:
        work.keep(name, cursor=cursor)


def remaining(work: Work, name: str) -> int:
    """The number of notes that changed since the job's cursor."""
    query = select(func.count(CHANGE.c.of.distinct())).where(
        CHANGE.c.what == "note", CHANGE.c.number > work.mark(name).cursor
    )
    with work.memory.store.database.read() as connection:
        return int(connection.execute(query).scalar() or 0)
