"""MCP over standard input and output: `cortex mcp`, from its first byte to the process's end."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import logging
import os
import re
import select
import sys
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any

from cortex.front.link import Link
from cortex.front.mcp.fast_path import FastPath
from cortex.front.mcp.lines import InvalidLine, Line, check, read_lines
from cortex.front.mcp.project import Project
from cortex.front.mcp.server import make_server
from cortex.front.mcp.updates import Updates
from cortex.front.open_projects import OpenProjects
from cortex.front.tool import Tool
from cortex.front.tools import choose
from cortex.processes import starting
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.home import find_root
from cortex.settings.projects import resolve_project
from cortex.settings.table import Server as Settings
from cortex.system import hosts
from cortex.system.allocator import no_collector
from cortex.system.errors import EXIT_OK, Misconfigured
from cortex.system.terminal import log_to_stderr

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

log = logging.getLogger(__name__)

#: seconds after which the thread that imports lets the one that answers go on
SWITCH_S = 0.0005
#: seconds in which everything must be closed once the client is gone
CLOSE_S = 3.0
#: seconds that a client which has closed our input may leave an answer unread; between two looks
STUCK_S, LOOK_S = 1.5, 0.25
#: how an answer to the client begins, as the SDK writes it; a request of ours has a method there
_ANSWER = re.compile(r'\{"jsonrpc":"2\.0","id":(?:-?\d+|"(?:[^"\\]|\\.)*+"),"(?:result|error)":')


def serve(project: str | None, toolsets: str | None, data_dir: str | None = None) -> int:
    """`cortex mcp`; the exit code.

    Takes the process over: standard output is MCP's from the first line on.

    `toolsets`: comma-separated, in place of server.toolsets; `data_dir`: of memory.data_dir. Raises
    Misconfigured and Unavailable.
    """
    wire = take_stdout()
    log_to_stderr("cortex: %(message)s", logging.WARNING)
    config, problem = _load(project, toolsets, data_dir)
    tools = choose(config.server.toolsets if config else Settings().toolsets)
    if config is not None:
        starting.check_start(config)
    hosts.run(_run(config, problem, tools, wire))
    return EXIT_OK


def take_stdout() -> int:
    """A private descriptor of standard output; whoever else writes there writes to standard error
    from now on.
    """
    wire = os.dup(1)
    os.dup2(2, 1)
    return wire


def _load(project: str | None, toolsets: str | None, data_dir: str | None) -> tuple[Config | None, str]:
    """(configuration, problem).

    Without a folder that can be a project every tool says what to set: an agent shows that, and
    not why a server ended. Other faults raise.
    """
    try:
        find_root(resolve_project(project))
    except Misconfigured as error:
        return None, str(error)
    flags: dict[str, dict[str, Any]] = {}
    if toolsets:
        flags["server"] = {"toolsets": tuple(filter(None, toolsets.split(",")))}
    if data_dir:
        flags["memory"] = {"data_dir": data_dir}
    return configuration.load(project, flags), ""


async def _run(config: Config | None, problem: str, tools: Mapping[str, Tool], wire: int) -> None:
    """Serve until standard input ends or a signal comes; then end the process."""
    link = OpenProjects(Link(config)) if config is not None else None
    project = Project(link, problem)
    deadline_s = config.server.deadline_s if config is not None else CLOSE_S
    try:
        if link is not None:
            link.open()
        count = link.count_refused if link is not None else _do_nothing
        streams = Wire(wire, deadline_s, count)
        fast_path = FastPath(tools, link, streams)
        fast_path.begin(read_lines(io.FileIO(0, closefd=False)))
        stop = asyncio.Event()
        hosts.on_stop(asyncio.get_running_loop(), lambda _number: stop.set())
        ends = (_converse(tools, project, fast_path, streams), stop.wait(), streams.wait_abandoned(0))
        tasks = [asyncio.create_task(coroutine) for coroutine in ends]
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            if error := task.exception():
                log.error("MCP ended: %s", error)
    finally:
        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout(CLOSE_S):
                await project.close()
        sys.stderr.flush()
        # A thread may be blocked in reading standard input for ever; nothing else is left to be
        # closed.
        os._exit(EXIT_OK)


async def _converse(tools: Mapping[str, Tool], project: Project, fast_path: FastPath, streams: Wire) -> None:
    """Answer until the input ends: by the SDK from the first message on that needs it."""
    # Making the tools takes some of a second, the SDK most of one: the workers start meanwhile.
    await _prepare(lambda: [tools[name] for name in tools])
    fast_path.tools_ready.set()
    if not await fast_path.wants_sdk(streams.deadline_s):
        return
    try:
        await _prepare(import_sdk)
    finally:
        fast_path.end()
    updates = Updates(project) if "cortex_store" in tools else None
    server = make_server(tools, project, updates, project_names=project)
    streams.take(fast_path, updates.close if updates is not None else _do_nothing)
    await _speak(server, streams)


async def _prepare(make: Callable[[], object]) -> None:
    """Call `make` in a thread. What it makes stays to the end, so nothing is collected of it: a
    quarter of the time would go there, and some of each answer's later.
    """
    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    try:
        with no_collector():
            await asyncio.to_thread(make)
    finally:
        sys.setswitchinterval(interval_s)
    gc.freeze()


def import_sdk() -> None:
    import mcp.server.lowlevel
    import mcp.server.stdio  # noqa: F401


async def _speak(server: Server, wire: Wire) -> None:
    from mcp.server.stdio import stdio_server

    streams: Any = wire
    async with stdio_server(streams, streams) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _do_nothing() -> None:
    """Where nobody is to be told."""


class Wire:
    """The two streams of the transport.

    The end of the input is passed on when every request has its answer, so that `printf … | cortex
    mcp` answers before it ends; a request that is never answered delays the end by its deadline.
    What the SDK would drop without a word is answered here.
    """

    def __init__(self, target: int, deadline_s: float, refused: Callable[[], None] = _do_nothing) -> None:
        """`refused` is called for each line that is no message."""
        self._target, self._refused = target, refused
        self.deadline_s = deadline_s
        self._at_end: Callable[[], None] = _do_nothing
        self._waiting = 0
        #: how the SDK's answer begins to what it is asked although it has been answered; "": none
        self._answered_head = ""
        self._answered = asyncio.Event()
        self._writing = asyncio.Lock()
        #: since when a message has been waiting for the client to read (monotonic); 0: none is
        self._since = 0.0
        self._stuck = asyncio.Event()

    def take(self, lines: AsyncIterable[Line], at_end: Callable[[], None] = _do_nothing) -> None:
        """Read from `lines`. `at_end` ends the requests that are answered for as long as the client
        listens.
        """
        self._lines, self._at_end = lines, at_end

    def expect(self, head: str = "") -> None:
        """One more answer will be said; and the SDK's that begins so has been."""
        self._waiting += 1
        self._answered_head = head or self._answered_head

    def forgo(self) -> None:
        """One that was expected will not be said: the client wants it no more."""
        self._count_answer()

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines:
            try:
                self._waiting += check(line)
            except InvalidLine as error:
                self._refused()
                await self._send(error.answer())
            else:
                yield line.text
        self._at_end()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.deadline_s):
                while self._waiting > 0:
                    await self._answered.wait()
                    self._answered.clear()

    async def write(self, line: str) -> None:
        """Send one message of the SDK's whole, so that flush has nothing to do."""
        if self._answered_head and line.startswith(self._answered_head):
            self._answered_head = ""
            self._count_answer()
        else:
            await self.say(line)

    async def say(self, line: str) -> None:
        """Send one message."""
        await self._send(line)
        if _ANSWER.match(line):
            self._count_answer()

    def _count_answer(self) -> None:
        self._waiting -= 1
        self._answered.set()

    async def _send(self, line: str) -> None:
        """What the client does not take at once is written in a thread: it may read slowly."""
        data = line.encode()
        async with self._writing:
            sent = hosts.send_now(self._target, data)
            if sent < len(data):
                self._since = time.monotonic()
                self._stuck.set()
                writing = asyncio.ensure_future(asyncio.to_thread(_write_all, self._target, data[sent:]))
                try:
                    await asyncio.shield(writing)
                except asyncio.CancelledError:  # what has begun is said to its end
                    await writing
                    raise
                finally:
                    self._since = 0.0
                    self._stuck.clear()

    async def wait_abandoned(self, source: int) -> None:
        """Return when the client has closed our input `source` and has not read for STUCK_S.

        Its end is asked of the system: no line is read while one that answers cannot be written.
        """
        has_gone = hosts.hang_up_check(source)
        while not (self._since and time.monotonic() - self._since >= STUCK_S and has_gone()):
            await self._stuck.wait()
            await asyncio.sleep(LOOK_S)  # nobody tells of the end while nothing is read

    async def flush(self) -> None:
        """Nothing is ever buffered."""


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:  # one socket for both directions, made non-blocking by reading
            select.select((), (descriptor,), ())
