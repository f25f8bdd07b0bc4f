"""The ranking lanes of a question, by BM25 in Milvus. Rankings use them as those of a local
index.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from cortex.engines.milvus.entries import encode_tokens
from cortex.engines.milvus.searches import RowSearcher
from cortex.engines.milvus.storage.collection import FIELDS, VIEWS
from cortex.engines.text.matches.overlaps import Folds
from cortex.engines.text.signals import (
    LANES,
    VIEW_LANES,
    WORDS_MAX,
    defining_terms,
    has_lanes,
    make_lane_signals,
)
from cortex.query.check import check_query
from cortex.system.arrays import Array
from cortex.terms import tokens
from ipc.messages import Signals, TextSignals


class LaneSnapshot:
    """The lanes of one generation. Frozen."""

    def __init__(self, searcher: RowSearcher) -> None:
        self._searcher, self._rows = searcher, searcher.rows

    @cached_property
    def folds(self) -> Folds:
        return Folds(self._rows)

    def signals(self, request: TextSignals) -> Signals:
        """Signals as `TextSnapshot.signals` makes them."""
        check_query(request.query)
        limit, mask = max(1, request.limit), self._rows.mask(request.filters)
        searches = self._search_lanes(request.query, limit, mask)
        lane_hits = ((LANES.index(lane), mine, scores) for lane, mine, scores in searches)
        return make_lane_signals(self._rows, lane_hits, self._rows.live_count)

    def _search_lanes(self, question: str, limit: int, mask: Array) -> list[tuple[str, Array, Array]]:
        """(lane, ordinals, scores) of each lane with hits."""
        lane_hits = []
        covering = has_lanes(self._rows, mask)
        if covering:
            words = " ".join(encode_tokens(tokens.lane_words(question)[:WORDS_MAX]))
            lane_hits += [
                (lane, *self._searcher.best(f"{FIELDS[lane]}_bm25", words, mask, limit)) for lane in FIELDS
            ]
            lane_hits += [("defx", *self._find_definitions(question, mask, limit))]
        views = mask & self.folds.alone if covering else mask
        if views.any():
            parts = tokens.part_words(question)[:WORDS_MAX]
            for lane in VIEW_LANES:
                words = " ".join(encode_tokens(parts, view=lane))
                lane_hits.append((lane, *self._searcher.best(f"{VIEWS}_bm25", words, views, limit)))
        return lane_hits

    def _find_definitions(self, question: str, mask: Array, limit: int) -> tuple[Array, Array]:
        """The chunks that define the last name of a question that is one identifier."""
        terms = defining_terms(question)
        if not terms:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        best = self._searcher.defining(list(terms), mask)
        ordinals = np.array(sorted(best), np.int64)
        scores = np.array([max(terms[term] for term in best[at]) for at in ordinals.tolist()], np.float32)
        order = np.argsort(-scores, kind="stable")[:limit]
        return ordinals[order], scores[order]
