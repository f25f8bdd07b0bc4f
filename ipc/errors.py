"""Every error that is raised on purpose: one tree, each class with the code that it has on the wire."""

from __future__ import annotations


class CortexError(Exception):
    """Root of the tree. The message is one sentence: what is wrong, where, and what to do."""

    code = "internal"


class BadRequest(CortexError):  # noqa: N818 - errors name the condition
    """The caller's arguments cannot be answered as they are; asking again unchanged is useless."""

    code = "bad_request"


class Misconfigured(CortexError):  # noqa: N818
    """Configuration, environment or flags are wrong; a person has to change them (exit code 2)."""

    code = "misconfigured"


class NotReady(CortexError):  # noqa: N818
    """Nothing is published yet, or the generation that was asked for is not open here."""

    code = "not_ready"


class Unavailable(CortexError):  # noqa: N818
    """Somebody who is needed does not answer (exit code 3)."""

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
