"""A finder for the terms of a question in many texts, remembered for each question."""

import functools
from collections.abc import Collection
from itertools import chain

from cortex.terms import tokens

#: finders that are remembered: one answer weighs names, then texts, then lines, of a few thousand
#: words each
MEMO_SIZE = 4


class TermFinder(dict[str, tuple[str, ...]]):
    """Word as written → those of `terms` that it produces. Few words of names and lines matter to a
    question, and analysing all of them takes most of the time of an answer.
    """

    def __init__(self, terms: frozenset[str]) -> None:
        self.terms = terms
        #: whether a stop word produces a term; it counts in a text without other matches
        self._in_stop_words = False

    def __missing__(self, word: str) -> tuple[str, ...]:
        matching = tuple(term for term in tokens.lane_terms(word) if term in self.terms)
        if matching and word.lower() in tokens.STOP_WORDS:
            self._in_stop_words, matching = True, ()
        self[word] = matching
        return matching

    def terms_in(self, text: str) -> list[str]:
        """Return those of the text's `tokens.lane_words` that are in `terms`, in their order."""
        matching = list(dict.fromkeys(chain.from_iterable(map(self.__getitem__, tokens.words(text)))))
        if matching or not self._in_stop_words:
            return matching
        return [term for term in tokens.lane_words(text) if term in self.terms]


def get_term_finder(terms: Collection[str]) -> TermFinder:
    return _make_term_finder(frozenset(terms))


@functools.lru_cache(MEMO_SIZE)
def _make_term_finder(terms: frozenset[str]) -> TermFinder:
    return TermFinder(terms)
