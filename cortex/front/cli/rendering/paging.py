"""Long answers on a terminal, shown by the person's pager. Programs get the answer as it is.

As with git: CORTEX_PAGER, else PAGER, else less; an empty value and `cat` mean none. `less` is set
to exit at once for short texts, and to show colours.
"""

import contextlib
import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping

#: the variable of our pager; `--no-pager` empties it
VARIABLE = "CORTEX_PAGER"
#: pager settings where the person has none: less exits for a text that fits, and keeps colours and
#: the screen's content; lv shows colours
_PAGER_DEFAULTS = {"LESS": "FRX", "LV": "-c"}
#: exit codes of a shell for a missing program, and for one that it may not run
_NO_SUCH = (126, 127)


class _TerminalBuffer(io.StringIO):
    """Output for a terminal, until its length is known."""

    def isatty(self) -> bool:
        return True


@contextlib.contextmanager
def paged(environ: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Send text that is longer than the terminal to the pager; print it as it is after an error."""
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
    """Return the pager's command with its arguments, "" for none."""
    if environ.get("TERM", "dumb") == "dumb":
        return ""
    command = next((environ[name] for name in (VARIABLE, "PAGER") if name in environ), None)
    if command is None:
        return "less" if shutil.which("less") else ""
    return "" if command.strip() == "cat" else command.strip()


def _is_long(text: str) -> bool:
    """Whether the text does not fit the terminal; a line wider than the terminal takes several."""
    screen = shutil.get_terminal_size()
    return sum(1 + len(line) // screen.columns for line in text.splitlines()) >= screen.lines


def _show(text: str, command: str, environ: Mapping[str, str]) -> bool:
    """Whether the pager has shown the text. The pager handles Ctrl-C while it runs."""
    environment = {**_PAGER_DEFAULTS, **environ}
    try:
        process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, env=environment)
    except (OSError, ValueError, IndexError):  # no such program, or an open quote
        return False
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process.communicate(text.encode(sys.stdout.encoding or "utf-8", "replace"))
    finally:
        signal.signal(signal.SIGINT, before)
    return process.returncode not in _NO_SUCH
