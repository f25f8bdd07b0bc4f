"""The likelihood that a newer note tells what became of the content of an older one, by the weights
that scripts/train/successors.py fits. Pure.

Words alone do not decide which of two notes on one subject is true. So the likelihood closes and
hides nothing: it brings the newer note beside the older one, and the reader has both with dates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cortex.memory.find.newer.statements import BODY_CHARS, ended_values
from cortex.memory.note import Note
from cortex.memory.text import question_words
from cortex.system.arrays import Array

#: deviations of a cosine, and days between two notes, that count as 1
SURE_DEVIATIONS, LONG_DAYS = 6.0, 60.0
#: age of two notes of the same ten days: a correction comes within a minute, too
SHORT_AGE = 0.6
DAY_MS = 86_400_000
#: log-odds of the replacement model that count as 1
SURE_ODDS = 5.0
#: kinds of notes that mostly report what happened
_REPORTS = frozenset(("event", "observation"))
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half)\b")

#: feature of two notes → its weight, before the replacement model reads them. likeness: of meaning;
#: of_older, of_newer: shared stems, as a share of either by rarity; rarest: the rarest shared stem;
#: reports: the newer one is a report; ends: the newer one says that something is no longer so;
#: ends_shared: something that the older one names
PROPOSED = {
    "likeness": 8.97,
    "of_older": 5.07,
    "of_newer": -8.62,
    "rarest": 5.19,
    "reports": 0.79,
    "ends": -1.39,
    "ends_shared": 2.01,
}
#: the same with what the model says, when one is stored. read: its log-odds
STORED = {
    "likeness": 6.19,
    "of_older": 4.31,
    "of_newer": -7.28,
    "rarest": 8.35,
    "reports": 0.37,
    "ends": -1.48,
    "ends_shared": 1.76,
    "read": 2.05,
}
#: the same for a question, with more features. age: time between the two notes; near: likeness of
#: the newer note to the question; kept, lost: its stems in the older note that the newer one has,
#: and lacks; value: the rarest other stem of the older one that the newer one has; number_lost: a
#: number is among the lost
QUESTION = {
    "likeness": 1.7,
    "of_older": 2.2,
    "of_newer": -7.0,
    "rarest": 1.94,
    "reports": 0.18,
    "ends": -1.11,
    "ends_shared": 1.26,
    "age": 7.98,
    "near": 6.09,
    "kept": 4.03,
    "lost": 2.52,
    "value": 2.54,
    "number_lost": -0.69,
    "read": 1.92,
}
#: the same for pairs whose older note is the first hit
FIRST = {
    "likeness": 1.69,
    "of_older": 4.77,
    "of_newer": -8.68,
    "rarest": 1.31,
    "reports": 0.07,
    "ends": -1.09,
    "ends_shared": 1.28,
    "age": 7.17,
    "near": 5.37,
    "kept": 1.1,
    "lost": -0.07,
    "value": 2.23,
    "number_lost": -1.86,
    "read": 2.18,
}
#: constant terms
PROPOSED_BIAS, STORED_BIAS, QUESTION_BIAS, FIRST_BIAS = -11.0, -11.32, -15.82, -12.24


@dataclass(frozen=True, slots=True)
class Reading:
    """The stems of a text, its numbers, and the stems of values that it says are no longer so."""

    words: frozenset[str]
    numbers: frozenset[str]
    ended: frozenset[str]


@lru_cache(4_096)
def reading_of(text: str) -> Reading:
    words = question_words(text) if text.strip() else ()
    return Reading(frozenset(words), frozenset(_NUMBER.findall(text.lower())), ended_values(text))


def text_of(note: Note) -> str:
    """The part of a note that is compared: a change is at the start. The replacement model was
    trained to read notes in this form.
    """
    return ". ".join(filter(None, (note.title.strip(), note.body[:BODY_CHARS].strip())))


def likely(features: dict[str, Array], *, is_first: bool = False) -> Array:
    """float64 [pairs]: the likelihood that the newer note of a pair tells what became of the older
    one, and for features with a question, of what that asks for; `is_first`: the older ones are the
    first hit.
    """
    weights, bias = (FIRST, FIRST_BIAS) if is_first else (QUESTION, QUESTION_BIAS)
    if "near" not in features:
        weights, bias = (STORED, STORED_BIAS) if "read" in features else (PROPOSED, PROPOSED_BIAS)
    values: Array = 1 / (1 + np.exp(-bias - sum(weight * features[name] for name, weight in weights.items())))
    return values


def log_odds(likelihoods: Array) -> Array:
    """float64 [n]: the feature "read" of likelihoods, 0 for an even chance and at most 1."""
    odds: Array = np.clip(np.log((likelihoods + 1e-9) / (1 - likelihoods + 1e-9)) / SURE_ODDS, -1.0, 1.0)
    return odds


def features_of(  # noqa: PLR0917
    notes: Sequence[Note],
    pairs: Sequence[tuple[int, int]],
    likeness: Array,
    rarity: Callable[[str], float],
    question: str = "",
    near: Array | None = None,
) -> dict[str, Array]:
    """{feature: float64 [pairs]} of pairs of indices, the older note first. `likeness` [n, n]:
    deviations of two notes' cosine above that of unrelated ones; `rarity`: the weight of a stem, at
    most 1; `near` [n]: deviations of each note's cosine to the question; None for no question.
    """
    readings, of_question = [reading_of(text_of(note)) for note in notes], reading_of(question)
    at = {stem: place for place, stem in enumerate(sorted(frozenset().union(*(r.words for r in readings))))}
    weights = np.array([rarity(stem) for stem in at])
    has, ended = np.zeros((len(notes), len(at)), bool), np.zeros((len(notes), len(at)), bool)
    for row, reading in enumerate(readings):
        has[row, [at[stem] for stem in reading.words]] = True
        ended[row, [at[stem] for stem in reading.ended if stem in at]] = True
    older, newer = np.array(pairs, np.int64).reshape(-1, 2).T
    shared, totals = has[older] & has[newer], has @ weights
    weight = shared @ weights
    features = {
        "likeness": likeness[older, newer] / SURE_DEVIATIONS,
        "of_older": weight / np.maximum(totals[older], 1e-9),
        "of_newer": weight / np.maximum(totals[newer], 1e-9),
        "rarest": (shared * weights).max(axis=1, initial=0.0),
        "reports": np.array([note.kind in _REPORTS for note in notes], float)[newer],
        "ends": np.array([bool(reading.ended) for reading in readings], float)[newer],
        "ends_shared": (ended[newer] & has[older]).any(axis=1).astype(float),
    }
    if near is None:
        return features
    happened = np.array([note.happened_at for note in notes])
    days = np.maximum(0, happened[newer] - happened[older]) / DAY_MS
    is_asked = np.array([stem in of_question.words for stem in at], bool)
    total = sum(map(rarity, of_question.words)) or 1.0
    numbers = [reading.numbers & of_question.numbers for reading in readings]
    return features | {
        "age": np.clip(np.log1p(days) / np.log1p(LONG_DAYS), SHORT_AGE, 1.0),
        "near": near[newer] / SURE_DEVIATIONS,
        "kept": (shared & is_asked) @ weights / total,
        "lost": (has[older] & ~has[newer] & is_asked) @ weights / total,
        "value": (shared * (weights * ~is_asked)).max(axis=1, initial=0.0),
        "number_lost": np.array([bool(numbers[a] - readings[b].numbers) for a, b in pairs], float),
    }
