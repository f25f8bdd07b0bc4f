"""How much of a file's name a question holds: words by their stems, short forms of them (`auth`,
`impl`, `ctx`), and two words side by side as one (`ratelimit`). Pure.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from cortex.terms import tokens
from cortex.terms.paths import (
    asks_for_build,
    asks_for_build_alone,
    asks_for_documents,
    asks_for_tests,
    may_ask_for_documents,
    question_words,
)

#: what a part of a name is worth that is a short form of a word of the question; 1 is one that
#: the question holds
SHORT = 0.7
#: letters of a short form at least, and letters that are cut from its word at least: `parse` is
#: none of `parser`, which the stems are for
SHORT_CHARS_MIN, CUT_MIN = 3, 2
#: letters of one without vowels at most: `ctx`, `msg`, `impl` begins its word
CONSONANTS_MAX = 4
_VOWELS = frozenset("aeiou")
#: names of folders that are remembered, for the files in them: as many as 40 000 files are in
_NAMES = 1 << 12
#: parts of names whose stems are remembered: about as many as the paths of 20 000 files have
_STEMS = 1 << 13
#: questions of which is remembered what names are compared with: those that are asked at a time
_QUESTIONS = 16


@dataclass(frozen=True, slots=True)
class Name:
    """The parts of a name, and its marks: a question that has none of them holds no part of it."""

    parts: tuple[str, ...]
    marks: frozenset[str]


@functools.lru_cache(_NAMES)
def name_of(parts: tuple[str, ...]) -> Name:
    marks = {_stem(piece) for piece in parts} | {_begin_mark(piece) for piece in parts}
    return Name(parts, frozenset(marks.union(_letter_mark(piece) for piece in parts if _is_cut(piece))))


def _begin_mark(word: str) -> str:
    """The mark of what begins as a word does, or is one; no stem has the sign."""
    return f"={word[:SHORT_CHARS_MIN]}"


def _letter_mark(word: str) -> str:
    """The mark of what may be some consonants of a word."""
    return f"#{word[0]}"


class QuestionProfile:
    """What a question asks for, and what a part of a name is worth to it (0-1)."""

    def __init__(self, question: str) -> None:
        self.tests, self.documents = asks_for_tests(question), asks_for_documents(question)
        self.pages = may_ask_for_documents(question)
        self.build, self.build_alone = asks_for_build(question), asks_for_build_alone(question)
        words = [word for word in tokens.part_words(question) if word not in tokens.STOP_WORDS]
        self._stems = question_words(question)
        self._joined = {first + other for first, other in pairwise(words)}
        self._by_letter: dict[str, list[str]] = {}
        for word in dict.fromkeys(words):
            self._by_letter.setdefault(word[0], []).append(word)
        self._marks = {
            *self._stems,
            *map(_begin_mark, self._joined),
            *map(_begin_mark, words),
            *map(_letter_mark, words),
        }
        self._worths: dict[str, float] = {}
        self._shares: dict[tuple[str, ...], float] = {}

    def shares(self, names: Iterable[Name]) -> list[float]:
        """The share (0-1) of the parts of each name that the question holds: mostly none."""
        none, cached = self._marks.isdisjoint, self._shares
        return [
            0.0
            if none(name.marks)
            else cached[name.parts]  # files of a folder lie side by side
            if name.parts in cached
            else self._share(name.parts)
            for name in names
        ]

    def _share(self, parts: tuple[str, ...]) -> float:
        cached = self._worths
        for piece in parts:
            if piece not in cached:
                cached[piece] = self._worth(piece)
        self._shares[parts] = share = sum([cached[piece] for piece in parts]) / len(parts)
        return share

    def _worth(self, piece: str) -> float:
        if piece in self._joined or _stem(piece) in self._stems:
            return 1.0
        if alike := self._by_letter.get(piece[0]):
            for word in alike:
                if is_short_form(piece, word):
                    return SHORT
        return 0.0


@functools.lru_cache(_QUESTIONS)
def prepare(question: str) -> QuestionProfile:
    """What names are compared with; the same for a question that was asked lately."""
    return QuestionProfile(question)


@functools.lru_cache(_STEMS)
def _stem(piece: str) -> str:
    return tokens.lane_text([piece])


def _is_cut(piece: str) -> bool:
    """Whether `piece` may be some consonants of a word, and not the first of its letters alone."""
    return SHORT_CHARS_MIN <= len(piece) <= CONSONANTS_MAX and _VOWELS.isdisjoint(piece[1:])


def is_short_form(piece: str, word: str) -> bool:
    """Whether `piece` stands for the longer `word`: as its begin, or as some of its consonants. Both
    in lower case.
    """
    if len(piece) < SHORT_CHARS_MIN:
        return False
    if word.startswith(piece):
        return len(word) - len(piece) >= CUT_MIN
    if not _is_cut(piece) or len(word) <= len(piece):
        return False
    remaining = iter(word)
    return word[0] == piece[0] and all(letter in remaining for letter in piece)
