"""Ranking of units: definitions as wholes, sections of documents, pieces of other files.

`rank_units` adds weighted signals of each unit: BM25 of its fields, the best words and meaning of
the chunks that share lines with it, the score of its file, and names and lines in the question.
Pure and deterministic: equal scores are ordered by path and line. docs/RANKING.md, "Units".
"""

import dataclasses
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import orjson

from cortex.ranking.candidates import collect, shares
from cortex.ranking.evidence import distribution
from cortex.ranking.ranked_hits import Ranked
from cortex.system.arrays import Array
from cortex.terms.code.inline_tests import is_test_code
from cortex.terms.languages import language_of
from cortex.terms.paths import (
    asks_for_build_alone,
    asks_for_documents,
    asks_for_documents_alone,
    asks_for_templates,
    asks_for_tests,
    asks_how_to_use,
    is_example,
    is_foreign,
    is_template,
    is_test,
    question_words,
    template_share,
)
from cortex.terms.units import SECTION
from ipc.messages import Signals
from ipc.messages.signals import END, FILE, START
from ipc.messages.units import UnitHits

#: units of code that a search proposes: of 160, as many are first and among ten (docs/RANKING.md)
CANDIDATES = 100
#: value of a unit with the owner and the name, with the name alone, of a name in the question; of
#: the definition for which the whole question is a name
NAMED, NAME_ALONE, WHOLE_QUESTION = 0.8, 0.5, 3.0
#: the line of a place that means the whole file: the question is its path
WHOLE_FILE = 0
#: share of the penalty for a unit without a definition, if the question asks for documents, for
#: files of the build or how to use the project, and in the best file of the ranking by chunks
ASKED_LOOSE = 0.25
#: the same for templates, if a word of the question may mean them: less than none, for their text
#: has few of the words by which people describe it
ASKED_TEMPLATE = -0.8
#: logarithm of the lines of a unit that counts 1: 150 lines
LENGTH_SCALE = 5.0
#: kinds of units without a definition
LOOSE_KINDS = ("", SECTION)
#: units with a named symbol, above which the name is too common to count
SAME_NAME_MAX = 4
NO_LITERALS: Mapping[tuple[str, int], float] = {}
#: a name of code in a question: qualified, in backquotes, called, or with capitals or underscores
_CODE_NAME = re.compile(
    r"`([\w.:#>-]+)(?:\([^`]*\))?`|(?<![\w/.@-])([A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)+|[A-Za-z_]\w*(?=\(\))"
    r"|[A-Za-z]\w*_\w+|_+[a-z]\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*)(?![\w/])"
)
#: a question that is one name
_ONE_NAME = re.compile(r"\s*`?([A-Za-z_$@][\w.:#>$-]*\w[?!=]?)(?:\(\))?`?\s*")
_SEPARATOR = re.compile(r"\.|::|#|->")


@dataclass(frozen=True, slots=True)
class UnitWeights:
    """One weight for each signal of a unit."""

    #: BM25 of each field, as a share of the best; `body` has the words of comments, too
    body: float = 1.5
    name: float = 1.0
    owner: float = 1.0
    signature: float = 0.75
    #: best share of BM25, and best cosine as in `smax`, of the chunks with lines of the unit
    chunk_words: float = 1.75
    meaning: float = 2.0
    #: score (0-1) of its file
    file: float = 1.0
    #: its symbol is a name in the question; it has a line that the question names
    named: float = 2.0
    line: float = 8.0
    #: share of a text of the question that it holds word for word, a message
    literal: float = 8.0
    #: 1 for a unit without a definition: a section, configuration, lines between definitions
    loose: float = -2.0
    #: 1 for an example; for generated or vendored code
    example: float = -0.75
    foreign: float = -1.0
    #: logarithm of the number of its lines
    length: float = 1.5


WEIGHTS = UnitWeights()
SIGNALS = tuple(field.name for field in dataclasses.fields(UnitWeights))


class ChunkHit(NamedTuple):
    """A chunk that a lane found: its lines, its share (0-1) of the best BM25, and its cosine as in
    `smax` (0 if the vector lane has none).
    """

    path: str
    start: int
    end: int
    words: float
    meaning: float


class ScoredUnit(NamedTuple):
    """A unit (the object of UnitHits), its score, and its signals in the order of SIGNALS."""

    unit: dict[str, Any]
    score: float
    is_test: bool
    values: tuple[float, ...]


def chunk_hits(lanes: Sequence[Signals]) -> list[ChunkHit]:
    """Return the chunks of all lanes' replies, each once."""
    candidates = collect([signals for signals in lanes if len(signals)])
    if candidates is None:
        return []
    cosines = distribution(next((signals for signals in lanes if "cosine" in signals.names), None))
    cosine = candidates.lane("cosine")
    meaning = np.where(np.isnan(cosine), 0.0, cosines.z(np.nan_to_num(cosine))).tolist()
    words = shares(candidates.lane("body")).tolist()
    hits = []
    for number, reply in enumerate(candidates.replies):
        mine = np.flatnonzero(candidates.reply == number)
        rows = reply.rows[:, candidates.at[mine]].tolist()
        for at, file, start, end in zip(mine.tolist(), rows[FILE], rows[START], rows[END], strict=True):
            hits.append(ChunkHit(reply.paths[file], start, end, words[at], meaning[at]))
    return hits


def file_places(ranked: Iterable[Ranked]) -> dict[str, tuple[float, int]]:
    """Return path → (score, place from 1) of the files of a ranking."""
    files: dict[str, tuple[float, int]] = {}
    for hit in ranked:
        if hit.place == 1:
            files.setdefault(hit.hit.path, (hit.score, len(files) + 1))
    return files


def rank_units(
    question: str,
    hits: UnitHits,
    files: Mapping[str, tuple[float, int]],
    chunks: Iterable[ChunkHit],
    *,
    lines: Collection[tuple[str, int]] = (),
    literals: Mapping[tuple[str, int], float] = NO_LITERALS,
    weights: UnitWeights = WEIGHTS,
) -> list[ScoredUnit]:
    """Return the units of `hits`, best first; those of tests last, unless the question asks for
    tests or names one. Sections come first if it asks for documents alone.

    `files`: path → (score, place from 1), as `file_places` returns it. `lines`: (path, line) of the
    places that the question names, a line WHOLE_FILE for all of the file. `literals`: (path, line)
    → the share of a text of the question that the line holds.
    """
    units = [orjson.loads(raw) for raw in hits.units]
    values = unit_signals(question, units, hits, files, chunks, lines=lines, literals=literals)
    totals = np.array([getattr(weights, name) for name in SIGNALS]) @ values
    below, named_row = not asks_for_tests(question), SIGNALS.index("named")
    are_pages_first = asks_for_documents_alone(question)
    scored = [
        ScoredUnit(unit, score, is_test_code(unit["path"], unit.get("symbol", "")), tuple(column))
        for unit, score, column in zip(units, totals.tolist(), values.T.tolist(), strict=True)
    ]
    return sorted(
        scored,
        key=lambda scored_unit: (
            are_pages_first and (scored_unit.is_test or scored_unit.unit.get("kind") != SECTION),
            below and scored_unit.is_test and scored_unit.values[named_row] < NAMED,
            -scored_unit.score,
            scored_unit.unit["path"],
            scored_unit.unit["start"],
        ),
    )


def has_loose_text(path: str) -> bool:
    """Whether a file's text without a definition says what it is for: of configuration, a style or
    a document, not of a program, a test or a template.
    """
    language = language_of(path)
    is_program = language.kind == "code" and language.nodes and bool(language.wheel)
    return not (is_program or is_test(path) or is_template(path))


def unit_signals(
    question: str,
    units: Sequence[Mapping[str, Any]],
    hits: UnitHits,
    files: Mapping[str, tuple[float, int]],
    chunks: Iterable[ChunkHit],
    *,
    lines: Collection[tuple[str, int]] = (),
    literals: Mapping[tuple[str, int], float] = NO_LITERALS,
) -> Array:
    """Return float64 [len(SIGNALS), n]: the value of each signal for each unit."""
    values = np.zeros((len(SIGNALS), len(units)))
    signal = dict(zip(SIGNALS, values, strict=True))
    for name, row in zip(hits.names, hits.values, strict=True):
        if name in signal:
            signal[name][:] = shares(row)
    # A constructor's name is its type's: its words count as those of the owner alone.
    signal["name"][[_is_named_like_owner(unit) for unit in units]] = 0.0
    paths = [unit["path"] for unit in units]
    signal["file"][:] = [files[path][0] if path in files else 0.0 for path in paths]
    signal["chunk_words"][:], signal["meaning"][:] = _best_chunks(units, chunks)
    named_files = {path for path, line in lines if line == WHOLE_FILE}
    signal["named"][:] = [
        WHOLE_QUESTION if unit["path"] in named_files else worth
        for unit, worth in zip(units, _named(question, units), strict=True)
    ]
    signal["line"][:] = [
        unit["path"] in named_files
        or any(path == unit["path"] and _holds(unit, line) for path, line in lines)
        for unit in units
    ]
    signal["literal"][:] = [
        max(
            (
                share
                for (path, line), share in literals.items()
                if path == unit["path"] and _holds(unit, line)
            ),
            default=0.0,
        )
        for unit in units
    ]
    asks_for_loose = any(
        asks(question) for asks in (asks_for_documents, asks_for_build_alone, asks_how_to_use)
    )
    signal["loose"][:] = [unit.get("kind", "") in LOOSE_KINDS for unit in units]
    signal["loose"] *= ASKED_LOOSE if asks_for_loose else 1.0
    best_file = next(iter(files), "")
    if has_loose_text(best_file):
        signal["loose"] *= [ASKED_LOOSE if path == best_file else 1.0 for path in paths]
    if sureness := asks_for_templates(question):
        words, share = question_words(question), sureness * ASKED_TEMPLATE
        signal["loose"] *= [
            share * (1 + template_share(path, words)) if is_template(path) else 1.0 for path in paths
        ]
    signal["example"][:] = [is_example(path) for path in paths]
    signal["foreign"][:] = [is_foreign(path) for path in paths]
    signal["length"][:] = np.log1p([sum(last - first + 1 for first, last in _ranges(unit)) for unit in units])
    signal["length"] /= LENGTH_SCALE
    return values


def _is_named_like_owner(unit: Mapping[str, Any]) -> bool:
    names = _SEPARATOR.split(unit.get("symbol", "").partition("~")[0])
    return names[-1:] == names[-2:-1]


def name_at(units: Iterable[ScoredUnit], place: tuple[str, int]) -> str:
    """Return the symbol of the unit with the line at `place`; "" for none."""
    path, line = place
    names = (
        scored.unit.get("symbol", "")
        for scored in units
        if scored.unit["path"] == path and _holds(scored.unit, line)
    )
    return next(names, "")


def _ranges(unit: Mapping[str, Any]) -> list[list[int]]:
    return unit.get("ranges") or [[unit["start"], unit["end"]]]


def _holds(unit: Mapping[str, Any], line: int) -> bool:
    return any(first <= line <= last for first, last in _ranges(unit))


def _best_chunks(
    units: Sequence[Mapping[str, Any]], chunks: Iterable[ChunkHit]
) -> tuple[list[float], list[float]]:
    """Return for each unit the best words and the best meaning of the chunks that share a line."""
    by_path: dict[str, list[ChunkHit]] = defaultdict(list)
    for chunk in chunks:
        by_path[chunk.path].append(chunk)
    words, meaning = [], []
    for unit in units:
        start, end, ranges = unit["start"], unit["end"], _ranges(unit)
        best_words = best_meaning = 0.0
        for _, first, last, chunk_words, chunk_meaning in by_path.get(unit["path"], ()):
            if last < start or end < first:
                continue
            if len(ranges) > 1 and not any(first <= bottom and top <= last for top, bottom in ranges):
                continue
            best_words = max(best_words, chunk_words)
            best_meaning = max(best_meaning, chunk_meaning)
        words.append(best_words)
        meaning.append(best_meaning)
    return words, meaning


def names_in(question: str) -> list[tuple[str, ...]]:
    """Return the parts of each name of code in a question, each once: (`Store`, `save`)."""
    names = (match[1] or match[2] for match in _CODE_NAME.finditer(question))
    parts = (tuple(filter(None, _SEPARATOR.split(name))) for name in names)
    return list(dict.fromkeys(filter(None, parts)))


def _named(question: str, units: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return for each unit how surely the question names its symbol: 1 for the same qualified name,
    NAMED for the same last parts, NAME_ALONE for another owner and for the owner of an attribute;
    less for later names, and 0 for a name of more than SAME_NAME_MAX units. WHOLE_QUESTION times as
    much if the question is a name.
    """
    symbols = [tuple(_SEPARATOR.split(unit.get("symbol", "").partition("~")[0])) for unit in units]
    worth = [0.0] * len(units)
    name_alone = _ONE_NAME.fullmatch(question)
    names = (
        [tuple(filter(None, _SEPARATOR.split(name_alone[1])))]
        if name_alone is not None
        else names_in(question)
    )
    for at, name in enumerate(filter(None, names)):
        last = [number for number, symbol in enumerate(symbols) if symbol[-1] == name[-1]]
        if not last and len(name) > 1:  # an attribute, which is no unit: its owner
            last = [number for number, symbol in enumerate(symbols) if symbol[-1] == name[-2]]
        owned = [number for number in last if symbols[number][-len(name) :] == name]
        same = [number for number in owned if symbols[number] == name]
        for value, numbers in ((1.0, same), (NAMED, owned), (NAME_ALONE, last)):
            if not 0 < len(numbers) <= SAME_NAME_MAX:
                continue
            for number in numbers:
                worth[number] = max(
                    worth[number], value * (WHOLE_QUESTION if name_alone else 1 / (1 + at / 2))
                )
    return worth
