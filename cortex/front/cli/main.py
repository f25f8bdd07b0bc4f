"""The program `cortex`: runs the command, and turns errors into one sentence and an exit code."""

import os
import sys

from cortex.front.cli import interrupts  # first: it sets its hooks before the other imports
from cortex.system import hosts
from cortex.system.errors import (
    EXIT_INTERRUPTED,
    EXIT_OCCUPIED,
    EXIT_OK,
    EXIT_UNAVAILABLE,
    EXIT_USAGE,
    CortexError,
    Damaged,
    NotReady,
    Occupied,
    Unavailable,
)
from cortex.system.terminal import open_standard_streams, print_text, read_utf8

#: minimum of files that may be open at once: with fewer, workers end or start never
OPEN_FILES_MIN = 48


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return its exit code. Our errors are one sentence on standard error."""
    if arguments is None:
        interrupts.set_hooks()
        open_standard_streams()
        arguments = list(map(read_utf8, sys.argv[1:]))
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has gone
        sys.stderr.close()
        # The interpreter flushes its buffers at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return EXIT_OK
    return code


def _run(arguments: list[str]) -> int:
    try:
        check_open_files()
        from cortex.front.cli.commands import run

        return run(arguments)
    except SystemExit as end:  # wrong usage, or a command's help
        return end.code if isinstance(end.code, int) else EXIT_OK
    except CortexError as error:
        print_text(f"cortex: {error}", file=sys.stderr)
        return exit_code(error)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def check_open_files() -> None:
    """Raise Unavailable where this process may open too few files to run or reach workers."""
    if (limit := hosts.raise_open_files(OPEN_FILES_MIN)) < OPEN_FILES_MIN:
        raise Unavailable(
            f"This process may open {limit} files, and Cortex needs {OPEN_FILES_MIN}; raise the limit (`ulimit -n 256`)."
        )


def exit_code(error: CortexError) -> int:
    if isinstance(error, Occupied):
        return EXIT_OCCUPIED
    return EXIT_UNAVAILABLE if isinstance(error, Unavailable | NotReady | Damaged) else EXIT_USAGE
