"""Mean vectors of files: a chunk is nearer to a question when its file is. Pure over Rows."""

import numpy as np

from cortex.generation.read import Rows
from cortex.system.arrays import Array

#: weight of a file's centroid when added to a chunk's vector of unit length
SHARE = 0.75
#: files in the cache of centroids, 1.5 KB each with 384 dimensions
FILES_MAX = 4096


class FileCentroids:
    """The mean vector of each file, of unit length, computed on first use. Frozen; the caches hold
    derived values only.
    """

    def __init__(self, rows: Rows, usable: Array) -> None:
        """`usable`: bool [rows], rows with a vector of the question's model."""
        self._rows, self._usable = rows, usable
        self._centroids: dict[int, Array] = {}
        #: length of each row's vector plus SHARE of its file's centroid; NaN until computed
        self._lengths = np.full(len(rows), np.nan, np.float32)

    def __len__(self) -> int:
        """The number of cached centroids."""
        return len(self._centroids)

    def cosines(self, query: Array, ordinals: Array, cosines: Array) -> Array:
        """Cosines of `query` (float32 of unit length) with each row of `ordinals` plus SHARE of its
        file's centroid, float32 [n]. `cosines` are those with the rows alone.
        """
        if not len(ordinals):
            return np.zeros(0, np.float32)
        files, place = np.unique(self._rows.columns["path"][ordinals], return_inverse=True)
        centroids = self._get_centroids(files.tolist())
        if (new := np.isnan(self._lengths[ordinals])).any():
            vectors = _unit(self._rows.vectors(ordinals[new]).astype(np.float32))
            lengths = np.linalg.norm(vectors + SHARE * centroids[place[new]], axis=1)
            self._lengths[ordinals[new]] = np.where(lengths > 0, lengths, 1)
        return (cosines + SHARE * (centroids @ query)[place]) / self._lengths[ordinals]

    def _get_centroids(self, files: list[int]) -> Array:
        """Centroids, float32 [files, dimensions], 0 for rows without a file; new ones are
        cached.
        """
        new = [file for file in files if file not in self._centroids]
        if len(self._centroids) + len(new) > FILES_MAX:
            self._centroids.clear()
            new = files
        if new:
            self._centroids.update(zip(new, self._compute_centroids(new), strict=True))
        return np.stack([self._centroids[file] for file in files])

    def _compute_centroids(self, files: list[int]) -> Array:
        """Centroids of the files, each from the chunks that cover its lines once. One read fetches
        all vectors: they may be on a server.
        """
        none = np.zeros(0, np.int64)
        lines = (self._rows.lines_of(file) if self._rows.path_names[file] else none for file in files)
        row_lists = [file_rows[self._usable[file_rows]] for file_rows in lines]
        vectors = _unit(self._rows.vectors(np.concatenate(row_lists)).astype(np.float32))
        parts = np.split(vectors, np.cumsum([len(file_rows) for file_rows in row_lists])[:-1])
        return _unit(np.stack([file_vectors.sum(axis=0) for file_vectors in parts]))


def _unit(vectors: Array) -> Array:
    """Scale each vector to unit length; a zero vector stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)
