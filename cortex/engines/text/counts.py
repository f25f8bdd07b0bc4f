"""How rare words are: in this index, and in all that are asked together. Of several projects each
scores a word as if all their chunks lay in one index, so that the scores of all compare.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import tantivy

from cortex.engines.text.compile import scored_words
from cortex.query.code import read_query
from cortex.query.tree import split_expressions
from ipc.messages import WordCounts
from ipc.messages.search import MatchType


class Counts:
    """What `searcher` counts of words, and what `among` says of all projects (no chunks there, or
    None: this one is asked alone). `documents`: of its index, with those that were deleted and are
    not merged away yet: tantivy scores with them, and counts them among those that hold a word.
    """

    def __init__(self, searcher: tantivy.Searcher, documents: int, among: WordCounts | None = None) -> None:
        self.searcher, self._documents, self._among = searcher, documents, among or WordCounts()

    def count(self, generation: int, words: Iterable[tuple[str, str]]) -> WordCounts:
        """Of each (field, word), once."""
        holding = {f"{field} {word}": self._own_count(field, word) for field, word in dict.fromkeys(words)}
        return WordCounts(generation, self._documents, holding)

    def factor(self, field: str, words: Sequence[str]) -> float:
        """By what the score of a word, or of words side by side, is multiplied to be the one that
        it has among all: a score of BM25 is a product, of which how rare a word is (idf; of several
        their sum) is one factor. The mean length of a field, which is in it too, stays each
        project's own: chunks are made of one size.
        """
        if not self._among.chunks:
            return 1.0
        everywhere = [self._among.holding.get(f"{field} {word}", 0) for word in words]
        own_counts = [self._own_count(field, word) for word in words] if all(everywhere) else [0]
        if not all(own_counts):
            return 1.0
        among = sum(_idf(self._among.chunks, count) for count in everywhere)
        return among / sum(_idf(self._documents, count) for count in own_counts)

    def _own_count(self, field: str, word: str) -> int:
        return self.searcher.doc_freq(field, word)


def _idf(chunks: int, holding: int) -> float:
    """As tantivy has it."""
    return math.log(1 + (max(0, chunks - holding) + 0.5) / (holding + 0.5))


def keywords(query: str, match_type: MatchType | None, schema: tantivy.Schema) -> list[tuple[str, str]]:
    """Each field and word whose rarity is in the score of a keyword query, in both of its readings.
    Raises BadRequest as `compile_query`.
    """
    readings = read_query(query, match_type)
    nodes = (split_expressions(parsed.node)[2] for parsed in (readings.first, readings.otherwise) if parsed)
    words = (word for node in nodes if node is not None for word in scored_words(node, schema))
    return list(dict.fromkeys(words))
