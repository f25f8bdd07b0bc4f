"""The best hits of a keyword query: scored by tantivy and counted by sets of rows, or with
expressions scanned for.
"""

import posixpath
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import tantivy

from cortex.engines.text.limits import MASK_SHARE, Limits
from cortex.engines.text.matches.compile import (
    Target,
    Tiers,
    add_filter,
    compile_filters,
    compile_leaf,
    compile_query,
    compile_tiers,
)
from cortex.engines.text.matches.matching import Matching
from cortex.engines.text.matches.overlaps import Folds, ScoredRows
from cortex.engines.text.matches.scan import SCAN_S, Scanned, TextScanner, narrow
from cortex.engines.text.matches.verify import Expression, KeywordQuery
from cortex.engines.text.words import Words
from cortex.generation.filters import MASKS_MAX
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
    """Finds the best hits of one generation. Frozen; caches hold derived values only. It has no
    reference to its snapshot: a cycle would keep the files of an old generation open until the
    garbage collector runs.
    """

    def __init__(
        self, rows: Rows, schema: tantivy.Schema, matching: Matching, words: Words, limits: Limits
    ) -> None:
        self.rows, self.schema, self.matching, self.words = rows, schema, matching, words
        self._limits = limits
        self._paths = frozenset(rows.path_names)
        self._filter_queries: dict[Filters, tantivy.Query | None] = {}

    @cached_property
    def folds(self) -> Folds:
        return Folds(self.rows)

    @cached_property
    def _texts(self) -> TextScanner:
        return TextScanner(self.rows, self.folds, self.words, self._limits.batch_bytes)

    def filter_query(self, filters: Filters) -> tantivy.Query | None:
        """The query of `filters`, None when they keep all rows. Raises BadRequest as
        `Rows.mask`.
        """
        if filters not in self._filter_queries:
            if len(self._filter_queries) >= MASKS_MAX:
                self._filter_queries.clear()
            # As in Masks.paths: a tag that equals a file's path is a path.
            tags = [t.lower() for t in filters.tags if not (("/" in t or "." in t) and t in self._paths)]
            masks = self.rows.masks
            languages = masks.languages(filters.language) if filters.language else []
            meant = replace(filters, chunk_types=tuple(masks.kinds(filters.chunk_types)))
            to = Target(self.schema)
            query = compile_filters(meant, masks.paths(filters), tags, languages, to)
            self._filter_queries[filters] = query
        return self._filter_queries[filters]

    def find(self, query: KeywordQuery, filters: Filters, wanted: int, to: Target) -> tuple[Scanned, Array]:
        """(at least the `wanted` best hits; the ordinals of all). Raises as `best`."""
        if query.remainder is not None and not query.expressions:
            rows, folded = self.best(query.remainder, filters, wanted, to)
            return Scanned(rows), np.flatnonzero(folded)
        outcome = self.scan(query.expressions, query.remainder, filters, time.monotonic() + SCAN_S, to)
        return outcome, outcome.rows.ordinals

    def scan(
        self,
        expressions: Sequence[Expression],
        remainder: Node | None,
        filters: Filters,
        deadline: float,
        to: Target | None = None,
    ) -> Scanned:
        """The rows that match every expression and, if there is one, `remainder`."""
        texts, mask = self._texts, self.folds.searched & self.rows.mask(filters)
        outcome = None
        if remainder is not None:
            query = compile_query(remainder, to or Target(self.schema))
            rows, count = self.matching.best(query, MATCHES_MAX)
            rows = rows.take(np.argsort(rows.ordinals))
            outcome = Scanned(rows.take(mask[rows.ordinals]), truncated=count > MATCHES_MAX)
            mask = np.zeros(len(mask), bool)
            mask[outcome.rows.ordinals] = True
        # Expressions with the rarest trigrams go first: the others scan only the rows that are
        # left.
        lines = [
            (texts.candidates(expression.analysis.needs, mask), expression)
            for expression in expressions
            if not expression.analysis.multiline
        ]
        for candidates, expression in sorted(lines, key=lambda pair: (pair[1].excluded, len(pair[0]))):
            scanned = texts.match_lines(expression, candidates[mask[candidates]], deadline)
            outcome, mask = narrow(outcome, mask, expression, scanned)
        for expression in sorted(
            (expression for expression in expressions if expression.analysis.multiline),  # by whole files
            key=lambda expression: expression.excluded,
        ):
            outcome, mask = narrow(outcome, mask, expression, texts.match_files(expression, mask, deadline))
        assert outcome is not None
        return outcome

    def best(self, node: Node, filters: Filters, wanted: int, to: Target) -> tuple[ScoredRows, Array]:
        """(at least the `wanted` best folded hits that the filters keep, with all ties; all hits,
        bool [all rows]). Raises ValueError as `Matching.best`, BadRequest as `compile_query`.
        """
        if (tiers := compile_tiers(node, to)) is not None:
            return self._best_in_tiers(tiers, filters, wanted, to)
        query, mask = compile_query(node, to), self.rows.mask(filters)
        if filters != Filters() and mask.mean() < MASK_SHARE:
            query = add_filter(query, self.filter_query(filters))
        best, count, matching = self.matching.best_and_all(node, query, wanted, self._limits.fetch)
        folded = self.folds.fold(matching & mask)
        return self._best_among(query, folded, wanted, best, count), folded

    def _best_in_tiers(
        self, tiers: Tiers, filters: Filters, wanted: int, to: Target
    ) -> tuple[ScoredRows, Array]:
        """The same for a query in tiers."""
        mask = self.rows.mask(filters)
        scores = np.zeros(len(mask), np.float32)
        matching = np.zeros(len(mask), bool)
        for query, value in tiers.flats:
            tier_mask = self.matching.rows_of_query(query)
            scores += tier_mask * np.float32(value)
            matching |= tier_mask
        same = compile_leaf(tiers.same, tiers.factor, to) if tiers.same else None
        if same is None or tiers.same is None:
            folded = self.folds.fold(matching & mask)
            return _take_scored(folded, scores), folded
        best, count, same_rows = self.matching.best_and_all(tiers.same, same, wanted, self._limits.fetch)
        folded = self.folds.fold((matching | same_rows) & mask)
        if count > len(best):
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
            more, count = self.matching.best(query, max(len(best) * _FETCH_MORE, self._limits.fetch))
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
