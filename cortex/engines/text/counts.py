"""How rare words are: in this index, and in all that are asked together. Of several projects each
scores a word as if all their chunks lay in one index, so that the scores of all compare.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import tantivy

from ipc.messages import WordCounts


class Counts:
    """What `searcher` counts of words, and what `among` says of all projects (no chunks there, or
    None: this one is asked alone). `documents`: of its index, with those that were deleted and are
    not merged away yet: tantivy scores with them, and counts them among those that hold a word.
    """

    def __init__(self, searcher: tantivy.Searcher, documents: int, among: WordCounts | None = None) -> None:
        self.searcher, self._documents, self._among = searcher, documents, among or WordCounts()

    def count(self, generation: int, words: Iterable[tuple[str, str]]) -> WordCounts:
        """Of each (field, word), once."""
        holding = {f"{field} {word}": self._own(field, word) for field, word in dict.fromkeys(words)}
        return WordCounts(generation, self._documents, holding)

    def factor(self, field: str, word: str) -> float:
        """By what the score of a word is multiplied to be the one that it has among all: a score of
        BM25 is a product, of which how rare a word is (idf) is one factor. The mean length of a
        field, which is in it too, stays each project's own: chunks are made of one size.
        """
        everywhere = self._among.holding.get(f"{field} {word}", 0)
        own = self._own(field, word) if everywhere else 0
        if not own:
            return 1.0
        return _idf(self._among.chunks, everywhere) / _idf(self._documents, own)

    def _own(self, field: str, word: str) -> int:
        return self.searcher.doc_freq(field, word)


def _idf(chunks: int, holding: int) -> float:
    """As tantivy has it."""
    return math.log(1 + (max(0, chunks - holding) + 0.5) / (holding + 0.5))
