"""Overlap of a question with file names: words by their stems, short forms of them (`auth`, `impl`,
`ctx`), and two adjacent words as one (`ratelimit`). Pure.
"""

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

#: score of a part of a name that is a short form of a word in the question; the word itself has 1
SHORT = 0.7
#: fewest letters of a short form, and fewest letters cut off: `parse` is no short form of `parser`,
#: which stems cover
SHORT_CHARS_MIN, CUT_MIN = 3, 2
#: most letters of a short form without vowels after the first letter: `ctx`, `msg`
CONSONANTS_MAX = 4
_VOWELS = frozenset("aeiou")
#: entries of the memo of names, as many as 40 000 files have folders
_NAMES = 1 << 12
#: entries of the memo of stems, about the parts in the paths of 20 000 files
_STEMS = 1 << 13
#: entries of the memo of questions: those in progress at a time
_QUESTIONS = 16


@dataclass(frozen=True, slots=True, eq=False)  # `name_of` makes each once: a key by its identity
class Name:
    """The parts of a name, and its marks: a question with none of the marks has no part of it."""

    parts: tuple[str, ...]
    marks: frozenset[str]


@functools.lru_cache(_NAMES)
def name_of(parts: tuple[str, ...]) -> Name:
    marks = {_stem(piece) for piece in parts} | {_begin_mark(piece) for piece in parts}
    return Name(parts, frozenset(marks.union(_letter_mark(piece) for piece in parts if _is_cut(piece))))


def _begin_mark(word: str) -> str:
    """Return the mark of words with the same beginning; its sign occurs in no stem."""
    return f"={word[:SHORT_CHARS_MIN]}"


def _letter_mark(word: str) -> str:
    """Return the mark of a possible short form made of consonants."""
    return f"#{word[0]}"


class QuestionProfile:
    """The kinds of files that a question asks for, and the scores of name parts for it (0-1)."""

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
        self._shares: dict[Name, float] = {}

    def shares(self, names: Iterable[Name]) -> list[float]:
        """Return for each name the share (0-1) of its parts in the question: mostly 0."""
        cached = self._shares
        return [cached[name] if name in cached else self._share(name) for name in names]

    def _share(self, name: Name) -> float:
        share, cached = 0.0, self._worths
        if not self._marks.isdisjoint(name.marks):
            for piece in name.parts:
                if piece not in cached:
                    cached[piece] = self._worth(piece)
            share = sum([cached[piece] for piece in name.parts]) / len(name.parts)
        self._shares[name] = share
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
    """Return the profile of a question, cached for repeated questions."""
    return QuestionProfile(question)


@functools.lru_cache(_STEMS)
def _stem(piece: str) -> str:
    return tokens.lane_text([piece])


def _is_cut(piece: str) -> bool:
    """Whether `piece` may be some consonants of a word, with its first letter."""
    return SHORT_CHARS_MIN <= len(piece) <= CONSONANTS_MAX and _VOWELS.isdisjoint(piece[1:])


def is_short_form(piece: str, word: str) -> bool:
    """Whether `piece` is a short form of `word` (lower case): its beginning, some consonants."""
    if len(piece) < SHORT_CHARS_MIN:
        return False
    if word.startswith(piece):
        return len(word) - len(piece) >= CUT_MIN
    if not _is_cut(piece) or len(word) <= len(piece):
        return False
    remaining = iter(word)
    return word[0] == piece[0] and all(letter in remaining for letter in piece)
