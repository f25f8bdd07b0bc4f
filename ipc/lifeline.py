"""The lifeline: standard input as a pipe from the parent; its end means that the parent is gone."""

import os
import select
import stat
import sys
import threading
import time
from collections.abc import Callable

from cortex.system import hosts

#: seconds in which a process has to end by itself after its lifeline ended
GRACE_S = 5.0


def watch_life_line(on_end: Callable[[], None], grace_s: float = GRACE_S) -> None:
    """Call `on_end` when the lifeline ends, and kill this process if it still runs `grace_s` later.

    Only a pipe or a socket is a lifeline: a terminal or /dev/null is not.
    """
    try:
        if (
            not sys.stdin
            or os.isatty(0)
            or not (stat.S_ISFIFO(mode := os.fstat(0).st_mode) or stat.S_ISSOCK(mode))
        ):
            return
    except (OSError, ValueError):
        return

    def wait() -> None:
        while True:
            if not hosts.WINDOWS:  # Windows can select sockets only, and the read blocks anyway
                select.select([0], [], [])
            try:
                if not os.read(0, 4096):
                    break
            except OSError:
                break
        on_end()
        time.sleep(grace_s)  # time to end in good order
        os._exit(1)  # something hangs, and no parent is left to kill us

    threading.Thread(target=wait, name="life-line", daemon=True).start()
