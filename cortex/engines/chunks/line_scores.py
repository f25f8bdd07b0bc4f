"""Scores of a file's lines and units for a question: rare words of the question count, in names
most. And the units that the best units call: a function that answers often delegates the work.
Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from cortex.engines.chunks.source import Lines, Source, Unit
from cortex.generation.read import Rows
from cortex.generation.segments.words import WordTable
from cortex.system.arrays import Array
from cortex.terms import tokens

#: definitions of one name in the compared files, above which a call of it is ignored
MEANINGS_MAX = 3

#: a name that is called or used as a member; possessive, so a failed match is not retried from
#: later letters of the name
_CALLED = re.compile(r"(?<![A-Za-z_])[A-Za-z_](?:(?<=[.>:][A-Za-z_])\w*|\w*+(?=[(<]))")

#: words of a question that are scored
WORDS_MAX = 48
#: score of a word in the name of a definition, relative to one occurrence in its text
NAME_WORTH = 1.2
#: score of a word in the names of the enclosing types and modules
SCOPE_WORTH = 0.3
#: gain by further lines with the same word: 1 + this × ln(lines)
REPEAT_WORTH = 0.25
#: lines of an average unit; longer ones score less
UNIT_LINES = 18
#: factor for an identifier of the question, over its words
NAMED_WORTH = 2.5
#: added to the score of a line for an identifier of the question, times its rarity; for a piece of
#: code as the question spells it (`total_expired++`); to a unit with such a line, more than to one
#: that repeats all words of the question
NAMED_LINE, LITERAL, HOLDS_LITERAL = 0.5, 1.0, 2.0
#: least letters of such a piece
LITERAL_CHARS_MIN = 5

#: weight of a word that no chunk holds; least weight of any word
UNKNOWN_WORTH, WORTH_MIN = 0.3, 0.02
#: words in the cache of rarities
RARITIES_MAX = 20_000
#: lines with the same word above which more add nothing
LINES_MAX = 400

#: number of lines with a word → their score together
_REPEATED = np.array([0.0, *(1 + REPEAT_WORTH * math.log(count) for count in range(1, LINES_MAX + 1))])

_NONE: frozenset[int] = frozenset()

#: the letters of code, rare ones first
_COMMON = "qjzxkvwybghmfupdclnoaisrte"

#: stems longer than this may differ from their word in the last letter: "happi"
STEM_CHARS_MIN = 2

#: an identifier: not a plain word
_NAME = re.compile(
    r"[A-Za-z_]\w*_\w+|_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|\w+(?=\(\))|(?<=[.:#])\w+|[A-Za-z]\w*(?=(?:\.|::)[A-Za-z_])"
    r"|(?<=`)\w+(?=`)"
)
#: punctuation around a word of a sentence
_PUNCTUATION = ",;:?!\"'`"


class _TermSets(dict[str, int]):
    """Word → index in `sets` of the terms that it matches, by itself or by its parts; computed on
    first use. 0: none.
    """

    def __init__(self, terms: Iterable[str], names: frozenset[str]) -> None:
        self._terms, self._names = frozenset(terms), names
        self.sets = [frozenset[str]()]
        self._numbers = {self.sets[0]: 0}

    def __missing__(self, word: str) -> int:
        terms = self._terms.intersection(tokens.lane_terms(word))
        if self._names and (lower := word.lower()) in self._names:
            terms |= {lower}
        number = self[word] = self._numbers.setdefault(terms, len(self.sets))
        if number == len(self.sets):
            self.sets.append(terms)
        return number


@dataclass(frozen=True, slots=True)
class Question:
    """The weighted words of a question. `weights`: term of a ranking lane → its weight, 1 for the
    rarest; `names`: identifiers of the question in lower case.
    """

    weights: dict[str, float]
    names: frozenset[str]
    #: pieces in lower case; every word with one of the terms holds one of them
    begins: tuple[str, ...]
    #: index of the terms in words that hold one of `begins`
    term_sets: _TermSets
    #: pieces of code in the question, as it spells them
    literals: tuple[str, ...] = ()
    #: text → score of its terms; a cache: names and scopes repeat in many places
    worth_cache: dict[str, float] = field(default_factory=dict, compare=False)

    def line_worth(self, terms: frozenset[str], total: float) -> float:
        """The score of a line with these terms, as a share of `total`, the weight of all terms."""
        names = sum(self.weights[term] for term in terms & self.names)
        return self.worth(terms) / total + NAMED_LINE * names / NAMED_WORTH

    def terms(self, text: str) -> frozenset[str]:
        """The terms of the question in the text."""
        words = [word for word in tokens.words(text) if any(map(word.lower().__contains__, self.begins))]
        return frozenset().union(*(self.term_sets.sets[self.term_sets[word]] for word in words))

    def worth(self, terms: Iterable[str]) -> float:
        return sum(map(self.weights.__getitem__, terms))

    def worth_of(self, text: str) -> float:
        """The weight of all terms in the text."""
        worth = self.worth_cache.get(text)
        if worth is None:
            worth = self.worth_cache[text] = self.worth(self.terms(text))
        return worth


class Rarity:
    """The number of chunks of a generation that hold a word. Frozen; caches hold derived values
    only.
    """

    def __init__(self, rows: Rows) -> None:
        self._tables = [WordTable(segment.arrays) for segment in rows.segments]
        self._count = max(2, len(rows))
        self._row_counts: dict[frozenset[str], int] = {}

    def weigh(self, spelled: frozenset[str]) -> float:
        """The weight of a word with these spellings: 1 if one chunk holds it."""
        row_count = self._row_counts.get(spelled)
        if row_count is None:
            if len(self._row_counts) >= RARITIES_MAX:
                self._row_counts.clear()
            row_lists = (table.rows(table.codes_of(spelled)) for table in self._tables)
            row_count = self._row_counts[spelled] = sum(map(_distinct, row_lists))
        return (
            math.log(self._count / max(1, row_count)) / math.log(self._count) if row_count else UNKNOWN_WORTH
        )


def _distinct(rows: Array) -> int:
    """The number of distinct rows: marking takes a fraction of the time of sorting."""
    if not len(rows):
        return 0
    marks = np.zeros(1 + int(rows.max()), bool)
    marks[rows] = True
    return int(np.count_nonzero(marks))


def weigh_words(rarity: Rarity, query: str) -> Question:
    """The words of `query`, with more weight the fewer chunks hold them."""
    names = {name.lower() for name in _NAME.findall(query)}
    words = [word for word in tokens.words(query) if word.lower() not in tokens.STOP_WORDS][:WORDS_MAX]
    forms: dict[str, set[str]] = {}
    for word in words:
        for form in {*tokens.lane_text([word]).split(), *([word.lower()] if word.lower() in names else ())}:
            forms.setdefault(form, set()).update((form, word.lower()))
    weights = {}
    for term, spelled in forms.items():
        weight = rarity.weigh(frozenset(spelled)) * (NAMED_WORTH if term in names else 1.0)
        weights[term] = max(WORTH_MIN, weight)
    weighed_names = frozenset(names & weights.keys())
    return Question(
        weights, weighed_names, _begins(weights), _TermSets(weights, weighed_names), _find_literals(query)
    )


def _find_literals(query: str) -> tuple[str, ...]:
    """Pieces of the question that are more than an identifier: `a->next`, `count++`."""
    pieces = (_strip_punctuation(piece) for piece in query.split())
    return tuple(
        dict.fromkeys(
            piece
            for piece in pieces
            if len(piece) >= LITERAL_CHARS_MIN and _NAME.search(piece) and not piece.isidentifier()
        )
    )


def _begins(terms: Iterable[str]) -> tuple[str, ...]:
    """The common letters of terms and of words with them: a stem may differ from its word in the
    last letter. A joined form may be written with underscores; its parts are terms as well.
    """
    begins = sorted({term[:-1] if len(term) > STEM_CHARS_MIN else term for term in terms}, key=len)
    return tuple(
        begin for at, begin in enumerate(begins) if not any(shorter in begin for shorter in begins[:at])
    )


def _strip_punctuation(piece: str) -> str:
    """The piece without the punctuation of the sentence around it."""
    piece = piece.strip(_PUNCTUATION).rstrip(".")
    return piece if piece.count("(") == piece.count(")") else piece.strip("()")


@dataclass(frozen=True, slots=True)
class ScoredUnit:
    """A unit of a file. `lines_by_term`: term of the question → lines of the file with it;
    `literal`: lines of the unit with code as the question spells it.
    """

    source: Source
    unit: Unit
    lines_by_term: Mapping[str, Array] = field(default_factory=dict)
    literal: frozenset[int] = frozenset()

    def lines(self) -> dict[int, frozenset[str]]:
        """The unit's lines with words of the question → their terms."""
        terms_by_line: dict[int, set[str]] = {}
        for term, numbers in self.lines_by_term.items():
            begin, end = np.searchsorted(numbers, (self.unit.start, self.unit.end + 1)).tolist()
            for number in numbers[begin:end].tolist():
                terms_by_line.setdefault(number, set()).add(term)
        return {number: frozenset(terms) for number, terms in terms_by_line.items()}


@dataclass(frozen=True, slots=True)
class FileScores:
    """Scores of the units of a file, as columns: most are 0, and few units are rendered. `worth`
    (f64): score of each unit, about its share of the question's words; `spelled`: lines with code
    as the question spells it, ascending; `literal`: indices of the units with such lines.
    """

    source: Source
    worth: Array
    lines_by_term: Mapping[str, Array]
    spelled: Sequence[int]
    literal: Sequence[int]

    def unit_at(self, at: int) -> ScoredUnit:
        """The unit with the index `at`."""
        unit = self.source.units[at]
        spelled = self.spelled
        lines = frozenset(line for line in spelled if unit.start <= line <= unit.end) if spelled else _NONE
        return ScoredUnit(self.source, unit, self.lines_by_term, lines)


def score_units(question: Question, source: Source) -> FileScores:
    total = question.worth(question.weights) or 1.0
    lines_by_term, spelled = _lines_with_terms(question, source.lines), _find_spelled(question, source.lines)
    first, last = source.spans
    worth = np.zeros(len(source.units))
    if lines_by_term and source.units:
        repeated = _REPEATED[np.minimum(_count_lines(lines_by_term, source.spans), LINES_MAX)]
        worth += np.array([question.weights[term] for term in lines_by_term]) @ repeated
    worth /= np.maximum(1.0, (last - first + 1) / UNIT_LINES) ** 0.25
    for at in source.units_with_names(question.begins):
        worth[at] += _worth_of_symbol(question, source.units[at], total)
    literal = source.units_holding(spelled)
    worth /= total
    worth[literal] += HOLDS_LITERAL
    return FileScores(source, worth, lines_by_term, spelled, literal)


def _worth_of_symbol(question: Question, unit: Unit, total: float) -> float:
    """The score of the unit's name. `total`: weight of all words of the question."""
    scope, _, name = unit.symbol.rpartition(".")
    worth = NAME_WORTH * question.worth_of(name)
    worth += SCOPE_WORTH * question.worth_of(scope)
    return worth + total if unit.kind and name.lower() in question.names else worth


def _find_spelled(question: Question, lines: Lines) -> list[int]:
    """The lines with code as the question spells it, ascending."""
    numbers = set()
    for literal in question.literals:
        place = lines.text.find(literal)
        while place >= 0:
            numbers.add(lines.number_at(place))
            place = lines.text.find(literal, place + len(literal))
    return sorted(numbers)


def _lines_with_terms(question: Question, lines: Lines) -> dict[str, Array]:
    """Term of the question → the lines with it, ascending and unique. The order is
    deterministic.
    """
    text, term_sets, letters = lines.text, question.term_sets, lines.letters
    places = np.concatenate([_find_places(letters, begin) for begin in question.begins] or [letters[:0]])
    if not len(places):
        return {}
    begins, ends = lines.word_edges
    word = np.searchsorted(begins, places.astype(np.uint32), side="right") - 1
    spans = map(slice, begins[word].tolist(), ends[word].tolist())
    which = np.fromiter(map(term_sets.__getitem__, map(text.__getitem__, spans)), np.int64, len(word))
    matched = np.flatnonzero(which)
    which, numbers = which[matched], lines.numbers_at(places[matched])
    lines_by_term: dict[str, Array] = {}
    for term in question.weights:
        with_term = numbers[np.array([term in terms for terms in term_sets.sets])[which]]
        if len(with_term):
            is_inside = np.zeros(lines.last - lines.first + 1, bool)
            is_inside[with_term - lines.first] = True  # a fraction of the time of np.unique
            lines_by_term[term] = np.flatnonzero(is_inside) + lines.first
    return lines_by_term


def _count_lines(lines_by_term: Mapping[str, Array], spans: Array) -> Array:
    """The number of lines of each unit with each term, i64 [terms, units].

    One search serves all terms: the lines of each are shifted to a separate range of numbers.
    """
    shifts = np.arange(len(lines_by_term)) * (
        1 + max(int(spans[1].max()), *(int(lines[-1]) for lines in lines_by_term.values()))
    )
    numbers = np.concatenate(
        [lines + more for lines, more in zip(lines_by_term.values(), shifts.tolist(), strict=True)]
    )
    first, last = spans[:, None] + shifts[:, None]
    counts: Array = np.searchsorted(numbers, last, side="right") - np.searchsorted(numbers, first)
    return counts


def _find_places(letters: Array, wanted: str) -> Array:
    """The places of `wanted` in `letters`, i64: in a fifth of the time of `str.find`, whose loop
    examines each letter.
    """
    count = len(letters) - len(wanted) + 1
    if count <= 0:
        return np.zeros(0, np.int64)
    rare = sorted(range(len(wanted)), key=lambda at: _COMMON.find(wanted[at]))
    first, *others = (letters[at : at + count] == ord(wanted[at]) for at in rare[:2])
    for other in others:
        first &= other
    places = np.flatnonzero(first)
    for at in rare[2:]:
        places = places[letters[places + at] == ord(wanted[at])]
    return places


def find_callees(
    callers: Iterable[ScoredUnit], sources: Sequence[Source]
) -> Iterator[tuple[int, Source, int]]:
    """Yield (index of the caller, file of the callee, index of its unit there)."""
    for at, caller in enumerate(callers):
        names, definitions = _called_names(caller), dict[str, list[tuple[Source, int]]]()
        for source in sources:  # most callees are defined in none of them
            for name in names & source.defined.keys():
                definitions.setdefault(name, []).extend((source, unit) for unit in source.defined[name])
        for targets in definitions.values():
            if len(targets) <= MEANINGS_MAX:
                yield from ((at, source, unit) for source, unit in targets)


def _called_names(caller: ScoredUnit) -> frozenset[str]:
    """The names that a definition calls; none for other units."""
    if not caller.unit.kind:
        return frozenset()
    own_name = caller.unit.symbol.rpartition(".")[2]
    lines = caller.source.lines
    text = lines.between(caller.unit.start, caller.unit.end)
    return frozenset(_CALLED.findall(text)) - {own_name}
