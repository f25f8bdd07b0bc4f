"""Vectors told shortly: turned so that their first numbers differ most from note to note, and of
these a byte each. All of them are looked at, to propose the few that are compared.

Of 100 000 made texts, which are nearly all as far from a question, the hundredth part that is
proposed so holds .995 of the ten nearest; of a million, the two-hundredth .998. A byte for each
number takes twice as long, and a bit for each finds .85 of them.
"""

from __future__ import annotations

import numpy as np

from cortex.system.arrays import Array
from cortex.system.dot_products import products

#: what the greatest number of a vector becomes, and how many of its numbers are told
GREATEST, DIMENSIONS = 127, 128
#: vectors that are told at once: so many are looked at in 0.1 ms
BLOCK = 8_192
#: vectors by which it is decided how all are turned
SAMPLE = 2_000


class Sketch:
    """Vectors by place, from 0 on."""

    def __init__(self, vectors: Array) -> None:
        """`vectors`: float16 or float32 [n, dimensions]."""
        self._axes = _axes(vectors[:: max(1, len(vectors) // SAMPLE)])
        self._rows = np.zeros((len(vectors), self._axes.shape[1]), np.int8)
        self._scales = np.zeros(len(vectors), np.float32)
        for at in range(0, len(vectors), BLOCK):
            block = vectors[at : at + BLOCK]
            self.put(np.arange(at, at + len(block)), block)

    def put(self, places: Array, vectors: Array) -> None:
        """Put vectors to these places."""
        room, needed = len(self._rows), int(places.max()) + 1
        if needed > room:
            self._rows, self._scales = (
                enlarge(array, max(needed, 2 * room)) for array in (self._rows, self._scales)
            )
        self._rows[places], self._scales[places] = _bytes(vectors.astype(np.float32) @ self._axes)

    def nearness(self, vector: Array, count: int) -> Array:
        """By what the first `count` are told to be near to a vector (float32 [count]): about the
        cosine, less what all have of it.
        """
        (query,), _ = _bytes((vector.astype(np.float32) @ self._axes)[None])
        scores: Array = products(query, self._rows[:count]) * self._scales[:count]
        return scores


def enlarge(array: Array, room: int, fill: int = 0) -> Array:
    """The same with room for so many, the new ones filled."""
    shape = (room, *array.shape[1:])  # of zeros the system gives memory when it is written
    larger: Array = np.full(shape, fill, array.dtype) if fill else np.zeros(shape, array.dtype)
    larger[: len(array)] = array
    return larger


def _axes(vectors: Array) -> Array:
    """float32 [dimensions, told]: the directions in which vectors differ most."""
    sample = vectors.astype(np.float32)
    sample -= sample.mean(axis=0)
    _, axes = np.linalg.eigh(sample.T @ sample)
    leading: Array = np.ascontiguousarray(axes[:, ::-1][:, :DIMENSIONS])
    return leading


def _bytes(vectors: Array) -> tuple[Array, Array]:
    """(int8 [n, dimensions], float32 [n]: what a number of each is worth)."""
    greatest = np.abs(vectors).max(axis=1)
    scales = np.where(greatest > 0, greatest, 1.0).astype(np.float32) / GREATEST
    return np.rint(vectors / scales[:, None]).astype(np.int8), scales
