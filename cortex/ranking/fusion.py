"""Fusion of the lanes' signals: a weighted sum for each file, represented by its best chunk.
docs/RANKING.md explains it.

Pure and deterministic: the same signals in any order give the same ranking; ties are broken by
chunk id. Data are columns; objects are made for the result alone.
"""

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice, pairwise
from operator import itemgetter

import numpy as np

from cortex.ranking.candidates import Candidates, collect, run_starts, shares, split_name
from cortex.ranking.evidence import NAMES, ON_TOP, ORDER, distribution, signal_values
from cortex.ranking.names import prepare
from cortex.ranking.ranked_hits import Ranked
from cortex.ranking.weights import Weights
from cortex.system.arrays import Array
from cortex.terms.code import inline_tests
from ipc.messages import Signals
from ipc.messages.signals import FILE, OF

#: score = 1 / (1 + exp(-STEEPNESS · (sum / positive - 1/2))): 0.05 at 0, 0.5 at half of all good
#: signals, 0.95 at all
STEEPNESS = 6.0
#: share of the strength of a chunk that is a test inside of a shipped file
INLINE_TESTS = 0.4
#: entries of the memo of weights: with vectors and without, and the signals of some questions
_TABLES = 16


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
    candidates = collect(
        [signals for signals in (text, vector, *extra_signals) if signals is not None and len(signals)]
    )
    if candidates is None:
        return []
    cosines = distribution(vector)
    cosine = np.where(np.isnan(candidates.lane("cosine")), cosines.missing, candidates.lane("cosine"))
    signals = signal_values(question, prepare(question), candidates, cosines.z(candidates.best(cosine)))
    names, counts, positive = _scales(weights, tuple(name for name in ON_TOP if name in signals))
    values = np.array([signals[name] for name in names])
    # Added one by one, so that a sum is the same to the last bit with any number of other files.
    totals = np.add.accumulate(values * np.array(counts)[:, None], axis=0)[-1]
    files = np.flatnonzero(totals >= _nth(totals, limit))  # only these files need a chunk
    # How well a chunk answers by itself: its share of the best BM25, plus its cosine.
    strength = shares(candidates.lane("body")) + cosine
    if not prepare(question).tests:
        strength = _weaken_inline_tests(candidates, strength, files)
    picked = dict(zip(_pick_chunks(candidates, files, strength), files.tolist(), strict=True))
    falling = [(-total,) for total in totals[files].tolist()]
    best_chunks = list(islice(_in_order(candidates, list(picked), falling), limit))
    order = [picked[at] for at in best_chunks]
    first = _make_ranked(
        candidates, best_chunks, (totals[order], values[:, order]), (names, counts, positive)
    )
    if len(first) == limit:
        return first
    by_file = dict(zip(order, first, strict=True))
    return first + _further_chunks(
        candidates, by_file, strength, np.setdiff1d(np.arange(len(strength)), best_chunks), limit
    )


def _make_ranked(
    candidates: Candidates,
    chunks: Sequence[int],
    sums: tuple[Array, Array],
    scales: tuple[tuple[str, ...], tuple[float, ...], float],
) -> list[Ranked]:
    """Make the result objects for `chunks`, each with its file's sum and signal values."""
    names, counts, positive = scales
    totals, values = sums
    base = _squash(0.0, positive)
    columns = zip(chunks, totals.tolist(), values.T.tolist(), candidates.sources(chunks), strict=True)
    return [
        Ranked(
            hit=candidates.hit(at),
            score=_squash(total, positive),
            source=source,
            names=names,
            values=tuple(file_values),
            weights=counts,
            total=total,
            base=base,
        )
        for at, total, file_values, source in columns
    ]


@functools.lru_cache(_TABLES)
def _scales(weights: Weights, rare: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[float, ...], float]:
    """Return (the signals of a question that has the `rare` ones, the weight of each, the sum of a
    file with 1 for every good signal).
    """
    names = tuple(name for name in ORDER if name in rare or name not in ON_TOP)
    scales = {name: float(getattr(weights, name)) for name in names}
    # A question that names no file and no kind of file loses nothing by the additional signals.
    good = [name for name in names if name not in NAMES + ON_TOP and scales[name] > 0]
    good += [name for name in NAMES if scales[name] > 0]
    positive = sum(scales[name] for name in good) or 1.0
    return names, tuple(scales.values()), positive


def _nth(values: Array, number: int) -> float:
    """Return the value at index `number` in falling order; minus infinity if there are no more."""
    if len(values) <= number:
        return -math.inf
    return float(np.partition(values, len(values) - number)[len(values) - number])


def rank_by_cosine(vector: Signals, limit: int, least: float = 0.0) -> list[Ranked]:
    """Rank by cosine alone, without cosines below `least`: distinct files first, each with its
    nearest chunk, then more chunks of the same files, with scores no higher than the last file's. A
    cosine below 0 scores 0.
    """
    cosines, keys, files = vector.row("cosine").tolist(), vector.keys.tolist(), vector.rows[FILE].tolist()
    above_floor = [at for at, cosine in enumerate(cosines) if max(0.0, cosine) >= least]
    best = sorted(above_floor, key=lambda at: (-cosines[at], vector.id(at), keys[at]))
    counts: dict[str, int] = {}
    places = {}
    for at in best:
        file = vector.paths[files[at]]
        if not split_name(file)[1]:  # a chunk without a file counts as a file
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


def _weaken_inline_tests(candidates: Candidates, strength: Array, files: Array) -> Array:
    """Return `strength`, with a share of it for chunks of `files` that are inline tests."""
    mixed = [file for file in files.tolist() if candidates.paths[file].endswith(inline_tests.ENDING)]
    if not mixed:
        return strength
    weaker = strength.copy()
    for at in np.flatnonzero(np.isin(candidates.file, mixed)).tolist():
        path = candidates.paths[int(candidates.file[at])]
        if strength[at] > 0 and inline_tests.is_test_chunk(path, candidates.tie(at)[0].decode()):
            weaker[at] *= INLINE_TESTS
    return weaker


def _pick_chunks(candidates: Candidates, files: Array, strength: Array) -> list[int]:
    """Return the best chunk of each of `files` (ascending): the one with the named line, else the
    best of those with the requested definition, if any.
    """
    wanted = np.zeros(len(candidates.paths), bool)
    wanted[files] = True
    rows = np.flatnonzero(wanted[candidates.file])
    file, defx = candidates.file[rows], candidates.lane("defx")
    other = defx[rows] < candidates.best(defx)[file]
    columns = (-candidates.lane("line")[rows], other, -strength[rows], ~candidates.covering[rows])
    chunks, keys = rows.tolist(), list(zip(*(column.tolist() for column in columns), strict=True))
    starts = run_starts(file).tolist()
    return [
        next(_in_order(candidates, chunks[start:end], keys[start:end]))
        for start, end in pairwise([*starts, len(chunks)])
    ]


def _in_order(
    candidates: Candidates, chunks: Sequence[int], keys: Iterable[tuple[float, ...]]
) -> Iterator[int]:
    """Yield the chunks in the order of their keys, and of their ids where keys are equal. Ids are
    compared only for equal keys, and only as far as the caller iterates.
    """
    for _, alike in groupby(sorted(zip(keys, chunks, strict=True)), itemgetter(0)):
        same = [chunk for _, chunk in alike]
        yield from sorted(same, key=candidates.tie) if len(same) > 1 else same


def _further_chunks(
    candidates: Candidates, by_file: dict[int, Ranked], strength: Array, remaining: Array, limit: int
) -> list[Ranked]:
    """Return further chunks of the listed files, best first, below all first places."""
    floor = min(ranked.score for ranked in by_file.values())
    keys = zip((-strength[remaining]).tolist(), (~candidates.covering[remaining]).tolist(), strict=True)
    further = list(islice(_in_order(candidates, remaining.tolist(), keys), limit - len(by_file)))
    places: dict[int, int] = {}
    out = []
    for at, source in zip(further, candidates.sources(further), strict=True):
        file = int(candidates.file[at])
        places[file] = places.get(file, 1) + 1
        factor = min(1.0, max(0.0, float(strength[at]) / 2))
        out.append(
            Ranked(
                hit=candidates.hit(at),
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
    """Map any sum to 0-1, strictly rising; `positive`: a file's sum with 1 for each good signal."""
    return 1.0 / (1.0 + math.exp(-STEEPNESS * (total / positive - 0.5)))
