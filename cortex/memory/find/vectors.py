"""The vectors of notes: a file of rows that only grows, and the same rows in memory. Follows the
changes of the store; can be deleted at any time.
"""

import contextlib
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from cortex.embedders import Embedder
from cortex.memory.find.background import BACKGROUND
from cortex.memory.find.sketch import Sketch, enlarge
from cortex.memory.note import Note
from cortex.memory.store.records import Point
from cortex.memory.text import embedded_text
from cortex.system import files
from cortex.system.arrays import Array
from cortex.system.dot_products import products

#: share of obsolete rows from which on the file is rewritten
STALE_SHARE = 0.5
#: the most notes that chance is computed for
CHANCE_NOTES = 1_000
#: number of cosines from which on their own mean and deviation are a reliable scale
ENOUGH = 200
#: number of vectors up to which each is compared (0.08 µs each, four times that if they are
#: gathered by index); of more, their sketches (0.015 µs each) propose PROPOSED and one in
#: PROPOSED_EACH, and the vectors decide
EXACT_MAX, PROPOSED, PROPOSED_EACH = 20_000, 500, 200
#: sample size for mean, deviation and bounds of many values
SAMPLE = 2_000
#: rows are gathered by index if they are fewer than one in SELECTIVE; else all are compared
SELECTIVE = 4
#: number of the form of embedded texts, in the name of the file; the names of earlier forms' files
TEXT_FORM, OLDER_FORMS = 2, ("{}.rows",)
#: vectors gathered at once (0.8 MB of 384 numbers); initial room
SLICE, ROOM = 1_000, 1024


@dataclass(frozen=True, slots=True)
class Scale:
    """The reading of an embedder's cosines, in deviations. `hit`: above the mean, from which on a
    note is a hit; 0 for the best one by chance. `related`: above the best one by chance, from which
    on a text is about a query of unknown words; `familiar`: how many fewer suffice if all are
    known.
    """

    hit: float
    related: float
    familiar: float


#: the scales of the built-in model and of sentence models, fitted on conversations and lives
BUILT_IN, SENTENCES = Scale(0.0, 1.6, 2.5), Scale(1.0, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Cosines:
    """Notes by number (int64 [n]), the cosine of each (float32 [n]); mean and standard deviation
    over all compared notes, with unrelated notes added if they are few; their number; `hit`: as in
    the scale.
    """

    numbers: Array
    values: Array
    mean: float
    deviation: float
    among: int
    hit: float = 0.0


class Vectors:
    """`reached`: the last change that is included.

    A row of the file is note, change and its mark, checksum and vector; the last row of a note
    counts. In a cut or damaged file, rows from the first unreadable one on are dropped.

    A file whose texts had an earlier form is used as it is, until `renew` replaces it.
    """

    def __init__(
        self, folder: Path, embedder: Embedder, exact_max: int = EXACT_MAX, scale: Scale = BUILT_IN
    ) -> None:
        self._embedder, self._reading = embedder, scale
        self._exact_max = exact_max
        self._others: Array | None = None
        self._unrelated: tuple[float, float] | None = None
        #: the wordings of the last query, each with its vector
        self._query_vectors: dict[str, Array] = {}
        files.make_private(folder)
        self._dtype = np.dtype(
            [
                *((name, "<u8") for name in ("number", "change", "mark")),
                ("crc", "<u4"),
                ("vector", "<f2", embedder.dimensions),
            ]
        )
        name = "".join(c if c.isalnum() else "-" for c in embedder.identity)
        self.path = self._renewed = folder / f"{name}-{TEXT_FORM}.rows"
        #: notes of an earlier form that `renew` has not embedded yet; None before it began
        self._to_renew: list[int] | None = None
        names = files.names(folder)
        if self.path.name not in names:
            older = (form.format(name) for form in OLDER_FORMS)
            self.path = folder / next((other for other in older if other in names), self.path.name)
        for other in names:
            if other != self.path.name:  # of an earlier model, or of texts in another form
                files.remove(folder / other)
        self.reached = Point()
        self._load(self._read())

    def _load(self, rows: Array) -> None:
        if len(rows):
            newest = rows[rows["change"].argmax()]
            self.reached = max(self.reached, Point(int(newest["change"]), int(newest["mark"])))
        numbers, back = np.unique(rows["number"][::-1], return_index=True)
        last = np.sort(len(rows) - 1 - back)
        self._count = len(last)
        #: the last two read-only masks, each with the indices of its notes
        self._cached_places: list[tuple[Array, Array]] = []
        #: the indices of the last query, and a sample of their vectors
        self._sampled: tuple[Array, Array] | None = None
        self._numbers = rows["number"][last].astype(np.int64)
        self._matrix = rows["vector"][last]
        #: note → its index in these, -1 for none
        self._places = np.full(int(numbers[-1]) + 1 if len(numbers) else 0, -1, np.int32)
        self._places[self._numbers] = np.arange(len(last))
        self._sketch = Sketch(self._matrix) if len(last) > self._exact_max else None
        if len(last) < (1 - STALE_SHARE) * len(rows):
            self._write_anew(rows[last])

    @property
    def model(self) -> str:
        """The identity of the embedding model."""
        return self._embedder.identity

    def delete(self) -> None:
        """Remove its file; the object must not be used afterwards."""
        with contextlib.suppress(FileNotFoundError):
            files.remove(self.path)
        self.path = self._renewed  # ends `renew`

    def numbers(self) -> set[int]:
        """The notes with a vector."""
        return set(self._numbers[: self._count].tolist())

    def drop(self, numbers: Sequence[int]) -> None:
        """Rewrite the file without these notes."""
        rows = self._read()
        remaining = rows[~np.isin(rows["number"], np.array(numbers, "<u8"))]
        self._write_anew(remaining)
        self._load(remaining)

    def take(self, change: Point, changed: Sequence[Note]) -> None:
        """Embed the notes changed up to `change`, each once, and store the vectors."""
        if not changed:
            self.reached = change
            return
        vectors = self._embedder.embed([embedded_text(note) for note in changed], "passage")
        rows = np.zeros(len(changed), self._dtype)
        rows["number"] = [note.number for note in changed]
        # a batch of which the end is cut is taken again: only its last row names the change
        rows["change"], rows["mark"] = self.reached
        rows["change"][-1], rows["mark"][-1] = change
        rows["vector"] = vectors
        rows["crc"] = _checksums(rows)
        with os.fdopen(files.open_log(self.path), "ab") as file:
            file.write(rows.tobytes())
        self.reached = change
        self._put(rows["number"].astype(np.int64), rows["vector"])

    @property
    def is_older(self) -> bool:
        """Whether texts had an earlier form, and `renew` has work."""
        return self.path != self._renewed

    def renew(self, read: Callable[[Sequence[int]], Sequence[Note]], count: int) -> Iterator[None]:
        """Embed all notes again whose texts had an earlier form, `count` in each step, and replace
        the file; after a fault it goes on, after a kill it begins again. `read` returns notes by
        number.
        """
        if self._to_renew is None:
            self._to_renew = sorted(self.numbers())
        while self.is_older and self._to_renew:
            self.take(self.reached, read(self._to_renew[-count:]))
            del self._to_renew[-count:]
            yield
        if self.is_older:
            older, self.path = self.path, self._renewed
            rows = np.zeros(self._count, self._dtype)
            rows["number"], rows["vector"] = self._numbers[: self._count], self._matrix[: self._count]
            rows["change"], rows["mark"] = self.reached
            rows["crc"] = _checksums(rows)
            self._write_anew(rows)
            files.remove(older)

    def _put(self, numbers: Array, vectors: Array) -> None:
        self._cached_places.clear()
        if numbers.max() >= len(self._places):
            self._places = enlarge(self._places, 2 * int(numbers.max()) + 1, -1)
        new = numbers[self._places[numbers] < 0]
        if self._count + len(new) > len(self._matrix):
            room = max(ROOM, 2 * (self._count + len(new)))
            self._matrix, self._numbers = enlarge(self._matrix, room), enlarge(self._numbers, room)
        self._places[new] = np.arange(self._count, self._count + len(new))
        self._count += len(new)
        places = self._places[numbers]
        self._numbers[places], self._matrix[places] = numbers, vectors
        if self._sketch:
            self._sketch.put(places, vectors)
        elif self._count > self._exact_max:
            self._sketch = Sketch(self._matrix[: self._count])

    def cosines(
        self,
        wordings: Sequence[str],
        mask: Array,
        also: Iterable[int] = (),
        past_notes: Mapping[int, Note] | None = None,
    ) -> Cosines:
        """Cosines of the notes in the mask (bool [room]) to a query, the sum of its wordings: of
        all of them, or of many notes the nearest and those in `also`. Notes in `past_notes` count
        with their text there.
        """
        past_notes = {number: note for number, note in (past_notes or {}).items() if mask[number]}
        of_wordings = self._embedder.embed(wordings, "query").astype(np.float32)
        self._query_vectors = dict(zip(wordings, of_wordings, strict=True))
        vector = of_wordings.sum(axis=0)
        vector /= np.linalg.norm(vector) or 1.0
        if past_notes:
            mask = mask.copy()
            mask[list(past_notes)] = False
        places = self._masked_places(mask)
        among = len(places)
        if among <= self._exact_max or not self._sketch:
            values = spread = self._values(places, vector)
        else:
            spread = products(vector.astype(np.float16), self._sample_of(places))
            places = distinct((self._propose(self._sketch, places, vector), self._places_in(also, mask)))
            values = self._values(places, vector)
        if len(spread) < ENOUGH:
            spread = np.concatenate([spread, self._background() @ vector])
            among = len(spread)
        numbers, mean, deviation = self._numbers[places], float(spread.mean()), float(spread.std())
        if past_notes:
            texts = [embedded_text(note) for note in past_notes.values()]
            other = self._embedder.embed(texts, "passage") @ vector
            values = np.concatenate([values, other.astype(np.float32)])
            numbers = np.concatenate([numbers, np.fromiter(past_notes, np.int64, len(past_notes))])
        return Cosines(numbers, values, mean, deviation, among, self._reading.hit)

    def _masked_places(self, mask: Array) -> Array:
        """The indices of the notes in the mask, cached for the next query with the same mask."""
        for cached, places in self._cached_places:
            if cached is mask:
                return places
        places = np.flatnonzero(mask[self._numbers[: self._count]])
        if not mask.flags.writeable:
            self._cached_places = [(mask, places), *self._cached_places[:1]]
        return places

    def _sample_of(self, places: Array) -> Array:
        """Float16 [n, dimensions]: an even sample of these indices, cached for the next query."""
        if self._sampled is None or self._sampled[0] is not places:
            self._sampled = places, self._matrix[places[:: max(1, len(places) // SAMPLE)]]
        return self._sampled[1]

    def _propose(self, sketch: Sketch, places: Array, vector: Array) -> Array:
        """The indices of likely nearest vectors, unordered."""
        count = PROPOSED + len(places) // PROPOSED_EACH
        nearness = sketch.nearness(vector, self._count)
        return places[_greatest(nearness if len(places) == self._count else nearness[places], count)]

    def _places_in(self, numbers: Iterable[int], mask: Array) -> Array:
        """The indices of those notes that are in the mask and have a vector."""
        wanted = np.fromiter(numbers, np.int64)
        wanted = wanted[mask[wanted] & (wanted < len(self._places))]
        return self._places[wanted[self._places[wanted] >= 0]]

    def _background(self) -> Array:
        """Float32 [n, dimensions]: unrelated notes."""
        if self._others is None:
            self._others = self._embedder.embed(BACKGROUND, "passage").astype(np.float32)
        return self._others

    def related(self, count: int, known_share: float) -> float:
        """The cosine from which on one of `count` notes is about a query: that of the nearest of
        unrelated texts by chance, by this embedder, less the share of the query's words that notes
        contain (`known_share`). A missing note harms more than one too many.
        """
        mean, deviation = self._scale()
        chance = NormalDist().inv_cdf(1 - 1 / min(max(2, count), CHANCE_NOTES))
        reading = self._reading
        return mean + (chance + reading.related - reading.familiar * known_share) * deviation

    def _scale(self) -> tuple[float, float]:
        """Mean and deviation of the cosines between unrelated notes."""
        if self._unrelated is None:
            vectors = self._background()
            cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
            self._unrelated = float(cosines.mean()), float(cosines.std())
        return self._unrelated

    def likenesses(self, numbers: Sequence[int], others: Sequence[int]) -> Array:
        """float32 [numbers, others]: the cosines between notes, in deviations above the mean of
        unrelated notes.
        """
        mean, deviation = self._scale()
        return (self.against(numbers, others) - mean) / (deviation or 1.0)

    def likenesses_to(self, text: str, numbers: Sequence[int]) -> Array:
        """float32 [n]: the same between a text and notes."""
        mean, deviation = self._scale()
        vector = self._query_vectors.get(text)
        if vector is None:
            vector = self._embedder.embed([text], "query")[0].astype(np.float32)
        return (self._vectors(numbers) @ vector - mean) / (deviation or 1.0)

    def nearest(self, query: str, limit: int, *, exact: bool) -> list[int]:
        """The notes nearest to a text: by all vectors, or by the proposed ones only."""
        vector = self._embedder.embed([query], "query")[0].astype(np.float32)
        rows = np.arange(self._count)
        if not exact and self._sketch:
            rows = self._propose(self._sketch, rows, vector)
        best = np.argsort(-self._values(rows, vector), kind="stable")[:limit]
        numbers: list[int] = self._numbers[rows[best]].tolist()
        return numbers

    def near(self, number: int, mask: Array, limit: int) -> list[tuple[int, float]]:
        """The notes of the mask (bool [room]) nearest to a note, each with its cosine; without
        itself, and empty for a note without a vector.
        """
        own_place = self._places_in((number,), mask)
        if not len(own_place):
            return []
        vector, places = self._matrix[own_place[0]].astype(np.float32), self._masked_places(mask)
        if self._sketch and len(places) > self._exact_max:
            places = self._propose(self._sketch, places, vector)
        values = self._values(places, vector)
        best = _greatest(values, limit + 1)
        places, values = places[best], values[best]
        order = np.lexsort((self._numbers[places], -values))
        pairs = zip(self._numbers[places[order]].tolist(), values[order].tolist(), strict=True)
        return [(other, value) for other, value in pairs if other != number][:limit]

    def likeness(self, text: str, other: str) -> float:
        """The cosine of two texts."""
        first, second = self._embedder.embed([text, other], "passage").astype(np.float32)
        return float(first @ second)

    def against(self, numbers: Sequence[int], others: Sequence[int]) -> Array:
        """float32 [numbers, others]: the cosines between notes, 0 where one has no vector."""
        first, second = (self._vectors(group) for group in (numbers, others))
        return first @ second.T

    def _vectors(self, numbers: Sequence[int]) -> Array:
        wanted = np.array(numbers, np.int64)
        in_bounds = wanted < len(self._places)
        places = np.where(in_bounds, self._places[np.where(in_bounds, wanted, 0)], -1)
        vectors = self._matrix[places].astype(np.float32)
        vectors[places < 0] = 0
        return vectors

    def _values(self, rows: Array, vector: Array) -> Array:
        """The cosines of the rows at these indices."""
        query = vector.astype(np.float16)
        if SELECTIVE * len(rows) > self._count:
            return products(query, self._matrix[: self._count])[rows]
        parts = [products(query, self._matrix[rows[at : at + SLICE]]) for at in range(0, len(rows), SLICE)]
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def _read(self) -> Array:
        try:
            with files.open_ours(self.path) as file:
                raw = file.read()
        except OSError:
            return np.zeros(0, self._dtype)
        row_count = len(raw) // self._dtype.itemsize
        rows = np.frombuffer(raw, self._dtype, row_count)
        damaged = np.flatnonzero(rows["crc"] != _checksums(rows))
        good = int(damaged[0]) if len(damaged) else row_count
        if good * self._dtype.itemsize < len(raw):
            self._write_anew(rows[:good])
        return rows[:good]

    def _write_anew(self, rows: Array) -> None:
        files.replace(self.path, rows.tobytes())


def distinct(numbers: Sequence[Array]) -> Array:
    """All numbers in order, each once; for thousands, ten times as fast as numpy.unique, which
    hashes.
    """
    ordered = np.sort(np.concatenate(numbers))
    is_first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def _greatest(values: Array, count: int) -> Array:
    """The indices of the greatest values. A partition of a million takes 10 ms, a comparison with a
    bound from a sample 1.
    """
    step = max(1, len(values) // (8 * SAMPLE))
    sample = values[::step]
    likely = min(len(sample), 2 * count // step + 1)
    places = np.flatnonzero(values >= np.partition(sample, len(sample) - likely)[len(sample) - likely])
    if len(places) < count:
        places = np.arange(len(values))
    best = np.argpartition(-values[places], count)[:count] if len(places) > count else slice(None)
    return places[best]


def _checksums(rows: Array) -> Array:
    """uint32 [n] over number, change and vector of each row."""
    raw, size = rows.view(np.uint8).data, rows.dtype.itemsize  # without a copy, which would be as large
    fields: dict[str, Any] = dict(rows.dtype.fields or {})
    crc_at, vector = fields["crc"][1], fields["vector"][1]
    return np.fromiter(
        (
            zlib.crc32(raw[at + vector : at + size], zlib.crc32(raw[at : at + crc_at]))
            for at in range(0, len(raw), size)
        ),
        np.uint32,
        len(rows),
    )
