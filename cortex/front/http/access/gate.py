"""The ASGI layer before all routes: checks Host, Origin, token and body, and limits concurrency."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders

from cortex.front.http.access.origin_check import OriginCheck
from cortex.front.http.access.server_proof import CHALLENGE, PROOF, mark_of, prove, read_challenge
from cortex.front.http.access.tokens import Bearer, Failures, Tokens, WrongToken, digest_of
from cortex.front.http.access.visits import ENTER, Visits, request_cookie
from cortex.front.http.local_socket import port_of
from cortex.front.http.replies import RequestRefused, error_response, is_page_visit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: maximum of bytes of a body, and of seconds to send it
BODY_BYTES_MAX, BODY_S = 1 << 20, 10.0
#: maximum of requests that are answered at the same time, and of those for named tokens: the rest
#: is for the user's own
ANSWERED_MAX, NAMED_ANSWERED_MAX = 64, 48
#: maximum of waiting requests and of open streams of one token. Streams last, and cost nothing
#: without events
WAITING_MAX, STREAMS_MAX = 256, 128
#: the same of one named token, and both of all of them, as parts of all connections: few open files
#: permit few connections
WAITING_PART, STREAMS_PART, NAMED_PART = 4, 8, 2
#: (method, path) without a token: the health of the server, and the entry to the page
HEALTH = "/health"
OPEN = frozenset((("GET", HEALTH), ("HEAD", HEALTH), ("GET", ENTER)))
#: path of the page's own files: open, as the page that refuses a visitor needs them
STATIC = "/static/"
#: (method, path) with an endless answer
STREAMS = frozenset((("GET", "/mcp"), ("GET", "/sse"), ("GET", "/v1/events")))
#: the MCP method with an endless answer
LISTEN = "subscriptions/listen"
#: header of an answer to a request without a valid token
AUTHENTICATE = {"www_authenticate": 'Bearer realm="cortex"'}
#: methods with a body, and methods that change nothing
WITH_BODY, SAFE = frozenset(("POST", "PUT", "PATCH")), frozenset(("GET", "HEAD"))


class Gate:
    """The layer around an application. Use it in one event loop. `closing` ends open streams."""

    def __init__(
        self,
        app: App,
        origin_check: OriginCheck,
        tokens: Tokens,
        visits: Visits,
        refusal_page: Callable[[RequestRefused], Any],
        *,
        connections_max: int,
    ) -> None:
        """`refusal_page`: makes the page for a browser whose request is refused."""
        self._app, self._origin_check, self._tokens, self._visits, self._refusal_page = (
            app,
            origin_check,
            tokens,
            visits,
            refusal_page,
        )
        self._connections_max, self._failures = connections_max, Failures()
        self._turns = asyncio.Semaphore(ANSWERED_MAX)
        self._named_turns = asyncio.Semaphore(NAMED_ANSWERED_MAX)
        self.answering = 0
        #: name of a token, None for requests without one → waiting requests, and open streams
        self.waiting, self.streams = Counter[str | None](), Counter[str | None]()
        self.closing = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_header(send, "x-content-type-options", "nosniff")
        try:
            await self._admit(scope, receive, send)
        except RequestRefused as refusal:
            # An unread body would be parsed as the next request.
            refusal.headers.setdefault("connection", "close")
            respond = self._refusal_page if is_page_visit(scope) else error_response
            await respond(refusal)(scope, receive, send)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        if sentence := self._origin_check.refusal(headers.getlist("host"), headers.getlist("origin")):
            raise RequestRefused(403, "forbidden", sentence)
        if path == HEALTH and (challenge := headers.get(CHALLENGE)):
            send = _with_header(send, PROOF, self._prove(scope, headers, challenge))
        if (method, path) not in OPEN and not (method == "GET" and path.startswith(STATIC)):
            scope["bearer"] = self._identify(scope, headers)
        token = scope["bearer"].name if "bearer" in scope else None
        is_stream = (method, path) in STREAMS or headers.get("mcp-method") == LISTEN
        async with contextlib.AsyncExitStack() as turn:
            with self._count_one(self.waiting, token, WAITING_MAX, WAITING_PART, "requests"):
                if method in WITH_BODY:
                    receive = _replay_body(await read_body(headers, receive), receive)
                if not is_stream:
                    for turns in (self._named_turns, self._turns) if token else (self._turns,):
                        await turn.enter_async_context(turns)
            if is_stream:
                with self._count_one(self.streams, token, STREAMS_MAX, STREAMS_PART, "event streams"):
                    await self._stream(scope, receive, send)
                return
            self.answering += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self.answering -= 1

    def _identify(self, scope: Scope, headers: Headers) -> Bearer:
        """Return the bearer of the token or of the visit's cookie. Raises RequestRefused."""
        authorization = headers.get("authorization", "")
        kind, _, credentials = authorization.partition(" ")
        if not authorization and (cookie := request_cookie(headers)):
            return self._visitor(cookie, scope["method"], headers)
        scope["digest"] = digest_of(credentials.strip())
        if kind.lower() != "bearer" or not credentials.strip():
            sentence = "This needs a token: Authorization: Bearer TOKEN; `cortex token` prints it."
            raise RequestRefused(401, "unauthorized", sentence, **AUTHENTICATE)
        try:
            return self._tokens.bearer(credentials.strip())
        except WrongToken as wrong:
            raise self._refusal_of(wrong, scope) from wrong

    def _prove(self, scope: Scope, headers: Headers, challenge: str) -> str:
        """Return the proof that this server knows the client's token. Raises RequestRefused."""
        nonce, mark = read_challenge(challenge)
        address, port = scope.get("server") or ("", 0)
        try:
            digest = self._tokens.digest_with(mark, lambda digest: mark_of(digest, nonce))
        except WrongToken as wrong:
            raise self._refusal_of(wrong, scope) from wrong
        return prove(digest, nonce, headers["host"], port_of(address) if port is None else port)

    def _refusal_of(self, wrong: WrongToken, scope: Scope) -> RequestRefused:
        """Count a wrong token, and return the refusal of its request."""
        address = (scope.get("client") or ("",))[0]
        if pause := self._failures.note(address, time.monotonic()):
            sentence = "Too many wrong tokens came from here; `cortex token` prints the right one, which is taken at once."
            return RequestRefused(429, "too_many", sentence, retry_after=f"{pause:.0f}")
        return RequestRefused(401, "unauthorized", str(wrong), **AUTHENTICATE)

    def _visitor(self, cookie: str, method: str, headers: Headers) -> Bearer:
        """Return the bearer of the token behind a visit.

        Raises RequestRefused, also for requests of other pages: browsers send the cookie to every
        port of this machine, but report the requesting page in headers.
        """
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise RequestRefused(403, "forbidden", "The request comes from a page other than Cortex's.")
        if method not in SAFE and not headers.get("origin"):
            raise RequestRefused(403, "forbidden", "A page's request must have an Origin header.")
        try:
            return self._tokens.holder(self._visits.digest(cookie, time.monotonic()))
        except WrongToken as wrong:
            sentence = "This visit has ended; `cortex open` begins another."
            raise RequestRefused(401, "unauthorized", sentence, **AUTHENTICATE) from wrong

    @contextlib.contextmanager
    def _count_one(
        self, counts: Counter[str | None], token: str | None, most: int, part: int, kind: str
    ) -> Iterator[None]:
        """Count one more of a token during the block. Raises RequestRefused if it has `most`, or a
        named one its part of the connections, or all named ones theirs.
        """
        bounds = [(counts[token], most, f"{kind} of this token")]
        if token:
            named = sum(
                count for each in (self.waiting, self.streams) for name, count in each.items() if name
            )
            bounds = [
                (counts[token], min(most, self._connections_max // part), f"{kind} of this token"),
                (named, self._connections_max // NAMED_PART, "requests and event streams of named tokens"),
            ]
        for number, bound, what in bounds:
            if number >= bound:
                sentence = f"{bound} {what} are open; ask again when one of them has ended."
                raise RequestRefused(429, "too_many", sentence, retry_after="1")
        counts[token] += 1
        try:
            yield
        finally:
            counts[token] -= 1

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve an endless answer until the client goes or the server closes."""
        if self.closing.is_set():
            raise RequestRefused(
                503, "unavailable", "The server is ending; try again in a second.", retry_after="1"
            )
        tasks: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(self._app(scope, receive, send)),
            asyncio.ensure_future(self.closing.wait()),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if tasks[0].done():
                await tasks[0]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def read_body(headers: Headers, receive: Receive, bytes_max: int = BODY_BYTES_MAX) -> bytes:
    """Return the body. Raises RequestRefused if it is not JSON, too large or too slow."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestRefused(415, "bad_request", "Content-Type must be application/json.")
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length[:12]) > bytes_max:
        raise _too_large(bytes_max)
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise RequestRefused(400, "bad_request", "The body ended early.")
                body += message.get("body", b"")
                if len(body) > bytes_max:
                    raise _too_large(bytes_max)
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError as error:
        raise RequestRefused(408, "bad_request", f"The body did not arrive within {BODY_S:g} s.") from error


def _too_large(bytes_max: int) -> RequestRefused:
    return RequestRefused(413, "too_large", f"The body is larger than {bytes_max >> 20} MiB; send less.")


def _with_header(send: Send, name: str, value: str) -> Send:
    """Return `send` with a header for answers that have no header of that name."""

    async def send_with_header(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(raw=message["headers"]).setdefault(name, value)
        await send(message)

    return send_with_header


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that yields `body` once, then the later messages (the disconnect)."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message
