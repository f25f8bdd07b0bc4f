"""The rows of a generation that are nearest to a question, by a search in Milvus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cortex.engines.milvus.searches import Asking
from cortex.engines.vector.usearch import Kept, VectorSnapshot
from cortex.system.arrays import Array
from ipc.messages import Filters

#: rows by which the mean and the deviation of all cosines are told: all where there are no more,
#: else always the same ones. The mean of so many is off by a forty-fifth of the deviation
SAMPLE_ROWS = 2048
#: spreads row keys, which are handed out in order: the golden ratio of 2^64
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Nearest(VectorSnapshot):
    """See `VectorSnapshot`; Milvus finds and scores."""

    asking: Asking | None = None

    def _kept(self, filters: Filters, model: str) -> Kept:
        usable = self._usable(model)
        mask = self.rows.mask(filters) & usable
        ordinals = np.flatnonzero(mask)
        spread = self.rows.keys[ordinals] * _SPREAD
        sample = self.rows.vectors(ordinals[np.argsort(spread, kind="stable")[:SAMPLE_ROWS]])
        return Kept(int(np.count_nonzero(usable)), mask, ordinals, ordinals[:0], sample)

    def _is_walked(self, matching: int) -> bool:
        return matching > 0

    def _walk(self, query: Array, kept: Kept, wanted: int) -> tuple[Array, Array, dict[str, float]] | None:
        assert self.asking is not None
        ordinals, scores = self.asking.best("vector", query, kept.mask, wanted, vectors=True)
        cosines = kept.sample.astype(np.float32) @ query
        stats = {"cosine_mean": float(cosines.mean()), "cosine_std": float(cosines.std())}
        return ordinals, scores, stats
