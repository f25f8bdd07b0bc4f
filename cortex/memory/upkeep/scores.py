"""How much a note still matters: relevance, derived from its importance, its age, its use and its
relations. Importance itself is given and never decays. Pure.

The factors are those of the decay cycle in the design (rate .01 a day, floor .3 × importance, cap
1), each over what it is for a note that is new, unused and unrelated: of such a note relevance is
its importance, whether it was looked after yet or not.
"""

from __future__ import annotations

import math

#: what a day takes away, of the age and of the time without use
RATE, IDLE_RATE = 0.01, 0.05
#: share that use decides about: the rest stays without any
IDLE_SHARE = 0.5
#: what a relation adds, by the logarithm of their number, and what their confidence is worth
RELATED, CERTAIN = 0.3, 0.3
#: the confidence of a note without relations
CONFIDENCE = 0.5
#: share of its importance that always stays, and the most there is
FLOOR, MOST = 0.3, 1.0
#: what a day takes of an edge that nobody confirmed, and how much less of one between important
#: notes
EDGE_RATE, EDGE_PROTECTION = 0.01, 0.8
#: milliseconds of a day
DAY_MS = 86_400_000


def relevance(
    importance: float, age_days: float, idle_days: float, relations: int, confidence: float
) -> float:
    """Between FLOOR × importance and MOST. `confidence`: the mean weight of the relations, which
    counts where there are any.
    """
    faded = math.exp(-RATE * max(0.0, age_days))
    used = 1 - IDLE_SHARE + IDLE_SHARE * math.exp(-IDLE_RATE * max(0.0, idle_days))
    certainty = confidence if relations else CONFIDENCE
    sure = (1 - CERTAIN + CERTAIN * certainty) / (1 - CERTAIN + CERTAIN * CONFIDENCE)
    value = importance * faded * used * (1 + RELATED * math.log1p(relations)) * sure
    return round(min(MOST, max(FLOOR * importance, value)), 4)


def remaining_share(importance: float, days: float) -> float:
    """The share of an edge's weight that is left after so many days in which neither of its notes
    was used; `importance`: of the more important one.
    """
    return round(math.exp(-EDGE_RATE * (1 - EDGE_PROTECTION * importance) * max(0.0, days)), 2)


def days_between(earlier: int, later: int) -> int:
    """Whole days between two moments in milliseconds: asked twice on a day it says the same."""
    return max(0, later - earlier) // DAY_MS
