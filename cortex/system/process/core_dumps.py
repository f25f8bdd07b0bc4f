"""Protection of a process's memory: no core file, and no tracing by processes of the same user."""

import contextlib

from cortex.system.hosts import c_library

#: prctl's number of the flag that allows core dumps and tracing (linux/prctl.h)
_SET_DUMPABLE = 4


def forbid_dumps() -> None:
    """Forbid dumps and tracing of this process; its child processes write no core file either.

    Does nothing where the system has no such switch.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, AttributeError):  # not Linux
        c_library().prctl(_SET_DUMPABLE, 0, 0, 0, 0)
