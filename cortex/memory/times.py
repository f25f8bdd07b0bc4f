"""Moments: UTC milliseconds inside; epoch milliseconds or ISO 8601 in arguments; ISO 8601 in
answers. Pure except for the clock.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

from cortex.system.errors import BadRequest

#: moments with a four-digit year, in milliseconds
EARLIEST, LATEST = -62_135_596_800_000, 253_402_300_799_999

_NUMBER = re.compile(r"-?\d{1,18}")
#: a fraction of a second in ISO 8601
_FRACTION = re.compile(r"[.,]\d")
_SECOND_MS = 1_000


def just_now() -> int:
    return time.time_ns() // 1_000_000


def read_moment(value: float | str, what: str) -> int:
    """Parse epoch milliseconds (a number, or its digits) or ISO 8601 to UTC milliseconds; a text
    without a zone is UTC, without a time midnight. Raises BadRequest, naming `what`.
    """
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BadRequest(_no_moment(value, what))
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError as error:
            raise BadRequest(_no_moment(value, what)) from error
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return round(moment.timestamp() * 1000)
    if not EARLIEST <= value <= LATEST:  # refuses nan, too
        raise BadRequest(_no_moment(value, what))
    return round(value)


def read_end(value: float | str, what: str) -> int:
    """`read_moment` for the end of a period: a text without a fraction of a second means the end of
    that second, because answers show whole seconds. Raises BadRequest.
    """
    moment = read_moment(value, what)
    lacks_fraction = (
        isinstance(value, str) and not _NUMBER.fullmatch(value.strip()) and not _FRACTION.search(value)
    )
    return min(LATEST, moment + _SECOND_MS - 1) if lacks_fraction else moment


def _no_moment(value: object, what: str) -> str:
    return f"{what} is {str(value)[:80]!r}; pass epoch milliseconds or ISO 8601, like 2026-01-31T09:30:00Z."


def format_age(moment: int, now: int) -> str:
    """The time from a moment to `now`, in the largest whole unit: "3 days"."""
    for unit, name in ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute")):
        if (count := (now - moment) // unit) > 0:
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "just now"


def format_moment(moment: int) -> str:
    """ISO 8601 in UTC, whole seconds."""
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
