"""Memory of this process: how to give it back to the system, and how not to look for garbage during
bulk work.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
from collections.abc import Iterator


def trim() -> None:
    """Give freed memory back to the system: glibc keeps the hundred megabytes of bulk work for
    itself otherwise.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


@contextlib.contextmanager
def no_collector() -> Iterator[None]:
    """Without the cycle collector, which walks over millions of live objects again and again while
    they are made.

    Only around work that makes no cycles to speak of: they stay until the end.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
