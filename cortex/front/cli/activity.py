"""What a command says that shows nothing else while it works."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

#: seconds after which a command that has shown nothing says that it is at work
SLOW_S = 1.0
#: a command that goes on says so again after this many times the seconds until then: at 1, 8, 64 s
REPEAT_FACTOR = 8


@contextlib.contextmanager
def slow_notice(what: str, slow_s: float = SLOW_S) -> Iterator[None]:
    """What takes longer than that says so, in a line on the terminal of standard error, and now and
    then how long it has taken.
    """
    done, screen = threading.Event(), sys.stderr

    def tell() -> None:
        passed, next_s = 0.0, slow_s
        while not done.wait(next_s - passed):
            since = f", {next_s:.0f} s" if passed else ""
            print(f"cortex: {what} is under way{since} …", file=screen, flush=True)
            passed, next_s = next_s, REPEAT_FACTOR * next_s

    if screen.isatty():
        threading.Thread(target=tell, name="under-way", daemon=True).start()
    try:
        yield
    finally:
        done.set()
