"""The program `cortex`: picks the command, turns errors into one sentence and an exit code. Commands are elsewhere."""

from __future__ import annotations

import sys

from ipc.errors import CortexError, Damaged, NotReady, Unavailable

EXIT_FOUND, EXIT_NOTHING, EXIT_USAGE, EXIT_UNAVAILABLE, EXIT_INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code. Errors that we raise are one sentence on standard error, never a traceback."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        if arguments[:1] in (["mcp"], ["stdio"]):
            # Past Typer: an agent waits for this process, and its import is a tenth of a second.
            from cortex.front.mcp import stdio as mcp

            return mcp.main(arguments[1:])
        from cortex.front.cli.commands import run

        return run(arguments)
    except CortexError as error:
        print(f"cortex: {error}", file=sys.stderr)
        return exit_code(error)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone: nothing is left to say to anybody
        return EXIT_FOUND


def exit_code(error: CortexError) -> int:
    return EXIT_UNAVAILABLE if isinstance(error, Unavailable | NotReady | Damaged) else EXIT_USAGE
