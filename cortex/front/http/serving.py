"""The server of `cortex serve`: its sockets and its life. Access is checked in `gate`."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from cortex.front.http.access.gate import Gate
from cortex.front.http.access.origin_check import ANY, OriginCheck
from cortex.front.http.access.tokens import Tokens, own_token
from cortex.front.http.access.visits import Visits
from cortex.front.http.connections import make_settings
from cortex.front.http.local_socket import HOSTS, listening
from cortex.front.http.metrics import Indexes, Metrics
from cortex.front.http.page.pages import Pages, failure_page, refusal_page
from cortex.front.http.projects import Projects
from cortex.front.http.replies import answers_of
from cortex.front.http.routes.calls import Routes
from cortex.front.http.routes.events import Events
from cortex.front.http.routes.mcp import McpRoutes
from cortex.front.http.routes.openapi import OpenApiRoutes
from cortex.front.http.server_records import record_url
from cortex.front.http.tcp_port import BACKLOG, HOST, PORT, bind, listen, say_holder
from cortex.settings.config import Config
from cortex.settings.folders.home import SSE_PORT, is_loopback
from cortex.system import hosts
from cortex.system.errors import EXIT_OK, Misconfigured
from ipc.lifeline import watch_life_line

#: minimum of bytes of a compressed answer: a smaller one fits into a packet or two
COMPRESSED_FROM_BYTES = 2048
#: compression level: the best (9) takes twice the time and saves 2 % of the bytes
COMPRESSION = 4


def make_app(projects: Projects, origin_check: OriginCheck, tokens: Tokens, connections_max: int) -> Gate:
    """Make the ASGI application for `projects`. Make and use it in one event loop."""

    @contextlib.asynccontextmanager
    async def life(_app: Starlette) -> AsyncIterator[None]:
        async with projects.open():
            yield

    visits = Visits()
    route_groups: Any = (
        Routes(projects),
        McpRoutes(projects),
        Events(projects),
        OpenApiRoutes(projects),
        Pages(projects, visits, origin_check.scheme),
    )
    app = Starlette(
        routes=[route for group in route_groups for route in group.all()],
        lifespan=life,
        exception_handlers=answers_of(failure_page),
        middleware=[
            Middleware(GZipMiddleware, minimum_size=COMPRESSED_FROM_BYTES, compresslevel=COMPRESSION)
        ],
    )
    app.router.redirect_slashes = False
    gate = Gate(app, origin_check, tokens, visits, refusal_page, connections_max=connections_max)
    first = next(iter(projects.values()))
    first.metrics.watch(
        Indexes(
            {name: hosted.freshness for name, hosted in projects.items()},
            lambda: {
                "answering": gate.answering,
                "waiting": gate.waiting.total(),
                "streaming": gate.streams.total(),
            },
        )
    )
    return gate


SSE = 37778
#: maximum of connections: more than the gate admits requests and streams of one token; half of
#: the open files where the system permits fewer
CONNECTIONS_MAX = 1024


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Address of a server; ports are None by default. `names`: host names that clients use."""

    host: str = HOST
    port: int | None = None
    sse_port: int | None = None
    cert: str = ""
    key: str = ""
    behind_proxy: bool = False
    names: tuple[str, ...] = ()

    @property
    def scheme(self) -> str:
        """The scheme that clients use: https behind a proxy as well."""
        return "https" if self.cert or self.behind_proxy else "http"

    @property
    def address(self) -> str:
        """The URL for clients, with the given port or the default one."""
        host = self.names[0] if self.names else _url_host("127.0.0.1" if self.host in ANY else self.host)
        return f"{self.scheme}://{host}:{PORT if self.port is None else self.port}"

    def url(self, port: int) -> str:
        """Return the URL of the page on `port`; behind a proxy its name without a port."""
        if self.behind_proxy and self.names:
            return f"{self.scheme}://{self.names[0]}"
        return f"{self.scheme}://{_url_host('127.0.0.1' if self.host in ANY else self.host)}:{port}"


def serve(configs: Sequence[Config], place: ServerAddress) -> int:
    """Serve until a signal arrives; return the exit code. Raises Misconfigured."""
    check(place)
    token = own_token(make=True)
    with contextlib.ExitStack() as stack:
        main = stack.enter_context(contextlib.closing(listen(place.host, place.port)))
        sockets = [main, *_sse_socket(place, stack)]
        url = f"{place.scheme}://{_url_host(place.host)}:{main.getsockname()[1]}"
        print(
            f"cortex: serving {', '.join(str(config.root) for config in configs)} on {url}", file=sys.stderr
        )
        stack.enter_context(record_url(configs, place.url(main.getsockname()[1])))
        if not place.cert and place.host in (*HOSTS, *ANY):
            sockets += stack.enter_context(listening(main.getsockname()[1], BACKLOG))
        watch_life_line(lambda: signal.raise_signal(signal.SIGTERM))
        hosts.run(run(configs, place, token, sockets))
    return EXIT_OK


def check(place: ServerAddress) -> None:
    """Raise Misconfigured for an address where tokens would cross a network unencrypted."""
    if bool(place.cert) != bool(place.key):
        raise Misconfigured("--tls-cert and --tls-key go together: pass both, or neither.")
    if place.cert or place.behind_proxy or is_loopback(f"http://{_url_host(place.host)}"):
        return
    raise Misconfigured(
        f"{place.host or 'every address'} can be reached from other machines: pass --tls-cert and --tls-key, or "
        "--behind-proxy where a proxy ends TLS, or listen on 127.0.0.1."
    )


def _sse_socket(place: ServerAddress, stack: contextlib.ExitStack) -> list[socket.socket]:
    """Return the socket of the older transport's port.

    If the default port is taken, print that and return none: the main port serves it too. Raises
    Misconfigured if a given one is taken.
    """
    port = place.sse_port if place.sse_port is not None else _sse_port()
    listener = bind(place.host, SSE if port is None else port)
    if listener is None and port is not None:
        raise Misconfigured(
            f"Port {port} of {place.host} is taken{say_holder(port)}; set {SSE_PORT} to another."
        )
    if listener is None:
        print(
            f"cortex: port {SSE} is taken{say_holder(SSE)}; /sse is on the main port alone", file=sys.stderr
        )
        return []
    return [stack.enter_context(contextlib.closing(listener))]


def _sse_port() -> int | None:
    """Return the port in the environment, None for none. Raises Misconfigured for no port."""
    value = os.environ.get(SSE_PORT, "")
    if not value:
        return None
    if not (value.isascii() and value.isdecimal() and int(value) < 65536):
        raise Misconfigured(f"{SSE_PORT} is {value!r}; set it to a port.")
    return int(value)


def _url_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


async def run(
    configs: Sequence[Config],
    place: ServerAddress,
    token: str,
    sockets: list[socket.socket],
    *,
    make: Callable[[Config], Any] | None = None,
    stop: asyncio.Event | None = None,
) -> None:
    """Serve on listening `sockets` until a signal arrives or `stop` is set. `make`: makes the link
    to a project's workers, by default Link.
    """
    metrics = Metrics()
    projects = Projects(configs, metrics) if make is None else Projects(configs, metrics, make)
    connections_max = min(CONNECTIONS_MAX, hosts.raise_open_files(2 * CONNECTIONS_MAX) // 2)
    origin_check = OriginCheck(place.host, place.names, place.scheme)
    gate = make_app(projects, origin_check, Tokens(token), connections_max)
    server = _Server(_settings(gate, place, connections_max), gate, stop)
    await server.serve(sockets=sockets)


def _settings(gate: Gate, place: ServerAddress, connections_max: int) -> uvicorn.Config:
    try:
        settings = make_settings(
            gate,
            connections_max,
            lifespan="on",
            # Connections are accepted, so many at once, before they are counted.
            backlog=max(1, connections_max // 8),
            ssl_certfile=place.cert or None,
            ssl_keyfile=place.key or None,
        )
        settings.load()
    except OSError as error:  # an ssl.SSLError is one
        why = error.strerror or error
        raise Misconfigured(
            f"The certificate {place.cert} with {place.key} cannot be used: {why}."
        ) from error
    return settings


class _Server(uvicorn.Server):
    """A server that ends its streams first, and then finishes running requests."""

    def __init__(self, settings: uvicorn.Config, gate: Gate, stop: asyncio.Event | None) -> None:
        super().__init__(settings)
        self._gate, self._stop = gate, stop

    async def main_loop(self) -> None:
        waiting = asyncio.create_task(self._stopped())
        try:
            await super().main_loop()
        finally:
            waiting.cancel()

    async def _stopped(self) -> None:
        if self._stop is not None:
            await self._stop.wait()
            self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            # asyncio has made the queue as short as the number that it accepts at once.
            listener.listen(BACKLOG)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._gate.closing.set()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn's, but a signal ends the server as `stop` does, and is not raised again."""
        if self._stop is not None:  # in a thread, or a test: its caller ends it
            yield
            return
        loop = asyncio.get_running_loop()
        hosts.on_stop(loop, lambda number: self.handle_exit(number, None))
        try:
            yield
        finally:
            hosts.off_stop(loop)
