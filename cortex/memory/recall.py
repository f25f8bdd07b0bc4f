"""A question → notes: the derived indexes that follow the store, and what is asked of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from cortex.embedders import Embedder
from cortex.memory.catalog import Catalog, Selection
from cortex.memory.links import Links
from cortex.memory.note import Note
from cortex.memory.ranking import Lanes, rank, similarities
from cortex.memory.store import Store
from cortex.memory.text import question_words
from cortex.memory.vectors import Vectors
from cortex.memory.words import Words
from ipc.arrays import Array

#: changes that are taken in at once
CHANGES = 1_000
#: notes that the word lane proposes for each that is wanted, and at least
PROPOSED, PROPOSED_MIN = 5, 200
#: best notes by similarity from which the graph is walked
ANCHORS = 5


@dataclass(frozen=True, slots=True)
class Recalled:
    """A note that is about the question; `parts`: what its score is made of."""

    note: Note
    score: float
    parts: dict[str, float]


class Memory:
    """The store with its derived indexes. Use it in one thread."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self.store = Store(folder)
        self.catalog, self.links = Catalog(), Links()
        self.words = Words(folder / "index" / "words")
        self.vectors = Vectors(folder / "index" / "vectors", embedder)
        self._reached = 0
        self.follow()

    def close(self) -> None:
        try:
            self.words.commit()
        finally:
            self.store.close()

    def follow(self) -> None:
        """Take in what changed in the store since."""
        while changes := self.store.changes_after(self._reached, CHANGES):
            last = changes[-1][0]
            notes = {number: at for at, what, number in changes if what == "note"}
            edges = {number for _, what, number in changes if what == "edge"}
            found = self.store.notes_by_number(list(notes))
            self.catalog.take(found)
            self.links.take(self.store.edges_by_number(sorted(edges)))
            kept = [note for note in found if note.state != "deleted"]
            gone = notes.keys() - {note.number for note in kept}
            if last > self.words.reached:
                new = [note for note in kept if notes[note.number] > self.words.reached]
                self.words.take(last, new, gone)
            if last > self.vectors.reached:
                new = [note for note in kept if notes[note.number] > self.vectors.reached]
                self.vectors.take(last, new)
            self._reached = last

    def recall(self, query: str, chosen: Selection, limit: int, alpha: float = 1.0) -> list[Recalled]:
        """The notes that are about the question, the best first; none when none is."""
        self.follow()
        mask = self.catalog.mask(chosen)
        asked = question_words(query)
        lanes = Lanes(
            words=self.words.search(asked, max(PROPOSED_MIN, PROPOSED * limit)),
            cosines=_within(self.vectors.cosines(query), mask),
            ideal=self.words.ideal(asked),
        )
        now = time.time_ns() // 1_000_000
        similar = similarities(lanes, self.catalog, mask)
        ranked = rank(lanes, similar, self.catalog, 1.0, now)
        if alpha < 1:
            anchors = {one.number: min(1.0, one.score) for one in ranked[:ANCHORS]}
            near = {number: worth for number, worth in self.links.near(anchors).items() if mask[number]}
            ranked = rank(replace(lanes, near=near), similar, self.catalog, alpha, now)
        notes = {
            note.number: note for note in self.store.notes_by_number([one.number for one in ranked[:limit]])
        }
        return [
            Recalled(notes[one.number], one.score, one.parts) for one in ranked[:limit] if one.number in notes
        ]


def _within(cosines: tuple[Array, Array], mask: Array) -> tuple[Array, Array]:
    numbers, values = cosines
    kept = mask[numbers]
    return numbers[kept], values[kept]
