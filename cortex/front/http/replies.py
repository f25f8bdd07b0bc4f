"""HTTP answers: JSON, and errors with a status and one sentence."""

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
#: seconds after which a client may repeat a request that got 503 or 504
RETRY_S = 1
#: class of error → status; the first match counts
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
    """A request that is refused with a status before any call."""

    def __init__(self, status: int, code: str, sentence: str, **headers: str) -> None:
        """`headers`: further ones of the answer, with _ for -."""
        super().__init__(sentence)
        self.status, self.code = status, code
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def json_response(value: Any) -> Response:
    """Return `value` as JSON; chunks in it are raw fragments."""
    return Response(orjson.dumps(value), media_type=JSON)


def error_response(error: CortexError) -> Response:
    """Return the answer for an error: {"error": {"code", "message"}}."""
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
    """Answer a request to an unknown route, or with a wrong method."""
    status = getattr(error, "status_code", 404)
    headers = dict(getattr(error, "headers", None) or {})
    if status == 405:
        sentence = f"{request.url.path} does not take {request.method}; see /docs."
        return error_response(RequestRefused(405, "bad_request", sentence, **headers))
    return error_response(
        RequestRefused(status, "not_found", f"There is no {request.url.path}; /docs lists all routes.")
    )


async def on_disconnect(_request: Request, _error: Exception) -> Response:
    """Return an empty answer: the client has gone."""
    return Response(status_code=499)


async def on_fault(_request: Request, error: Exception) -> Response:
    """Answer an unexpected error with one sentence; the log has its traceback."""
    return error_response(
        CortexError(f"Cortex failed on this request ({type(error).__name__}); please report it.")
    )
