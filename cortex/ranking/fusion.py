"""Fuses the lanes' signals: scores files by a weighted sum, shows each file's best chunk.
docs/RANKING.md explains it.

Pure and deterministic: the same signals in any order give the same ranking; ties are broken by
chunk id. All of it is columns: objects are made of what is returned alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from cortex.ranking.candidates import Candidates, begins, collect, parted, shares
from cortex.ranking.evidence import NAMES, ON_TOP, ORDER, distribution, named_like, values_of
from cortex.ranking.names import prepare
from cortex.ranking.ranked import Ranked
from cortex.ranking.weights import Weights
from ipc.arrays import Array
from ipc.messages import Signals
from ipc.messages.signals import FILE, OF

#: score = 1 / (1 + exp(-STEEPNESS · (sum / positive - 1/2))): 0.05 at 0, 0.5 at half of all that is
#: good, 0.95 at all
STEEPNESS = 6.0
#: by how much sums may differ that are added up in another order
ROUNDING = 1e-9


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
    signals = values_of(question, found, cosines.z(found.best(cosine)))
    scales = {name: float(getattr(weights, name)) for name in (*signals, *NAMES)}
    # A question that names no file and no kind of file loses nothing by what comes on top.
    positive = sum(scale for name, scale in scales.items() if scale > 0 and name not in ON_TOP) or 1.0
    files = _leading(signals, scales, limit)
    signals = {name: values[files] for name, values in signals.items()}
    signals |= named_like(prepare(question), [found.paths[at] for at in files.tolist()])
    names = tuple(name for name in ORDER if name in signals)
    values, counts = np.array([signals[name] for name in names]), tuple(scales[name] for name in names)
    # One after the other, so that a sum is the same to the last bit beside however many others.
    totals = np.add.accumulate(values * np.array(counts)[:, None], axis=0)[-1]
    kept = np.flatnonzero(totals >= _nth(totals, limit))  # of no other a chunk is looked for
    files, values, totals = files[kept], values[:, kept], totals[kept]
    # How well a chunk answers by itself: its share of the best BM25, plus its cosine.
    strength = shares(found.lane("body")) + cosine
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
    at_most = sum(max(0.0, scales[name]) for name in NAMES)
    at_least = sum(min(0.0, scales[name]) for name in NAMES)
    sure = _nth(sums, limit) + at_least
    leading: Array = np.flatnonzero(sums + at_most >= sure - ROUNDING)
    return leading


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


def _pick(found: Candidates, files: Array, strength: Array) -> Array:
    """The chunk that stands for each of `files` (ascending): the one with the named line, else of
    those that hold the asked definition, if any, the best.
    """
    wanted = np.zeros(len(found.paths), bool)
    wanted[files] = True
    own = np.flatnonzero(wanted[found.file])
    file, defx = found.file[own], found.lane("defx")
    other = defx[own] < found.best(defx)[file]
    columns = (~found.covering[own], -strength[own], other, -found.lane("line")[own], file)
    return own[_sorted(found, own, columns, begins(file))]


def _sorted(found: Candidates, chunks: Array, columns: tuple[Array, ...], places: slice | Array) -> Array:
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
    found: Candidates, by_file: dict[int, Ranked], strength: Array, rest: Array, limit: int
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
