"""Keyword queries, and the ranking lanes of a question, over rows with their texts in Milvus.

For a query, the local table of words selects the rows that may match. Their texts are fetched and
searched as in the text engine, in an index in memory. So counts, order and highlights are those of
a local index, or the query is refused: nothing is estimated. The lanes are searched by BM25 in
Milvus; rankings use them as those of a local index.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import orjson
from msgspec import structs

from cortex.engines.milvus.entries import encode_tokens
from cortex.engines.milvus.searches import RowSearcher
from cortex.engines.milvus.storage.collection import FIELDS, VIEWS
from cortex.engines.text.counts import keywords
from cortex.engines.text.index.schema import make_schema
from cortex.engines.text.index.writer import index_in_memory
from cortex.engines.text.matches.lines import CHUNKS_MAX
from cortex.engines.text.matches.overlaps import Folds
from cortex.engines.text.matches.verify import split_expressions
from cortex.engines.text.signals import (
    LANES,
    VIEW_LANES,
    WORDS_MAX,
    defining_terms,
    has_lanes,
    make_lane_signals,
)
from cortex.engines.text.snapshot import TextSnapshot
from cortex.engines.text.words import Words, combine_sets, find_table_query, with_underscores
from cortex.query.check import check_query
from cortex.query.parse import read_query
from cortex.query.tree import And, Boost, Fuzzy, Node, Or, Phrase, Term, Wildcard, leaves
from cortex.system.arrays import Array
from cortex.system.errors import BadRequest
from cortex.terms import tokens
from ipc.messages import CountWords, ExactHits, ExactSearch, Signals, TextSignals, WordCounts
from ipc.messages.search import MatchType

#: fields covered by the table of words
_COUNTED = ("text", "parts", "joined")


class ExactSnapshot:
    """Keyword search over one generation. Frozen."""

    def __init__(self, searcher: RowSearcher, reuse: ExactSnapshot | None = None) -> None:
        self._searcher, self._rows = searcher, searcher.rows
        self.words: Words = Words(self._rows, reuse.words if reuse else None)

    def search(self, request: ExactSearch) -> ExactHits:
        """Search as `TextSnapshot.search` does. Raises BadRequest for an expression, and for a
        query that too many chunks may match.
        """
        readings = read_query(request.query, request.match_type)
        candidates = np.zeros(len(self._rows), bool)
        for parsed in filter(None, (readings.first, readings.otherwise)):
            wanted, excluded, node = split_expressions(parsed.node)
            if wanted or excluded:
                raise BadRequest(
                    "This engine (Milvus) has no expression: regular expressions and substrings need trigrams of all "
                    "texts; search for words, or for a prefix (word*)."
                )
            assert node is not None
            candidates |= self._find_candidates(node, request)
        if not request.counts.chunks:  # among candidates alone every word is frequent
            request = structs.replace(request, counts=self._counts(request.query, request.match_type))
        return self._snapshot(candidates).search(request)

    def count_words(self, request: CountWords) -> WordCounts:
        """The counts of `TextSnapshot.count_words` for keyword queries. Empty for ranking: Milvus
        counts its words itself, and takes no counts from outside. Raises BadQuery.
        """
        check_query(request.query)
        if not request.keywords:
            return WordCounts(self._rows.generation)
        return self._counts(request.query, request.match_type)

    def _counts(self, query: str, match_type: MatchType | None) -> WordCounts:
        """Counts from the table of words, which counts parts and joined forms of identifiers
        together, and has no other fields.
        """
        holding = {}
        for field, word in keywords(query, match_type, make_schema()):
            if field in _COUNTED:
                mask = self.words.holding([with_underscores(word)], words_only=field == "text")
                holding[f"{field} {word}"] = int(np.count_nonzero(mask))
        return WordCounts(self._rows.generation, self._rows.live_count, holding)

    def _find_candidates(self, node: Node, request: ExactSearch) -> Array:
        """Bool [all rows]: all rows that may match; of very many, surely the best ones."""
        mask = self._rows.mask(request.filters)
        matching = self._may_match(node) & mask
        count = int(np.count_nonzero(matching))
        if count <= CHUNKS_MAX:
            return matching
        if not all(find_table_query(leaf) for leaf in leaves(node, excluded=True)):
            raise BadRequest(
                f"The query may match {count} chunks, and in an index in Milvus at most {CHUNKS_MAX} "
                "are searched: add a rarer word, or a path filter."
            )
        return self._best_rows(node, matching)

    def _best_rows(self, node: Node, matching: Array) -> Array:
        texts = (getattr(leaf, "text", "") or "".join(getattr(leaf, "pieces", ())) for leaf in leaves(node))
        words = list(
            dict.fromkeys(word for text in texts for word in tokens.lane_text(tokens.words(text)).split())
        )
        query = " ".join(encode_tokens(words))
        best, _ = self._searcher.best(f"{FIELDS['body']}_bm25", query, matching, CHUNKS_MAX)
        out = np.zeros(len(matching), bool)
        out[best if len(best) else np.flatnonzero(matching)[:CHUNKS_MAX]] = True
        return out

    def _may_match(self, node: Node) -> Array:
        """Bool [all rows]: a superset of the matching rows."""
        match node:
            case Boost(child=child):
                return self._may_match(child)
            case And(children=children):
                return self._combine(np.logical_and, map(self._may_match, children))
            case Or(children=children, required=required):
                if required:
                    return self._combine(np.logical_and, map(self._may_match, required))
                return self._combine(np.logical_or, map(self._may_match, children))
            case Term(field="text", text=text) | Phrase(field="text", text=text):
                return self._rows_holding(text)
            case Wildcard(field="text") | Fuzzy(field="text"):
                return self._rows_near(node)
        return self._rows.live

    def _combine(self, how: Any, sets: Iterable[Array]) -> Array:
        combined = combine_sets(how, sets)
        return self._rows.live if combined is None else combined

    def _rows_holding(self, text: str) -> Array:
        """Rows that hold all parts of `text`, or one of its words undivided."""
        parts, whole_words = tokens.part_words(text), tokens.whole_words(text)
        masks = (self.words.holding([part]) for part in parts)
        every = self._combine(np.logical_and, masks)
        if len(whole_words) == 1:
            word = with_underscores(whole_words[0])
            every = every | self.words.holding((word, word.replace("_", "")))
        elif whole_words:
            words = (self.words.holding([with_underscores(word)]) for word in whole_words)
            every = every | self._combine(np.logical_and, words)
        return every

    def _rows_near(self, leaf: Wildcard | Fuzzy) -> Array:
        query = find_table_query(leaf)
        return self._rows.live if query is None else self.words.matching(query)

    def _snapshot(self, candidates: Array) -> TextSnapshot:
        """A text snapshot of the candidates alone, with the table of words of all rows."""
        ordinals = np.flatnonzero(candidates)
        heads, texts = (self._rows.cuts(what, ordinals) for what in ("chunk", "text"))
        chunks = map(_join_text, heads, texts)
        index = index_in_memory(zip(self._rows.keys[ordinals].tolist(), chunks, strict=True))
        return TextSnapshot(index, self._rows, words=self.words)


def _join_text(head: bytes, text: bytes) -> dict[str, Any]:
    body: dict[str, Any] = orjson.loads(head)
    return body | {"text": text[:-1].decode()}


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
