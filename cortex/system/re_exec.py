"""How a process that rests, and has grown, begins anew: its program once more, in its place.

What bulk work frees lies between what is kept, so no allocator gives it back: after a first index
that is most of what such a process holds. All that counts is on the disk, so the same program
begins again by `exec`: under the same number, with the same life line, log and environment, as one
that was killed and started would, but in order. One that was forked by a fork server ends instead,
and says by its exit code that it is to be forked again: after `exec` it would share nothing.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from cortex.system.errors import ANEW, EXIT_FAILED

log = logging.getLogger(__name__)

#: bytes that a process must have grown by: to begin anew takes some 0.4 s of processor time. Where
#: there is more work to come it is worth it for more
GROWN_BYTES, LARGE_BYTES = 8 << 20, 128 << 20
#: what the system says of this process, and the line of what is its own and lies in memory
_STATUS, _OWN_MEMORY = Path("/proc/self/status"), "RssAnon:"
#: whether who started this process starts it again when it ends with ANEW
_ends = False


def own_bytes() -> int:
    """Bytes in memory that are this process's own; 0 where the system does not say."""
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(_OWN_MEMORY)), 0)


class Growth:
    """How much this process has grown since it began, or since it last rested without having
    worked: what it needs for what there is, is no growth.
    """

    def __init__(self) -> None:
        self._usual = own_bytes()
        self._has_worked = False

    def work(self) -> None:
        """Something was done that may have left memory behind."""
        self._has_worked = True

    def is_too_much(self) -> bool:
        """Whether to begin anew. Asked at rest, once all has been given back that can be."""
        if not self._has_worked:
            self._usual = own_bytes()
            return False
        return own_bytes() - self._usual >= GROWN_BYTES

    def is_large(self) -> bool:
        """Whether to begin anew before all is done: others need the memory meanwhile."""
        return self._has_worked and own_bytes() - self._usual >= LARGE_BYTES


def end_instead() -> None:
    """From here on this process ends, with ANEW, where it would begin again in its place."""
    global _ends  # noqa: PLW0603 - of this process, as its descriptors are
    _ends = True


def begin(reason: str = "bulk work has left memory that cannot be given back otherwise") -> int:
    """Begin this program again, with all locks and sockets let go of. Returns only when that cannot
    be, or when another process is to begin it, with an exit code.
    """
    log.info("begins anew: %s", reason)
    sys.stdout.flush()
    sys.stderr.flush()
    if _ends:
        return ANEW
    try:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - what runs already
    except OSError as error:  # a Python that was removed meanwhile
        log.warning("cannot begin anew: %s", error)
        return EXIT_FAILED
