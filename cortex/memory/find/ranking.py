"""Ranking of notes from lanes of evidence, with the parts of each score. Pure.

A note's own text and the text around it in its session are separate lanes: the words of an exchange
find the place, and within it the note's words, its speaker and its being an answer decide.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np

from cortex.memory.find.catalog import Catalog
from cortex.memory.find.vectors import Cosines, distinct
from cortex.memory.find.words import WordBits
from cortex.system.arrays import Array

#: factors that decide between notes of equal similarity
TIE_BREAKERS = ("importance", "relevance", "recency", "use")
#: lane → its weight, for values from 0 to 1. words: of the note; window: share of the query's words
#: in the note and its neighbours; answers: words of a question right before it; session: of its
#: whole session; meaning: of the note with its neighbours; alone: of the note alone; opens: it is
#: the first of its session, where people bring news
WEIGHTS = {
    "words": 0.2,
    "window": 0.22,
    "answers": 0.2,
    "session": 0.1,
    "meaning": 0.2,
    "alone": 0.08,
    "opens": 0.05,
}
#: the same for lone notes: no turns of a conversation, their meaning told by a model of sentences.
#: Scores of words are shares of the best one, which is 1 even if it has but one common word of the
#: question. "window" is the cube of the share: all words, or the rare ones, tell much, and one of
#: them little
LONE_WEIGHTS = dict.fromkeys(WEIGHTS, 0.0) | {"window": 0.43, "meaning": 0.44, "alone": 0.18}
#: neighbours on each side with words in a note's window; weight of a neighbour's meaning by its
#: distance
NEIGHBOURS, MEANT_NEAR = 3, (0.5, 0.25)
#: relative change of a note's score: its speaker is named in the query; the query is about time and
#: the note mentions a time, unless it is a lone one; the note is a question itself
SPEAKER, TIME, ASKS = 0.8, 0.7, -0.2
#: relative change for a note of another branch than the main one and the reader's
BRANCH = -0.5
#: standard deviations above the mean of all cosines that give full similarity; what lone notes may
#: have of it, for two that are surely near differ still
SURE_DEVIATIONS, LONE_MEANING = 5.0, 2.0
#: largest relative change of a score by importance, recency and use, and by relevance, for a faded
#: note; 0 for a note that is new, unused and unrelated: its relevance equals its importance
IMPORTANCE, RECENCY, USE, RELEVANCE = 0.10, 0.05, 0.05, 0.05
#: milliseconds in which a note's recency halves
HALF_LIFE_MS = 30 * 86_400_000
#: minimum for a hit: its share of the query's words (for speech, its window's share), or deviations
#: of its meaning above the mean, which must also exceed the maximum that all unrelated notes would
#: reach by chance
WORDS_FLOOR, WINDOW_FLOOR, MEANING_FLOOR = 0.34, 0.2, 2.2
#: share of the query's word weight in one note from which on a note is about the query
WORDS_ABOUT = 0.8
#: smallest score that counts as a match of words
LEAST = 1e-6
#: candidates from meaning
MEANT = 200


@dataclass(frozen=True, slots=True)
class Lanes:
    """The results of the lanes: {note: score of words}; the query words that each note contains;
    cosines; {note: nearness in the graph}; the highest possible score of words; speakers named in
    the query (Catalog.speakers_in); whether the query is about time.
    """

    words: Mapping[int, float]
    word_bits: WordBits
    cosines: Cosines
    near: Mapping[int, float] = field(default_factory=dict)
    ideal: float = 1.0
    speakers: tuple[int, ...] = ()
    when: bool = False
    #: notes of other branches than the main one and the reader's: bool [room]; None for none
    elsewhere: Array | None = None


@dataclass(frozen=True, slots=True)
class Ranked:
    """A note by number; `parts`: {lane or factor: its contribution}; their sum is the score;
    `evidence`: that it is about the query's subject (`evidence`).
    """

    number: int
    score: float
    parts: dict[str, float]
    evidence: float = math.inf

    @property
    def similarity(self) -> float:
        """The score without the tie breakers."""
        return self.score - sum(self.parts.get(name, 0.0) for name in TIE_BREAKERS)


@dataclass(frozen=True, slots=True)
class SimilarNotes:
    """Candidates of the similarity lanes, by ascending number: {lane: values from 0 to 1}; whether
    each passes the minimum for a hit; {factor: relative change by the note's form} (`fitting`), and
    tie breakers (`lifts`).
    """

    numbers: Array
    lanes: dict[str, Array]
    fits: Array
    fitting: dict[str, Array]
    lifts: dict[str, Array]


def _spread(numbers: Array, values: Array, room: int) -> Array:
    """Array [room] with the values at `numbers`, else 0; the system allocates memory only for pages
    that are written.
    """
    spread = np.zeros(room, values.dtype)
    spread[numbers] = values
    return spread


def similarities(lanes: Lanes, catalog: Catalog, mask: Array, now: int) -> SimilarNotes:
    """The values of the similarity lanes for candidates in the mask; `now` is in milliseconds."""
    hits = np.fromiter(lanes.words, np.int64, len(lanes.words))
    in_mask = mask[hits]
    hits, scores = hits[in_mask], np.fromiter(lanes.words.values(), np.float64, len(in_mask))[in_mask]
    words = _spread(hits, scores, len(mask))
    meant, sure = _nearest(lanes.cosines, len(mask))
    numbers = distinct((*_neighbours(hits, catalog, NEIGHBOURS), meant))
    numbers = numbers[mask[numbers]]
    around = _neighbours(numbers, catalog, NEIGHBOURS)
    before, word_scores = around[1], words[numbers]
    window = _window(around, lanes.word_bits, mask)
    best = scores.max(initial=0.0) or 1.0
    lone = _are_lone(lanes, numbers, catalog)
    full = np.where(lone, LONE_MEANING, 1.0)
    return SimilarNotes(
        numbers,
        {
            "words": word_scores / best,
            "window": np.where(lone, window**3, window),
            "answers": words[before] / best * catalog["asking"][before],
            "session": _sessions(numbers, word_scores, hits, scores, catalog),
            "meaning": np.clip(_meaning(around[: 2 * len(MEANT_NEAR) + 1], sure), 0.0, full),
            "alone": np.clip(sure[numbers], 0.0, full),
            "opens": ((before == 0) & (around[2] > 0)).astype(np.float64),
        },
        np.where(
            catalog["conversation"][numbers] > 0,
            window >= WINDOW_FLOOR,
            word_scores >= max(WORDS_FLOOR * lanes.ideal, LEAST),
        )
        | (sure[numbers] * SURE_DEVIATIONS >= (lanes.cosines.hit or _best_by_chance(lanes.cosines.among))),
        _fit_factors(lanes, numbers, catalog),
        _tie_breakers(numbers, catalog, now),
    )


def is_noted(lanes: Lanes, similar: SimilarNotes, catalog: Catalog, mask: Array, related: float) -> bool:
    """Whether any note of the mask is about the query's subject: by a cosine of at least `related`,
    by nearly all its words, or as a turn with enough of its words around it, or nearer than by
    chance, by somebody who speaks twice ("photos: S3 now" names no speaker).
    """
    if lanes.cosines.values.max(initial=-1.0) >= related:
        return True
    words = lanes.word_bits
    if _covered(words.bits[mask[words.numbers]], words.worth).max(initial=0.0) >= WORDS_ABOUT:
        return True
    is_near = (similar.lanes["window"] >= WINDOW_FLOOR) | (
        similar.lanes["alone"] * SURE_DEVIATIONS >= _best_by_chance(lanes.cosines.among)
    )
    is_turn = catalog["conversation"][similar.numbers] > 0
    speaking = catalog["speaker"][similar.numbers[is_near & is_turn]]
    return bool(len(speaking) and (np.bincount(catalog["speaker"])[speaking] > 1).any())


def evidence(lanes: Lanes, numbers: Array, catalog: Catalog, related: float) -> Array:
    """The evidence that each note is about the query's subject: its cosine above `related`, the
    bound of `is_noted`. Infinite for a note with nearly all words of the query, for a turn, which
    others explain, and without a model of sentences; -1 for one whose cosine was not computed.
    """
    cosines, words = lanes.cosines, lanes.word_bits
    if not cosines.hit:
        return np.full(len(numbers), math.inf)
    values = np.full(len(catalog["there"]), -1.0)
    values[cosines.numbers] = cosines.values - related
    values[words.numbers[_covered(words.bits, words.worth) >= WORDS_ABOUT]] = math.inf
    return np.where(catalog["conversation"][numbers] > 0, math.inf, values[numbers])


def with_neighbours(numbers: Collection[int], catalog: Catalog) -> Array:
    """The notes, and the neighbours that contribute to their meaning."""
    hits = np.fromiter(numbers, np.int64, len(numbers))
    return distinct(_neighbours(hits, catalog, len(MEANT_NEAR)))


def _window(around: Sequence[Array], word_bits: WordBits, mask: Array) -> Array:
    """The share of the query words' weight that each note contains together with its neighbours."""
    in_mask = mask[word_bits.numbers]
    bits = _spread(word_bits.numbers[in_mask], word_bits.bits[in_mask], len(mask))
    return _covered(np.bitwise_or.reduce([bits[ring] for ring in around]), word_bits.worth)


def _covered(bits: Array, worth: Array) -> Array:
    """The share of the query words' weight that the bits name."""
    shares = worth / (worth.sum() or 1.0)
    return sum((share * (bits >> at & 1) for at, share in enumerate(shares)), np.zeros(len(bits)))


def _meaning(around: Sequence[Array], sure: Array) -> Array:
    """The meaning of each note with its neighbours, in units of one note's deviation."""
    combined, squares = sure[around[0]], np.ones(len(around[0]))
    for at, ring in enumerate(around[1:]):
        share = MEANT_NEAR[at // 2]
        combined += share * sure[ring]
        squares += share * share * (ring > 0)
    return combined / np.sqrt(squares)


def _best_by_chance(among: int) -> float:
    """The deviations above the mean that the best of `among` unrelated notes reaches by chance."""
    return max(MEANING_FLOOR, NormalDist().inv_cdf(1 - 1 / max(2, among)))


def _neighbours(numbers: Array, catalog: Catalog, count: int) -> list[Array]:
    """The notes, then those before and after turns in their sessions, and so on; 0 for none."""
    turns = np.where(catalog["conversation"][numbers] > 0, numbers, 0)
    rings, earlier, later = [numbers], turns, turns
    for _ in range(count):
        earlier, later = catalog["before"][earlier], catalog["after"][later]
        rings += [earlier, later]
    return rings


def _nearest(cosines: Cosines, room: int) -> tuple[Array, Array]:
    """The notes with the highest cosines, and all notes' deviations above the mean, in units of
    SURE_DEVIATIONS.
    """
    numbers = cosines.numbers
    sure = (cosines.values - cosines.mean) / (cosines.deviation or 1.0) / SURE_DEVIATIONS
    best = numbers[np.argpartition(-cosines.values, MEANT)[:MEANT]] if len(numbers) > MEANT else numbers
    return best, _spread(numbers, sure, room)


def _sessions(numbers: Array, word_scores: Array, hits: Array, scores: Array, catalog: Catalog) -> Array:
    """The sum of scores of each note's session, divided by the square root of its length; a note
    that is no turn counts as one.
    """
    session_numbers = catalog["conversation"]
    sums = np.bincount(session_numbers[hits], scores, minlength=catalog.sessions)
    sessions = session_numbers[numbers]
    values = np.where(
        sessions > 0, sums[sessions] / np.sqrt(np.maximum(1, catalog.lengths[sessions])), word_scores
    )
    return values / (values.max(initial=0.0) or 1.0)


def rank(  # noqa: PLR0917
    lanes: Lanes, similar: SimilarNotes, catalog: Catalog, alpha: float, now: int, limit: int
) -> list[Ranked]:
    """The notes that pass the minimum or are near in the graph, the best `limit` first; equal ones
    the newest first. alpha moves weight between similarity (1) and the graph (0); `now` is in
    milliseconds.
    """
    reached = np.fromiter(lanes.near, np.int64, len(lanes.near))
    worth = np.fromiter(lanes.near.values(), np.float64, len(reached))
    near = np.zeros(len(similar.numbers))
    if len(reached):
        room = len(catalog["there"])
        is_candidate = _spread(similar.numbers, np.ones(len(near), bool), room)
        if len(far := np.sort(reached[(worth > 0) & ~is_candidate[reached]])):
            similar = _with_far(similar, far, lanes, catalog, now)
        near = _spread(reached, worth, room)[similar.numbers]
    none = np.zeros(len(near))
    lone = _are_lone(lanes, similar.numbers, catalog)
    of_lanes, of_lone = (
        np.array([[weights[lane]] for lane in similar.lanes]) for weights in (WEIGHTS, LONE_WEIGHTS)
    )
    weighted = alpha * np.where(lone, of_lone, of_lanes) * np.stack(list(similar.lanes.values()))
    alike = weighted.sum(axis=0)
    fitting, lifts = (sum(factors.values(), none + 1.0) for factors in (similar.fitting, similar.lifts))
    score = (alike * fitting + (1 - alpha) * near) * lifts
    candidates = np.flatnonzero(similar.fits | (near > 0))
    if len(candidates) > limit:  # drop candidates below the limit before sorting
        candidates = candidates[score[candidates] >= np.partition(score[candidates], -limit)[-limit]]
    numbers = similar.numbers[candidates]
    order = np.lexsort((-numbers, -catalog["happened"][numbers], -score[candidates]))
    best = candidates[order[:limit]]
    parts = dict(zip(similar.lanes, weighted[:, best], strict=True))
    parts |= {name: alike[best] * by[best] for name, by in similar.fitting.items()}
    parts["graph"] = (1 - alpha) * near[best]
    base = alike[best] * fitting[best] + parts["graph"]
    parts |= {name: base * by[best] for name, by in similar.lifts.items()}
    rows = zip(*(column.tolist() for column in parts.values()), strict=True)
    return [
        Ranked(number, total, dict(zip(parts, row, strict=True)))
        for number, total, row in zip(similar.numbers[best].tolist(), score[best].tolist(), rows, strict=True)
    ]


def _with_far(similar: SimilarNotes, far: Array, lanes: Lanes, catalog: Catalog, now: int) -> SimilarNotes:
    """The candidates with those that only the graph found."""
    numbers, none = np.concatenate([similar.numbers, far]), np.zeros(len(far))
    return SimilarNotes(
        numbers,
        {lane: np.concatenate([values, none]) for lane, values in similar.lanes.items()},
        np.concatenate([similar.fits, none > 0]),
        _fit_factors(lanes, numbers, catalog),
        _tie_breakers(numbers, catalog, now),
    )


def _fit_factors(lanes: Lanes, numbers: Array, catalog: Catalog) -> dict[str, Array]:
    """The relative changes of a score by a note's form."""
    is_speaker = np.isin(catalog["speaker"][numbers], lanes.speakers)
    of_branch = {} if lanes.elsewhere is None else {"branch": BRANCH * lanes.elsewhere[numbers]}
    return of_branch | {
        "speaker": SPEAKER * is_speaker,
        "time": TIME * catalog["timed"][numbers] * ~_are_lone(lanes, numbers, catalog) * lanes.when,
        "asks": ASKS * catalog["asking"][numbers],
    }


def _are_lone(lanes: Lanes, numbers: Array, catalog: Catalog) -> Array:
    """Bool [n]: which notes are no turns, if a model of sentences tells their meaning."""
    are_alone: Array = catalog["conversation"][numbers] == 0
    return are_alone if lanes.cosines.hit else np.zeros(len(numbers), bool)


def _tie_breakers(numbers: Array, catalog: Catalog, now: int) -> dict[str, Array]:
    """The factors that decide between notes of equal similarity."""
    age = np.maximum(0, now - catalog["updated"][numbers])
    importance = catalog["importance"][numbers].astype(np.float64)
    faded = catalog["relevance"][numbers] / np.where(importance > 0, importance, 1.0)
    return {
        "importance": IMPORTANCE * (importance - 0.5) * 2,
        "relevance": RELEVANCE * np.where(importance > 0, np.minimum(1.0, faded - 1), 0.0),
        "recency": RECENCY * np.exp2(age / -HALF_LIFE_MS),
        "use": USE * np.minimum(1.0, np.log1p(catalog["uses"][numbers]) / 4),
    }
