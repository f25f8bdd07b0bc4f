"""Lanes → the order of notes, and why. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from cortex.memory.catalog import Catalog
from ipc.arrays import Array

#: lane → its weight; they add up to 1
WEIGHTS = {"words": 0.45, "window": 0.25, "meaning": 0.30}
#: what a neighbour in the same session adds to the window of a note, of its own words
NEIGHBOUR = 0.5
#: standard deviations above the mean of all cosines that count as sure
SURE_DEVIATIONS = 5.0
#: by how much importance, recency and use can lift a note that fits wholly
IMPORTANCE, RECENCY, USE = 0.10, 0.05, 0.05
#: milliseconds in which a note's recency halves
HALF_LIFE_MS = 30 * 86_400_000
#: a note is about the question when its words are this share of the question's, or its meaning is
#: this many deviations above the mean; else it is not shown
WORDS_FLOOR, MEANING_FLOOR = 0.34, 3.0


@dataclass(frozen=True, slots=True)
class Lanes:
    """What the lanes found: note → score of the words; cosines (uint64 [n], float32 [n]) of all
    notes that are asked; note → nearness in the graph; the score that all words together are worth.
    """

    words: Mapping[int, float]
    cosines: tuple[Array, Array]
    near: Mapping[int, float] = field(default_factory=dict)
    ideal: float = 1.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """A note by number; `parts`: lane or factor → what it gave; their sum is the score."""

    number: int
    score: float
    parts: dict[str, float]


def similarities(lanes: Lanes, catalog: Catalog, mask: Array) -> dict[int, dict[str, float]]:
    """Note → lane → 0 to 1, of the notes in the mask that any lane of similarity found."""
    best = max((score for number, score in lanes.words.items() if mask[number]), default=0.0) or 1.0
    found: dict[int, dict[str, float]] = {}
    for number, score in lanes.words.items():
        around = (int(catalog["before"][number]), int(catalog["after"][number]))
        window = score + NEIGHBOUR * sum(lanes.words.get(other, 0.0) for other in around)
        found[number] = {"words": score / best, "window": min(1.0, window / (best * (1 + NEIGHBOUR)))}
        for other in around:  # what says nothing itself may be the answer to what was asked before it
            if other and other not in lanes.words:
                told = found.setdefault(other, {})
                share = NEIGHBOUR * score / (best * (1 + NEIGHBOUR))
                told["window"] = min(1.0, told.get("window", 0.0) + share)
    numbers, cosines = lanes.cosines
    if len(numbers):
        deviations = (cosines - cosines.mean()) / (cosines.std() or 1.0)
        order = np.argsort(-deviations)[: max(200, 2 * len(found))]
        sure = dict(zip(numbers.tolist(), deviations.tolist(), strict=True))
        for number in {*found, *numbers[order].tolist()}:
            if number in sure:
                found.setdefault(int(number), {})["meaning"] = min(
                    1.0, max(0.0, sure[number] / SURE_DEVIATIONS)
                )
    return {number: parts for number, parts in found.items() if mask[number]}


def rank(
    lanes: Lanes,
    similar: Mapping[int, dict[str, float]],
    catalog: Catalog,
    alpha: float,
    now: int,
) -> list[Ranked]:
    """The notes that are about the question, the best first; equal ones the newest first.

    alpha moves weight between similarity (1) and the graph (0); `now` is in milliseconds.
    """
    out = []
    for number in {*similar, *lanes.near}:
        parts = dict(similar.get(number, {}))
        alike = sum(WEIGHTS[lane] * value for lane, value in parts.items())
        near = lanes.near.get(number, 0.0)
        fits = parts.get("meaning", 0.0) * SURE_DEVIATIONS >= MEANING_FLOOR
        if not (fits or lanes.words.get(number, 0.0) >= WORDS_FLOOR * lanes.ideal or near):
            continue
        base = alpha * alike + (1 - alpha) * near
        age = max(0, now - int(catalog["updated"][number]))
        lift = {
            "importance": IMPORTANCE * (float(catalog["importance"][number]) - 0.5) * 2,
            "recency": RECENCY * 0.5 ** (age / HALF_LIFE_MS),
            "use": USE * min(1.0, float(np.log1p(catalog["uses"][number])) / 4),
        }
        score = base * (1 + sum(lift.values()))
        parts = {lane: alpha * WEIGHTS[lane] * value for lane, value in parts.items()}
        parts |= {"graph": (1 - alpha) * near, **{name: base * value for name, value in lift.items()}}
        out.append(Ranked(number, score, parts))
    return sorted(out, key=lambda one: (-one.score, -int(catalog["happened"][one.number]), -one.number))
