"""Vectors in a byte for each number, all of which are looked at to propose the few that are
compared.

A byte tells more than it costs: of 4 400 made texts, which are nearly all as far from a question,
the hundredth part that bytes propose holds all of the ten nearest; one in six that a bit for each
number proposes holds .97 of them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise

import numkong
import numpy as np

from cortex.system.cores import count_cores
from ipc.arrays import Array

#: what the greatest number of a vector becomes
GREATEST = 127
#: vectors that are made bytes at once (1.5 MB of 384 numbers)
SLICE = 1_000
#: vectors of which each thread compares so many at least, 2 ms: to wake a thread takes 0.1, on a
#: busy machine its turn
SHARE = 50_000


class Sketch:
    """Vectors by place, from 0 on."""

    def __init__(self, vectors: Array) -> None:
        """`vectors`: float16 or float32 [n, dimensions]."""
        self._rows = np.zeros(vectors.shape, np.int8)
        self._scales = np.zeros(len(vectors), np.float32)
        for at in range(0, len(vectors), SLICE):
            some = vectors[at : at + SLICE]
            self.put(np.arange(at, at + len(some)), some)

    def put(self, places: Array, vectors: Array) -> None:
        """Put vectors to these places."""
        room, needed = len(self._rows), int(places.max()) + 1
        if needed > room:
            self._rows, self._scales = (
                grown(array, max(needed, 2 * room)) for array in (self._rows, self._scales)
            )
        self._rows[places], self._scales[places] = _bytes(vectors)

    def cosines(self, vector: Array, count: int) -> Array:
        """About the cosine of a vector with each of the first `count` (float32 [count])."""
        asked, scale = _bytes(vector[None])
        parts = max(1, min(count_cores(), count // SHARE))
        bounds = [count * part // parts for part in range(parts + 1)]
        spans = [self._rows[first:end] for first, end in pairwise(bounds)]
        compare = map if parts == 1 else _threads().map
        values = np.concatenate(list(compare(lambda span: _products(asked, span), spans)))
        values *= self._scales[:count]
        values *= scale[0]
        return values


def grown(array: Array, room: int, fill: int = 0) -> Array:
    """The same with room for so many, the new ones filled."""
    shape = (room, *array.shape[1:])  # of zeros the system gives memory when it is written
    larger: Array = np.full(shape, fill, array.dtype) if fill else np.zeros(shape, array.dtype)
    larger[: len(array)] = array
    return larger


@cache
def _threads() -> ThreadPoolExecutor:
    """What compares in parallel; the processor's work is done without the interpreter's lock."""
    return ThreadPoolExecutor(count_cores(), "sketch")


def _products(asked: Array, rows: Array) -> Array:
    return np.asarray(numkong.cdist(asked, rows, metric="dot"), np.float32).ravel()


def _bytes(vectors: Array) -> tuple[Array, Array]:
    """(int8 [n, dimensions], float32 [n]: what a number of each is worth)."""
    told = vectors.astype(np.float32)
    greatest = np.abs(told).max(axis=1)
    scales = np.where(greatest > 0, greatest, 1.0).astype(np.float32) / GREATEST
    return np.rint(told / scales[:, None]).astype(np.int8), scales
