"""Fuses the lanes' signals: scores files by a weighted sum, shows each file's best chunk.
docs/RANKING.md explains it.

Pure and deterministic: the same signals in any order give the same ranking; ties are broken by
chunk id. All of it is columns: objects are made of what is returned alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice, pairwise
from operator import itemgetter

import numpy as np

from cortex.ranking.candidates import Candidates, begins, collect, parted, shares
from cortex.ranking.evidence import NAMES, ON_TOP, ORDER, distribution, values_of
from cortex.ranking.names import prepare
from cortex.ranking.ranked_hits import Ranked
from cortex.ranking.weights import Weights
from cortex.system.arrays import Array
from ipc.messages import Signals
from ipc.messages.signals import FILE, OF

#: score = 1 / (1 + exp(-STEEPNESS · (sum / positive - 1/2))): 0.05 at 0, 0.5 at half of all that is
#: good, 0.95 at all
STEEPNESS = 6.0
#: tables of weights that are remembered: with vectors and without, and what a question adds
_TABLES = 16


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
    found = collect([signals for signals in (text, vector, *named) if signals is not None and len(signals)])
    if found is None:
        return []
    cosines = distribution(vector)
    cosine = np.where(np.isnan(found.lane("cosine")), cosines.missing, found.lane("cosine"))
    signals = values_of(question, prepare(question), found, cosines.z(found.best(cosine)))
    names, counts, positive = _scales(weights, tuple(name for name in ON_TOP if name in signals))
    values = np.array([signals[name] for name in names])
    # One after the other, so that a sum is the same to the last bit beside however many others.
    totals = np.add.accumulate(values * np.array(counts)[:, None], axis=0)[-1]
    files = np.flatnonzero(totals >= _nth(totals, limit))  # of no other a chunk is looked for
    # How well a chunk answers by itself: its share of the best BM25, plus its cosine.
    strength = shares(found.lane("body")) + cosine
    picked = dict(zip(_pick(found, files, strength), files.tolist(), strict=True))
    falling = [(-total,) for total in totals[files].tolist()]
    shown = list(islice(_in_order(found, list(picked), falling), limit))
    order = [picked[at] for at in shown]
    first = _first(found, shown, (totals[order], values[:, order]), (names, counts, positive))
    if len(first) == limit:
        return first
    by_file = dict(zip(order, first, strict=True))
    return first + _more(found, by_file, strength, np.setdiff1d(np.arange(len(strength)), shown), limit)


def _first(
    found: Candidates,
    shown: Sequence[int],
    sums: tuple[Array, Array],
    scales: tuple[tuple[str, ...], tuple[float, ...], float],
) -> list[Ranked]:
    """The chunks `shown`, each with the sum of its file and the values of each signal of that."""
    names, counts, positive = scales
    totals, values = sums
    base = _squash(0.0, positive)
    columns = zip(shown, totals.tolist(), values.T.tolist(), found.sources(shown), strict=True)
    return [
        Ranked(
            hit=found.hit(at),
            score=_squash(total, positive),
            source=source,
            names=names,
            values=tuple(own),
            weights=counts,
            total=total,
            base=base,
        )
        for at, total, own, source in columns
    ]


@functools.lru_cache(_TABLES)
def _scales(weights: Weights, rare: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[float, ...], float]:
    """(the signals of a question that has the `rare` ones beside the others, the weight of each,
    the sum of a file whose every good signal is 1).
    """
    names = tuple(name for name in ORDER if name in rare or name not in ON_TOP)
    scales = {name: float(getattr(weights, name)) for name in names}
    # A question that names no file and no kind of file loses nothing by what comes on top.
    good = [name for name in names if name not in NAMES + ON_TOP and scales[name] > 0]
    good += [name for name in NAMES if scales[name] > 0]
    positive = sum(scales[name] for name in good) or 1.0
    return names, tuple(scales.values()), positive


def _nth(values: Array, number: int) -> float:
    """The `number`th highest of `values`; below all where there are no more."""
    if len(values) <= number:
        return -math.inf
    return float(np.partition(values, len(values) - number)[len(values) - number])


def rank_by_cosine(vector: Signals, limit: int, least: float = 0.0) -> list[Ranked]:
    """By cosine alone, of those that are not below `least`: distinct files first, each with its
    nearest chunk, then more chunks of the same files, which score no higher than the last of the
    files. A cosine below 0 scores 0.
    """
    cosines, keys, files = vector.row("cosine").tolist(), vector.keys.tolist(), vector.rows[FILE].tolist()
    kept = [at for at, cosine in enumerate(cosines) if max(0.0, cosine) >= least]
    best = sorted(kept, key=lambda at: (-cosines[at], vector.id(at), keys[at]))
    counts: dict[str, int] = {}
    places = {}
    for at in best:
        file = vector.paths[files[at]]
        if not parted(file)[1]:  # a chunk of no file stands for itself
            file = f"{file}{OF}{vector.id(at).decode()}"
        places[at] = counts[file] = counts.get(file, 0) + 1
    order = sorted(best, key=lambda at: places[at] > 1)[:limit]
    floor = max(0.0, min((cosines[at] for at in order if places[at] == 1), default=0.0))
    out = []
    for at in order:
        score = min(1.0, max(0.0, cosines[at]))
        factor = 1.0 if places[at] == 1 or score >= floor else score / floor
        out.append(
            Ranked(
                hit=vector.hit(at),
                score=score if places[at] == 1 else floor * factor,
                source="vec",
                names=("cosine",),
                values=(cosines[at],),
                weights=(1.0,),
                total=cosines[at],
                place=places[at],
                factor=factor,
            )
        )
    return out


def _pick(found: Candidates, files: Array, strength: Array) -> list[int]:
    """The chunk that stands for each of `files` (ascending): the one with the named line, else of
    those that hold the asked definition, if any, the best.
    """
    wanted = np.zeros(len(found.paths), bool)
    wanted[files] = True
    own = np.flatnonzero(wanted[found.file])
    file, defx = found.file[own], found.lane("defx")
    other = defx[own] < found.best(defx)[file]
    columns = (-found.lane("line")[own], other, -strength[own], ~found.covering[own])
    chunks, keys = own.tolist(), list(zip(*(column.tolist() for column in columns), strict=True))
    starts = begins(file).tolist()
    return [
        next(_in_order(found, chunks[start:end], keys[start:end]))
        for start, end in pairwise([*starts, len(chunks)])
    ]


def _in_order(found: Candidates, chunks: Sequence[int], keys: Iterable[tuple[float, ...]]) -> Iterator[int]:
    """The chunks in the order of their keys, and of their ids where these are equal: only of such
    the ids are looked at, and only as far as somebody asks.
    """
    for _, alike in groupby(sorted(zip(keys, chunks, strict=True)), itemgetter(0)):
        same = [chunk for _, chunk in alike]
        yield from sorted(same, key=found.tie) if len(same) > 1 else same


def _more(
    found: Candidates, by_file: dict[int, Ranked], strength: Array, rest: Array, limit: int
) -> list[Ranked]:
    """Further chunks of the shown files, best first, below the lowest score of a first place."""
    floor = min(one.score for one in by_file.values())
    keys = zip((-strength[rest]).tolist(), (~found.covering[rest]).tolist(), strict=True)
    further = list(islice(_in_order(found, rest.tolist(), keys), limit - len(by_file)))
    places: dict[int, int] = {}
    out = []
    for at, source in zip(further, found.sources(further), strict=True):
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
