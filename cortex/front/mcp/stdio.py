"""MCP over standard input and output: `cortex mcp`, from its first byte to the process's end."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import gc
import io
import logging
import os
import re
import select
import signal
import socket
import stat
import sys
import termios
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any

from cortex.front.link import Link
from cortex.front.mcp.lines import Line, Refused, check, read_lines
from cortex.front.mcp.project import Project
from cortex.front.mcp.server import make_server
from cortex.front.mcp.updates import Updates
from cortex.front.tool import Tool
from cortex.front.tools import choose
from cortex.processes import starting
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.home import find_root
from cortex.settings.table import Server as Settings
from cortex.system.allocator import no_collector
from cortex.system.terminal import log_to_stderr
from ipc.errors import EXIT_OK, Misconfigured

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

log = logging.getLogger(__name__)

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
    wire = _take_stdout()
    log_to_stderr("cortex: %(message)s", logging.WARNING)
    config, problem = _load(project, toolsets, data_dir)
    tools = choose(config.server.toolsets if config else Settings().toolsets)
    if config is not None:
        starting.check_start(config)
    asyncio.run(_run(config, problem, tools, wire))
    return EXIT_OK


def _take_stdout() -> int:
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
        find_root(project)
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
    link = Link(config) if config is not None else None
    project = Project(link, problem)
    deadline_s = config.server.deadline_s if config is not None else CLOSE_S
    try:
        if link is not None:
            link.open()
        # The imports take most of a second: the workers start meanwhile.
        await asyncio.to_thread(_prepare, tools)
        updates = Updates(project) if "cortex_store" in tools else None
        server = make_server(tools, project, updates)
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        at_end = updates.close if updates is not None else _nothing
        count = link.count_refused if link is not None else _nothing
        streams = Wire(read_lines(io.FileIO(0, closefd=False)), wire, deadline_s, at_end, count)
        tasks = [
            asyncio.create_task(one) for one in (_speak(server, streams), stop.wait(), streams.abandoned(0))
        ]
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


def _prepare(tools: Mapping[str, Tool]) -> None:
    """Import the SDK and make the tools. All of it stays to the end, so nothing is collected of it:
    a quarter of the time would go there, and some of each answer's later.
    """
    with no_collector():
        import_sdk()
        for name in tools:
            tools[name]
    gc.freeze()


def import_sdk() -> None:
    import mcp.server.lowlevel
    import mcp.server.stdio  # noqa: F401


async def _speak(server: Server, wire: Wire) -> None:
    from mcp.server.stdio import stdio_server

    streams: Any = wire
    async with stdio_server(streams, streams) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _nothing() -> None:
    """Where nobody is to be told."""


class Wire:
    """The two streams of the transport.

    The end of the input is passed on when every request has its answer, so that `printf … | cortex
    mcp` answers before it ends; a request that is never answered delays the end by its deadline.
    What the SDK would drop without a word is answered here.
    """

    def __init__(
        self,
        lines: AsyncIterable[Line],
        target: int,
        deadline_s: float,
        at_end: Callable[[], None] = _nothing,
        refused: Callable[[], None] = _nothing,
    ) -> None:
        """`at_end` ends the requests that are answered for as long as the client listens; `refused`
        is called for each line that is no message.
        """
        self._lines, self._target = lines, target
        self._at_end, self._refused = at_end, refused
        self._deadline_s = deadline_s
        self._waiting = 0
        self._answered = asyncio.Event()
        self._writing = asyncio.Lock()
        #: since when a message has been waiting for the client to read (monotonic); 0: none is
        self._since = 0.0

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines:
            try:
                self._waiting += check(line)
            except Refused as error:
                self._refused()
                await self._send(error.answer())
            else:
                yield line.text
        self._at_end()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._deadline_s):
                while self._waiting > 0:
                    await self._answered.wait()
                    self._answered.clear()

    async def write(self, line: str) -> None:
        """Send one message whole, so that flush has nothing to do."""
        await self._send(line)
        if _ANSWER.match(line):
            self._waiting -= 1
            self._answered.set()

    async def _send(self, line: str) -> None:
        """What the client does not take at once is written in a thread: it may read slowly."""
        data = line.encode()
        async with self._writing:
            sent = send_now(self._target, data)
            if sent < len(data):
                self._since = time.monotonic()
                await asyncio.to_thread(_write_all, self._target, data[sent:])
                self._since = 0.0

    async def abandoned(self, source: int) -> None:
        """Return when the client has closed our input `source` and has not read for STUCK_S.

        Its end is asked of the system: no line is read while one that answers cannot be written.
        """
        poll = select.poll()
        poll.register(source, select.POLLHUP)
        while not (self._since and time.monotonic() - self._since >= STUCK_S and poll.poll(0)):  # noqa: ASYNC110 - nobody tells of it
            await asyncio.sleep(LOOK_S)

    async def flush(self) -> None:
        """Nothing is ever buffered."""


def send_now(descriptor: int, data: bytes) -> int:
    """How many bytes of `data` were written without waiting: of a socket's what it takes, of a
    pipe's all or none.
    """
    try:
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISSOCK(kind):
            with socket.socket(fileno=os.dup(descriptor)) as there:
                return there.send(data, socket.MSG_DONTWAIT)
        if stat.S_ISFIFO(kind) and len(data) <= fcntl.fcntl(descriptor, fcntl.F_GETPIPE_SZ):
            unread = int.from_bytes(fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)), sys.byteorder)
            return os.write(descriptor, data) if not unread else 0
    except (
        OSError,
        AttributeError,
    ):  # a system without these calls; an end of the client is told by the thread
        return 0
    return 0


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:  # one socket for both directions, made non-blocking by reading
            select.select((), (descriptor,), ())
