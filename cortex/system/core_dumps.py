"""That what is in a process's memory stays there: no core file, and no look at it by who runs as
the same user.
"""

from __future__ import annotations

import contextlib

from cortex.system.hosts import c_library

#: prctl's number for whether a process may be dumped, and so be traced (linux/prctl.h)
_SET_DUMPABLE = 4


def forbid_dumps() -> None:
    """Of this process; the processes that it starts write no core file either.

    Where the system has no such switch, nothing changes.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, AttributeError):  # not Linux
        c_library().prctl(_SET_DUMPABLE, 0, 0, 0, 0)
