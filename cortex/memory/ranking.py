"""Lanes → the order of notes, and why. Pure.

What a note says itself and what is said around it in its session are two lanes: the words of an
exchange find the place, its own words, who says it and whether it answers decide within.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from cortex.memory.catalog import Catalog
from cortex.memory.vectors import Cosines
from ipc.arrays import Array

#: lane → its weight, of values from 0 to 1. words: of the note; window: with those of its
#: neighbours; answers: of a question that stands right before it; session: of all its session;
#: meaning: of the note; around: of its neighbours
WEIGHTS = {"words": 0.25, "window": 0.15, "answers": 0.2, "session": 0.2, "meaning": 0.15, "around": 0.05}
#: what the words of a neighbour count in a window, by how many notes it is away
NEIGHBOURS = (0.5, 0.25, 0.15)
#: by how much a note that fits is lifted when the person who speaks is named in the question, when
#: a question about time meets one that tells a time, by its length (256 words: wholly), and when it
#: only asks itself
SPEAKER, TIME, LENGTH, ASKS = 0.8, 0.7, 0.8, -0.2
#: words that a note of whole length has
LENGTH_WORDS = 256
#: standard deviations above the mean of all cosines that count as sure
SURE_DEVIATIONS = 5.0
#: by how much importance, recency and use can lift a note that fits wholly
IMPORTANCE, RECENCY, USE = 0.10, 0.05, 0.05
#: milliseconds in which a note's recency halves
HALF_LIFE_MS = 30 * 86_400_000
#: a note is about the question when its words (of what was said: its window's) are this share of
#: the question's, or its meaning is farther above the mean than that of one of all unrelated notes
#: would be by chance, and at least this many deviations; else it is not shown
WORDS_FLOOR, MEANING_FLOOR = 0.34, 2.2
#: notes that meaning proposes
MEANT = 200


@dataclass(frozen=True, slots=True)
class Lanes:
    """What the lanes found: note → score of the words; cosines; note → nearness in the graph; the
    score that all words together are worth; speakers who are named (Catalog.speakers_in); whether
    the question is about time.
    """

    words: Mapping[int, float]
    cosines: Cosines
    near: Mapping[int, float] = field(default_factory=dict)
    ideal: float = 1.0
    speakers: tuple[int, ...] = ()
    when: bool = False


@dataclass(frozen=True, slots=True)
class Ranked:
    """A note by number; `parts`: lane or factor → what it gave; their sum is the score."""

    number: int
    score: float
    parts: dict[str, float]


@dataclass(frozen=True, slots=True)
class Similar:
    """Notes that a lane of similarity found, each by its place: lane → 0 to 1, and whether it is
    about the question at all.
    """

    numbers: Array
    lanes: dict[str, Array]
    fits: Array


def similarities(lanes: Lanes, catalog: Catalog, mask: Array) -> Similar:
    """What the lanes of similarity say of the notes in the mask."""
    words, sure = np.zeros(len(mask)), np.zeros(len(mask))  # of many notes only few are written
    hits = np.fromiter(lanes.words, np.int64, len(lanes.words))
    kept = mask[hits]
    hits = hits[kept]
    words[hits] = np.fromiter(lanes.words.values(), np.float64, len(kept))[kept]
    meant = _meant(lanes.cosines, sure)
    numbers = np.unique(np.concatenate((*_around(hits, catalog), meant)))
    numbers = numbers[mask[numbers]]
    before, after = catalog["before"][numbers], catalog["after"][numbers]
    window = words[numbers].copy()
    earlier, later = before, after
    for share in NEIGHBOURS:
        window += share * (words[earlier] + words[later])
        earlier, later = catalog["before"][earlier], catalog["after"][later]
    best = words[hits].max(initial=0.0) or 1.0
    return Similar(
        numbers,
        {
            "words": words[numbers] / best,
            "window": window / (window.max(initial=0.0) or 1.0),
            "answers": words[before] / best * catalog["asking"][before],
            "session": _sessions(numbers, hits, words, catalog),
            "meaning": np.clip(sure[numbers], 0.0, 1.0),
            "around": np.clip((sure[before] + sure[after]) / 2, 0.0, 1.0),
        },
        _fit(np.where(catalog["speaker"][numbers] > 0, window, words[numbers]), lanes)
        | (sure[numbers] * SURE_DEVIATIONS >= _meaning_floor(lanes.cosines.among)),
    )


def _fit(told: Array, lanes: Lanes) -> Array:
    """Which notes hold enough of the question's words: what was said in a conversation with what
    was said around it, what was noted by itself alone.
    """
    fits: Array = (told >= WORDS_FLOOR * lanes.ideal) & (told > 0)
    return fits


def _meaning_floor(among: int) -> float:
    """Deviations above the mean that the nearest of so many unrelated notes reaches by chance."""
    return max(MEANING_FLOOR, NormalDist().inv_cdf(1 - 1 / max(2, among)))


def _around(hits: Array, catalog: Catalog) -> list[Array]:
    """The hits, and their neighbours in their sessions; 0 is none."""
    found, earlier, later = [hits], hits, hits
    for _ in NEIGHBOURS:
        earlier, later = catalog["before"][earlier], catalog["after"][later]
        found += [earlier, later]
    return found


def _meant(cosines: Cosines, sure: Array) -> Array:
    """Fill `sure` with how far each cosine is above the mean, in parts of SURE_DEVIATIONS; returns
    the notes that are farthest.
    """
    told = cosines.numbers
    sure[told] = (cosines.values - cosines.mean) / (cosines.deviation or 1.0) / SURE_DEVIATIONS
    return told[np.argpartition(-cosines.values, MEANT)[:MEANT]] if len(told) > MEANT else told


def _sessions(numbers: Array, hits: Array, words: Array, catalog: Catalog) -> Array:
    """What the sessions of the notes say, by the square root of their length; a note without one is
    its own.
    """
    of = catalog["session"]
    sums = np.bincount(of[hits], words[hits], minlength=catalog.sessions)
    sessions = of[numbers]
    values = np.where(
        sessions > 0, sums[sessions] / np.sqrt(np.maximum(1, catalog.lengths[sessions])), words[numbers]
    )
    shares: Array = values / (values.max(initial=0.0) or 1.0)
    return shares


def rank(  # noqa: PLR0917
    lanes: Lanes, similar: Similar, catalog: Catalog, alpha: float, now: int, limit: int
) -> list[Ranked]:
    """The notes that are about the question, the best `limit` first; equal ones the newest first.

    alpha moves weight between similarity (1) and the graph (0); `now` is in milliseconds.
    """
    nearness, known = np.zeros(len(catalog["there"])), np.zeros(len(catalog["there"]), bool)
    reached = np.fromiter(lanes.near, np.int64, len(lanes.near))
    nearness[reached] = np.fromiter(lanes.near.values(), np.float64, len(reached))
    known[similar.numbers] = True
    far = reached[~known[reached] & (nearness[reached] > 0)]
    numbers = np.concatenate([similar.numbers, far])
    near = nearness[numbers]
    kept = (np.concatenate([similar.fits, np.zeros(len(far), bool)])) | (near > 0)
    none = np.zeros(len(far))
    parts = {
        lane: alpha * WEIGHTS[lane] * np.concatenate([values, none]) for lane, values in similar.lanes.items()
    }
    alike = sum(parts.values(), np.zeros(len(numbers)))
    parts |= {name: alike * by for name, by in _fitting(lanes, numbers, catalog).items()}
    parts["graph"] = (1 - alpha) * near
    base = sum(parts.values(), np.zeros(len(numbers)))
    parts |= {name: base * by for name, by in _lifts(numbers, catalog, now).items()}
    score = sum(parts.values(), np.zeros(len(numbers)))
    order = np.lexsort((-numbers, -catalog["happened"][numbers], -score))
    return [
        Ranked(int(numbers[at]), float(score[at]), {name: float(told[at]) for name, told in parts.items()})
        for at in order[kept[order]][:limit]
    ]


def _fitting(lanes: Lanes, numbers: Array, catalog: Catalog) -> dict[str, Array]:
    """By how much the form of a note fits the question, beside what it says."""
    length = np.log1p(catalog["words"][numbers]) / np.log1p(LENGTH_WORDS)
    named = np.isin(catalog["speaker"][numbers], lanes.speakers)
    return {
        "speaker": SPEAKER * named,
        "time": TIME * catalog["timed"][numbers] * lanes.when,
        "length": LENGTH * np.minimum(1.0, length),
        "asks": ASKS * catalog["asking"][numbers],
    }


def _lifts(numbers: Array, catalog: Catalog, now: int) -> dict[str, Array]:
    """What decides between notes that fit equally well."""
    age = np.maximum(0, now - catalog["updated"][numbers])
    return {
        "importance": IMPORTANCE * (catalog["importance"][numbers].astype(np.float64) - 0.5) * 2,
        "recency": RECENCY * 0.5 ** (age / HALF_LIFE_MS),
        "use": USE * np.minimum(1.0, np.log1p(catalog["uses"][numbers]) / 4),
    }
