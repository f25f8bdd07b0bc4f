"""How much of a file's name a question holds: words by their stems, short forms of them (`auth`,
`impl`, `ctx`), and two words side by side as one (`ratelimit`). Pure.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
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
#: questions of which is remembered what names are compared with: those that are asked at a time
_QUESTIONS = 16


class Asked:
    """What a part of a name is worth to a question (0-1)."""

    def __init__(self, question: str) -> None:
        words = [word for word in tokens.part_words(question) if word not in tokens.STOP_WORDS]
        self._stems = question_words(question)
        self._joined = {one + other for one, other in pairwise(words)}
        self._by_letter: dict[str, list[str]] = {}
        for word in dict.fromkeys(words):
            self._by_letter.setdefault(word[0], []).append(word)

    def _worth(self, parts: Iterable[str]) -> dict[str, float]:
        """Those of the parts that are worth something: few, so each is looked at in place, for a
        call takes longer than a look.
        """
        joined, stems, words = self._joined, self._stems, self._by_letter.get
        worth = {}
        for part in parts:
            if part in joined or _stem(part) in stems:
                worth[part] = 1.0
            elif (alike := words(part[:1])) and any(is_short_form(part, word) for word in alike):
                worth[part] = SHORT
        return worth

    def shares(self, names: Sequence[Sequence[str]]) -> list[float]:
        """The share (0-1) of the parts of each name that the question holds: mostly none."""
        worth = self._worth(set().union(*names))
        none = worth.keys().isdisjoint
        return [
            0.0 if none(parts) else sum(worth.get(part, 0.0) for part in parts) / len(parts)
            for parts in names
        ]


@functools.lru_cache(_QUESTIONS)
def prepare(question: str) -> Asked:
    """What names are compared with; the same for a question that was asked lately."""
    return Asked(question)


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
