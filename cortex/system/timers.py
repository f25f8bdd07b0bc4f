"""How exactly threads are woken by the clock, and how often what nobody tells of is looked at."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

from cortex.system.hosts import c_library

#: seconds by which threads that nobody needs in time may be woken late: none outlives what it
#: looks after by more
LATE_S = 10
#: prctl's number for a thread's slack, in nanoseconds (linux/prctl.h); 0 is what it was born with
_SET_TIMER_SLACK = 29


def paced(usual_s: float, took_s: float, share: float, most_s: float) -> float:
    """Seconds between two looks by the clock: `usual_s`, and longer, at most `most_s`, where a look
    takes more than `share` of them. A look at a large project takes as long as it is large.
    """
    return max(usual_s, min(took_s / share, most_s))


@contextlib.contextmanager
def late_threads() -> Iterator[None]:
    """For a library that starts a thread which looks at something again and again, and cannot be
    told not to: what is started meanwhile by this thread sleeps up to LATE_S longer than it asks.

    Threads inherit the slack of who starts them. Nothing changes where the system has no slack.
    """
    _set_slack(LATE_S * 1_000_000_000)
    try:
        yield
    finally:
        _set_slack(0)


def _set_slack(nanoseconds: int) -> None:
    with contextlib.suppress(OSError, AttributeError):  # not Linux
        c_library().prctl(_SET_TIMER_SLACK, ctypes.c_ulong(nanoseconds), 0, 0, 0)
