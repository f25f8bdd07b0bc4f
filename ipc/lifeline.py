"""The life line: standard input, held by a parent, whose end says that the parent is gone."""

from __future__ import annotations

import os
import select
import stat
import sys
import threading
import time
from collections.abc import Callable

from cortex.system import hosts

#: seconds that a process has to end by itself after its life line did
GRACE_S = 5.0


def watch_life_line(on_end: Callable[[], None], grace_s: float = GRACE_S) -> None:
    """Call `on_end` when standard input, the life line that a parent holds, ends; then make sure
    that we end.

    Only a pipe or a socket is a life line: a terminal or /dev/null is not.
    """
    try:
        if not sys.stdin or os.isatty(0) or not _is_pipe(0):
            return
    except (OSError, ValueError):
        return

    def wait() -> None:
        while True:
            if not hosts.WINDOWS:  # there it knows of sockets alone, and a read waits anyway
                select.select([0], [], [])
            try:
                if not os.read(0, 4096):
                    break
            except OSError:
                break
        on_end()
        time.sleep(grace_s)  # no look: what was told to end has so long for it
        os._exit(1)  # something hangs; nobody is left who could end us

    threading.Thread(target=wait, name="life-line", daemon=True).start()


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
