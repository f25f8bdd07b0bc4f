"""Precision of timers in threads, and the pace of polling for changes that no event reports."""

import contextlib
import ctypes
from collections.abc import Iterator

from cortex.system.hosts import c_library

#: seconds by which threads without a deadline may be woken late; none outlives its subject by more
LATE_S = 10
#: prctl's number for a thread's timer slack, in nanoseconds (linux/prctl.h); 0 is its default
_SET_TIMER_SLACK = 29


def paced(usual_s: float, took_s: float, share: float, most_s: float) -> float:
    """Return the seconds between two polls: `usual_s`, or longer, at most `most_s`, if a poll takes
    more than `share` of them. A poll of a project takes as long as the project is large.
    """
    return max(usual_s, min(took_s / share, most_s))


@contextlib.contextmanager
def late_threads() -> Iterator[None]:
    """Let threads that are started during the `with` sleep up to LATE_S longer than they ask: for a
    library that polls in a thread and has no setting for it.

    Threads inherit the slack of their parent. Does nothing where the system has no slack.
    """
    _set_slack(LATE_S * 1_000_000_000)
    try:
        yield
    finally:
        _set_slack(0)


def _set_slack(nanoseconds: int) -> None:
    with contextlib.suppress(OSError, AttributeError):  # not Linux
        c_library().prctl(_SET_TIMER_SLACK, ctypes.c_ulong(nanoseconds), 0, 0, 0)
