"""How much of a file's name a question holds: words by their stems, short forms of them (`auth`,
`impl`, `ctx`), and two words side by side as one (`ratelimit`). Pure.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise

from cortex.terms import tokens
from cortex.terms.paths import question_words

#: what a part of a name is worth that is a short form of a word of the question; 1 is one that
#: the question holds
SHORT = 0.7
#: letters of a short form at least, and letters that are cut from its word at least: `parse` is
#: none of `parser`, which the stems are for
SHORT_CHARS_MIN, CUT_MIN = 3, 2
#: letters of one without vowels at most: `ctx`, `msg`, `impl` begins its word
CONSONANTS_MAX = 4
_VOWELS = frozenset("aeiou")
#: parts of names whose stems are remembered: about as many as the paths of 20 000 files have
_STEMS = 1 << 13


class Asked(dict[str, float]):
    """Part of a name → what it is worth to a question (0-1), worked out when first asked for."""

    def __init__(self, question: str) -> None:
        super().__init__()
        words = [word for word in tokens.part_words(question) if word not in tokens.STOP_WORDS]
        self._stems = question_words(question)
        self._joined = {one + other for one, other in pairwise(words)}
        self._by_letter: dict[str, list[str]] = {}
        for word in dict.fromkeys(words):
            self._by_letter.setdefault(word[0], []).append(word)

    def __missing__(self, part: str) -> float:
        self[part] = value = self._worth(part)
        return value

    def _worth(self, part: str) -> float:
        if part in self._joined or _stem(part) in self._stems:
            return 1.0
        for word in self._by_letter.get(part[:1], ()):
            if is_short_form(part, word):
                return SHORT
        return 0.0

    def shares(self, names: Sequence[Sequence[str]]) -> list[float]:
        """The share (0-1) of the parts of each name that the question holds: mostly none."""
        worth = {part: value for part in set().union(*names) if (value := self[part])}
        none = worth.keys().isdisjoint
        return [
            0.0 if none(parts) else sum(worth.get(part, 0.0) for part in parts) / len(parts)
            for parts in names
        ]


@functools.lru_cache(_STEMS)
def _stem(part: str) -> str:
    return tokens.lane_text([part])


def is_short_form(part: str, word: str) -> bool:
    """Whether `part` stands for the longer `word`: as its begin, or as some of its consonants. Both
    in lower case.
    """
    if len(part) < SHORT_CHARS_MIN:
        return False
    if word.startswith(part):
        return len(word) - len(part) >= CUT_MIN
    if len(part) > CONSONANTS_MAX or len(word) <= len(part) or not _VOWELS.isdisjoint(part[1:]):
        return False
    rest = iter(word)
    return word[0] == part[0] and all(letter in rest for letter in part)
