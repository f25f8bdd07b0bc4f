"""HTTP answers: JSON, and errors with a status and one sentence."""

from collections.abc import Callable
from typing import Any

import orjson
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Scope

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
    """Return `value` as JSON that no cache keeps; chunks in it are raw fragments."""
    return Response(orjson.dumps(value), media_type=JSON, headers={"cache-control": "no-store"})


def status_of(error: CortexError) -> int:
    if isinstance(error, RequestRefused):
        return error.status
    if error.code == "forbidden":
        return 403
    return next((number for kind, number in STATUS if isinstance(error, kind)), 500)


def error_response(error: CortexError) -> Response:
    """Return the answer for an error: {"error": {"code", "message"}}."""
    status, headers = status_of(error), {}
    if isinstance(error, RequestRefused):
        headers = error.headers
    if status in (503, 504):
        headers = {"retry-after": str(RETRY_S)} | headers
    body = orjson.dumps({"error": {"code": error.code, "message": str(error)}})
    return Response(body, status, headers, JSON)


def answers_of(failure_page: Callable[[CortexError], Response]) -> dict[Any, Any]:
    """Return kind of error → handler: a page for a browser, JSON for programs."""

    def answer(request: Request, error: CortexError) -> Response:
        return failure_page(error) if is_page_visit(request.scope) else error_response(error)

    async def on_error(request: Request, error: CortexError) -> Response:
        return answer(request, error)

    async def on_http_error(request: Request, error: Exception) -> Response:
        """Answer a request to an unknown route, or with a wrong method."""
        status = getattr(error, "status_code", 404)
        headers = dict(getattr(error, "headers", None) or {})
        if status == 405:
            sentence = f"{request.url.path} does not take {request.method}; see /docs."
            return answer(request, RequestRefused(405, "bad_request", sentence, **headers))
        sentence = f"There is no {request.url.path}; /docs lists all routes."
        return answer(request, RequestRefused(status, "not_found", sentence))

    async def on_disconnect(_request: Request, _error: Exception) -> Response:
        """Return an empty answer: the client has gone."""
        return Response(status_code=499)

    async def on_fault(request: Request, error: Exception) -> Response:
        """Answer an unexpected error with one sentence; the log has its traceback."""
        sentence = f"Cortex failed on this request ({type(error).__name__}); please report it."
        return answer(request, CortexError(sentence))

    return {
        CortexError: on_error,
        HTTPException: on_http_error,
        ClientDisconnect: on_disconnect,
        Exception: on_fault,
    }


def is_page_visit(scope: Scope) -> bool:
    """Whether a browser requests a page to show."""
    return scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", "")
