"""Every error that is raised on purpose: one tree, each class with its code on the wire.

And the exit codes of every program, which say the same to a shell and to the supervisor.
"""

from __future__ import annotations

#: done; of a question: something was found
EXIT_OK = 0
#: a question's answer is empty
EXIT_NOTHING = 1
#: what nobody foresaw; a restart may help
EXIT_FAILED = 1
#: wrong usage or configuration: a restart is of no use
EXIT_USAGE = 2
#: somebody who is needed does not answer
EXIT_UNAVAILABLE = 3
#: of a supervisor: the project's cache folder is not the one that it was started with
EXIT_HOME_GONE = 4
#: another process has the place, and may be about to end: a later start may have it
EXIT_OCCUPIED = 5
#: Ctrl-C, as shells count it: 128 and the signal's number
EXIT_INTERRUPTED = 130
#: none, but what a program answers itself that is to begin anew in its own place
ANEW = -1


class CortexError(Exception):
    """Root of the tree. The message is one sentence: what is wrong, where, and what to do."""

    code = "internal"


class BadRequest(CortexError):  # noqa: N818 - errors name the condition
    """The caller's arguments cannot be answered as they are; asking again unchanged is useless."""

    code = "bad_request"


class BadQuery(BadRequest):
    """The query itself is empty, unreadable or too long: what a client counts as a wrong call."""

    code = "bad_query"


class Misconfigured(CortexError):  # noqa: N818
    """Configuration, environment or flags are wrong; a person has to change them (EXIT_USAGE)."""

    code = "misconfigured"


class Occupied(Misconfigured):
    """Another process has the place; its work or its end may be a matter of seconds
    (EXIT_OCCUPIED).
    """

    code = "occupied"


class NotReady(CortexError):  # noqa: N818
    """Nothing is published yet, or the generation that was asked for is not open here."""

    code = "not_ready"


class Unavailable(CortexError):  # noqa: N818
    """Somebody who is needed does not answer (EXIT_UNAVAILABLE)."""

    code = "unavailable"


class NotFound(CortexError):  # noqa: N818
    """The named thing does not exist."""

    code = "not_found"


class Damaged(CortexError):  # noqa: N818
    """A file fails its checksum or its format."""

    code = "damaged"


class TooLarge(CortexError):  # noqa: N818
    """A message or a file is over its limit."""

    code = "too_large"


def _tree(root: type[CortexError]) -> list[type[CortexError]]:
    return [root, *(leaf for child in root.__subclasses__() for leaf in _tree(child))]


#: wire code → class, for the client to raise what the worker raised
BY_CODE: dict[str, type[CortexError]] = {error.code: error for error in _tree(CortexError)}
