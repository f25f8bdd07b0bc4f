"""The notice of a slow command that prints nothing until it is done."""

import contextlib
import sys
import threading
from collections.abc import Iterator

#: seconds after which a silent command prints that it is under way
SLOW_S = 1.0
#: factor between two notices: at 1, 8, 64 s
REPEAT_FACTOR = 8


@contextlib.contextmanager
def slow_notice(what: str, slow_s: float = SLOW_S) -> Iterator[None]:
    """Print to a terminal on standard error that `what` is under way: after `slow_s` seconds, and
    again at growing intervals with the time that has passed.
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
