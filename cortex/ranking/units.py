"""Ranking of units: definitions as wholes, sections of documents, pieces of other files.

`rank_units` adds weighted signals of each unit: BM25 of its fields, the best words and meaning of
the chunks that share lines with it, the score of its file, and names and lines in the question.
Pure and deterministic: equal scores are ordered by path and line. docs/RANKING.md, "Units".
"""

from __future__ import annotations

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
from cortex.terms.inline_tests import is_test_code
from cortex.terms.paths import asks_for_tests, is_example, is_foreign
from ipc.messages import Signals
from ipc.messages.units import UnitHits

#: value of a unit that has the name, but not the owner, of a qualified name in the question
NAME_ALONE = 0.5
#: kinds of units without a definition
LOOSE_KINDS = ("", "section")
#: units with a named symbol, above which the name is too common to count
SAME_NAME_MAX = 4
#: a name of code in a question: qualified, in backquotes, called, or with capitals or underscores
_CODE_NAME = re.compile(
    r"`([\w.:#>-]+)(?:\([^`]*\))?`|(?<![\w/.@-])([A-Za-z_]\w*(?:(?:\.|::|#|->)[A-Za-z_]\w*)+|[A-Za-z_]\w*(?=\(\))"
    r"|[A-Za-z]\w*_\w+|_+[a-z]\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*)(?![\w/])"
)
_SEPARATOR = re.compile(r"\.|::|#|->")


@dataclass(frozen=True, slots=True)
class UnitWeights:
    """One weight for each signal of a unit."""

    #: BM25 of each field, as a share of the best
    body: float = 1.0
    name: float = 0.5
    owner: float = 0.25
    signature: float = 0.25
    comments: float = 0.25
    path: float = 0.25
    #: best BM25 share, and best cosine as in `smax`, of the chunks with lines of the unit
    chunk_words: float = 0.0
    meaning: float = 0.5
    #: score (0-1) of its file, and 1 / its place
    file: float = 1.5
    place: float = 0.0
    #: 1 for the definition of a name in the question, and for a unit with a named line
    named: float = 1.0
    line: float = 4.0
    #: 1 for a unit without a definition: a section, configuration, lines between definitions
    loose: float = -0.25
    #: 1 for an example, and for generated or vendored code
    example: float = -0.25
    foreign: float = -1.0


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
    meaning = np.where(np.isnan(cosine), 0.0, cosines.z(np.nan_to_num(cosine)))
    words = shares(candidates.lane("body"))
    hits = [candidates.hit(at) for at in range(len(candidates))]
    return [
        ChunkHit(hit.path, hit.start_line, hit.end_line, *values)
        for hit, *values in zip(hits, words.tolist(), meaning.tolist(), strict=True)
    ]


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
    weights: UnitWeights = WEIGHTS,
) -> list[ScoredUnit]:
    """Return the units of `hits`, best first; those of tests last, unless the question asks for
    tests.

    `files`: path → (score, place from 1), as `file_places` returns it. `lines`: (path, line) of the
    places that the question names.
    """
    units = [orjson.loads(raw) for raw in hits.units]
    values = unit_signals(question, units, hits, files, chunks, lines=lines)
    totals = np.array([getattr(weights, name) for name in SIGNALS]) @ values
    below = not asks_for_tests(question)
    scored = [
        ScoredUnit(unit, score, is_test_code(unit["path"], unit.get("symbol", "")), tuple(column))
        for unit, score, column in zip(units, totals.tolist(), values.T.tolist(), strict=True)
    ]
    return sorted(
        scored,
        key=lambda one: (below and one.is_test, -one.score, one.unit["path"], one.unit["start"]),
    )


def unit_signals(
    question: str,
    units: Sequence[Mapping[str, Any]],
    hits: UnitHits,
    files: Mapping[str, tuple[float, int]],
    chunks: Iterable[ChunkHit],
    *,
    lines: Collection[tuple[str, int]] = (),
) -> Array:
    """Return float64 [len(SIGNALS), n]: the value of each signal for each unit."""
    values = np.zeros((len(SIGNALS), len(units)))
    signal = dict(zip(SIGNALS, values, strict=True))
    for name, row in zip(hits.names, hits.values, strict=True):
        signal[name][:] = shares(row)
    paths = [unit["path"] for unit in units]
    found = [files.get(path, (0.0, 0)) for path in paths]
    signal["file"][:] = [score for score, _ in found]
    signal["place"][:] = [1.0 / place if place else 0.0 for _, place in found]
    signal["chunk_words"][:], signal["meaning"][:] = _best_chunks(units, chunks)
    signal["named"][:] = _named(question, units)
    signal["line"][:] = [
        any(path == unit["path"] and _holds(unit, line) for path, line in lines) for unit in units
    ]
    signal["loose"][:] = [unit.get("kind", "") in LOOSE_KINDS for unit in units]
    signal["example"][:] = [is_example(path) for path in paths]
    signal["foreign"][:] = [is_foreign(path) for path in paths]
    return values


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
        near = [
            chunk
            for chunk in by_path.get(unit["path"], ())
            if any(chunk.start <= last and first <= chunk.end for first, last in _ranges(unit))
        ]
        words.append(max((chunk.words for chunk in near), default=0.0))
        meaning.append(max((chunk.meaning for chunk in near), default=0.0))
    return words, meaning


def names_in(question: str) -> list[tuple[str, ...]]:
    """Return the parts of each name of code in a question, each once: (`Store`, `save`)."""
    names = (match[1] or match[2] for match in _CODE_NAME.finditer(question))
    parts = (tuple(filter(None, _SEPARATOR.split(name))) for name in names)
    return list(dict.fromkeys(filter(None, parts)))


def _named(question: str, units: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return for each unit 1 where the question names its symbol, NAME_ALONE where it names its
    last part with another owner; less for a name that several units have, and for later names.
    """
    symbols = [tuple(_SEPARATOR.split(unit.get("symbol", "").partition("~")[0])) for unit in units]
    worth = [0.0] * len(units)
    stripped = question.strip().removesuffix("()")
    alone = [tuple(_SEPARATOR.split(stripped))] if re.fullmatch(r"[\w.:#>-]+", stripped) else []
    for at, name in enumerate(dict.fromkeys([*alone, *names_in(question)])):
        same = [number for number, symbol in enumerate(symbols) if symbol[-1] == name[-1]]
        exact = [number for number in same if symbols[number][-len(name) :] == name]
        if not 0 < len(exact or same) <= SAME_NAME_MAX:
            continue
        for number in exact or same:
            value = (1.0 if exact else NAME_ALONE) / (1 + at / 2)
            worth[number] = max(worth[number], value)
    return worth
