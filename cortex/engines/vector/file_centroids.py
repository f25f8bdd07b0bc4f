"""What files are about: a chunk is nearer to a question when the rest of its file is. Pure over
Rows.
"""

from __future__ import annotations

import numpy as np

from cortex.generation.read import Rows
from cortex.system.arrays import Array

#: what the middle of its file adds to a chunk's vector, which is of unit length as it is
SHARE = 0.75
#: files whose middle is remembered, 1.5 KB each with 384 dimensions
FILES_MAX = 4096


class FileCentroids:
    """The mean vector of each file, of unit length, made when it is first asked for: there is no
    table of them. Frozen; the caches hold derived values only.
    """

    def __init__(self, rows: Rows, usable: Array) -> None:
        """`usable`: bool [rows], those with a vector of the model that is asked with."""
        self._rows, self._usable = rows, usable
        self._centroids: dict[int, Array] = {}
        #: of each row with SHARE of the middle of its file; NaN until it is asked for
        self._lengths = np.full(len(rows), np.nan, np.float32)

    def __len__(self) -> int:
        """How many are remembered."""
        return len(self._centroids)

    def cosines(self, query: Array, ordinals: Array, cosines: Array) -> Array:
        """float32 [n]: of `query` (float32 of unit length) with each of the rows at `ordinals`
        plus SHARE of the middle of its file; `cosines` are those with the rows alone.
        """
        if not len(ordinals):
            return np.zeros(0, np.float32)
        files, place = np.unique(self._rows.columns["path"][ordinals], return_inverse=True)
        centroids = self._get_centroids(files.tolist())
        if (new := np.isnan(self._lengths[ordinals])).any():
            vectors = _unit(self._rows.vectors(ordinals[new]).astype(np.float32))
            lengths = np.linalg.norm(vectors + SHARE * centroids[place[new]], axis=1)
            self._lengths[ordinals[new]] = np.where(lengths > 0, lengths, 1)
        near: Array = (cosines + SHARE * (centroids @ query)[place]) / self._lengths[ordinals]
        return near

    def _get_centroids(self, files: list[int]) -> Array:
        """float32 [files, dimensions], 0 for what has no file; new ones are remembered."""
        new = [file for file in files if file not in self._centroids]
        if len(self._centroids) + len(new) > FILES_MAX:
            self._centroids.clear()
            new = files
        if new:
            self._centroids.update(zip(new, self._compute_centroids(new), strict=True))
        return np.stack([self._centroids[file] for file in files])

    def _compute_centroids(self, files: list[int]) -> Array:
        """As `_middles`, of the chunks that hold each line of a file once. All vectors are read at
        once: they may lie on a server.
        """
        none = np.zeros(0, np.int64)
        lines = (self._rows.lines_of(file) if self._rows.path_names[file] else none for file in files)
        row_lists = [file_rows[self._usable[file_rows]] for file_rows in lines]
        vectors = _unit(self._rows.vectors(np.concatenate(row_lists)).astype(np.float32))
        parts = np.split(vectors, np.cumsum([len(file_rows) for file_rows in row_lists])[:-1])
        return _unit(np.stack([file_vectors.sum(axis=0) for file_vectors in parts]))


def _unit(vectors: Array) -> Array:
    """Each of them of unit length, but one without any."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Array = vectors / np.where(lengths > 0, lengths, 1)
    return unit
