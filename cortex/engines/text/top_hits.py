"""The best hits of a keyword query in which no expression stands: scored by tantivy, counted by
sets of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import tantivy

from cortex.engines.text.compile import Target, Tiers, compile_leaf, compile_query, compile_tiers, filtered
from cortex.engines.text.limits import MASK_SHARE
from cortex.engines.text.matching import Matching
from cortex.engines.text.overlaps import Folds, Found
from cortex.generation.read import Rows
from cortex.query.tree import Node
from cortex.system.arrays import Array
from ipc.messages import Filters

#: matches that are put in order; of more, only the best are shown
MATCHES_MAX = 60_000
#: by how much more matches are fetched when they are not enough for a page
_FETCH_MORE = 8


class Finding:
    """Of one generation. Frozen; caches hold derived values only."""

    def __init__(
        self, rows: Rows, matching: Matching, fetch: int, kept: Callable[[Filters], tantivy.Query | None]
    ) -> None:
        """`fetch`: matches that are fetched at once; `kept`: what filters keep, as a query."""
        self._rows, self._matching, self._fetch, self._kept = rows, matching, fetch, kept

    @cached_property
    def folds(self) -> Folds:
        return Folds(self._rows)

    def best(self, node: Node, filters: Filters, wanted: int, to: Target) -> tuple[Found, int]:
        """(at least the `wanted` best folded hits that the filters keep, and all that are as good;
        how many there are). Raises ValueError as `Matching.best`, BadRequest as `compile_query`.
        """
        tiers = compile_tiers(node, to)
        if tiers is not None:
            return self._best_in_tiers(tiers, filters, wanted, to)
        query, mask = compile_query(node, to), self._rows.mask(filters)
        if filters != Filters() and mask.mean() < MASK_SHARE:
            query = filtered(query, self._kept(filters))
        found = self._matching.known(node)
        limit = 4 * wanted if found is not None else max(2 * wanted, self._fetch)
        best, count = self._matching.best(query, limit)
        if found is None:
            if count <= limit:
                found = np.zeros(len(mask), bool)
                found[best.ordinals] = True
            else:
                found = self._matching.every_of(node)
        kept = self.folds.fold(found & mask)
        return self._best_of(query, kept, wanted, best, count), int(kept.sum())

    def _best_in_tiers(self, tiers: Tiers, filters: Filters, wanted: int, to: Target) -> tuple[Found, int]:
        """As `best`, for a query in tiers."""
        mask = self._rows.mask(filters)
        scores = np.zeros(len(mask), np.float32)
        found = np.zeros(len(mask), bool)
        for query, value in tiers.flats:
            here = self._matching.every(query)
            scores += here * np.float32(value)
            found |= here
        same = compile_leaf(tiers.same, tiers.factor, to) if tiers.same else None
        if same is None or tiers.same is None:
            kept = self.folds.fold(found & mask)
            return _taken(kept, scores), int(kept.sum())
        known = self._matching.known(tiers.same)
        limit = 4 * wanted if known is not None else max(2 * wanted, self._fetch)
        best, count = self._matching.best(same, limit)
        if known is not None:
            found |= known
        elif count <= limit:
            found[best.ordinals] = True
        else:
            found |= self._matching.every_of(tiers.same)
        kept = self.folds.fold(found & mask)
        total = int(kept.sum())
        if count > limit:
            best = self._best_of(same, kept, wanted, best, count)
            if len(best) >= wanted:  # what has the word as it stands fills the page
                return Found(best.ordinals, best.scores + scores[best.ordinals]), total
        scores[best.ordinals] += best.scores
        return _taken(kept, scores), total

    def _best_of(self, query: tantivy.Query, kept: Array, wanted: int, best: Found, count: int) -> Found:
        """At least `wanted` of the best of `count` matches among the rows `kept` (bool [all rows]).

        Among equal scores the ids decide, so all that are as good as the last of them are returned,
        too. `best` are the best of all, as far as known.
        """
        while True:
            shown = best.take(kept[best.ordinals])
            enough = len(shown) >= wanted and best.scores[-1] < shown.scores[wanted - 1]
            if enough or count <= len(best) or len(best) >= MATCHES_MAX:
                return shown
            more, count = self._matching.best(query, max(len(best) * _FETCH_MORE, self._fetch))
            if len(more) == len(best):
                return more.take(kept[more.ordinals])
            best = more


def _taken(kept: Array, scores: Array) -> Found:
    ordinals = np.flatnonzero(kept)
    return Found(ordinals, scores[ordinals])
