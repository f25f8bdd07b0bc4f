"""The words of a question, to be found in many texts. Pure but for the memo of a question."""

from __future__ import annotations

import functools
from collections.abc import Collection
from itertools import chain

from cortex.terms import tokens

#: sets of words that are remembered: an answer weighs names, then texts, then lines, of a few
#: thousand words each
KEPT = 4


class Sought(dict[str, tuple[str, ...]]):
    """Word as written → those of `terms` that are made of it. Few words of names and lines say
    anything to a question, and to make the terms of all takes most of the time of an answer.
    """

    def __init__(self, terms: frozenset[str]) -> None:
        self.terms = terms
        #: whether a stop word holds one, which counts where a text has no other words
        self._in_stop_words = False

    def __missing__(self, word: str) -> tuple[str, ...]:
        found = tuple(term for term in tokens.lane_terms(word) if term in self.terms)
        if found and word.lower() in tokens.STOP_WORDS:
            self._in_stop_words, found = True, ()
        self[word] = found
        return found

    def terms_in(self, text: str) -> list[str]:
        """Those of `tokens.lane_words` of the text that are sought, in their order."""
        found = list(dict.fromkeys(chain.from_iterable(map(self.__getitem__, tokens.words(text)))))
        if found or not self._in_stop_words:
            return found
        return [term for term in tokens.lane_words(text) if term in self.terms]


def sought(terms: Collection[str]) -> Sought:
    return _sought(frozenset(terms))


@functools.lru_cache(KEPT)
def _sought(terms: frozenset[str]) -> Sought:
    return Sought(terms)
