"""Formulas of relevance: a note's relevance follows from its importance, age, use and relations.
Importance is given and never decays. And rules for forgetting notes, and for deleting them by age:
both are off by default and remove nothing, for a forgotten note is archived, an old one marked as
deleted. Pure.

The factors are those of the decay cycle in the design (rate .01 a day, floor .3 × importance, cap
1), each divided by its value for a note that is new, unused and unrelated: the relevance of such a
note is its importance, before and after upkeep.
"""

import math
from dataclasses import dataclass

#: decay per day of age, and per day without use
RATE, IDLE_RATE = 0.01, 0.05
#: share of the relevance that depends on use
IDLE_SHARE = 0.5
#: factor of the logarithm of the number of relations, and share that depends on their confidence
RELATED, CERTAIN = 0.3, 0.3
#: assumed confidence of a note without relations
CONFIDENCE = 0.5
#: share of the importance that always stays, and the largest relevance
FLOOR, MOST = 0.3, 1.0
#: decay of an edge per day without use, and how much important notes slow it down
EDGE_RATE, EDGE_PROTECTION = 0.01, 0.8
#: milliseconds of a day
DAY_MS = 86_400_000
#: relevance below which a note may be forgotten. The design's .01 is below the floor of every note
#: with an importance above .03; this is the floor of a note of importance .33
FORGOTTEN_BELOW = 0.1
#: importance that protects a note; days that every note stays; days that a use protects it
IMPORTANT, YOUNG_DAYS, USED_DAYS = 0.7, 90, 30
#: types that are never forgotten
PERMANENT_TYPES = frozenset(("decision", "discovery", "preference", "goal"))
#: days that a superseded note stays, if such notes are deleted at all
SUPERSEDED_DAYS = 30


def relevance(
    importance: float, age_days: float, idle_days: float, relations: int, confidence: float
) -> float:
    """A relevance between FLOOR × importance and MOST. `confidence`: the mean weight of the
    relations, if there are any.
    """
    faded = math.exp(-RATE * max(0.0, age_days))
    used = 1 - IDLE_SHARE + IDLE_SHARE * math.exp(-IDLE_RATE * max(0.0, idle_days))
    certainty = confidence if relations else CONFIDENCE
    sure = (1 - CERTAIN + CERTAIN * certainty) / (1 - CERTAIN + CERTAIN * CONFIDENCE)
    value = importance * faded * used * (1 + RELATED * math.log1p(relations)) * sure
    return round(min(MOST, max(FLOOR * importance, value)), 4)


def remaining_share(importance: float, days: float) -> float:
    """The share of an edge's weight that is left after `days` without a use of its notes;
    `importance`: of the more important one.
    """
    return round(math.exp(-EDGE_RATE * (1 - EDGE_PROTECTION * importance) * max(0.0, days)), 2)


def days_between(earlier: int, later: int) -> int:
    """Whole days between two moments in milliseconds, so that two runs on a day agree."""
    return max(0, later - earlier) // DAY_MS


@dataclass(frozen=True, slots=True)
class Standing:
    """The properties of a note that decide; moments in milliseconds. `is_connected`: a person or an
    agent connected it with another note; `is_liked`: it was rated as useful.
    """

    type: str
    importance: float
    relevance: float
    created_at: int
    used_at: int
    is_connected: bool = False
    is_liked: bool = False
    valid_until: int = 0


def _is_protected(standing: Standing, now: int) -> bool:
    used = bool(standing.used_at) and days_between(standing.used_at, now) < USED_DAYS
    return standing.importance >= IMPORTANT or used or standing.is_connected or standing.is_liked


def may_be_forgotten(standing: Standing, now: int) -> bool:
    """Whether a note faded and no rule protects it."""
    return (
        standing.relevance < FORGOTTEN_BELOW
        and standing.type not in PERMANENT_TYPES
        and days_between(standing.created_at, now) >= YOUNG_DAYS
        and not _is_protected(standing, now)
    )


def is_expired(standing: Standing, now: int, days: int) -> bool:
    """Whether a note is older than `days` (0 for never) and no rule protects it."""
    return days > 0 and now - standing.created_at > days * DAY_MS and not _is_protected(standing, now)


def is_past(standing: Standing, now: int) -> bool:
    """Whether a note was superseded long ago."""
    return bool(standing.valid_until) and now - standing.valid_until > SUPERSEDED_DAYS * DAY_MS
