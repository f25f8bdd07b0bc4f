"""Rules for forgetting notes, and for deleting them by age. Pure. Both are off by default and
remove nothing: a forgotten note is archived, an old one marked as deleted.
"""

from __future__ import annotations

from dataclasses import dataclass

from cortex.memory.upkeep.scores import DAY_MS, days_between

#: relevance below which a note may be forgotten. The design's .01 is below the floor of every note
#: with an importance above .03; this is the floor of a note of importance .33
FORGOTTEN_BELOW = 0.1
#: importance that protects a note; days that every note stays; days that a use protects it
IMPORTANT, YOUNG_DAYS, USED_DAYS = 0.7, 90, 30
#: types that are never forgotten
PERMANENT_TYPES = frozenset(("decision", "discovery", "preference", "goal"))
#: days that a superseded note stays, if such notes are deleted at all
SUPERSEDED_DAYS = 30


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
