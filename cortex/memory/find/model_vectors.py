"""The vectors of an embedder that is too slow for every write: notes are embedded in steps, in the
background, and answer when all have a vector.
"""

import logging
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from pathlib import Path

from cortex.embedders import Embedder
from cortex.memory.find.vectors import SENTENCES, Vectors
from cortex.memory.note import Note
from cortex.memory.store.note_store import Store
from cortex.memory.store.records import Point
from cortex.system import files
from cortex.system.arrays import Array
from cortex.system.errors import CortexError
from ipc.messages import Mode

log = logging.getLogger(__name__)

#: notes in one step, which takes as long as a few questions; changes read in one batch
STEP_NOTES, CHANGES = 4, 1_000
#: seconds after a fault until the embedder is tried again
RETRY_S = 60.0


class ModelVectors:
    """The vectors of one embedder in a folder, once it can be opened; `fault`: the reason why it
    cannot be used now, "" for none.
    """

    def __init__(self, folder: Path, make: Callable[[], Embedder], store: Store) -> None:
        self._folder, self._make, self._store = folder, make, store
        self._embedder: _Watched | None = None
        self._vectors: Vectors | None = None
        #: notes without a vector, the newest last
        self._missing: list[int] = []
        self.fault = ""
        self._retry_at = 0.0

    def complete_at(self, reached: Point) -> Vectors | None:
        """The vectors, if they hold all notes as of that change; else None."""
        vectors = self._vectors
        is_whole = vectors is not None and vectors.reached == reached and not self._missing and not self.fault
        return vectors if is_whole else None

    def prepare(self) -> Vectors | None:
        """Open the embedder and the file of its vectors; None while that fails."""
        if self.fault and time.monotonic() < self._retry_at:
            return None
        try:
            self._embedder = self._embedder or _Watched(self._make(), self._fail)
        except CortexError as error:
            self._fail(error)
            return None
        self.fault = ""
        vectors = self._vectors or Vectors(self._folder, self._embedder, scale=SENTENCES)
        if self._store.point_at(vectors.reached.number) != vectors.reached:  # the store was restored
            vectors.delete()
            vectors = Vectors(self._folder, self._embedder, scale=SENTENCES)
        if vectors is not self._vectors:
            if not vectors.reached.number:
                vectors.take(self._store.newest, ())
            live = set(self._store.numbers())
            self._missing = sorted(live - vectors.numbers())
            if gone := vectors.numbers() - live:
                vectors.drop(list(gone))
            self._vectors = vectors
        return vectors

    def _fail(self, error: CortexError) -> None:
        if str(error) != self.fault:
            log.warning("the built-in model answers questions about notes: %s", error)
        self.fault, self._retry_at = str(error), time.monotonic() + RETRY_S

    def follow(self, before: Point, reached: Point, changed: Sequence[Note]) -> None:
        """Embed the notes changed between two changes at once, if they are few and the embedder is
        ready; else the next steps do.
        """
        vectors = self.complete_at(before)
        is_ready = self._embedder is not None and self._embedder.is_ready
        if vectors and reached > before and (not changed or (is_ready and len(changed) <= STEP_NOTES)):
            try:
                vectors.take(reached, changed)
            except CortexError:
                log.debug("embedding is postponed")

    def has_work(self, reached: Point) -> bool:
        """Whether steps have anything to do or to try."""
        vectors = self.complete_at(reached)
        is_done = vectors is not None and not vectors.is_older
        return not is_done and (not self.fault or time.monotonic() >= self._retry_at)

    def steps(self) -> Generator[None, None, None]:
        """Embed the missing and the changed notes, a few in each step; an embedder's fault ends the
        steps. Each step is on the disk before the next.
        """
        vectors = self.prepare()
        if vectors is None:
            return
        try:
            while changes := self._store.changes_after(vectors.reached.number, CHANGES):
                numbers = sorted({number for _, what, number in changes if what == "note"})
                reached = self._store.point_at(changes[-1][0]) or Point()
                while len(numbers) > STEP_NOTES:  # read in each step: notes may be erased meanwhile
                    vectors.take(vectors.reached, self._live(numbers[:STEP_NOTES]))
                    numbers = numbers[STEP_NOTES:]
                    yield
                vectors.take(reached, self._live(numbers))
                yield
            embedded = vectors.numbers()  # of the missing notes, those that also changed
            self._missing = [number for number in self._missing if number not in embedded]
            while self._missing:
                numbers, self._missing = self._missing[-STEP_NOTES:], self._missing[:-STEP_NOTES]
                try:
                    vectors.take(vectors.reached, self._live(numbers))
                except CortexError:
                    self._missing += numbers
                    raise
                yield
            yield from vectors.renew(self._store.notes_by_number, STEP_NOTES)
        except CortexError as error:
            log.info("embedding goes on later: %s", error)

    def _live(self, numbers: Sequence[int]) -> list[Note]:
        return [note for note in self._store.notes_by_number(numbers) if note.state != "deleted"]

    def status(self, reached: Point, live: Collection[int]) -> Mapping[str, object]:
        """{"model", "answers", "embedded", "missing": counts of the live notes} and "fault"."""
        vectors, answers = self._vectors, bool(self.complete_at(reached))
        status: dict[str, object] = {"model": vectors.model if vectors else "", "answers": answers}
        if vectors:
            missing = 0 if answers else len(set(live) - vectors.numbers())
            status |= {"embedded": len(live) - missing, "missing": missing}
        return status | ({"fault": self.fault} if self.fault else {})

    def drop(self, numbers: Sequence[int]) -> None:
        """Remove notes from the file; all of them while the embedder cannot be opened."""
        if vectors := self._vectors or self.prepare():
            vectors.drop(numbers)
        else:
            files.remove_tree(self._folder)

    def wake(self) -> None:
        """Let the embedder load its model before the next question."""
        if self._vectors and not self.fault:
            self._call("wake")

    def rest(self) -> None:
        """Let the embedder give back its memory, if it was not used for a while."""
        self._call("rest")

    def close(self) -> None:
        self._call("close")

    def _call(self, method: str) -> None:
        if self._embedder:
            getattr(self._embedder.inner, method, lambda: None)()


class _Watched:
    """An embedder, with a function for its faults."""

    def __init__(self, inner: Embedder, fail: Callable[[CortexError], None]) -> None:
        self.inner, self._fail = inner, fail
        self.identity, self.dimensions, self.count_tokens = (
            inner.identity,
            inner.dimensions,
            inner.count_tokens,
        )

    @property
    def is_ready(self) -> bool:
        return bool(getattr(self.inner, "is_ready", True))

    def embed(self, texts: Sequence[str], mode: Mode = "passage") -> Array:
        try:
            return self.inner.embed(texts, mode)
        except CortexError as error:
            self._fail(error)
            raise
