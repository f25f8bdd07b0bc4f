"""Fuses the lanes' signals: scores files by a weighted sum, shows each file's best chunk.
docs/RANKING.md explains it.

Pure and deterministic: the same signals in any order give the same ranking; ties are broken by
chunk id. All of it is columns: objects are made of what is returned alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from cortex.ranking.names import Asked
from cortex.ranking.weights import Weights
from cortex.terms.paths import (
    asks_for_build,
    asks_for_build_alone,
    asks_for_documents,
    asks_for_tests,
    is_build,
    may_ask_for_documents,
    say,
    superseded,
)
from cortex.terms.records import covers
from ipc.arrays import Array
from ipc.messages import Hit, Signals
from ipc.messages.signals import FILE, KIND

Source = Literal["lex", "vec", "both"]

#: chunks of a file whose scores are added
TOP_CHUNKS = 3
#: the z-score of a cosine is divided by this, so that a good one is about 1 like the other signals
Z_SCALE = 4.0
#: bound of the z-score: a handful of rows has hardly any deviation
Z_MAX = 12.0
#: what is left of the penalties when the question asks for tests or examples
ASKED_PENALTY = 0.25
#: score = 1 / (1 + exp(-STEEPNESS · (sum / positive - 1/2))): 0.05 at 0, 0.5 at half of all that is
#: good, 0.95 at all
STEEPNESS = 6.0

#: those of words, that of meaning
_LANES = ("body", "path", "defs", "comments", "defx", "cosine")
#: what both workers tell of each chunk, found by words or not
_ABOUT = ("file_references", "foreign")
#: what the question names (pasted.py): files, and lines of them
_NAMED = ("cited", "line")
#: what a file's name and its folders' say to the question, both 0-1
_NAMES = ("sshare", "folders")
#: signals of some questions only, on top of the others
_ON_TOP = ("cited", "asked")
#: all signals, in the order in which they are explained and added up
_ORDER = (
    *("ctop3", "path", *_NAMES, "defs", "comments", "defx", "smax", "refs", "test", "example"),
    *("document", "foreign", "superseded"),
    *_ON_TOP,
)
#: by how much sums may differ that are added up in another order
ROUNDING = 1e-9
#: the place of each among the columns of the candidates
_AT = {name: at for at, name in enumerate((*_LANES, *_ABOUT, *_NAMED))}
#: those of them that say that words found a chunk
_BY_WORDS = [_AT[name] for name in (*_LANES[:-1], "cited")]


@dataclass(frozen=True, slots=True)
class Term:
    """One signal of an explained hit; `value × weight` are what is added up."""

    name: str
    value: float
    weight: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A hit, its score (0-1, higher is better, falling along the list) and the signals that made
    it, by `names`, with their `values` and `weights`.

    `place` is 1 for the best chunk of its file, 2 for the next; from 2 on the score is `factor` ×
    the lowest score of a first place. `total` is the sum of `terms`.
    """

    hit: Hit
    score: float
    source: Source
    names: tuple[str, ...]
    values: tuple[float, ...]
    weights: tuple[float, ...]
    total: float
    place: int = 1
    factor: float = 1.0
    #: the score of a sum of 0
    base: float = 0.0

    @property
    def terms(self) -> tuple[Term, ...]:
        return tuple(map(Term, self.names, self.values, self.weights))

    def explanation(self) -> dict[str, Any]:
        """Each signal with its value, weight and product; the products add up to `sum`, and `base`
        (the score of a file for which nothing speaks) and the points to `score`.
        """
        base = self.base * self.factor
        slope = (self.score - base) / self.total if self.total else 0.0
        return {
            "signals": {
                term.name: {
                    "value": term.value,
                    "weight": term.weight,
                    "product": term.value * term.weight,
                    "points": term.value * term.weight * slope,
                }
                for term in self.terms
            },
            "sum": self.total,
            "base": base if self.total else self.score,
            "score": self.score,
            "place_in_file": self.place,
            "factor": self.factor,
            "source": self.source,
        }


@dataclass(frozen=True)
class _Candidates:
    """Every chunk that a lane named, once, the chunks of a file together; n of m files."""

    #: the replies, and for each chunk which of them tells of it, and as what number there
    replies: Sequence[Signals]
    reply: Array
    at: Array
    keys: Array
    lanes: Array  #: float64 [len(_AT), n]; "cosine" is NaN where the vector lane has none
    covering: Array  #: bool [n]: of the kinds that hold each line of a file once
    documents: Array  #: bool [n]
    file: Array  #: int64 [n], ascending: the place in `paths`
    starts: Array  #: int64 [m]: the first chunk of each file
    paths: list[str]

    def __len__(self) -> int:
        return len(self.keys)

    def lane(self, name: str) -> Array:
        values: Array = self.lanes[_AT[name]]
        return values

    def hit(self, at: int) -> Hit:
        return self.replies[int(self.reply[at])].hit(int(self.at[at]))

    def ties(self, chunks: Array) -> Array:
        """I64 [n]: for each of `chunks` its place in the order of their ids, and of the keys where
        one id is of several; 0 for any other.
        """
        parts = (self.reply[chunks], self.at[chunks], self.keys[chunks], chunks)
        named = zip(*(part.tolist() for part in parts), strict=True)
        ids = sorted((self.replies[reply].id(at), key, chunk) for reply, at, key, chunk in named)
        out = np.zeros(len(self), np.int64)
        out[[chunk for _, _, chunk in ids]] = np.arange(len(ids))
        return out

    def sources(self, chunks: Array) -> list[Source]:
        """Which lanes found each of `chunks`."""
        lanes = self.lanes[:, chunks]
        by_words: list[bool] = np.any(lanes[_BY_WORDS] > 0, axis=0).tolist()
        missing: list[bool] = np.isnan(lanes[_AT["cosine"]]).tolist()
        return [
            "lex" if none else "both" if words else "vec"
            for none, words in zip(missing, by_words, strict=True)
        ]

    def best(self, values: Array) -> Array:
        """The highest of `values` […, n] in each file."""
        highest: Array = np.maximum.reduceat(values, self.starts, axis=-1)
        return highest

    def top(self, lane: str) -> Array:
        """Each file's TOP_CHUNKS best (covering ones if it has any) added, ÷ the largest sum."""
        has = np.logical_or.reduceat(self.covering, self.starts)
        values = np.where(self.covering | ~has[self.file], self.lane(lane), 0.0)
        order = np.lexsort((-values, self.file))
        place = np.arange(len(order)) - self.starts[self.file]
        kept = order[place < TOP_CHUNKS]
        return _shares(np.bincount(self.file[kept], weights=values[kept], minlength=len(self.paths)))


@dataclass(frozen=True, slots=True)
class _Cosines:
    """The distribution that makes cosines comparable: `missing` stands for a chunk that the lane
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
    named: Sequence[Signals] = (),
) -> list[Ranked]:
    """The best `limit` chunks: distinct files first, each with its best chunk, then more chunks of
    the same files.

    A lane that did not answer is None. `named` are the signals of what the question names
    (pasted.py). Scores fall along the list.
    """
    found = _collect([signals for signals in (text, vector, *named) if signals is not None and len(signals)])
    if found is None:
        return []
    cosines = _distribution(vector)
    cosine = np.where(np.isnan(found.lane("cosine")), cosines.missing, found.lane("cosine"))
    signals = _signals(question, found, cosines.z(found.best(cosine)))
    scales = {name: float(getattr(weights, name)) for name in (*signals, *_NAMES)}
    # A question that names no file and no kind of file loses nothing by what comes on top.
    positive = sum(scale for name, scale in scales.items() if scale > 0 and name not in _ON_TOP) or 1.0
    files = _leading(signals, scales, limit)
    signals = {name: values[files] for name, values in signals.items()}
    signals |= _named_like(Asked(question), [found.paths[at] for at in files.tolist()])
    names = tuple(name for name in _ORDER if name in signals)
    values, counts = np.array([signals[name] for name in names]), tuple(scales[name] for name in names)
    # One after the other, so that a sum is the same to the last bit beside however many others.
    totals = np.add.accumulate(values * np.array(counts)[:, None], axis=0)[-1]
    # How well a chunk answers by itself: its share of the best BM25, plus its cosine.
    strength = _shares(found.lane("body")) + cosine
    shown = _pick(found, files, strength)
    order = _sorted(found, shown, (-totals,), slice(limit)).tolist()
    sums, points = totals[order].tolist(), values[:, order].T.tolist()
    sources = found.sources(shown[order])
    base = _squash(0.0, positive)
    first = [
        Ranked(
            hit=found.hit(shown[at]),
            score=_squash(total, positive),
            source=source,
            names=names,
            values=tuple(own),
            weights=counts,
            total=total,
            base=base,
        )
        for at, total, own, source in zip(order, sums, points, sources, strict=True)
    ]
    if len(first) == limit:
        return first
    by_file = dict(zip(order, first, strict=True))
    return first + _more(found, by_file, strength, np.setdiff1d(np.arange(len(strength)), shown), limit)


def _leading(signals: Mapping[str, Array], scales: Mapping[str, float], limit: int) -> Array:
    """I64, ascending: the numbers of the files that may be among the best `limit`, whatever their
    names are worth; all, where there are no more.

    To compare a name with the question takes as long as all else that is known of its file.
    """
    some = [name for name in signals if scales[name]]
    sums = np.array([scales[name] for name in some]) @ np.array([signals[name] for name in some])
    if len(sums) <= limit:
        return np.arange(len(sums))
    at_most = sum(max(0.0, scales[name]) for name in _NAMES)
    at_least = sum(min(0.0, scales[name]) for name in _NAMES)
    sure = np.partition(sums, len(sums) - limit)[len(sums) - limit] + at_least
    leading: Array = np.flatnonzero(sums + at_most >= sure - ROUNDING)
    return leading


def rank_by_cosine(vector: Signals, limit: int) -> list[Ranked]:
    """Pure cosine, chunk by chunk; a cosine below 0 scores 0."""
    cosines = vector.row("cosine").tolist()
    keys = vector.keys.tolist()
    best = sorted(range(len(cosines)), key=lambda at: (-cosines[at], vector.id(at), keys[at]))
    return [
        Ranked(
            hit=vector.hit(at),
            score=min(1.0, max(0.0, cosines[at])),
            source="vec",
            names=("cosine",),
            values=(cosines[at],),
            weights=(1.0,),
            total=cosines[at],
        )
        for at in best[:limit]
    ]


def _collect(replies: Sequence[Signals]) -> _Candidates | None:
    """One candidate for each row key that any lane names: the replies' own order has no say. None
    for no candidate.
    """
    if not replies:
        return None
    told = np.concatenate([signals.keys for signals in replies])
    keys, first, places = np.unique(told, return_index=True, return_inverse=True)
    files: dict[str, int] = {}
    file = np.concatenate([_files_of(signals, files) for signals in replies])[first]
    order = np.argsort(file, kind="stable")
    lanes = np.zeros((len(_AT), len(keys)))
    lanes[_AT["cosine"]].fill(np.nan)
    back = np.argsort(order)  # where a key's candidate is
    begin = 0
    for signals in replies:
        at = back[places[begin : begin + len(signals)]]
        begin += len(signals)
        known = [number for number, name in enumerate(signals.names) if name in _AT]
        rows = np.array([_AT[signals.names[number]] for number in known])[:, None]
        lanes[rows, at] = np.fmax(lanes[rows, at], signals.values[known])
    first, file = first[order], file[order]
    reply = np.repeat(np.arange(len(replies)), [len(signals) for signals in replies])
    number = np.concatenate([np.arange(len(signals)) for signals in replies])
    kinds = [np.array([covers(kind) for kind in signals.kinds])[signals.rows[KIND]] for signals in replies]
    texts = [
        np.array([kind == "documentation" for kind in signals.kinds])[signals.rows[KIND]]
        for signals in replies
    ]
    return _Candidates(
        replies=replies,
        reply=reply[first],
        at=number[first],
        keys=keys[order],
        lanes=lanes,
        covering=np.concatenate(kinds)[first],
        documents=np.concatenate(texts)[first],
        file=file,
        starts=np.flatnonzero(np.diff(file, prepend=-1)),
        paths=[path if path[0] != "\0" else "" for path in files],
    )


def _files_of(signals: Signals, files: dict[str, int]) -> Array:
    """I64 [n]: the number in `files`, which it adds to, of each candidate's file. A chunk without a
    path stands for itself.
    """
    numbers = np.array([files.setdefault(path, len(files)) if path else -1 for path in signals.paths])
    out: Array = numbers[signals.rows[FILE]]
    for at in np.flatnonzero(out < 0).tolist():
        out[at] = files.setdefault(f"\0{signals.id(at).decode()}", len(files))
    return out


def _distribution(vector: Signals | None) -> _Cosines:
    if vector is None or not len(vector):
        return _Cosines(0.0, 0.0, 0.0)
    mean = vector.stats.get("cosine_mean", 0.0)
    missing = mean
    if len(vector) < vector.stats.get("rows", 0.0):
        # The lane was cut: what it left out lies between the mean and its last cosine.
        missing = (mean + float(vector.row("cosine").min())) / 2
    return _Cosines(mean, vector.stats.get("cosine_std", 0.0), missing)


def _signals(question: str, found: _Candidates, smax: Array) -> dict[str, Array]:
    """Signal → its value for each file, but for _NAMES."""
    said = [say(path) for path in found.paths]
    penalty = ASKED_PENALTY if asks_for_tests(question) else 1.0
    test, example, foreign = np.array([one.kinds for one in said]).T
    best = dict(zip(_AT, found.best(found.lanes), strict=True))
    body = found.top("body")
    # Of an ordinary question they say nothing, and are not among what is explained.
    rare = {"cited": best["cited"]} if best["cited"].any() else {}
    if (asked := _asked(question, found, body, best)) is not None:
        rare["asked"] = asked
    return {
        "ctop3": body,
        "path": _shares(best["path"]),
        "defs": found.top("defs"),
        "comments": _shares(_comments(found, best["comments"])),
        "defx": best["defx"],
        "smax": smax,
        "refs": _shares(np.log1p(best["file_references"])),
        "test": penalty * test,
        "example": penalty * example,
        "document": (ASKED_PENALTY if may_ask_for_documents(question) else penalty) * _alone(found),
        # its chunks are tagged as generated or vendored, or its path says so
        "foreign": np.fmax(best["foreign"], foreign),
        "superseded": np.array(superseded(said, question), float),
        **rare,
    }


def _named_like(asked: Asked, paths: Sequence[str]) -> dict[str, Array]:
    """The signals of _NAMES of each path."""
    said = [say(path) for path in paths]
    shares = asked.shares([one.stem for one in said]), asked.shares([one.folders for one in said])
    return dict(zip(_NAMES, map(np.array, shares), strict=True))


def _asked(question: str, found: _Candidates, body: Array, best: Mapping[str, Array]) -> Array | None:
    """Float [m]: what the text of a file says that is of the kind that the question asks for; None
    where it asks for neither. Nothing is defined there, and nothing refers to it.
    """
    build, documents = asks_for_build(question), asks_for_documents(question)
    if not (build or documents):
        return None
    pages: Array = body * _alone(found) if documents else np.zeros(len(body))
    if not build:
        return pages
    if asks_for_build_alone(question):  # what it does may stand in a remark or in its name alone
        body = np.maximum.reduce([body, _shares(best["comments"]), _shares(best["path"])])
    kind: Array = np.maximum(pages, body * np.array([is_build(path) for path in found.paths]))
    return kind


def _alone(found: _Candidates) -> Array:
    """Float [m]: 1 for a file of which only documents were found, unless all candidates are
    documents.
    """
    alone = np.logical_and.reduceat(found.documents, found.starts)
    return np.zeros(len(alone)) if found.documents.all() else alone.astype(float)


def _comments(found: _Candidates, best: Array) -> Array:
    """The comments' BM25 of each file, `best` of all its chunks. A document is all comment, which
    would count its text twice; so it has none, unless the candidates are documents only.
    """
    documents = found.documents
    if documents.all() or not documents.any():
        return best
    return found.best(np.where(documents, 0.0, found.lane("comments")))


def _shares(values: Array) -> Array:
    most = values.max(initial=0.0)
    return values / most if most > 0 else values


def _pick(found: _Candidates, files: Array, strength: Array) -> Array:
    """The chunk that stands for each of `files` (ascending): the one with the named line, else of
    those that hold the asked definition, if any, the best.
    """
    wanted = np.zeros(len(found.paths), bool)
    wanted[files] = True
    own = np.flatnonzero(wanted[found.file])
    file, defx = found.file[own], found.lane("defx")
    other = defx[own] < found.best(defx)[file]
    columns = (~found.covering[own], -strength[own], other, -found.lane("line")[own], file)
    return own[_sorted(found, own, columns, np.flatnonzero(np.diff(file, prepend=-1)))]


def _sorted(found: _Candidates, chunks: Array, columns: tuple[Array, ...], places: slice | Array) -> Array:
    """Those at `places` of the numbers of `chunks` in the order of `columns`, the last one first,
    and of the ids where all of them are equal.

    Only of those are the ids looked at, which are no columns, and only where it matters.
    """
    order = np.lexsort(columns)
    same = np.zeros(len(order) + 1, bool)  # as the one before
    same[1:-1] = True
    for column in columns:
        values = column[order]
        same[1:-1] &= values[1:] == values[:-1]
    alike = np.cumsum(~same[:-1])
    asked = np.zeros(len(order) + 1, bool)
    asked[alike[places]] = True
    tied = np.flatnonzero((same[:-1] | same[1:]) & asked[alike])
    if len(tied):
        order = np.lexsort((found.ties(chunks[order[tied]])[chunks], *columns))
    chosen: Array = order[places]
    return chosen


def _more(
    found: _Candidates, by_file: dict[int, Ranked], strength: Array, rest: Array, limit: int
) -> list[Ranked]:
    """Further chunks of the shown files, best first, below the lowest score of a first place."""
    floor = min(one.score for one in by_file.values())
    columns = (~found.covering[rest], -strength[rest])
    rest = rest[_sorted(found, rest, columns, slice(limit - len(by_file)))]
    places: dict[int, int] = {}
    out = []
    for at, source in zip(rest.tolist(), found.sources(rest), strict=True):
        file = int(found.file[at])
        places[file] = places.get(file, 1) + 1
        factor = min(1.0, max(0.0, float(strength[at]) / 2))
        out.append(
            Ranked(
                hit=found.hit(at),
                score=floor * factor,
                source=source,
                names=by_file[file].names,
                values=by_file[file].values,
                weights=by_file[file].weights,
                total=by_file[file].total,
                place=places[file],
                factor=factor,
                base=by_file[file].base,
            )
        )
    return out


def _squash(total: float, positive: float) -> float:
    """A sum of any size → 0-1, strictly rising; `positive` is the sum of a file whose every good
    signal is 1.
    """
    return 1.0 / (1.0 + math.exp(-STEEPNESS * (total / positive - 0.5)))
