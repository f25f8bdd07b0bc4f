"""Every error that is raised on purpose, in one tree, each class with its code on the wire; and the
exit codes of all programs, for shells and for the supervisor.
"""

#: done; of a query: it has hits
EXIT_OK = 0
#: a query has no hits
EXIT_NOTHING = 1
#: an unexpected error; a restart may help
EXIT_FAILED = 1
#: wrong usage or configuration; a restart does not help
EXIT_USAGE = 2
#: a process or server that is needed does not answer
EXIT_UNAVAILABLE = 3
#: of a supervisor: the project's cache folder was replaced or removed since it started
EXIT_HOME_GONE = 4
#: another process holds the lock, and may end soon: a later start may succeed
EXIT_OCCUPIED = 5
#: Ctrl-C, as shells report it: 128 and the signal's number
EXIT_INTERRUPTED = 130
#: no exit code, but a request: the program asks to be started again in its own place
ANEW = -1


class CortexError(Exception):
    """Root of the tree. The message is one sentence: the fault, its place and the remedy."""

    code = "internal"


class BadRequest(CortexError):  # noqa: N818 - errors name the condition
    """The caller's arguments cannot be answered; sending them again unchanged is useless."""

    code = "bad_request"


class BadQuery(BadRequest):
    """The query itself is empty, unreadable or too long; clients count it as a wrong call."""

    code = "bad_query"


class Misconfigured(CortexError):  # noqa: N818
    """Configuration, environment or flags are wrong; a person has to change them (EXIT_USAGE)."""

    code = "misconfigured"


class Occupied(Misconfigured):
    """Another process holds the lock; it may release it within seconds (EXIT_OCCUPIED)."""

    code = "occupied"


class NotReady(CortexError):  # noqa: N818
    """Nothing is published yet, or the requested generation is not open in this process."""

    code = "not_ready"


class Unavailable(CortexError):  # noqa: N818
    """A process or server that is needed does not answer (EXIT_UNAVAILABLE)."""

    code = "unavailable"


class StillStarting(Unavailable):
    """A worker that calls start themselves does not answer yet: repeat the call."""

    code = "still_starting"


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


#: wire code → class, so that a client raises the error that the worker raised
BY_CODE: dict[str, type[CortexError]] = {error.code: error for error in _tree(CortexError)}
