"""What every request passes before a route sees it: Host and Origin, token, kind and size of the
body, how many there are at once. One ASGI layer around the application.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers

from cortex.front.http.origin_check import Door
from cortex.front.http.replies import Refused, sentence_of
from cortex.front.http.tokens import Bearer, Failures, Tokens, Wrong, digest_of
from cortex.front.http.visits import ENTER, Visits, shown_cookie

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: bytes of a body, and seconds until it must be here
BODY_BYTES_MAX, BODY_S = 1 << 20, 10.0
#: requests that are answered at the same time, and that wait for their turn
ANSWERED_MAX, WAITING_MAX = 64, 256
#: streams that are open at the same time: they last, and cost nothing while nothing happens
STREAMS_MAX = 256
#: routes without a token, by their method: what every copy of this program says alike, and the door
OPEN = frozenset((("GET", "/health"), ("HEAD", "/health"), ("GET", ENTER)))
#: where the page's own files are: no project's, and who is shown the way to a token needs them
STATIC = "/static/"
#: routes whose answer has no end, by their method
STREAMS = frozenset((("GET", "/mcp"), ("GET", "/sse"), ("GET", "/v1/events")))
#: the method of MCP whose answer has none
LISTEN = "subscriptions/listen"
#: methods that bring a body, and those that change nothing
WITH_BODY, SAFE = frozenset(("POST", "PUT", "PATCH")), frozenset(("GET", "HEAD"))


class Gate:
    """Use it in one event loop. `closing` ends the streams that are open."""

    def __init__(
        self, app: App, door: Door, tokens: Tokens, visits: Visits, tell: Callable[[Refused], Any]
    ) -> None:
        """`tell`: what a browser that goes to an address is told of a refusal."""
        self._app, self._door, self._tokens, self._visits, self._tell = app, door, tokens, visits, tell
        self._failures = Failures()
        self._turns = asyncio.Semaphore(ANSWERED_MAX)
        self.waiting = self.streams = self.answering = 0
        self.closing = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            await self._pass(scope, receive, send)
        except Refused as refusal:
            # What of the body is unread would be taken for the next request.
            refusal.headers.setdefault("connection", "close")
            told = self._tell if is_visited(scope) else sentence_of
            await told(refusal)(scope, receive, send)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        if sentence := self._door.refusal(headers.getlist("host"), headers.getlist("origin")):
            raise Refused(403, "forbidden", sentence)
        if (method, path) not in OPEN and not (method == "GET" and path.startswith(STATIC)):
            scope["bearer"] = self._who(scope, headers)
        if method in WITH_BODY:
            receive = _replaying(await _read(headers, receive), receive)
        if (method, path) in STREAMS or headers.get("mcp-method") == LISTEN:
            await self._stream(scope, receive, send)
            return
        async with self._turn():
            await self._app(scope, receive, send)

    def _who(self, scope: Scope, headers: Headers) -> Bearer:
        """Whose token was shown, or whose visit it is. Raises Refused."""
        given = headers.get("authorization", "")
        kind, _, shown = given.partition(" ")
        challenge = {"www_authenticate": 'Bearer realm="cortex"'}
        if not given and (cookie := shown_cookie(headers)):
            return self._visitor(cookie, scope["method"], headers)
        scope["digest"] = digest_of(shown.strip())
        if kind.lower() != "bearer" or not shown.strip():
            told = "This needs a token: Authorization: Bearer TOKEN; `cortex token` prints it."
            raise Refused(401, "unauthorized", told, **challenge)
        try:
            return self._tokens.bearer(shown.strip())
        except Wrong as wrong:
            address = (scope.get("client") or ("",))[0]
            if pause := self._failures.note(address, time.monotonic()):
                told = "Too many wrong tokens came from here; `cortex token` prints the right one, which is taken at once."
                raise Refused(429, "too_many", told, retry_after=f"{pause:.0f}") from wrong
            raise Refused(401, "unauthorized", str(wrong), **challenge) from wrong

    def _visitor(self, cookie: str, method: str, headers: Headers) -> Bearer:
        """Whose token the link of this visit was made with. Raises Refused: browsers show a cookie
        to whoever asks them on this machine, on another port, too, but say where they ask from.
        """
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise Refused(403, "forbidden", "This was asked from another page than Cortex's own.")
        if method not in SAFE and not headers.get("origin"):
            raise Refused(403, "forbidden", "A page's request must say its Origin.")
        try:
            return self._tokens.holder(self._visits.digest(cookie, time.monotonic()))
        except Wrong as wrong:
            told = "This visit is over; `cortex open` opens another."
            raise Refused(401, "unauthorized", told, www_authenticate='Bearer realm="cortex"') from wrong

    @contextlib.asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """One of those that are answered now. Raises Refused where too many wait already."""
        if self._turns.locked() and self.waiting >= WAITING_MAX:
            told = (
                f"{ANSWERED_MAX} requests are being answered and {WAITING_MAX} wait; ask again in a second."
            )
            raise Refused(429, "too_many", told, retry_after="1")
        self.waiting += 1
        try:
            await self._turns.acquire()
        finally:
            self.waiting -= 1
        self.answering += 1
        try:
            yield
        finally:
            self.answering -= 1
            self._turns.release()

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve what has no end, until this server has one."""
        if self.streams >= STREAMS_MAX:
            told = f"{STREAMS_MAX} event streams are open; close one of them."
            raise Refused(429, "too_many", told, retry_after="1")
        if self.closing.is_set():
            raise Refused(
                503, "unavailable", "The server is about to end; ask the next one.", retry_after="1"
            )
        self.streams += 1
        tasks: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(self._app(scope, receive, send)),
            asyncio.ensure_future(self.closing.wait()),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if tasks[0].done():
                await tasks[0]
        finally:
            self.streams -= 1
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def is_visited(scope: Scope) -> bool:
    """Whether a browser goes there, to show what it gets."""
    return scope["method"] == "GET" and "text/html" in Headers(scope=scope).get("accept", "")


async def _read(headers: Headers, receive: Receive) -> bytes:
    """The whole body. Raises Refused for what is no JSON, too much, or too slow."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Refused(415, "bad_request", "Content-Type must be application/json.")
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length[:12]) > BODY_BYTES_MAX:
        raise _too_large()
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refused(400, "bad_request", "The body ended early.")
                body += message.get("body", b"")
                if len(body) > BODY_BYTES_MAX:
                    raise _too_large()
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError as error:
        raise Refused(408, "bad_request", f"The body was not here within {BODY_S:g} s.") from error


def _too_large() -> Refused:
    return Refused(413, "too_large", f"The body is larger than {BODY_BYTES_MAX >> 20} MiB; send less.")


def _replaying(body: bytes, receive: Receive) -> Receive:
    """`body` once, then what else comes: that the client has gone."""
    held: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return held.pop() if held else await receive()

    return next_message
