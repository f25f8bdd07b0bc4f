"""The likelihood that a newer note tells what became of the content of an older one, by the weights
that scripts/train/successors.py fits. Pure.

Words alone do not decide which of two notes on one subject is true. So the likelihood closes and
hides nothing: it brings the newer note beside the older one, and the reader has both with dates.
"""

import re
from collections.abc import Callable, KeysView, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np

from cortex.memory.note import Note
from cortex.memory.text import question_words
from cortex.system.arrays import Array

#: deviations of a cosine, and days between two notes, that count as 1
SURE_DEVIATIONS, LONG_DAYS = 6.0, 60.0
#: age of two notes of the same ten days: a correction comes within a minute, too
SHORT_AGE = 0.6
DAY_MS = 86_400_000
#: characters of a body that are read: the change is at the start
BODY_CHARS = 400
#: log-odds of the replacement model that count as 1
SURE_ODDS = 5.0
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half)\b")

#: feature of two notes → its weight, before the replacement model reads them. likeness: of meaning;
#: of_older, of_newer: shared stems, as a share of either by rarity; rarest: the rarest shared stem
PROPOSED = {
    "likeness": 10.83,
    "of_older": 4.25,
    "of_newer": -10.95,
    "rarest": 2.16,
}
#: the same with what the model says, when one is stored. read: its log-odds
STORED = {
    "likeness": 6.97,
    "of_older": 3.36,
    "of_newer": -5.97,
    "rarest": 0.38,
    "read": 2.75,
}
#: the same for a question, with more features. age: time between the two notes; near: likeness of
#: the newer note to the question; kept, lost: its stems in the older note that the newer one has,
#: and lacks; value: the rarest other stem of the older one that the newer one has; number_lost: a
#: number is among the lost
QUESTION = {
    "likeness": 2.39,
    "of_older": 0.61,
    "of_newer": -4.89,
    "rarest": -0.34,
    "age": 7.5,
    "near": 5.39,
    "kept": 3.54,
    "lost": 3.08,
    "value": 2.04,
    "number_lost": -0.87,
    "read": 2.28,
}
#: the same for pairs whose older note is the first hit; their age tells little, and would leave a
#: change of a minute ago behind what it changes
FIRST = {
    "likeness": 2.55,
    "of_older": 2.16,
    "of_newer": -7.82,
    "rarest": -0.44,
    "near": 5.27,
    "kept": 0.89,
    "lost": -0.18,
    "value": 2.09,
    "number_lost": -2.56,
    "read": 2.36,
}
#: constant terms
PROPOSED_BIAS, STORED_BIAS, QUESTION_BIAS, FIRST_BIAS = -9.6, -6.28, -14.61, -6.08


@dataclass(frozen=True, slots=True)
class Reading:
    """The stems of a text in its order, and its numbers."""

    words: KeysView[str]
    numbers: frozenset[str]


@lru_cache(4_096)
def reading_of(text: str) -> Reading:
    words = question_words(text) if text.strip() else ()
    return Reading(dict.fromkeys(words).keys(), frozenset(_NUMBER.findall(text.lower())))


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
    return 1 / (1 + np.exp(-bias - sum(weight * features[name] for name, weight in weights.items())))


def log_odds(likelihoods: Array) -> Array:
    """float64 [n]: the feature "read" of likelihoods, 0 for an even chance and at most 1."""
    return np.clip(np.log((likelihoods + 1e-9) / (1 - likelihoods + 1e-9)) / SURE_ODDS, -1.0, 1.0)


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
    stems = list(chain.from_iterable(reading.words for reading in readings))
    at = dict(zip(dict.fromkeys(stems), range(len(stems)), strict=False))
    weights = np.fromiter(map(rarity, at), float, len(at))
    has = np.zeros((len(notes), len(at)), bool)
    rows = np.repeat(np.arange(len(notes)), [len(reading.words) for reading in readings])
    has[rows, np.fromiter(map(at.__getitem__, stems), np.int64, len(stems))] = True
    older, newer = np.array(pairs, np.int64).reshape(-1, 2).T
    shared, totals = has[older] & has[newer], has @ weights
    weight = shared @ weights
    features = {
        "likeness": likeness[older, newer] / SURE_DEVIATIONS,
        "of_older": weight / np.maximum(totals[older], 1e-9),
        "of_newer": weight / np.maximum(totals[newer], 1e-9),
        "rarest": (shared * weights).max(axis=1, initial=0.0),
    }
    if near is None:
        return features
    happened = np.array([note.happened_at for note in notes])
    days = np.maximum(0, happened[newer] - happened[older]) / DAY_MS
    is_asked = np.zeros(len(at), bool)
    is_asked[[at[stem] for stem in of_question.words if stem in at]] = True
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
