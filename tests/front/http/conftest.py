"""An HTTP server in a thread, over real connections, on workers of this process."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import orjson
import psutil
import pytest

from cortex.front.http.serving import ServerAddress, run
from cortex.front.http.tcp_port import listen
from cortex.front.tools import choose
from cortex.settings.table import Server as Settings
from tests.front.test_mcp import Twin
from tests.wait_until import BOUND_S, until

TOKEN = "a-token-of-these-tests"
#: a server's default tools
OFFERED = choose(Settings().toolsets)


class CountingLink(Twin):
    """A link that counts calls, and fails or blocks on request."""

    def __init__(self, served):
        super().__init__(served)
        self.opened = self.closed = self.cancelled = 0
        self.calls = []
        self.fault = None

    def open(self):
        self.opened += 1

    async def close(self):
        self.closed += 1

    async def reach(self, until):
        if self.fault is not None:
            raise self.fault
        return replace(self.served.context(), until=until)

    async def call(self, tool, arguments, caller=None, others=None):
        self.calls.append((tool.name, caller))
        if others is not None:
            context = self.served.context()
            context = replace(context, others=lambda names: others(names, context.until))
            return await tool.call(context, tool.check(arguments))
        if self.fault is not None:
            raise self.fault
        try:
            return await super().call(tool, arguments)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


@dataclass
class Server:
    port: int
    link: CountingLink
    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event
    token: str = TOKEN
    faults: list = field(default_factory=list)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def end(self):
        self.loop.call_soon_threadsafe(self.stop.set)

    def ask(self, method, path, body=None, **headers):
        """Send a request; return (status, headers, answer). Headers by name with _ for -; None
        leaves out a default one.
        """
        raw = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
        usual = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Content_Length": str(len(raw)) if raw else None,
            "Content_Type": "application/json" if raw else None,
        }
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=BOUND_S)) as line:
            line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in (usual | headers).items():
                if value is not None:
                    line.putheader(name.replace("_", "-"), value)
            line.endheaders(raw)
            reply = line.getresponse()
            answer = reply.read()
            kind = reply.headers.get("Content-Type", "")
            return reply.status, reply.headers, orjson.loads(answer) if answer and "json" in kind else answer

    def resource_counts(self):
        """Return (tasks of the server's loop, descriptors of this process)."""
        counted = []
        self.loop.call_soon_threadsafe(lambda: counted.append(len(asyncio.all_tasks(self.loop))))
        until(lambda: counted, "the loop answers")
        return counted[0], psutil.Process().num_fds()

    def wait_released(self, before):
        """Wait until there are no more tasks and descriptors than `before`."""
        until(
            lambda: all(now <= then for now, then in zip(self.resource_counts(), before, strict=True)), before
        )

    def status(self, method, path, body=None, **headers):
        return self.ask(method, path, body, **headers)[0]


@contextlib.contextmanager
def serving(served, place=None, configs=None, make=None, sockets=None) -> Iterator[Server]:
    """A server on a free port, or on `sockets`; at the end it must end by itself."""
    place = place or ServerAddress(port=0)
    link = CountingLink(served)
    sockets = sockets or [listen(place.host, place.port or 0)]
    ready = threading.Event()
    running = {}

    async def go():
        running["loop"], running["stop"] = asyncio.get_running_loop(), asyncio.Event()
        ready.set()
        await run(
            configs or [served.config],
            place,
            TOKEN,
            sockets,
            make=make or (lambda _config: link),
            stop=running["stop"],
        )

    thread = threading.Thread(target=lambda: asyncio.run(go()))
    thread.start()
    assert ready.wait(BOUND_S)
    server = Server(sockets[0].getsockname()[1], link, running["loop"], running["stop"])
    try:
        yield server
    finally:
        with contextlib.suppress(RuntimeError):  # it has ended already
            server.end()
        thread.join(BOUND_S)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def server(sample):
    with serving(sample) as running:
        yield running


@pytest.fixture
def own_server(sample):
    """A server for one test."""
    with serving(sample) as running:
        yield running


@pytest.fixture(scope="session")
def driver():
    """One browser for all tests; they are skipped without its two packages."""
    from tests.front.http.browsing import driving

    with driving() as browser:
        yield browser


@pytest.fixture(scope="session")
def town(tmp_path_factory, empty):
    """One project and one server for all tests of the page."""
    from tests.front.http.browsing import built

    with built(tmp_path_factory.mktemp("page"), empty) as built_town:
        yield built_town


@pytest.fixture(scope="session")
def entered(driver, town):
    """The browser after it entered by a link."""
    from tests.front.http.browsing import Page

    status, _, answer = town.server.ask("POST", "/enter", {})
    assert status == 200
    window = Page(driver, town).open(answer["path"])
    window.find("#asked")
    return window


@pytest.fixture
def page(entered):
    """A window of usual size in light colours; checks for console errors at its end."""
    entered.size(1280)
    entered.dark(on=False)
    entered.requests()
    entered.faults()
    yield entered
    assert not entered.js("return window.hurt"), "something of the project ran"
    assert entered.faults() == []
    others = [url for url in entered.requests() if not url.startswith((entered.town.server.url, "data:"))]
    assert others == []
    entered.driver.get("about:blank")
