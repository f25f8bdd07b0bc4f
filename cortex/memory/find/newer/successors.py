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

from cortex.memory.find.newer.contrasts import (
    asks_for_number,
    has_other_subject,
    is_bounded,
    is_hearsay,
    is_narrower,
    lacks_number,
    share_of_form,
)
from cortex.memory.find.newer.statements import BODY_CHARS, ended_values, read_question, statement_of
from cortex.memory.note import Note
from cortex.memory.text import question_words
from cortex.system.arrays import Array

#: deviations of a cosine that count as 1
SURE_DEVIATIONS = 6.0
#: kinds of notes that mostly report what happened
_REPORTS = frozenset(("event", "observation"))
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half)\b")

#: feature of two notes → its weight, when one is stored. likeness: of meaning; of_older, of_newer:
#: shared stems, as a share of either by rarity; rarest: the rarest shared stem; reports: the newer
#: one is a report; ends: the newer one says that something is no longer so;
#: ends_shared: something that the older one names
STORED = {
    "likeness": 0.57,
    "of_older": 7.66,
    "of_newer": -1.5,
    "rarest": 6.09,
    "reports": -0.41,
    "ends": -1.12,
    "ends_shared": 1.57,
}
#: the same for a question. kept: its stems that both notes have; kept_rarest: the rarest of them;
#: value: the rarest shared stem that is neither of the question nor of the older one's subject;
#: ends_other: something is no longer so that the older one does not name; mutual: of_older ×
#: of_newer; number: the question asks for one and the newer note has another; the others as in
#: contrasts.py
QUESTION = {
    "of_older": 5.65,
    "rarest": 4.76,
    "reports": -1.07,
    "kept": 3.99,
    "kept_rarest": 2.34,
    "value": 2.36,
    "ends_other": -1.05,
    "mutual": -7.16,
    "number": 0.55,
    "hearsay": -2.93,
    "bounded": -1.47,
    "other_subject": -0.36,
    "number_lost": -1.33,
    "narrower": -1.24,
    "form": -1.66,
}
#: features with which a newer note does not come first
CONTRASTS = ("ends_other", "hearsay", "bounded", "other_subject", "number_lost", "narrower")
#: constant terms
STORED_BIAS, QUESTION_BIAS = -9.64, -10.52


@dataclass(frozen=True, slots=True)
class Reading:
    """The stems of a text, its numbers, the stems of values that it says are no longer so, and
    whether it is hearsay or holds for a while.
    """

    words: frozenset[str]
    numbers: frozenset[str]
    ended: frozenset[str]
    hearsay: bool
    bounded: bool


@lru_cache(4_096)
def reading_of(text: str) -> Reading:
    words = question_words(text) if text.strip() else ()
    numbers = frozenset(_NUMBER.findall(text.lower()))
    return Reading(frozenset(words), numbers, ended_values(text), is_hearsay(text), is_bounded(text))


def text_of(note: Note) -> str:
    """The part of a note that is compared: a change is at the start."""
    return f"{note.title}. {note.body[:BODY_CHARS]}"


def likely(features: dict[str, Array]) -> Array:
    """float64 [pairs]: the likelihood that the newer note of a pair tells what became of the older
    one, and for features with a question, of what that asks for.
    """
    weights, bias = (QUESTION, QUESTION_BIAS) if "kept" in features else (STORED, STORED_BIAS)
    values: Array = 1 / (1 + np.exp(-bias - sum(weight * features[name] for name, weight in weights.items())))
    return values


def features_of(
    notes: Sequence[Note],
    pairs: Sequence[tuple[int, int]],
    likeness: Array,
    rarity: Callable[[str], float],
    question: str = "",
) -> dict[str, Array]:
    """{feature: float64 [pairs]} of pairs of indices, the older note first. `likeness` [n, n]:
    deviations of two notes' cosine above that of unrelated ones; `rarity`: the weight of a stem, at
    most 1.
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
    if not question:
        return features
    statements, asked = [statement_of(note) for note in notes], read_question(question)
    subjects = np.zeros((len(notes), len(at)), bool)
    for row, statement in enumerate(statements):
        subjects[row, [at[stem] for stem in statement.subject if stem in at]] = True
    is_asked = np.array([stem in of_question.words for stem in at], bool)
    total = sum(map(rarity, of_question.words)) or 1.0
    features |= {
        "kept": (shared & is_asked) @ weights / total,
        "kept_rarest": (shared * (weights * is_asked)).max(axis=1, initial=0.0),
        "value": ((shared & ~is_asked & ~subjects[older]) * weights).max(axis=1, initial=0.0),
        "ends_other": features["ends"] * (1 - features["ends_shared"]),
        "mutual": features["of_older"] * features["of_newer"],
    }
    wants_number = asks_for_number(question)
    rows = []
    for old, new in pairs:
        two = statements[new], statements[old]
        rows.append(
            (
                wants_number and not readings[new].numbers <= readings[old].numbers,
                readings[new].hearsay,
                readings[new].bounded,
                has_other_subject(*two, asked),
                lacks_number(*two, asked),
                is_narrower(*two, asked),
                share_of_form(*two),
            )
        )
    names = ("number", "hearsay", "bounded", "other_subject", "number_lost", "narrower", "form")
    return features | dict(zip(names, np.array(rows, float).reshape(-1, len(names)).T, strict=True))
