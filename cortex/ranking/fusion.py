"""Fuses the lanes' signals: scores files by a weighted sum, shows each file's best chunk. docs/RANKING.md explains it.

Pure and deterministic: the same signals in any order give the same ranking; ties are broken by chunk id.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from cortex.ranking.paths import asks_for_tests, is_example, is_test, question_words, stem_share
from cortex.ranking.weights import Weights
from cortex.records import COVERING_TYPES
from ipc.messages import Hit, Signals

Source = Literal["lex", "vec", "both"]

#: chunks of a file whose scores are added
TOP_CHUNKS = 3
#: the z-score of a cosine is divided by this, so that a good one is about 1 like the other signals
Z_SCALE = 4.0
#: bound of the z-score: a handful of rows has hardly any deviation
Z_MAX = 12.0
#: what is left of the penalties when the question asks for tests or examples
ASKED_PENALTY = 0.25
#: score = 1 / (1 + exp(-STEEPNESS · (sum / positive - 1/2))): 0.05 at 0, 0.5 at half of all that is good, 0.95 at all
STEEPNESS = 6.0

_LANES = ("body", "path", "defs", "comments", "defx", "cosine")


@dataclass(frozen=True, slots=True)
class Term:
    """One signal of an explained hit; `value × weight` are what is added up."""

    name: str
    value: float
    weight: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A hit with its score (0-1, higher is better, falling along the list) and the terms that made it.

    `place` is 1 for the best chunk of its file, 2 for the next; from 2 on the score is `factor` × the lowest score of
    a first place. `total` is the sum of `terms`.
    """

    hit: Hit
    score: float
    source: Source
    terms: tuple[Term, ...]
    total: float
    place: int = 1
    factor: float = 1.0

    def explanation(self) -> dict[str, Any]:
        return {
            "signals": {
                term.name: {"value": term.value, "weight": term.weight, "product": term.value * term.weight}
                for term in self.terms
            },
            "sum": self.total,
            "place_in_file": self.place,
            "factor": self.factor,
        }


@dataclass(slots=True)
class _Chunk:
    hit: Hit
    body: float = 0.0
    path: float = 0.0
    defs: float = 0.0
    comments: float = 0.0
    defx: float = 0.0
    cosine: float | None = None
    lexical: bool = False

    @property
    def source(self) -> Source:
        if self.cosine is None:
            return "lex"
        return "both" if self.lexical else "vec"

    @property
    def covering(self) -> bool:
        return self.hit.chunk_type in COVERING_TYPES


@dataclass(slots=True)
class _File:
    path: str
    chunks: list[_Chunk] = field(default_factory=list)

    def top(self, lane: str) -> float:
        """The sum of the best chunks' scores; only kinds that hold each line once, where the file has such hits."""
        chunks = [chunk for chunk in self.chunks if chunk.covering] or self.chunks
        return math.fsum(sorted((getattr(chunk, lane) for chunk in chunks), reverse=True)[:TOP_CHUNKS])

    def best(self, lane: str) -> float:
        value: float = max(getattr(chunk, lane) for chunk in self.chunks)
        return value


@dataclass(frozen=True, slots=True)
class _Cosines:
    """The distribution that makes cosines comparable: `missing` stands for a chunk that the lane did not return."""

    mean: float
    deviation: float
    missing: float

    def z(self, cosine: float) -> float:
        if self.deviation <= 0:
            return 0.0
        return max(-Z_MAX, min(Z_MAX, (cosine - self.mean) / self.deviation)) / Z_SCALE


def rank(
    question: str, text: Signals | None, vector: Signals | None, weights: Weights, limit: int
) -> list[Ranked]:
    """The best `limit` chunks: distinct files first, each with its best chunk, then more chunks of the same files.

    A lane that did not answer is None. Scores fall along the list.
    """
    chunks = _collect([signals for signals in (text, vector) if signals is not None])
    files = _group(chunks)
    cosines = _distribution(vector)
    scales = {lane: max((file.best(lane) for file in files), default=0.0) for lane in ("path", "body")}
    terms = _terms(question, files, weights, cosines, scales["path"])
    strength = _strengths(chunks, cosines, scales["body"])
    shown = [_pick(file, strength) for file in files]
    totals = [math.fsum(term.value * term.weight for term in row) for row in terms]
    order = sorted(range(len(files)), key=lambda at: (-totals[at], shown[at].hit.id, shown[at].hit.key))
    ranked = [
        Ranked(
            hit=shown[at].hit,
            score=_squash(totals[at], weights),
            source=shown[at].source,
            terms=terms[at],
            total=totals[at],
        )
        for at in order[:limit]
    ]
    if len(ranked) < limit:
        ranked += _more(ranked, [(files[at], shown[at]) for at in order], strength, limit - len(ranked))
    return ranked


def rank_by_cosine(vector: Signals, limit: int) -> list[Ranked]:
    """Pure cosine, chunk by chunk; a cosine below 0 scores 0."""
    chunks = _collect([vector])
    chunks.sort(key=lambda chunk: (-(chunk.cosine or 0.0), chunk.hit.id, chunk.hit.key))
    return [
        Ranked(
            hit=chunk.hit,
            score=min(1.0, max(0.0, chunk.cosine or 0.0)),
            source="vec",
            terms=(Term("cosine", chunk.cosine or 0.0, 1.0),),
            total=chunk.cosine or 0.0,
        )
        for chunk in chunks[:limit]
    ]


def _collect(replies: Sequence[Signals]) -> list[_Chunk]:
    """One _Chunk for each row key that any lane names."""
    found: dict[int, _Chunk] = {}
    for signals in replies:
        lanes = [(name, row.tolist()) for name, row in zip(signals.names, signals.values, strict=True)]
        for at, hit in enumerate(signals.hits):
            chunk = found.get(hit.key)
            if chunk is None:
                chunk = found[hit.key] = _Chunk(hit)
            for name, row in lanes:
                if name == "cosine":
                    chunk.cosine = row[at]
                elif name in _LANES:
                    setattr(chunk, name, row[at])
                    chunk.lexical = chunk.lexical or row[at] > 0
    return list(found.values())


def _group(chunks: Sequence[_Chunk]) -> list[_File]:
    """Files in order of their paths; a chunk without a path stands for itself."""
    files: dict[str, _File] = {}
    for chunk in chunks:
        name = chunk.hit.path or f"\0{chunk.hit.id}"
        files.setdefault(name, _File(chunk.hit.path)).chunks.append(chunk)
    return list(files.values())


def _distribution(vector: Signals | None) -> _Cosines:
    if vector is None or not vector.hits:
        return _Cosines(0.0, 0.0, 0.0)
    mean = vector.stats.get("cosine_mean", 0.0)
    missing = mean
    if len(vector.hits) < vector.stats.get("rows", 0.0):
        # The lane was cut: what it left out lies between the mean and its last cosine.
        missing = (mean + float(vector.values[vector.names.index("cosine")].min())) / 2
    return _Cosines(mean, vector.stats.get("cosine_std", 0.0), missing)


def _terms(
    question: str, files: Sequence[_File], weights: Weights, cosines: _Cosines, path_max: float
) -> list[tuple[Term, ...]]:
    """Each file's signals, in the order of the weights."""
    tops = {lane: [file.top(lane) for file in files] for lane in ("body", "defs", "comments")}
    most = {lane: max(values, default=0.0) for lane, values in tops.items()}
    words = question_words(question)
    penalty = ASKED_PENALTY if asks_for_tests(question) else 1.0
    out = []
    for at, file in enumerate(files):
        values = {
            "ctop3": _share(tops["body"][at], most["body"]),
            "path": _share(file.best("path"), path_max),
            "sshare": stem_share(file.path, words),
            "defs": _share(tops["defs"][at], most["defs"]),
            "comments": _share(tops["comments"][at], most["comments"]),
            "defx": file.best("defx"),
            "smax": cosines.z(
                max(cosines.missing if chunk.cosine is None else chunk.cosine for chunk in file.chunks)
            ),
            "test": penalty * is_test(file.path),
            "example": penalty * is_example(file.path),
        }
        out.append(tuple(Term(name, value, getattr(weights, name)) for name, value in values.items()))
    return out


def _share(value: float, most: float) -> float:
    return value / most if most > 0 else 0.0


def _strengths(chunks: Sequence[_Chunk], cosines: _Cosines, body_max: float) -> dict[int, float]:
    """Row key → how well the chunk itself answers: its share of the best BM25, plus its cosine."""
    return {
        chunk.hit.key: _share(chunk.body, body_max)
        + (cosines.missing if chunk.cosine is None else chunk.cosine)
        for chunk in chunks
    }


def _pick(file: _File, strength: dict[int, float]) -> _Chunk:
    """The chunk that stands for its file: of those that hold the asked definition, if one is asked for, the best."""
    defined = file.best("defx")
    pool = [chunk for chunk in file.chunks if chunk.defx == defined] if defined else file.chunks
    return min(pool, key=lambda chunk: _by_strength(chunk, strength))


def _by_strength(chunk: _Chunk, strength: dict[int, float]) -> tuple[float, bool, str, int]:
    return -strength[chunk.hit.key], not chunk.covering, chunk.hit.id, chunk.hit.key


def _more(
    first: Sequence[Ranked],
    files: Sequence[tuple[_File, _Chunk]],
    strength: dict[int, float],
    count: int,
) -> list[Ranked]:
    """Further chunks of the shown files, best first, below the lowest score of a first place."""
    if not first:
        return []
    floor = first[-1].score
    rest = [(chunk, shown) for file, shown in files for chunk in file.chunks if chunk is not shown]
    rest.sort(key=lambda pair: _by_strength(pair[0], strength))
    top = {one.hit.key: one for one in first}
    places: dict[int, int] = {}
    out = []
    for chunk, shown in rest[:count]:
        own = top[shown.hit.key]
        places[shown.hit.key] = places.get(shown.hit.key, 1) + 1
        factor = min(1.0, max(0.0, strength[chunk.hit.key] / 2))
        out.append(
            Ranked(
                hit=chunk.hit,
                score=floor * factor,
                source=chunk.source,
                terms=own.terms,
                total=own.total,
                place=places[shown.hit.key],
                factor=factor,
            )
        )
    return out


def _squash(total: float, weights: Weights) -> float:
    """A sum of any size → 0-1, strictly rising."""
    positive = weights.positive or 1.0
    return 1.0 / (1.0 + math.exp(-STEEPNESS * (total / positive - 0.5)))
