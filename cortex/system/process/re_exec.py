"""Restart of an idle process that has grown: its own program again, in its place.

Memory that bulk work frees lies between live objects, so no allocator gives it back: after a first
index that is most of the memory of such a process. All state is on the disk, so the same program
starts again by `exec`, with the same process number, lifeline, log and environment, as if it had
been killed and restarted, but in good order. A process that a fork server made ends instead, with
an exit code that asks to be forked again: after `exec` it would share no memory.
"""

import logging
import os
import sys
from pathlib import Path

from cortex.system.errors import ANEW, EXIT_FAILED

log = logging.getLogger(__name__)

#: growth in bytes from which on a process restarts: a restart takes some 0.4 s of processor time.
#: While work remains, only the larger growth is worth it
GROWN_BYTES, LARGE_BYTES = 8 << 20, 128 << 20
#: status of this process, and its line of resident private memory
_STATUS, _OWN_MEMORY = Path("/proc/self/status"), "RssAnon:"
#: whether the parent starts this process again when it ends with ANEW
_ends = False


def own_bytes() -> int:
    """Return the resident private bytes of this process; 0 if the system does not tell."""
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(_OWN_MEMORY)), 0)


class Growth:
    """How much this process has grown since it began, or since it was last idle without having
    worked: memory that idle state needs is no growth.
    """

    def __init__(self) -> None:
        self._usual = own_bytes()
        self._has_worked = False

    def work(self) -> None:
        """Note that work was done, which may have left memory behind."""
        self._has_worked = True

    def is_too_much(self) -> bool:
        """Whether to restart. Call it when idle, after all caches were released."""
        if not self._has_worked:
            self._usual = own_bytes()
            return False
        return own_bytes() - self._usual >= GROWN_BYTES

    def is_large(self) -> bool:
        """Whether to restart before all work is done: other processes need the memory meanwhile."""
        return self._has_worked and own_bytes() - self._usual >= LARGE_BYTES


def end_instead() -> None:
    """From now on, end this process with ANEW in place of a restart by `exec`."""
    global _ends  # noqa: PLW0603 - belongs to this process, as its descriptors do
    _ends = True


def begin(reason: str = "bulk work has left memory that cannot be given back otherwise") -> int:
    """Start this program again, with all locks and sockets released. Returns an exit code only if
    that is impossible, or if another process has to start it.
    """
    log.info("begins anew: %s", reason)
    sys.stdout.flush()
    sys.stderr.flush()
    if _ends:
        return ANEW
    try:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - the program that runs already
    except OSError as error:  # a Python that was removed meanwhile
        log.warning("cannot begin anew: %s", error)
        return EXIT_FAILED
