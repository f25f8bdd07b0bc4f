"""The best hits of a keyword query without expressions: scored by tantivy, counted by sets of
rows.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable
from functools import cached_property

import numpy as np
import tantivy

from cortex.engines.text.limits import MASK_SHARE
from cortex.engines.text.matches.compile import (
    Target,
    Tiers,
    add_filter,
    compile_leaf,
    compile_query,
    compile_tiers,
)
from cortex.engines.text.matches.matching import Matching
from cortex.engines.text.matches.overlaps import Folds, ScoredRows
from cortex.generation.read import Rows
from cortex.query.tree import Node
from cortex.system.arrays import Array
from ipc.messages import Filters

#: matches that are sorted; of more, only the best are shown
MATCHES_MAX = 60_000
#: languages, and folders, with a number of hits
FACETS_MAX = 10
#: factor of the next fetch when a page is not full
_FETCH_MORE = 8


class HitFinder:
    """Finds the best hits of one generation. Frozen; caches hold derived values only."""

    def __init__(
        self,
        rows: Rows,
        matching: Matching,
        fetch: int,
        filter_query: Callable[[Filters], tantivy.Query | None],
    ) -> None:
        """`fetch`: matches of one fetch; `filter_query`: filters → their query."""
        self._rows, self._matching, self._fetch, self._filter_query = rows, matching, fetch, filter_query

    @cached_property
    def folds(self) -> Folds:
        return Folds(self._rows)

    def best(self, node: Node, filters: Filters, wanted: int, to: Target) -> tuple[ScoredRows, Array]:
        """(at least the `wanted` best folded hits that the filters keep, with all ties; all hits,
        bool [all rows]). Raises ValueError as `Matching.best`, BadRequest as `compile_query`.
        """
        tiers = compile_tiers(node, to)
        if tiers is not None:
            return self._best_in_tiers(tiers, filters, wanted, to)
        query, mask = compile_query(node, to), self._rows.mask(filters)
        if filters != Filters() and mask.mean() < MASK_SHARE:
            query = add_filter(query, self._filter_query(filters))
        matching = self._matching.rows_from_table(node)
        limit = 4 * wanted if matching is not None else max(2 * wanted, self._fetch)
        best, count = self._matching.best(query, limit)
        if matching is None:
            if count <= limit:
                matching = np.zeros(len(mask), bool)
                matching[best.ordinals] = True
            else:
                matching = self._matching.matching_rows(node)
        folded = self.folds.fold(matching & mask)
        return self._best_among(query, folded, wanted, best, count), folded

    def _best_in_tiers(
        self, tiers: Tiers, filters: Filters, wanted: int, to: Target
    ) -> tuple[ScoredRows, Array]:
        """The same for a query in tiers."""
        mask = self._rows.mask(filters)
        scores = np.zeros(len(mask), np.float32)
        matching = np.zeros(len(mask), bool)
        for query, value in tiers.flats:
            tier_mask = self._matching.rows_of_query(query)
            scores += tier_mask * np.float32(value)
            matching |= tier_mask
        same = compile_leaf(tiers.same, tiers.factor, to) if tiers.same else None
        if same is None or tiers.same is None:
            folded = self.folds.fold(matching & mask)
            return _take_scored(folded, scores), folded
        same_rows = self._matching.rows_from_table(tiers.same)
        limit = 4 * wanted if same_rows is not None else max(2 * wanted, self._fetch)
        best, count = self._matching.best(same, limit)
        if same_rows is not None:
            matching |= same_rows
        elif count <= limit:
            matching[best.ordinals] = True
        else:
            matching |= self._matching.matching_rows(tiers.same)
        folded = self.folds.fold(matching & mask)
        if count > limit:
            best = self._best_among(same, folded, wanted, best, count)
            if len(best) >= wanted:  # exact matches of the word fill the page
                return ScoredRows(best.ordinals, best.scores + scores[best.ordinals]), folded
        scores[best.ordinals] += best.scores
        return _take_scored(folded, scores), folded

    def _best_among(
        self, query: tantivy.Query, mask: Array, wanted: int, best: ScoredRows, count: int
    ) -> ScoredRows:
        """At least `wanted` of the best of `count` matches among the rows `mask` (bool [all rows]).

        Ids break ties, so all hits as good as the last are returned, too. `best`: the best of all,
        as far as known.
        """
        while True:
            visible = best.take(mask[best.ordinals])
            enough = len(visible) >= wanted and best.scores[-1] < visible.scores[wanted - 1]
            if enough or count <= len(best) or len(best) >= MATCHES_MAX:
                return visible
            more, count = self._matching.best(query, max(len(best) * _FETCH_MORE, self._fetch))
            if len(more) == len(best):
                return more.take(mask[more.ordinals])
            best = more


def count_facets(rows: Rows, matching: Array) -> dict[str, dict[str, int]]:
    """Count the rows `matching` (ordinals) by language, and by the folders and files one step below
    the folder that all share: the FACETS_MAX most frequent of each, folders with / at the end.
    """
    columns, names = rows.columns, rows.names["language"]
    languages = (
        Counter(np.take(names, columns["language"][matching]).tolist()) if len(matching) else Counter()
    )
    files = np.bincount(columns["path"][matching], minlength=len(rows.path_names))
    counts = {path: int(files[at]) for at, path in enumerate(rows.path_names) if path and files[at]}
    shared = posixpath.commonpath([posixpath.dirname(path) for path in counts] or [""])
    shared += "/" if shared else ""
    folders: Counter[str] = Counter()
    for path, count in counts.items():
        name, slash, _ = path[len(shared) :].partition("/")
        folders[f"{shared}{name}{slash}"] += count
    del languages[""]
    return {
        "languages": dict(languages.most_common(FACETS_MAX)),
        "folders": dict(folders.most_common(FACETS_MAX)),
    }


def _take_scored(mask: Array, scores: Array) -> ScoredRows:
    ordinals = np.flatnonzero(mask)
    return ScoredRows(ordinals, scores[ordinals])
