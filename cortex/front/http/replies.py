"""What answers over HTTP look like: JSON; an error is one sentence, with its status."""

from __future__ import annotations

from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from cortex.system.errors import (
    BadRequest,
    CortexError,
    Damaged,
    Misconfigured,
    NotFound,
    NotReady,
    TooLarge,
    Unavailable,
)
from ipc.client import Silent

JSON = "application/json"
#: seconds after which who was answered 503 may find it right again
RETRY_S = 1
#: class of error → status; the first that fits counts
STATUS: tuple[tuple[type[CortexError], int], ...] = (
    (Silent, 504),
    (NotFound, 404),
    (TooLarge, 413),
    (BadRequest, 400),
    (Misconfigured, 409),
    (NotReady, 503),
    (Damaged, 503),
    (Unavailable, 503),
)


class RequestRefused(CortexError):  # noqa: N818 - errors name the condition
    """A request that is answered with this status before anything is asked."""

    def __init__(self, status: int, code: str, sentence: str, **headers: str) -> None:
        """`headers`: further ones of the answer, with _ for -."""
        super().__init__(sentence)
        self.status, self.code = status, code
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def json_response(value: Any) -> Response:
    """`value` as JSON; chunks in it are raw fragments."""
    return Response(orjson.dumps(value), media_type=JSON)


def error_response(error: CortexError) -> Response:
    """The answer that tells an error: {"error": {"code", "message"}}."""
    status, headers = 500, {}
    if isinstance(error, RequestRefused):
        status, headers = error.status, error.headers
    elif error.code == "forbidden":
        status = 403
    else:
        status = next((number for kind, number in STATUS if isinstance(error, kind)), 500)
    if status in (503, 504):
        headers = {"retry-after": str(RETRY_S)} | headers
    body = orjson.dumps({"error": {"code": error.code, "message": str(error)}})
    return Response(body, status, headers, JSON)


async def on_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, CortexError)
    return error_response(error)


async def on_http_error(request: Request, error: Exception) -> Response:
    """Of a route that is not there, or not for this method."""
    status = getattr(error, "status_code", 404)
    headers = dict(getattr(error, "headers", None) or {})
    if status == 405:
        sentence = f"{request.url.path} is not asked with {request.method}; see /docs."
        return error_response(RequestRefused(405, "bad_request", sentence, **headers))
    return error_response(
        RequestRefused(status, "not_found", f"There is no {request.url.path}; /docs lists what there is.")
    )


async def on_disconnect(_request: Request, _error: Exception) -> Response:
    """Nobody reads it any more."""
    return Response(status_code=499)


async def on_fault(_request: Request, error: Exception) -> Response:
    """What nobody foresaw: it goes to the log with its trace, and here as one sentence."""
    return error_response(
        CortexError(f"Cortex failed on this request ({type(error).__name__}); please report it.")
    )
