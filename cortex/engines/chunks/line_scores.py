"""Scores of a file's lines and units for a question: rare words of the question count, in names
most. And the units that the best units call: a function that answers often delegates the work.
Pure.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import numpy as np

from cortex.engines.chunks.source import Lines, Source, Unit, letters_of
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

#: the letter between two files
_BETWEEN = np.array([ord(" ")], np.uint8)

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
    """How many chunks of a generation hold a word. Frozen; caches hold derived values."""

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
    """A unit of a file. `marks` (bool [terms, lines of the unit]): the lines with each of `terms`,
    terms of the question; `literal`: lines of the unit with code as the question spells it.
    """

    source: Source
    unit: Unit
    terms: Sequence[str] = ()
    marks: Array = field(default_factory=lambda: np.zeros((0, 0), bool))
    literal: frozenset[int] = frozenset()

    def lines(self) -> dict[int, frozenset[str]]:
        """The unit's lines with words of the question → their terms."""
        terms_by_line: dict[int, set[str]] = {}
        for term, at in zip(*map(np.ndarray.tolist, self.marks.nonzero()), strict=True):
            terms_by_line.setdefault(self.unit.start + at, set()).add(self.terms[term])
        return {number: frozenset(terms) for number, terms in terms_by_line.items()}


@dataclass(frozen=True, slots=True)
class FileScores:
    """Scores of the units of a file, as columns: most are 0, and few units are rendered. `worth`
    (f64): score of each unit, about its share of the question's words; `marks` (bool [terms,
    lines]): the lines with each of `terms`; `spelled`: lines with code as the question spells it,
    ascending; `literal`: indices of the units with such lines.
    """

    source: Source
    worth: Array
    terms: Sequence[str]
    marks: Array
    spelled: Sequence[int]
    literal: Sequence[int]

    def unit_at(self, at: int) -> ScoredUnit:
        """The unit with the index `at`."""
        unit, spelled, first = self.source.units[at], self.spelled, self.source.lines.first
        lines = frozenset(line for line in spelled if unit.start <= line <= unit.end) if spelled else _NONE
        marks = self.marks[:, unit.start - first : unit.end + 1 - first]
        return ScoredUnit(self.source, unit, self.terms, marks, lines)


def score_units(question: Question, sources: Sequence[Source]) -> list[FileScores]:
    """Score the units of all files at once: each step on arrays takes as long for one file."""
    if not sources:
        return []
    total, terms = question.worth(question.weights) or 1.0, tuple(question.weights)
    marks = _mark_lines(question, [source.lines for source in sources])
    before = np.zeros((len(terms), marks.shape[1] + 1), np.int32)
    np.cumsum(marks, axis=1, out=before[:, 1:])
    edges = [0, *accumulate(source.lines.count for source in sources)]
    first, last = np.concatenate(
        [source.spans + (edge - source.lines.first) for source, edge in zip(sources, edges, strict=False)], 1
    )
    counts = np.minimum(before[:, last + 1] - before[:, first], LINES_MAX)
    every = np.array([question.weights[term] for term in terms]) @ _REPEATED[counts]
    every /= np.maximum(1.0, (last - first + 1) / UNIT_LINES) ** 0.25
    out, begin = list[FileScores](), 0
    for source, (line, end) in zip(sources, pairwise(edges), strict=True):
        worth = every[begin : begin + len(source.units)]
        begin += len(source.units)
        for at in source.units_with_names(question.begins):
            worth[at] += _worth_of_symbol(question, source.units[at], total)
        spelled = _find_spelled(question, source.lines)
        literal = source.units_holding(spelled)
        worth /= total
        worth[literal] += HOLDS_LITERAL
        out.append(FileScores(source, worth, terms, marks[:, line:end], spelled, literal))
    return out


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


def _mark_lines(question: Question, files: Sequence[Lines]) -> Array:
    """Bool [terms, lines of all files]: the lines with each term of the question."""
    term_sets = question.term_sets
    letters = np.concatenate([part for lines in files for part in (lines.letters, _BETWEEN)])
    text = "\n".join(lines.text for lines in files)
    offsets = [0, *accumulate(len(lines.text) + 1 for lines in files[:-1])]
    pairs = list(zip(files, offsets, strict=True))
    begins, ends = np.concatenate([lines.word_edges + offset for lines, offset in pairs], 1)
    starts = np.concatenate([np.frombuffer(lines.starts, np.int64)[:-1] + offset for lines, offset in pairs])
    marks = np.zeros((len(question.weights), len(starts)), bool)
    places = np.concatenate([_find_places(letters, begin) for begin in question.begins] or [starts[:0]])
    word = begins.searchsorted(places.astype(np.uint32), side="right") - 1
    spans = map(slice, begins[word].tolist(), ends[word].tolist())
    which = np.fromiter(map(term_sets.__getitem__, map(text.__getitem__, spans)), np.int64, len(word))
    matched = which.nonzero()[0]
    line = starts.searchsorted(places[matched], side="right") - 1
    holds = np.array([[term in terms for term in question.weights] for terms in term_sets.sets], bool)
    at, term = holds[which[matched]].nonzero()
    marks[term, line[at]] = True
    return marks


def _find_places(letters: Array, wanted: str) -> Array:
    """The places of `wanted` in `letters` (`letters_of`), i64: in a fifth of the time of
    `str.find`, whose loop examines each letter.
    """
    count = len(letters) - len(wanted) + 1
    if count <= 0:
        return np.zeros(0, np.int64)
    codes = letters_of(wanted).tolist()
    rare = sorted(range(len(wanted)), key=lambda at: _COMMON.find(wanted[at]))
    first, *others = (letters[at : at + count] == codes[at] for at in rare[:2])
    for other in others:
        first &= other
    places: Array = first.nonzero()[0]
    for at in rare[2:]:
        places = places[letters[places + at] == codes[at]]
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
