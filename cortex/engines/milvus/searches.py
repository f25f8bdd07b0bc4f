"""Searches in Milvus over the rows of one generation; what they find are ordinals of its rows."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cortex.engines.milvus.collection import HITS_MAX, Collection
from cortex.engines.milvus.rows import RemoteRows
from cortex.engines.milvus.scope import quoted
from cortex.system.arrays import Array
from cortex.system.errors import NotReady

#: the share of the rows from which on a filter is applied to what is found, and not said to Milvus
MASK_SHARE = 0.2
#: keys that one filter names at most; of more that pass, hits are fetched until there are enough,
#: and where Milvus gives no more at once, the keys are named in several filters
NAMED_MAX = 2_000
#: and that are named to milvus-lite as words, as those of several projects are: it compares each
#: row that it has in memory with all of them
NAMED_IN_LITE = 200
#: seconds after which it is looked whether rows of this generation may be gone: they are kept for
#: sixty after it is neither the current one nor the one before
LOOKED_AGAIN_S = 30.0


@dataclass
class RowSearcher:
    """Asks for one generation. Frozen, but for when it was looked at."""

    collection: Collection
    rows: RemoteRows
    _looked_at: float = field(default_factory=time.monotonic)

    def best(
        self, field_name: str, query: Any, mask: Array, limit: int, *, vectors: bool = False, more: str = ""
    ) -> tuple[Array, Array]:
        """(i64 [m] ordinals, float32 [m] scores): the best `limit` rows of `mask` (bool [rows]),
        best first. `more`: a filter beside. Raises NotReady, Unavailable.
        """
        self.look()
        wanted, scope = self.rows.scope.filter, self.rows.scope
        wanted += " and has_vector == true" if vectors else ""
        wanted += f" and {more}" if more else ""
        passing = int(np.count_nonzero(mask))
        if not passing:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        every = self.rows.live_count
        fetch, bound = int(limit * every / passing) + 1, HITS_MAX
        by_keys = fetch > bound or (passing <= self._keys_max and passing < MASK_SHARE * every)
        # of several projects a filter lets in rows that their generations have no more
        last = every if len(scope.projects) == 1 else 2 * every
        if self._is_lite and field_name != "vector":
            # milvus-lite has no bound, and counts words in what passes a filter: its scores of two
            # filters are not comparable, and those of one not with an index at home
            by_keys, bound = False, last
        if by_keys:
            return self._search_keys(field_name, query, wanted, self.rows.keys[mask], limit)
        while True:
            most = min(fetch, bound)
            ordinals, scores = self._hits(field_name, query, wanted, most)
            passes = (ordinals >= 0) & mask[ordinals]
            if len(ordinals) < most or passes.sum() >= limit or most == last:
                return ordinals[passes][:limit], scores[passes][:limit]
            if most == bound:  # and still what is looked for lies behind what does not pass
                return self._search_keys(field_name, query, wanted, self.rows.keys[mask], limit)
            fetch *= 4

    @property
    def _is_lite(self) -> bool:
        return self.collection.place.file is not None

    @property
    def _keys_max(self) -> int:
        """How many rows one filter names."""
        return NAMED_IN_LITE if self._is_lite and len(self.rows.scope.projects) > 1 else NAMED_MAX

    def _search_keys(
        self, field_name: str, query: Any, wanted: str, keys: Array, limit: int
    ) -> tuple[Array, Array]:
        """As `best`, of the rows with these keys: they are named, so many at once as a filter may
        name. A server's scores do not depend on what passes, so those of two parts are comparable.
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
        """(i64 [m] ordinals, -1 for a row that is not here, float32 [m] scores), best first."""
        hits = self.collection.search(field_name, query, wanted, limit)
        scope = self.rows.scope
        ordinals = self.rows.locate(np.array([scope.key_of(row) for row, _ in hits], np.uint64))
        return ordinals, np.array([score for _, score in hits], np.float32)

    def defining(self, terms: list[str], mask: Array) -> dict[int, list[str]]:
        """Ordinal of each row of `mask` that has one of `terms` among its definitions → those."""
        self.look()
        quoted_terms = ", ".join(quoted(term) for term in terms)
        scope = self.rows.scope
        # milvus-lite looks at each row, and at what is said first
        wanted = f"array_contains_any(defined, [{quoted_terms}]) and {scope.filter}"
        rows = self.collection.find(wanted, ["project", "key", "defined"])
        ordinals = self.rows.locate(np.array([scope.key_of(row) for row in rows], np.uint64))
        return {
            ordinal: [term for term in terms if term in row["defined"]]
            for ordinal, row in zip(ordinals.tolist(), rows, strict=True)
            if ordinal >= 0 and mask[ordinal]
        }

    def look(self) -> None:
        """Raises NotReady when the project has gone on so far that rows may be missing."""
        from cortex.engines.milvus.documents import read_document

        now = time.monotonic()
        if now - self._looked_at < LOOKED_AGAIN_S:
            return
        document = read_document(self.collection)
        if document is not None and self.rows.generation < min(sorted(document.published)[-2:], default=0):
            raise NotReady("The index in Milvus has moved on; ask again in a second.")
        self._looked_at = now
