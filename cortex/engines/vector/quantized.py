"""Vectors quantized to a byte per number, which select the rows that may be among the nearest. The
error of an estimated cosine has a known bound, so no near row is missed; float16 decides.

usearch's exact search compares all rows of a segment, and returns the nearest without the rest.
The mean and the deviation of all cosines come from moments, the sums of vectors and of their outer
products. With a filter the cosines of all rows are estimated: 100 000 rows of 384 dimensions take
2 ms.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cortex.generation.segments.segment import Segment
from cortex.system.arrays import Array, set_aside
from cortex.system.dot_products import products

#: the quantized value of a vector's greatest number
GREATEST = 127
#: vectors that are quantized at once: they stay in the second-level cache
BLOCK = 256
#: nearest rows that usearch first returns of a segment, at least, and for each wanted row
NEIGHBOURS, NEIGHBOURS_PER_ROW = 128, 2


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The quantized vectors of a segment. A row is its numbers times the scale, give or take a
    vector no longer than `error`.
    """

    segment: Segment
    numbers: Array  #: int8 [rows, dimensions]
    scale: float
    error: float
    moments: Array  #: float32 [1 + dimensions, dimensions], see `sum_moments`


@dataclass(frozen=True, slots=True)
class QuantizedQuery:
    """A query of unit length as bytes: `numbers` (int8 [dimensions]) times `scale`, give or take a
    vector no longer than `error`.
    """

    numbers: Array
    scale: float
    error: float


class QuantizedVectors:
    """The tables of a generation's segments, each made on first use: 4 µs a row."""

    def __init__(self, segments: Sequence[Segment], reuse: QuantizedVectors | None = None) -> None:
        """`reuse`: those of another generation, whose tables of common segments are shared."""
        shared_tables = {id(table.segment): table for table in reuse.tables if table} if reuse else {}
        self._segments = tuple(segments)
        self.tables: list[Table | None] = [shared_tables.get(id(segment)) for segment in segments]

    def make_tables(self, which: Sequence[int] | None = None) -> list[Table]:
        """The tables of the segments `which`, or of all."""
        out = []
        for at in range(len(self.tables)) if which is None else which:
            table = self.tables[at] = self.tables[at] or make_table(self._segments[at])
            out.append(table)
        return out

    def estimate_cosines(self, vector: Array, which: Sequence[int]) -> tuple[Array, float]:
        """(estimated cosine of each row of the segments `which`, in order, with `vector` (float32
        of unit length), float32 [rows]; the greatest error of one).
        """
        query, tables = quantize_query(vector), self.make_tables(which)
        parts = [
            products(query.numbers, table.numbers) * np.float32(table.scale * query.scale)
            for table in tables
            if len(table.numbers)
        ]
        cosines = np.concatenate(parts) if parts else np.zeros(0, np.float32)
        return cosines, max((table.error for table in tables), default=0.0) + query.error

    def propose(self, query: QuantizedQuery, wanted: int, mask: Array | None) -> Array:
        """The ordinals, ascending, of the rows that may be among the `wanted` nearest or tie with
        them. `mask`: bool [rows], the rows that may be returned; None for all.
        """
        tables = self.make_tables()
        starts = np.cumsum([0, *(len(table.numbers) for table in tables)]).tolist()
        counts = [max(NEIGHBOURS, NEIGHBOURS_PER_ROW * wanted)] * len(tables)
        nearest: list[tuple[Array, Array]] = [(np.zeros(0, np.int64), np.zeros(0, np.float32))] * len(tables)
        lowest = [-np.inf] * len(tables)  # estimate of the last row that usearch returned, if more remain
        # A row whose estimate is too low by the error may be nearer than one whose estimate is too
        # high by it.
        band = 2 * (max((table.error for table in tables), default=0.0) + query.error)
        pending = [at for at, table in enumerate(tables) if len(table.numbers)]
        cut = -np.inf
        while pending:
            for at in pending:
                rows, cosines = _search(tables[at], query, counts[at])
                lowest[at] = float(cosines[-1]) if len(rows) < len(tables[at].numbers) else -np.inf
                rows += starts[at]
                if mask is not None:
                    live = mask[rows]
                    rows, cosines = rows[live], cosines[live]
                nearest[at] = rows, cosines
            estimates = np.concatenate([cosines for _, cosines in nearest])
            if len(estimates) >= wanted:
                cut = float(np.partition(estimates, len(estimates) - wanted)[len(estimates) - wanted]) - band
            pending = [at for at, last in enumerate(lowest) if last > -np.inf and last >= cut]
            for at in pending:
                counts[at] *= 2
        parts = [rows[cosines >= cut] for rows, cosines in nearest]
        return np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int64)

    def sum_moments(self, absent: Array) -> Array:
        """The moments (`sum_moments`) of all rows but those with the vectors `absent` (float16 [n,
        dimensions]).
        """
        total = sum((table.moments for table in self.make_tables()), np.float32(0))
        return np.asarray(total - sum_moments(absent))


def _search(table: Table, query: QuantizedQuery, count: int) -> tuple[Array, Array]:
    """The `count` nearest rows of `table` (int64), nearest first, and their estimated cosines."""
    keys, distances, *_ = exact_search()(table.numbers, query.numbers[None], min(count, len(table.numbers)))
    cosines = (1 - distances[0]) * np.float32(table.scale * query.scale)
    return keys[0].astype(np.int64), cosines


@functools.cache
def exact_search() -> Callable[..., Any]:
    """Usearch's exact search by inner product in this thread: (rows, queries, count) → (keys,
    distances, …). `usearch.index.search` calls the same function, in .02 ms more.
    """
    # 9 MB and 50 ms, needed by the vector worker alone
    from usearch.compiled import MetricKind, MetricSignature
    from usearch.compiled import exact_search as search

    signature = MetricSignature.ArrayArraySize
    return functools.partial(search, threads=1, metric_kind=MetricKind.IP, metric_signature=signature)


def make_table(segment: Segment) -> Table:
    """Make the table of a segment, without keeping its vectors in memory. The table itself is set
    aside in files beside the segment, and is mapped pending by the next search.
    """
    vectors = segment.arrays["vectors"]
    greatest = max((float(np.abs(block).max(initial=0)) for block in _blocks(vectors)), default=0.0)
    scale = (greatest or 1.0) / GREATEST
    numbers, error = np.empty(vectors.shape, np.int8), 0.0
    for at, some in enumerate(_blocks(vectors)):
        quantized = numbers[at * BLOCK : (at + 1) * BLOCK]
        quantized[:] = np.rint(some / np.float32(scale))
        rest = some - quantized * np.float32(scale)
        error = max(error, float(np.einsum("ij,ij->i", rest, rest).max()))
    moments = sum_moments(vectors)
    segment.let_go()
    numbers, moments = (set_aside(segment.path.parent, array) for array in (numbers, moments))
    return Table(segment, numbers, scale, error**0.5, moments)


def _blocks(vectors: Array) -> Iterator[Array]:
    """Yield the vectors as float32, BLOCK at a time."""
    for at in range(0, len(vectors), BLOCK):
        yield vectors[at : at + BLOCK].astype(np.float32)


def sum_moments(vectors: Array) -> Array:
    """The sum of `vectors` [n, dimensions], and below it the sum of their outer products: float32
    [1 + dimensions, dimensions].
    """
    dimensions = vectors.shape[1]
    total = np.zeros((1 + dimensions, dimensions))
    for some in _blocks(vectors):
        total[0] += some.sum(axis=0)
        total[1:] += some.T @ some
    return total.astype(np.float32)


def spread(moments: Array, count: int, query: QuantizedQuery) -> tuple[float, float]:
    """(mean, deviation) of the cosines of `query` with `count` rows of these moments."""
    vector = query.numbers * np.float32(query.scale)
    mean = float(moments[0] @ vector) / count
    square = float(vector @ (moments[1:] @ vector)) / count
    return mean, max(0.0, square - mean * mean) ** 0.5


def quantize_query(vector: Array) -> QuantizedQuery:
    """`vector` is float32 of unit length."""
    (numbers,), (scale,) = quantize(vector[None])
    return QuantizedQuery(numbers, float(scale), float(np.linalg.norm(vector - numbers * scale)))


def quantize(vectors: Array) -> tuple[Array, Array]:
    """Quantize vectors, each by its own scale: (numbers, int8 [n, dimensions]; scales, float32
    [n]).
    """
    greatest = np.maximum(vectors.max(axis=1), -vectors.min(axis=1))
    scales = np.where(greatest > 0, greatest, 1.0).astype(np.float32) / GREATEST
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales
