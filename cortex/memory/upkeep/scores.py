"""Formulas of relevance: a note's relevance follows from its importance, age, use and relations.
Importance is given and never decays. Pure.

The factors are those of the decay cycle in the design (rate .01 a day, floor .3 × importance, cap
1), each divided by its value for a note that is new, unused and unrelated: the relevance of such a
note is its importance, before and after upkeep.
"""

from __future__ import annotations

import math

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
