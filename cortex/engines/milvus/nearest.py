"""The rows of a generation nearest to a question, by a search in Milvus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cortex.engines.milvus.searches import RowSearcher
from cortex.engines.vector.usearch import FilteredRows, VectorSnapshot
from cortex.system.arrays import Array
from ipc.messages import Filters

#: rows in the sample for the mean and deviation of all cosines: all rows, or always the same ones.
#: The mean of so many is off by a forty-fifth of the deviation
SAMPLE_ROWS = 2048
#: spreads row keys, which are consecutive: 2^64 / golden ratio
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Nearest(VectorSnapshot):
    """See `VectorSnapshot`; Milvus searches and scores."""

    searcher: RowSearcher | None = None

    def _compute_filtered(self, filters: Filters, model: str) -> FilteredRows:
        usable = self._usable_rows(model)
        mask = self.rows.mask(filters) & usable
        ordinals = np.flatnonzero(mask)
        spread = self.rows.keys[ordinals] * _SPREAD
        sample = self.rows.vectors(ordinals[np.argsort(spread, kind="stable")[:SAMPLE_ROWS]])
        return FilteredRows(int(np.count_nonzero(usable)), mask, ordinals, ordinals[:0], sample)

    def _uses_index(self, matching: int) -> bool:
        return matching > 0

    def _search_index(
        self, query: Array, filtered: FilteredRows, wanted: int
    ) -> tuple[Array, Array, dict[str, float]] | None:
        assert self.searcher is not None
        ordinals, scores = self.searcher.best("vector", query, filtered.mask, wanted, vectors=True)
        cosines = filtered.sample.astype(np.float32) @ query
        stats = {"cosine_mean": float(cosines.mean()), "cosine_std": float(cosines.std())}
        return ordinals, scores, stats
