"""Long answers on a terminal, through the pager that people use. Programs get what they read as it
is.

As with git: CORTEX_PAGER, else PAGER, else less; an empty one and `cat` are none, and `less` is
told to leave at once what fits, and to show colours.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping

#: the pager of answers of ours; set by `--no-pager`
VARIABLE = "CORTEX_PAGER"
#: what a pager is told that was not told by its user: less to leave what fits on the screen and to
#: keep colours and the screen's content, lv to show colours
_PAGER_DEFAULTS = {"LESS": "FRX", "LV": "-c"}
#: what a shell ends with when there is no such program, or it may not be run
_NO_SUCH = (126, 127)


class _TerminalBuffer(io.StringIO):
    """What is written for a terminal, until it is known how long it is."""

    def isatty(self) -> bool:
        return True


@contextlib.contextmanager
def paged(environ: Mapping[str, str] = os.environ) -> Iterator[None]:
    """What is printed meanwhile goes through the pager, if it is for a terminal and longer than
    that. What an error has cut off is printed as it is.
    """
    command = _pager(environ) if sys.stdout.isatty() else ""
    if not command:
        yield
        return
    buffer = _TerminalBuffer()
    try:
        with contextlib.redirect_stdout(buffer):
            yield
    except BaseException:
        sys.stdout.write(buffer.getvalue())
        raise
    if not (_is_long(buffer.getvalue()) and _show(buffer.getvalue(), command, environ)):
        sys.stdout.write(buffer.getvalue())


def _pager(environ: Mapping[str, str]) -> str:
    """The command for a shell, "" for none."""
    if environ.get("TERM", "dumb") == "dumb":
        return ""
    command = next((environ[name] for name in (VARIABLE, "PAGER") if name in environ), None)
    if command is None:
        return "less" if shutil.which("less") else ""
    return "" if command.strip() == "cat" else command.strip()


def _is_long(text: str) -> bool:
    """Whether it does not fit the terminal; lines that are wider than it take several."""
    screen = shutil.get_terminal_size()
    return sum(1 + len(line) // screen.columns for line in text.splitlines()) >= screen.lines


def _show(text: str, command: str, environ: Mapping[str, str]) -> bool:
    """Whether the pager has shown it. Ctrl-C is the pager's while it runs."""
    environment = {**_PAGER_DEFAULTS, **environ}
    # The user's own words, which may be several: as git reads them.
    process = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, env=environment)  # noqa: S602
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.communicate(text.encode(sys.stdout.encoding or "utf-8", "replace"))
    finally:
        signal.signal(signal.SIGINT, before)
    return process.returncode not in _NO_SUCH
