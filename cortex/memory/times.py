"""Moments: UTC milliseconds inside; a day, a month or a year, ISO 8601 or a Unix time in arguments;
ISO 8601 in answers. Pure except for the clock and the local zone.
"""

import re
import time
from datetime import UTC, date, datetime, timedelta
from typing import Any

from cortex.system.errors import BadRequest

#: moments with a four-digit year, in milliseconds
EARLIEST, LATEST = -62_135_596_800_000, 253_402_300_799_999

#: numbers of this size are seconds since 1970: as milliseconds they would be before March 1973
SECONDS_MIN, SECONDS_MAX = 1_000_000_000, 100_000_000_000

_NUMBER = re.compile(r"-?\d{1,18}")
#: a year, month, week or day in ISO 8601
_PERIOD = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?|\d{4}|-?W\d\d(?:-?\d)?)?")
#: digits that are neither a year, a day nor a Unix time: 202611
_UNCLEAR = re.compile(r"(?=0*[1-9])\d{1,9}")
#: a fraction of a second in ISO 8601
_FRACTION = re.compile(r"[.,]\d")
_SECOND_MS = 1_000


def just_now() -> int:
    return time.time_ns() // 1_000_000


def read_moment(value: float | str, what: str) -> int:
    """Parse a year, month, week or day (the beginning of it, local time), ISO 8601 (UTC without a
    zone), or seconds or milliseconds since 1970, to UTC milliseconds. Raises BadRequest, naming
    `what`.
    """
    if (period := _period(value, what)) is not None:
        return period[0]
    if isinstance(value, str) and _UNCLEAR.fullmatch(value.strip()):
        raise BadRequest(_no_moment(value, what))
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
    if SECONDS_MIN <= value < SECONDS_MAX:
        value *= _SECOND_MS
    if not EARLIEST <= value <= LATEST:  # refuses nan, too
        raise BadRequest(_no_moment(value, what))
    return round(value)


def read_end(value: float | str, what: str) -> int:
    """`read_moment` for the end of a period: a year, month, week or day means its end, and a text
    without a fraction of a second the end of that second, because answers show whole seconds.
    Raises BadRequest.
    """
    if (period := _period(value, what)) is not None:
        return min(LATEST, period[1] - 1)
    moment = read_moment(value, what)
    lacks_fraction = (
        isinstance(value, str) and not _NUMBER.fullmatch(value.strip()) and not _FRACTION.search(value)
    )
    return min(LATEST, moment + _SECOND_MS - 1) if lacks_fraction else moment


def is_period(value: Any) -> bool:
    """Whether a value names a year, month, week or day."""
    return isinstance(value, str) and bool(_PERIOD.fullmatch(value.strip()))


def local_zone() -> str:
    """The local zone now, as "UTC+01:00"."""
    return f"UTC{datetime.now().astimezone().isoformat()[-6:]}"


def _period(value: float | str, what: str) -> tuple[int, int] | None:
    """The beginning of a year, month, week or day, and of the next one, in local time; None for
    other values. Raises BadRequest for a day that does not exist.
    """
    if not isinstance(value, str) or not _PERIOD.fullmatch(text := value.strip()):
        return None
    try:
        if len(text) == 4:
            first, following = date(int(text), 1, 1), date(int(text) + 1, 1, 1)
        elif len(text) == 7 and "W" not in text:
            first = date.fromisoformat(f"{text}-01")
            following = (first + timedelta(days=31)).replace(day=1)
        else:
            first = date.fromisoformat(text)
            is_week = "W" in text and len(text.replace("-", "")) == 7
            following = first + timedelta(days=7 if is_week else 1)
        return _local_midnight(first), _local_midnight(following)
    except (ValueError, OverflowError, OSError) as error:
        raise BadRequest(_no_moment(value, what)) from error


def _local_midnight(day: date) -> int:
    moment = datetime(day.year, day.month, day.day).astimezone()
    return max(EARLIEST, min(LATEST, round(moment.timestamp() * 1000)))


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


def format_optional(moment: int) -> str:
    """As `format_moment`; "" for no moment."""
    return format_moment(moment) if moment else ""
