"""A plain ranking over objects, the reference for cortex.ranking.rank, which works on columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter

import numpy as np

from cortex.ranking.candidates import TOP_CHUNKS
from cortex.ranking.evidence import ASKED_PENALTY, Z_MAX, Z_SCALE
from cortex.ranking.fusion import STEEPNESS
from cortex.ranking.names import SHORT, is_short_form
from cortex.ranking.ranked_hits import Source
from cortex.ranking.weights import Weights
from cortex.system.arrays import Array
from cortex.terms import tokens
from cortex.terms.paths import (
    EMPTY_STEMS,
    asks_for_build,
    asks_for_build_alone,
    asks_for_documents,
    asks_for_tests,
    is_build,
    is_example,
    is_foreign,
    is_test,
    may_ask_for_documents,
    path_traits,
    question_words,
    superseded,
)
from cortex.terms.records import covers
from ipc.messages import Hit, Signals

_LANES = ("body", "path", "defs", "comments", "defx", "cosine")
#: signals that both workers report for each chunk, found by words or not
_FACTS = ("file_references", "foreign")
#: places that the question names (pasted_text.py): files, and lines of them
_CITED = ("cited", "line")


@dataclass(frozen=True, slots=True)
class Term:
    """One signal of an explained hit; `value × weight` is added up."""

    name: str
    value: float
    weight: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A hit, its score (0-1, higher is better, falling along the list) and its terms.

    `place` is 1 for the best chunk of its file, 2 for the next; from 2 on the score is `factor` ×
    the lowest score of a first place. `total` is the sum of `terms`.
    """

    hit: Hit
    score: float
    source: Source
    terms: tuple[Term, ...]
    total: float
    place: int = 1
    factor: float = 1.0
    #: the score of a sum of 0
    base: float = 0.0


@dataclass(frozen=True, slots=True)
class _Candidates:
    """All chunks that any lane returned, by id, as columns; `file` is the index in `paths`."""

    hits: list[Hit]
    lanes: dict[str, Array]  #: float64 [n]; "cosine" is NaN where the vector lane has none
    covering: Array  # of kinds that hold each line of a file once
    file: Array  #: int64 [n]
    paths: list[str]

    def source(self, at: int) -> Source:
        if math.isnan(self.lanes["cosine"][at]):
            return "lex"
        return "both" if any(self.lanes[lane][at] > 0 for lane in (*_LANES[:-1], "cited")) else "vec"

    def best(self, values: Array) -> Array:
        """Return the highest of `values` in each file."""
        out = np.full(len(self.paths), -np.inf)
        np.maximum.at(out, self.file, values)
        return out

    def top(self, lane: str) -> Array:
        """Return the sum of each file's TOP_CHUNKS best chunks (covering ones if it has any), as a
        share of the largest sum.
        """
        has = np.zeros(len(self.paths), bool)
        has[self.file[self.covering]] = True
        values = np.where(self.covering | ~has[self.file], self.lanes[lane], 0.0)
        order = np.lexsort((-values, self.file))
        files = self.file[order]
        place = np.arange(len(order)) - np.searchsorted(files, files)
        top_rows = order[place < TOP_CHUNKS]
        return _shares(np.bincount(self.file[top_rows], weights=values[top_rows], minlength=len(self.paths)))


@dataclass(frozen=True, slots=True)
class _Cosines:
    """The distribution that makes cosines comparable; `missing` is used for a chunk that the lane
    did not return.
    """

    mean: float
    deviation: float
    missing: float

    def z(self, cosines: Array) -> Array:
        if self.deviation <= 0:
            return np.zeros(len(cosines))
        return np.clip((cosines - self.mean) / self.deviation, -Z_MAX, Z_MAX) / Z_SCALE


def rank(
    question: str,
    text: Signals | None,
    vector: Signals | None,
    weights: Weights,
    limit: int,
    *,
    extra_signals: Sequence[Signals] = (),
) -> list[Ranked]:
    """Return the best `limit` chunks: distinct files first, each with its best chunk, then more
    chunks of the same files. Scores fall along the list.

    A lane that did not answer is None. `extra_signals` are the signals of places and names in the
    question (pasted_text.py).
    """
    candidates = _collect([signals for signals in (text, vector, *extra_signals) if signals is not None])
    if not candidates.hits:
        return []
    cosines = _distribution(vector)
    cosine = np.where(np.isnan(candidates.lanes["cosine"]), cosines.missing, candidates.lanes["cosine"])
    signals = _signals(question, candidates, cosines.z(candidates.best(cosine)))
    scales = np.array([getattr(weights, name) for name in signals])
    values = np.array(list(signals.values()))
    # A question that names no file and no kind of file loses nothing by these additional signals.
    usual = np.array([name not in ("cited", "asked") for name in signals])
    positive = float(scales[usual & (scales > 0)].sum()) or 1.0
    # One by one: `sum` adds in another order for a single file.
    totals = np.add.accumulate(values * scales[:, None], axis=0)[-1]
    # How well a chunk answers by itself: its share of the best BM25, plus its cosine.
    strength = _shares(candidates.lanes["body"]) + cosine
    best_chunks = _pick(candidates, strength)
    order = np.lexsort((best_chunks, -totals))
    terms = {
        at: tuple(
            Term(name, float(value), float(scale))
            for name, value, scale in zip(signals, values[:, at], scales, strict=True)
        )
        for at in order[:limit].tolist()
    }
    first = [
        Ranked(
            hit=candidates.hits[best_chunks[at]],
            score=_squash(float(totals[at]), positive),
            source=candidates.source(best_chunks[at]),
            terms=terms[at],
            total=float(totals[at]),
            base=_squash(0.0, positive),
        )
        for at in order[:limit].tolist()
    ]
    if len(first) == limit:
        return first
    by_file = dict(zip(order.tolist(), first, strict=True))
    return first + _more(
        candidates, by_file, strength, np.setdiff1d(np.arange(len(strength)), best_chunks), limit
    )


def _collect(replies: Sequence[Signals]) -> _Candidates:
    """Join the lanes to one candidate for each row key, in the order of the ids: the replies' order
    does not matter.
    """
    hits_by_key = {hit.key: hit for signals in replies for hit in signals.hits}
    hits = sorted(hits_by_key.values(), key=attrgetter("id", "key"))
    places = {hit.key: at for at, hit in enumerate(hits)}
    lanes = {lane: np.zeros(len(hits)) for lane in (*_LANES, *_FACTS, *_CITED)}
    lanes["cosine"].fill(np.nan)
    for signals in replies:
        at = [places[hit.key] for hit in signals.hits]
        for name, row in zip(signals.names, signals.values, strict=True):
            if name in lanes:
                lanes[name][at] = np.fmax(lanes[name][at], row)
    files: dict[str, int] = {}
    # A chunk without a path counts as a file.
    file = [files.setdefault(hit.path or f"\0{hit.id}", len(files)) for hit in hits]
    return _Candidates(
        hits=hits,
        lanes=lanes,
        covering=np.array([covers(hit.chunk_type) for hit in hits], bool),
        file=np.array(file, np.int64),
        paths=[path if path[0] != "\0" else "" for path in files],
    )


def _distribution(vector: Signals | None) -> _Cosines:
    if vector is None or not vector.hits:
        return _Cosines(0.0, 0.0, 0.0)
    mean = vector.stats.get("cosine_mean", 0.0)
    missing = mean
    if len(vector.hits) < vector.stats.get("rows", 0.0):
        # The lane was cut: chunks left out lie between the mean and its last cosine.
        missing = (mean + float(vector.values[vector.names.index("cosine")].min())) / 2
    return _Cosines(mean, vector.stats.get("cosine_std", 0.0), missing)


def _signals(question: str, candidates: _Candidates, smax: Array) -> dict[str, Array]:
    """Return signal → values for all files, in the order of explanations."""
    penalty = ASKED_PENALTY if asks_for_tests(question) else 1.0
    # For an ordinary question it is left out, also from explanations.
    rare = {"cited": candidates.best(candidates.lanes["cited"])} if candidates.lanes["cited"].any() else {}
    build, documents = asks_for_build(question), asks_for_documents(question)
    if build or documents:
        texts = [candidates.top("body")]
        if asks_for_build_alone(question):
            texts += [_shares(candidates.best(candidates.lanes[name])) for name in ("comments", "path")]
        rare["asked"] = np.array(
            [
                max(
                    texts[0][at] if documents and alone > 0 else 0.0,
                    max(float(scores[at]) for scores in texts) if build and is_build(path) else 0.0,
                )
                for at, (alone, path) in enumerate(
                    zip(_documents(candidates).tolist(), candidates.paths, strict=True)
                )
            ]
        )
    return {
        "ctop3": candidates.top("body"),
        "path": _shares(candidates.best(candidates.lanes["path"])),
        "sshare": np.array([_share(_stem(path), question) for path in candidates.paths]),
        "folders": np.array([_share(_folders(path), question) for path in candidates.paths]),
        "defs": candidates.top("defs"),
        "comments": _shares(candidates.best(_comments(candidates))),
        "defx": candidates.best(candidates.lanes["defx"]),
        "smax": smax,
        "refs": _shares(np.log1p(candidates.best(candidates.lanes["file_references"]))),
        "test": penalty * np.array([is_test(path) for path in candidates.paths], float),
        "example": penalty * np.array([is_example(path) for path in candidates.paths], float),
        "document": (ASKED_PENALTY if may_ask_for_documents(question) else penalty) * _documents(candidates),
        "foreign": _foreign(candidates),
        "superseded": np.array(superseded(map(path_traits, candidates.paths), question), float),
        **rare,
    }


def _documents(candidates: _Candidates) -> Array:
    """Return 1 for a file with documents only among its candidates."""
    code = {
        file
        for file, hit in zip(candidates.file.tolist(), candidates.hits, strict=True)
        if hit.chunk_type != "documentation"
    }
    return np.array([bool(code) and file not in code for file in range(len(candidates.paths))], float)


def _foreign(candidates: _Candidates) -> Array:
    """Return 1 for a file with chunks tagged as generated or vendored, or with such a path."""
    return np.fmax(
        candidates.best(candidates.lanes["foreign"]), [is_foreign(path) for path in candidates.paths]
    )


def _comments(candidates: _Candidates) -> Array:
    """Return each chunk's BM25 of comments. A document is all comment, which would count its text
    twice; so it gets 0, unless all candidates are documents.
    """
    documents = np.array([hit.chunk_type == "documentation" for hit in candidates.hits], bool)
    return (
        candidates.lanes["comments"]
        if documents.all()
        else np.where(documents, 0.0, candidates.lanes["comments"])
    )


def _shares(values: Array) -> Array:
    most = values.max(initial=0.0)
    return values / most if most > 0 else values


def _pick(candidates: _Candidates, strength: Array) -> Array:
    """Return the index of each file's best chunk: the one with the named line, else the best of
    those with the requested definition, if any.
    """
    defx = candidates.lanes["defx"]
    other = defx < candidates.best(defx)[candidates.file]
    order = np.lexsort((~candidates.covering, -strength, other, -candidates.lanes["line"], candidates.file))
    _, starts = np.unique(candidates.file[order], return_index=True)
    return order[starts]


def _more(
    candidates: _Candidates, by_file: dict[int, Ranked], strength: Array, remaining: Array, limit: int
) -> list[Ranked]:
    """Return further chunks of the listed files, best first, below the lowest score of a first
    place.
    """
    floor = min(ranked.score for ranked in by_file.values())
    remaining = remaining[np.lexsort((~candidates.covering[remaining], -strength[remaining]))][
        : limit - len(by_file)
    ]
    places: dict[int, int] = {}
    out = []
    for at in remaining.tolist():
        file = int(candidates.file[at])
        places[file] = places.get(file, 1) + 1
        factor = min(1.0, max(0.0, float(strength[at]) / 2))
        out.append(
            Ranked(
                hit=candidates.hits[at],
                score=floor * factor,
                source=candidates.source(at),
                terms=by_file[file].terms,
                total=by_file[file].total,
                place=places[file],
                factor=factor,
                base=by_file[file].base,
            )
        )
    return out


def _squash(total: float, positive: float) -> float:
    """Map a sum of any size to 0-1, strictly rising; `positive` is the sum of a file with 1 for
    every good signal.
    """
    return 1.0 / (1.0 + math.exp(-STEEPNESS * (total / positive - 0.5)))


def _share(parts: Sequence[str], question: str) -> float:
    return sum(_piece_worth(piece, question) for piece in parts) / len(parts) if parts else 0.0


def _piece_worth(piece: str, question: str) -> float:
    words = [word for word in tokens.part_words(question) if word not in tokens.STOP_WORDS]
    if piece in [first + other for first, other in pairwise(words)]:
        return 1.0
    if tokens.lane_text([piece]) in question_words(question):
        return 1.0
    return SHORT if any(is_short_form(piece, word) for word in words) else 0.0


def _stem(path: str) -> list[str]:
    *folders, name = path.split("/")
    stem = name[: name.rindex(".")] if "." in name[1:] else name
    return tokens.part_words(folders[-1] if stem.lower() in EMPTY_STEMS and folders else stem)


def _folders(path: str) -> list[str]:
    parts = (piece for folder in path.split("/")[:-1] for piece in tokens.part_words(folder))
    return list({tokens.lane_text([piece]): piece for piece in reversed(list(parts))}.values())[::-1]
