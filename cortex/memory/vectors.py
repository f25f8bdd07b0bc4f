"""The vectors of notes: one file of rows that only grows, and the same rows in memory. Follows the
changes of the store; can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cortex.embedders import Embedder
from cortex.memory.background import BACKGROUND
from cortex.memory.note import Note
from cortex.memory.text import embedded_text
from cortex.system import files
from ipc.arrays import Array

#: share of rows that are of no use any more from which on the file is written anew
STALE_SHARE = 0.5
#: cosines from which on their own mean and deviation say how much one of them means
ENOUGH = 200
#: vectors up to which each is compared; of more, signs propose this many at least, or one in so
#: many, and the vectors decide: of 25 000 made texts 500 hold .77 of the ten nearest, one in six
#: .98
EXACT_MAX, PROPOSED, PROPOSED_OF = 20_000, 500, 6
#: of many vectors, those that mean and deviation are taken from; vectors compared at once (1.5 MB)
SAMPLE, SLICE = 2_000, 1_000
#: of a float32: the bits that a float16 fills when it is moved there, and what is then missing: the
#: exponents are counted from 15 in the one and from 127 in the other
_SIGN_AND_NUMBER, _BIAS = np.int32(0x0FFFE000 - (1 << 31)), np.float32(2.0**112)


@dataclass(frozen=True, slots=True)
class Cosines:
    """Notes by number (int64 [n]), the cosine of each (float32 [n]); mean and standard deviation of
    all that were asked, and, where these are few, of notes about other things; how many all are.
    """

    numbers: Array
    values: Array
    mean: float
    deviation: float
    among: int


class Vectors:
    """`reached`: the change that everything up to is in here.

    A row of the file is note, change, checksum and vector; the last row of a note counts. Rows of a
    file that was cut or damaged end where they cannot be read.
    """

    def __init__(self, folder: Path, embedder: Embedder, exact_max: int = EXACT_MAX) -> None:
        self._embedder = embedder
        self._exact_max = exact_max
        self._others: Array | None = None
        files.make_private(folder)
        self._dtype = np.dtype(
            [("number", "<u8"), ("change", "<u8"), ("crc", "<u4"), ("vector", "<f2", embedder.dimensions)]
        )
        name = "".join(c if c.isalnum() else "-" for c in embedder.identity)
        self._path = folder / f"{name}.rows"
        self.reached = 0
        self._load(self._read())

    def _load(self, rows: Array) -> None:
        self.reached = max(self.reached, int(rows["change"].max()) if len(rows) else 0)
        last = {int(number): at for at, number in enumerate(rows["number"])}
        self._at = {number: at for at, number in enumerate(last)}
        self._numbers = np.array(list(last), "<u8")
        vectors = rows["vector"][list(last.values())]
        self._matrix = np.ascontiguousarray(
            vectors, np.float32 if len(last) <= self._exact_max else np.float16
        )
        self._signs = _signs(vectors)
        if len(last) < (1 - STALE_SHARE) * len(rows):
            self._write_anew(rows[sorted(last.values())])

    def delete(self) -> None:
        """Remove its file; it is of no use any more."""
        with contextlib.suppress(FileNotFoundError):
            files.remove(self._path)

    def numbers(self) -> set[int]:
        """The notes that it has a vector of."""
        return set(self._at)

    def drop(self, numbers: Sequence[int]) -> None:
        """Write the file anew without these notes."""
        rows = self._read()
        kept = rows[~np.isin(rows["number"], np.array(numbers, "<u8"))]
        self._write_anew(kept)
        self._load(kept)

    def take(self, change: int, changed: Sequence[Note]) -> None:
        """Embed what changed until `change`, and keep it."""
        self.reached = change
        if not changed:
            return
        vectors = self._embedder.embed([embedded_text(note) for note in changed], "passage")
        rows = np.zeros(len(changed), self._dtype)
        rows["number"] = [note.number for note in changed]
        rows["change"] = change
        rows["vector"] = vectors
        rows["crc"] = _checksums(rows)
        with os.fdopen(files.open_log(self._path), "ab") as file:
            file.write(rows.tobytes())
        signs = _signs(rows["vector"])
        for row, bits in zip(rows, signs.T, strict=True):
            at = self._at.setdefault(int(row["number"]), len(self._at))
            if at == len(self._matrix):
                self._make_room()
            self._matrix[at], self._numbers[at] = row["vector"], row["number"]
            self._signs[:, at] = bits

    def cosines(
        self, query: str, mask: Array, also: Iterable[int] = (), then: Mapping[int, Note] | None = None
    ) -> Cosines:
        """How near notes of the mask (bool [room]) are to the question: all of them, or of many the
        nearest and those of `also`. The notes of `then` by what they say there.
        """
        then = then or {}
        vector = self._embedder.embed([query], "query")[0].astype(np.float32)
        kept = np.flatnonzero(mask[self._numbers[: len(self._at)]])
        kept = kept[~np.isin(self._numbers[kept], np.array(list(then), "<u8"))] if then else kept
        among = len(kept)
        values = spread = np.zeros(0, np.float32)
        if len(kept) <= self._exact_max:
            values = spread = self._values(kept, vector)
        else:
            spread = self._values(kept[:: max(1, len(kept) // SAMPLE)], vector)
            rows = [self._at[number] for number in also if number in self._at and number not in then]
            known = np.array(rows, np.int64)
            compared = np.zeros(len(self._at), bool)
            compared[self._proposed(kept, vector)] = compared[known[mask[self._numbers[known]]]] = True
            kept = np.flatnonzero(compared)
            values = self._values(kept, vector)
        if len(spread) < ENOUGH:
            spread = np.concatenate([spread, self._background() @ vector])
            among = len(spread)
        told = [number for number in then if mask[number]]
        other = self._embedder.embed([embedded_text(then[number]) for number in told], "passage") @ vector
        return Cosines(
            np.concatenate([self._numbers[kept], np.array(told, "<u8")]).astype(np.int64),
            np.concatenate([values, other.astype(np.float32)]),
            float(spread.mean()),
            float(spread.std()),
            among,
        )

    def _background(self) -> Array:
        """Float32 [n, dimensions]: notes about other things."""
        if self._others is None:
            self._others = self._embedder.embed(BACKGROUND, "passage").astype(np.float32)
        return self._others

    def nearest(self, query: str, limit: int, *, exact: bool) -> list[int]:
        """The notes that are nearest to a text: by all vectors, or by those that signs propose."""
        vector = self._embedder.embed([query], "query")[0].astype(np.float32)
        rows = np.arange(len(self._at))
        rows = rows if exact else self._proposed(rows, vector)
        best = np.argsort(-self._values(rows, vector), kind="stable")[:limit]
        numbers: list[int] = self._numbers[rows[best]].tolist()
        return numbers

    def _values(self, rows: Array, vector: Array) -> Array:
        """The cosines of rows, in slices that stay in the processor's cache."""
        values = np.zeros(len(rows), np.float32)
        whole = len(rows) == len(self._at)
        for at in range(0, len(rows), SLICE):
            some = self._matrix[at : at + SLICE] if whole else self._matrix[rows[at : at + SLICE]]
            values[at : at + SLICE] = _products(some[: len(rows) - at], vector)
        return values

    def _proposed(self, rows: Array, vector: Array) -> Array:
        """The rows whose signs differ least from those of the vector."""
        far = np.zeros(len(rows), np.uint16)
        whole = len(rows) == len(self._at)
        for signs, asked in zip(self._signs, _signs(vector[None])[:, 0], strict=True):
            far += np.bitwise_count((signs[: len(rows)] if whole else signs[rows]) ^ asked)
        count = max(PROPOSED, len(rows) // PROPOSED_OF)
        nearest: Array = rows[np.argpartition(far, count)[:count]] if len(rows) > count else rows
        return nearest

    def _make_room(self) -> None:
        room = max(1024, 2 * len(self._matrix))
        kind = np.float32 if room <= 2 * self._exact_max else np.float16
        matrix, numbers = np.zeros((room, self._embedder.dimensions), kind), np.zeros(room, "<u8")
        signs = np.zeros((len(self._signs), room), np.uint64)
        count = len(self._matrix)
        matrix[:count], numbers[:count], signs[:, :count] = self._matrix, self._numbers, self._signs
        self._matrix, self._numbers, self._signs = matrix, numbers, signs

    def _read(self) -> Array:
        try:
            with files.open_ours(self._path) as file:
                raw = file.read()
        except OSError:
            return np.zeros(0, self._dtype)
        whole = len(raw) // self._dtype.itemsize
        rows = np.frombuffer(raw, self._dtype, whole)
        wrong = np.flatnonzero(rows["crc"] != _checksums(rows))
        good = int(wrong[0]) if len(wrong) else whole
        if good * self._dtype.itemsize < len(raw):
            self._write_anew(rows[:good])
        return rows[:good]

    def _write_anew(self, rows: Array) -> None:
        files.replace(self._path, rows.tobytes())


def _signs(vectors: Array) -> Array:
    """uint64 [dimensions / 64, n]: a bit for each number above 0."""
    above = vectors.view(np.int16) > 0 if vectors.dtype == np.float16 else vectors > 0  # ten times as fast
    bits = np.packbits(above, axis=1)
    whole = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8))).view(np.uint64)
    return np.ascontiguousarray(whole.T)


def _products(some: Array, vector: Array) -> Array:
    """float32 [n]: rows × vector. Rows of float16 take three times as long to be made float32 by
    NumPy as to have their bits moved to where float32 has them, 2**112 too small.
    """
    if some.dtype != np.float16:
        return np.asarray(some @ vector)
    bits = some.view(np.int16).astype(np.int32)  # with the sign in all the bits above
    bits <<= 13
    bits &= _SIGN_AND_NUMBER
    return np.asarray(bits.view(np.float32) @ (vector * _BIAS))


def _checksums(rows: Array) -> Array:
    """uint32 [n] over number, change and vector of each row."""
    raw, size = memoryview(rows.tobytes()), rows.dtype.itemsize
    fields: dict[str, Any] = dict(rows.dtype.fields or {})
    named, vector = fields["crc"][1], fields["vector"][1]
    return np.fromiter(
        (
            zlib.crc32(raw[at + vector : at + size], zlib.crc32(raw[at : at + named]))
            for at in range(0, len(raw), size)
        ),
        np.uint32,
        len(rows),
    )
