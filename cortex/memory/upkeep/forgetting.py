"""Which notes may be forgotten, or deleted by their age. Pure; off unless somebody switched it on,
and nothing is removed: a forgotten note is archived, one that is too old marked as deleted.
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex.memory.upkeep.scores import DAY_MS, days_between

#: relevance below which a note may be forgotten. The design's .01 lies below the floor of every
#: note that is worth more than .03; this is the floor of one of importance .33
FORGOTTEN_BELOW = 0.1
#: importance that protects, days that every note stays, and days since it was last used
IMPORTANT, YOUNG_DAYS, USED_DAYS = 0.7, 90, 30
#: types that are never forgotten
PERMANENT_TYPES = frozenset(("decision", "discovery", "preference", "goal"))
#: days that a note stays which another one superseded, where such notes are cleaned up at all
SUPERSEDED_DAYS = 30


@dataclass(frozen=True, slots=True)
class Standing:
    """What is asked of a note; moments in milliseconds. `held`: a person or an agent connected
    something with it; `liked`: somebody said that it is of use.
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
    """Whether it faded, and nothing speaks for it."""
    return (
        standing.relevance < FORGOTTEN_BELOW
        and standing.type not in PERMANENT_TYPES
        and days_between(standing.created_at, now) >= YOUNG_DAYS
        and not _is_protected(standing, now)
    )


def is_expired(standing: Standing, now: int, days: int) -> bool:
    """Whether it is older than so many days, 0 for never, and nothing speaks for it."""
    return days > 0 and now - standing.created_at > days * DAY_MS and not _is_protected(standing, now)


def is_past(standing: Standing, now: int) -> bool:
    """Whether a note that was superseded has been so for long."""
    return bool(standing.valid_until) and now - standing.valid_until > SUPERSEDED_DAYS * DAY_MS
