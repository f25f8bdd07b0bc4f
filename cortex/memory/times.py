"""Moments: UTC milliseconds inside, epoch milliseconds or ISO 8601 on the way in, ISO beside them
on the way out. Pure but for the clock.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

from cortex.system.errors import BadRequest

#: the moments that can be told in four digits of a year, in milliseconds
EARLIEST, LATEST = -62_135_596_800_000, 253_402_300_799_999

_NUMBER = re.compile(r"-?\d{1,18}")
#: a part of a second in ISO 8601
_FRACTION = re.compile(r"[.,]\d")
_SECOND_MS = 1_000


def just_now() -> int:
    return time.time_ns() // 1_000_000


def read_moment(value: float | str, what: str) -> int:
    """UTC milliseconds of epoch milliseconds (a number, or its digits) or of an ISO 8601 text; one
    without a zone is UTC, one without a time is midnight.

    Raises BadRequest, naming `what`.
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
    if not EARLIEST <= value <= LATEST:  # nan is not, either
        raise BadRequest(_no_moment(value, what))
    return round(value)


def read_end(value: float | str, what: str) -> int:
    """As `read_moment`, of a moment up to which something counts: a text that names no part of a
    second means through the end of its second, as moments are told. Raises BadRequest.
    """
    moment = read_moment(value, what)
    lacks_fraction = (
        isinstance(value, str) and not _NUMBER.fullmatch(value.strip()) and not _FRACTION.search(value)
    )
    return min(LATEST, moment + _SECOND_MS - 1) if lacks_fraction else moment


def _no_moment(value: object, what: str) -> str:
    return f"{what} is {str(value)[:80]!r}; pass epoch milliseconds or ISO 8601, as 2026-01-31T09:30:00Z."


def format_moment(moment: int) -> str:
    """ISO 8601 in UTC, whole seconds."""
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
