"""Searches in Milvus over the rows of one generation; results are ordinals of its rows."""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cortex.engines.milvus.rows import RemoteRows
from cortex.engines.milvus.scope import quoted
from cortex.engines.milvus.storage.collection import HITS_MAX, Collection
from cortex.system.arrays import Array
from cortex.system.errors import NotReady

#: share of the rows from which on a mask is applied to hits, not sent to Milvus
MASK_SHARE = 0.2
#: keys in one filter. When more rows pass, hits are fetched until enough pass; at the bound of
#: Milvus the keys are divided among several filters
NAMED_MAX = 2_000
#: the same for milvus-lite when keys are strings, as with several projects: it compares each row in
#: memory with all of them
NAMED_IN_LITE = 200
#: seconds between two checks that rows of this generation still exist: they stay for sixty seconds
#: after it is neither current nor previous
LOOKED_AGAIN_S = 30.0


@dataclass
class RowSearcher:
    """Searches one generation, or one of each of several projects. Frozen, except for the time of
    the last check. `is_current`: the caller checks before each request that rows still exist.
    """

    collection: Collection
    rows: RemoteRows
    is_current: bool = False
    _looked_at: float = field(default_factory=time.monotonic)

    def best(
        self, field_name: str, query: Any, mask: Array, limit: int, *, vectors: bool = False
    ) -> tuple[Array, Array]:
        """The best `limit` rows of `mask` (bool [rows]), best first: (i64 [m] ordinals, float32 [m]
        scores). Raises NotReady, Unavailable.
        """
        self.look()
        wanted, scope = self.rows.scope.filter, self.rows.scope
        wanted += " and has_vector == true" if vectors else ""
        passing = int(np.count_nonzero(mask))
        if not passing:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        every = self.rows.live_count
        fetch, bound = int(limit * every / passing) + 1, HITS_MAX
        by_keys = fetch > bound or (passing <= self._keys_max and passing < MASK_SHARE * every)
        # with several projects the filter lets through rows that their generations lack
        last = every if len(scope.projects) == 1 else 2 * every
        if self._is_lite and field_name != "vector":
            # milvus-lite has no bound, and computes word counts over the rows that pass a filter:
            # scores of two filters are not comparable, nor scores of one with a local index
            by_keys, bound = False, last
        if by_keys:
            return self._search_keys(field_name, query, wanted, self.rows.keys[mask], limit)
        while True:
            most = min(fetch, bound)
            ordinals, scores = self._hits(field_name, query, wanted, most)
            passes = (ordinals >= 0) & mask[ordinals]
            if len(ordinals) < most or passes.sum() >= limit or most == last:
                return ordinals[passes][:limit], scores[passes][:limit]
            if most == bound:  # and the wanted rows are still behind rows that do not pass
                return self._search_keys(field_name, query, wanted, self.rows.keys[mask], limit)
            fetch *= 4

    @property
    def _is_lite(self) -> bool:
        return self.collection.place.file is not None

    @property
    def _keys_max(self) -> int:
        """The number of rows that one filter may name."""
        return NAMED_IN_LITE if self._is_lite and len(self.rows.scope.projects) > 1 else NAMED_MAX

    def _search_keys(
        self, field_name: str, query: Any, wanted: str, keys: Array, limit: int
    ) -> tuple[Array, Array]:
        """Search as `best` does, with filters that name the rows with these keys. A server's scores
        do not depend on the filter, so scores of several filters are comparable.
        """
        scope, most = self.rows.scope, self._keys_max
        parts = (scope.key_filter(keys[at : at + most].tolist()) for at in range(0, len(keys), most))
        hit_lists = [self._hits(field_name, query, f"{wanted} and {clause}", limit) for clause in parts]
        ordinals = np.concatenate([mine for mine, _ in hit_lists])
        scores = np.concatenate([mine for _, mine in hit_lists])
        order = np.argsort(-scores, kind="stable")
        order = order[ordinals[order] >= 0][:limit]
        return ordinals[order], scores[order]

    def _hits(self, field_name: str, query: Any, wanted: str, limit: int) -> tuple[Array, Array]:
        """(i64 [m] ordinals, -1 for a row of no generation here, float32 [m] scores), best
        first.
        """
        hits = self.collection.search(field_name, query, wanted, limit)
        scope = self.rows.scope
        ordinals = self.rows.locate(np.array([scope.key_of(row) for row, _ in hits], np.uint64))
        return ordinals, np.array([score for _, score in hits], np.float32)

    def defining(self, terms: list[str], mask: Array) -> dict[int, list[str]]:
        """Ordinal of each row of `mask` that defines one of `terms` → those terms."""
        self.look()
        quoted_terms = ", ".join(quoted(term) for term in terms)
        scope = self.rows.scope
        # milvus-lite checks every row, and evaluates the first clause first
        wanted = f"array_contains_any(defined, [{quoted_terms}]) and {scope.filter}"
        rows = self.collection.find(wanted, ["project", "key", "defined"])
        ordinals = self.rows.locate(np.array([scope.key_of(row) for row in rows], np.uint64))
        return {
            ordinal: [term for term in terms if term in row["defined"]]
            for ordinal, row in zip(ordinals.tolist(), rows, strict=True)
            if ordinal >= 0 and mask[ordinal]
        }

    def look(self) -> None:
        """Raise NotReady when the project has moved on so far that rows may be missing."""
        from cortex.engines.milvus.storage.documents import read_document

        now = time.monotonic()
        if self.is_current or now - self._looked_at < LOOKED_AGAIN_S:
            return
        document = read_document(self.collection)
        if document is not None and self.rows.generation < min(sorted(document.published)[-2:], default=0):
            raise NotReady("The index in Milvus has moved on; ask again in a second.")
        self._looked_at = now
