"""Answers on standard output: pages for people, coloured on a terminal; places as JSON lines for
programs, which need not wait for the import of rich.

The person's pager shows long answers on a terminal, as with git: CORTEX_PAGER, else PAGER, else
less; an empty value and `cat` mean none. `less` is set to exit at once for short texts, and to show
colours.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from cortex.front.text.code import metadata_of
from cortex.front.text.lines import Page
from cortex.system.terminal import print_text

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


def print_page(page: Page) -> None:
    """Print a rendered answer; its notes go to standard error."""
    if sys.stdout.isatty() or os.environ.get("FORCE_COLOR"):
        from rich.text import Text

        from cortex.front.cli.rendering.render import console

        screen = console()
        for line in page.body:
            screen.print(Text.assemble(*line.spans))
    else:
        for line in page.body:
            print_text(line.text())
    for note in page.notes:
        print_text(note, file=sys.stderr)


def print_jsonl(answer: dict[str, Any]) -> None:
    """Print the places of results as JSON lines; notes have no place."""
    for result in (result for result in answer["results"] if "chunk" in result):
        metadata = metadata_of(result)
        start = metadata.get("start_line") or 1
        place = {
            "file": metadata.get("file_path", ""),
            "start": start,
            "end": metadata.get("end_line") or start,
            "score": result.get("combined_score", result.get("score", 0.0)),
        }
        project = {"project": result["project"]} if "project" in result else {}
        print(orjson.dumps(project | place).decode())
