"""`cortex embed-serve`: an embedder over HTTP, with POST /embed and GET /health.

It listens on loopback by default. Any program and any web page on this machine reaches such a
port: POST needs the token, and requests of web pages are refused by their Host and Origin.
"""

import asyncio
import contextlib
import dataclasses
import hmac
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from cortex.embedders import open_embedder
from cortex.embedders.protocol import Embedder
from cortex.embedders.token import offered_token
from cortex.front.http.access.gate import read_body
from cortex.front.http.access.origin_check import OriginCheck
from cortex.front.http.connections import make_settings
from cortex.front.http.replies import JSON, RequestRefused, status_of
from cortex.front.http.tcp_port import BACKLOG, bind, say_holder
from cortex.settings.config import Config
from cortex.system import hosts
from cortex.system.errors import BadRequest, CortexError, TooLarge, Unavailable
from ipc.lifeline import watch_life_line

HOST_DEFAULT = "127.0.0.1"
PORT_DEFAULT = 8121
#: maximum of bytes of one request; 64 texts of 1 500 characters are 100 kB
BODY_BYTES_MAX = 8 << 20
#: maximum of texts in one request
TEXTS_MAX = 2048
#: maximum of concurrent connections: clients are processes of one user
CONNECTIONS_MAX = 64
#: maximum of seconds until a server listens
START_S = 30.0


def serve_embedder(
    config: Config, host: str = HOST_DEFAULT, port: int = PORT_DEFAULT, stop: threading.Event | None = None
) -> int:
    """Serve until `stop` is set (None: until the life line on standard input ends, or
    KeyboardInterrupt); return the exit code.

    Raises Unavailable when the port is taken, Misconfigured and Unavailable as `open_embedder`.
    """
    if stop is None:
        stop = threading.Event()
        watch_life_line(stop.set)
    # The built-in model: a configured server could be this one, which would call itself for ever.
    embedding = dataclasses.replace(config.embedding, provider="static")
    with serving(open_embedder(dataclasses.replace(config, embedding=embedding)), host, port) as bound_port:
        print(f"cortex: embedding on http://{host}:{bound_port}/embed", file=sys.stderr)
        with contextlib.suppress(KeyboardInterrupt):
            stop.wait()
    return 0


@contextlib.contextmanager
def serving(embedder: Embedder, host: str, port: int) -> Iterator[int]:
    """Serve an embedder in a thread while the `with` lasts, and yield the actual port. Clients can
    connect after the token is published.

    Raises Misconfigured for an unusable address, and Unavailable when the port is taken or the
    server does not start.
    """
    bound = bind(host, port, listens=False)
    if bound is None:
        raise Unavailable(f"Port {port} of {host} is taken{say_holder(port)}; choose another port.")
    with bound, offered_token(bound.getsockname()[1]) as token:
        server = _Server(make_app(embedder, OriginCheck(host), token))
        thread = threading.Thread(target=lambda: hosts.run(server.serve(sockets=[bound])), daemon=True)
        thread.start()
        try:
            if not server.listening.wait(START_S):
                raise Unavailable(f"The server on {host}:{port} has not started within {START_S:g} s.")
            yield bound.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


class _Server(uvicorn.Server):
    """A server that tells another thread when it listens."""

    def __init__(self, app: Any) -> None:
        super().__init__(make_settings(app, CONNECTIONS_MAX, lifespan="off", backlog=BACKLOG))
        self.listening = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()


def make_app(embedder: Embedder, origin_check: OriginCheck, token: str) -> Any:
    """Make the ASGI application. Use it in one event loop."""
    identity = {"model": embedder.identity, "dimensions": embedder.dimensions}
    turn = asyncio.Lock()  # embedders are used by one thread at a time

    async def embed(request: Request) -> Response:
        texts, mode = _parse(await read_body(request.headers, request.receive, BODY_BYTES_MAX))
        async with turn:
            vectors = await asyncio.to_thread(embedder.embed, texts, mode)
        return _json({"embeddings": vectors} | identity)

    async def health(_request: Request) -> Response:
        return _json({"status": "ok"} | identity)

    async def refuse(_request: Request, error: Exception) -> Response:
        return _refusal(error)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            _check(scope, origin_check, token)
            await app(scope, receive, send)
        except RequestRefused as refusal:
            await _refusal(refusal)(scope, receive, send)

    app = Starlette(
        routes=[Route("/embed", embed, methods=["POST"]), Route("/health", health, methods=["GET"])],
        exception_handlers={CortexError: refuse, HTTPException: refuse},
    )
    return guarded


def _check(scope: Scope, origin_check: OriginCheck, token: str) -> None:
    """Raise RequestRefused unless Host and Origin are this machine's, and a POST has the token."""
    headers = Request(scope).headers
    if sentence := origin_check.refusal(headers.getlist("host"), headers.getlist("origin")):
        raise RequestRefused(403, "forbidden", sentence)
    if scope["method"] != "POST":
        return
    authorization = headers.get("authorization", "").encode("latin-1", "replace")
    if not hmac.compare_digest(authorization, f"Bearer {token}".encode()):
        sentence = "Authorization: Bearer TOKEN is missing or wrong; the token is CORTEX_EMBED_TOKEN's."
        raise RequestRefused(401, "unauthorized", sentence)
    scope["bearer"] = token  # its connection is not dropped for others


def _parse(raw: bytes) -> tuple[list[str], Any]:
    try:
        request = orjson.loads(raw)
        texts, mode = request["texts"], request.get("mode", "passage")
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadRequest('The body must be {"texts": ["…"], "mode": "query" or "passage"}.') from error
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadRequest("texts must be a list of strings.")
    if mode not in ("query", "passage"):
        raise BadRequest("mode must be query or passage.")
    if len(texts) > TEXTS_MAX:
        raise TooLarge(f"{len(texts)} texts are more than {TEXTS_MAX}; send them in parts.")
    return texts, mode


def _json(value: dict[str, Any]) -> Response:
    return Response(orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY), media_type=JSON)


def _refusal(error: Exception) -> Response:
    """Return the answer for an error: {"error": sentence}."""
    if isinstance(error, CortexError):
        status, sentence = status_of(error), str(error)
    else:
        status, sentence = getattr(error, "status_code", 404), "There is POST /embed and GET /health."
    # An unread body would be parsed as the next request.
    headers = {"connection": "close"} | ({"retry-after": "1"} if status == 503 else {})
    return Response(orjson.dumps({"error": sentence}), status, headers, JSON)
