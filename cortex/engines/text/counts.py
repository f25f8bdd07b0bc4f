"""Rarity of words in this index, and in all projects of a search. Each project scores a word as if
all chunks were in one index, so that scores of several projects compare.
"""

import math
from collections.abc import Iterable, Sequence

import tantivy

from cortex.engines.text.matches.compile import scored_words
from cortex.engines.text.matches.verify import split_expressions
from cortex.query.parse import read_query
from ipc.messages import WordCounts
from ipc.messages.search import MatchType


class Counts:
    """Word counts of `searcher`, and in `among` those of all projects (empty or None: a search of
    this one alone). `documents`: number in the index, deleted but unmerged ones included: tantivy
    counts them in scores and among the documents with a word.
    """

    def __init__(self, searcher: tantivy.Searcher, documents: int, among: WordCounts | None = None) -> None:
        self.searcher, self._documents, self._among = searcher, documents, among or WordCounts()

    def count(self, generation: int, words: Iterable[tuple[str, str]]) -> WordCounts:
        """The number of documents with each distinct (field, word)."""
        holding = {f"{field} {word}": self._own_count(field, word) for field, word in dict.fromkeys(words)}
        return WordCounts(generation, self._documents, holding)

    def factor(self, field: str, words: Sequence[str]) -> float:
        """The factor from the score of a word or a phrase here to its score over all projects. BM25
        is a product with the rarity (idf; of a phrase the sum over its words) as one factor. The
        mean length of a field is in it, too, but stays per project: chunks have one size.
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
    """The idf as tantivy computes it."""
    return math.log(1 + (max(0, chunks - holding) + 0.5) / (holding + 0.5))


def keywords(query: str, match_type: MatchType | None, schema: tantivy.Schema) -> list[tuple[str, str]]:
    """The (field, word) pairs with a rarity in the score of a keyword query, over both of its
    readings. Raises BadRequest as `compile_query`.
    """
    readings = read_query(query, match_type)
    nodes = (split_expressions(parsed.node)[2] for parsed in (readings.first, readings.otherwise) if parsed)
    words = (word for node in nodes if node is not None for word in scored_words(node, schema))
    return list(dict.fromkeys(words))
