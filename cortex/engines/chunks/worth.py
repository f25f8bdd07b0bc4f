"""What a line and a unit of a file are worth to a question: rare words of the question, in names
first. Pure.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate

from cortex.engines.chunks.source import Source, Unit
from cortex.generation.read import Rows
from cortex.generation.words import WordTable
from cortex.terms import tokens

#: words of a question that are looked at
WORDS_MAX = 48
#: what a word is worth in the name of a definition, of what it is worth once in its text
NAME_WORTH = 1.2
#: what it is worth in the names of the types and modules around it
SCOPE_WORTH = 0.3
#: what further lines with the same word add: 1 + this × ln(lines)
REPEAT_WORTH = 0.25
#: lines of a unit that is neither long nor short: longer ones count less
UNIT_LINES = 18
#: an identifier of the question is worth this much more than its parts
NAMED_WORTH = 2.5

#: letters of a stem from which on its last one may be another in the word: "happi"
STEM_CHARS_MIN = 2

#: what is written like the name of something: more than one plain word
_NAME = re.compile(
    r"[A-Za-z_]\w*_\w+|_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|\w+(?=\(\))|(?<=[.:#])\w+|[A-Za-z]\w*(?=(?:\.|::)[A-Za-z_])"
    r"|(?<=`)\w+(?=`)"
)


@dataclass(frozen=True, slots=True)
class Question:
    """`weights`: term of a ranking lane → what it is worth, 1 for the rarest; `names`: identifiers
    of the question in lower case.
    """

    weights: dict[str, float]
    names: frozenset[str]
    #: finds all lines that may hold one of them, in a fraction of the time
    likely: re.Pattern[str]
    _memo: dict[str, frozenset[str]] = field(default_factory=dict, compare=False)

    def terms(self, text: str) -> frozenset[str]:
        """Those of the terms that the text holds."""
        found: set[str] = set()
        for word in tokens.words(text):
            known = self._memo.get(word)
            if known is None:
                known = frozenset(tokens.lane_text([word]).split()) & self.weights.keys()
                if word.lower() in self.names:
                    known |= {word.lower()}
                self._memo[word] = known
            found |= known
        return frozenset(found)

    def worth(self, terms: Iterable[str]) -> float:
        return sum(map(self.weights.__getitem__, terms))


def weigh_words(rows: Rows, query: str) -> Question:
    """The words of `query`, each worth the more the fewer chunks hold it."""
    names = {name.lower() for name in _NAME.findall(query)}
    words = [word for word in tokens.words(query) if word.lower() not in tokens.STOP_WORDS][:WORDS_MAX]
    forms: dict[str, set[str]] = {}
    for word in words:
        for part in {*tokens.lane_text([word]).split(), *([word.lower()] if word.lower() in names else ())}:
            forms.setdefault(part, set()).update((part, word.lower()))
    tables = [WordTable(segment.arrays) for segment in rows.segments]
    count = max(2, len(rows))
    weights = {}
    for term, spelled in forms.items():
        found = sum(len(set(table.rows(table.codes_of(spelled)).tolist())) for table in tables)
        weights[term] = math.log(count / max(1, found)) / math.log(count) if found else 0.3
        if term in names:
            weights[term] *= NAMED_WORTH
    weights = {term: max(0.02, weight) for term, weight in weights.items()}
    return Question(weights, frozenset(names & weights.keys()), _likely(weights))


def _likely(terms: Iterable[str]) -> re.Pattern[str]:
    """What a line with one of the terms holds: a stem may differ from its word in the last letter,
    and a joined form may stand with underscores, but then its parts are terms as well.
    """
    begins = {term[:-1] if len(term) > STEM_CHARS_MIN else term for term in terms}
    return re.compile("|".join(map(re.escape, sorted(begins))) or r"(?!)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Judged:
    """A unit of a file with what it is worth, and its lines that hold words of the question."""

    source: Source
    unit: Unit
    worth: float
    held: dict[int, frozenset[str]]


def judge(question: Question, source: Source) -> list[Judged]:
    """Every unit of the file, in order. `worth` is about the share of the question's words."""
    total = question.worth(question.weights) or 1.0
    held_by = _held(question, source)
    numbers = sorted(held_by)
    out = []
    for unit in source.units:
        inside = numbers[bisect_left(numbers, unit.start) : bisect_right(numbers, unit.end)]
        held = {number: held_by[number] for number in inside}
        lines = Counter(term for found in held.values() for term in found)
        scope, _, name = unit.symbol.rpartition(".")
        named, around = question.terms(name), question.terms(scope)
        worth = sum(question.weights[term] * (1 + REPEAT_WORTH * math.log(n)) for term, n in lines.items())
        size = max(1.0, (unit.end - unit.start + 1) / UNIT_LINES)
        worth = worth / size**0.25 + NAME_WORTH * question.worth(named) + SCOPE_WORTH * question.worth(around)
        if unit.kind and unit.symbol and name.lower() in question.names:
            worth += total
        out.append(Judged(source, unit, worth / total, held))
    return out


def _held(question: Question, source: Source) -> dict[int, frozenset[str]]:
    """The lines of the file that hold words of the question, with their terms."""
    numbers = list(source.lines)
    starts = list(accumulate((len(line) + 1 for line in source.lines.values()), initial=0))
    text = "\n".join(source.lines.values())
    places = {bisect_right(starts, match.start()) - 1 for match in question.likely.finditer(text)}
    found = {numbers[at]: question.terms(source.lines[numbers[at]]) for at in sorted(places)}
    return {number: terms for number, terms in found.items() if terms}
