"""Vectors quantized to a byte per number, which select the rows that may be among the nearest. The
error of an estimated cosine has a known bound, so no near row is missed; float16 decides.

A scan of 100 000 rows of 384 dimensions takes 3 ms, with float16 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cortex.generation.segments.segment import Segment
from cortex.system.arrays import Array
from cortex.system.dot_products import products
from cortex.system.process import allocator

#: the quantized value of a vector's greatest number
GREATEST = 127
#: vectors that are quantized at once: they stay in the second-level cache
BLOCK = 256


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The quantized vectors of a segment. A row is its numbers times its scale, give or take a
    vector no longer than `error`.
    """

    segment: Segment
    numbers: Array  #: int8 [rows, dimensions]
    scales: Array  #: float32 [rows]
    error: float


class QuantizedVectors:
    """The tables of a generation's segments, each made on first use: 1.3 µs a row."""

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
        tables = self.make_tables(which)
        (query,), (scale,) = quantize(vector[None])
        off = float(np.linalg.norm(vector - query * scale))
        parts = [
            products(query, table.numbers) * (table.scales * scale) for table in tables if len(table.numbers)
        ]
        cosines = np.concatenate(parts) if parts else np.zeros(0, np.float32)
        return cosines, max((table.error for table in tables), default=0.0) + off


def make_table(segment: Segment) -> Table:
    """Make the table of a segment, without keeping its vectors in memory. The table itself is set
    aside in a file beside the segment, and is mapped again by the next search.
    """
    vectors = segment.arrays["vectors"]
    numbers, scales = np.empty(vectors.shape, np.int8), np.empty(len(vectors), np.float32)
    error = 0.0
    for at in range(0, len(vectors), BLOCK):
        some = vectors[at : at + BLOCK].astype(np.float32)
        quantized, worth = quantize(some)
        numbers[at : at + BLOCK], scales[at : at + BLOCK] = quantized, worth
        some -= quantized * worth[:, None]
        error = max(error, float(np.einsum("ij,ij->i", some, some).max()))
    segment.let_go()
    aside = allocator.put_aside(segment.path.parent, numbers.reshape(-1).view(np.uint8).data)
    numbers = np.frombuffer(aside, np.int8).reshape(numbers.shape)
    return Table(segment, numbers, scales, error**0.5)


def quantize(vectors: Array) -> tuple[Array, Array]:
    """Quantize vectors: (numbers, int8 [n, dimensions]; scale of each vector, float32 [n])."""
    greatest = np.maximum(vectors.max(axis=1), -vectors.min(axis=1))
    scales = np.where(greatest > 0, greatest, 1.0).astype(np.float32) / GREATEST
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales
