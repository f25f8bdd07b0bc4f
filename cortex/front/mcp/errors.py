"""The errors of JSON-RPC: the code and the sentence of each of ours."""

import logging

from cortex.system.errors import BadQuery, BadRequest, CortexError, NotFound, StillStarting, TooLarge

log = logging.getLogger(__name__)

#: JSON-RPC codes: the request is wrong; the server failed
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603


def explain(error: Exception, what: str) -> tuple[int, str]:
    """Return (JSON-RPC code, sentence) of an error; an unexpected one is logged."""
    if isinstance(error, CortexError):
        return code_of(error), str(error)
    log.error("the request for %s failed", what, exc_info=error)
    return INTERNAL_ERROR, f"Cortex failed on this request ({error!r}); please report it."


def is_for_the_model(error: CortexError) -> bool:
    """Whether the error goes into a tool's answer (SEP-1303), because the model can correct the
    arguments or repeat the call. An invalid query is a JSON-RPC error.
    """
    for_model = BadRequest | NotFound | TooLarge | StillStarting
    return isinstance(error, for_model) and not isinstance(error, BadQuery)


def code_of(error: CortexError) -> int:
    """Return the JSON-RPC code: invalid parameters or internal error."""
    return INVALID_PARAMS if isinstance(error, BadRequest | NotFound | TooLarge) else INTERNAL_ERROR
