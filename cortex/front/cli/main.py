"""The program `cortex`: picks the command, turns errors into one sentence and an exit code.

Commands are elsewhere.
"""

from __future__ import annotations

import sys

from cortex.system.terminal import shown
from ipc.errors import (
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_UNAVAILABLE,
    EXIT_USAGE,
    CortexError,
    Damaged,
    NotReady,
    Unavailable,
)


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code.

    Errors that we raise are one sentence on standard error, never a traceback.
    """
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        from cortex.front.cli.commands import run

        return run(arguments)
    except SystemExit as end:  # wrong usage, or a command's help
        return end.code if isinstance(end.code, int) else EXIT_OK
    except CortexError as error:
        print(shown(f"cortex: {error}"), file=sys.stderr)
        return exit_code(error)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone: nothing is left to say to anybody
        return EXIT_OK


def exit_code(error: CortexError) -> int:
    return EXIT_UNAVAILABLE if isinstance(error, Unavailable | NotReady | Damaged) else EXIT_USAGE
