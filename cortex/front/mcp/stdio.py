"""MCP over standard input and output: the process of `cortex mcp`."""

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
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from cortex.ask.query_context import Audience
from cortex.front.link import Link
from cortex.front.mcp.project import Project
from cortex.front.mcp.server import make_server
from cortex.front.mcp.transport.fast_path import FastPath
from cortex.front.mcp.transport.lines import InvalidLine, Line, check, read_lines
from cortex.front.mcp.updates import Updates
from cortex.front.open_projects import OpenProjects
from cortex.front.tool import Tool
from cortex.front.tools import choose, offer
from cortex.processes import starting
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.settings.folders.home import find_root
from cortex.settings.folders.projects import resolve_project
from cortex.settings.table import Server as Settings
from cortex.system import hosts
from cortex.system.errors import EXIT_OK, Misconfigured
from cortex.system.process.allocator import no_collector
from cortex.system.terminal import log_to_stderr

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

log = logging.getLogger(__name__)

#: seconds after which the importing thread yields to the answering one
SWITCH_S = 0.0005
#: maximum of seconds to close everything once the client is gone
CLOSE_S = 3.0
#: seconds after the start in which a launcher may end, as one that starts the server and leaves;
#: between two checks of the parent; without a message after which a client counts as gone with it
LAUNCH_S, PARENT_S, ORPHANED_S = 5.0, 2.0, 4.0
#: seconds that an answer may stay unread after the client closed our input; between two checks
STUCK_S, LOOK_S = 1.5, 0.25
#: beginning of an answer as the SDK writes it; a request of ours has a method there
_ANSWER = re.compile(r'\{"jsonrpc":"2\.0","id":(?:-?\d+|"(?:[^"\\]|\\.)*+"),"(?:result|error)":')


def serve(
    project: str | None, toolsets: str | None, data_dir: str | None = None, audience: Audience | None = None
) -> int:
    """Run `cortex mcp`; return the exit code.

    From now on only MCP may write to standard output. `toolsets`: comma-separated, instead of
    server.toolsets; `data_dir`: instead of memory.data_dir; `audience`: the client's, None: that of
    its name. Raises Misconfigured and Unavailable.
    """
    wire = take_stdout()
    log_to_stderr("cortex: %(message)s", logging.WARNING)
    config, problem = _load(project, toolsets, data_dir)
    tools = choose(config.server.toolsets if config else Settings().toolsets)
    if config is not None:
        starting.check_start(config)
    hosts.run(_run(config, problem, (tools, audience), wire))
    return EXIT_OK


def take_stdout() -> int:
    """Return a private descriptor of standard output; all other writes go to standard error."""
    wire = os.dup(1)
    os.dup2(2, 1)
    return wire


def _load(project: str | None, toolsets: str | None, data_dir: str | None) -> tuple[Config | None, str]:
    """Return (configuration, problem).

    Without a project the configuration is None, and every tool answers with `problem`: agents show
    that, but not the error of a server that ended. Other faults raise.
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


async def _run(
    config: Config | None, problem: str, offered: tuple[Mapping[str, Tool], Audience | None], wire: int
) -> None:
    """Serve until standard input ends or a signal arrives; then end the process."""
    link = OpenProjects(Link(config)) if config is not None else None
    project = Project(link, problem)
    deadline_s = config.server.deadline_s if config is not None else CLOSE_S
    try:
        if link is not None:
            link.open()
        count = link.count_refused if link is not None else _do_nothing
        streams = Wire(wire, deadline_s, count)
        tools, audience = offered
        fast_path = FastPath(tools, link, streams, audience)
        fast_path.begin(read_lines(io.FileIO(0, closefd=False)))
        await run_until_end(_converse(offered, project, fast_path, streams), streams)
    finally:
        await leave(project.close)


async def run_until_end(work: Coroutine[Any, Any, None], streams: Wire) -> None:
    """Do the work until it ends, a signal arrives, or the client is gone."""
    stop = asyncio.Event()
    hosts.on_stop(asyncio.get_running_loop(), lambda _number: stop.set())
    ends = (work, stop.wait(), streams.wait_abandoned(0), streams.wait_orphaned())
    tasks = [asyncio.create_task(coroutine) for coroutine in ends]
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        if error := task.exception():
            log.error("MCP ended: %s", error)


async def leave(close: Callable[[], Awaitable[None]]) -> NoReturn:
    """Close for CLOSE_S at most, and end the process."""
    with contextlib.suppress(TimeoutError, OSError):
        async with asyncio.timeout(CLOSE_S):
            await close()
    sys.stderr.flush()
    # A thread may be blocked in reading standard input for ever; all else is closed.
    os._exit(EXIT_OK)


async def _converse(
    offered: tuple[Mapping[str, Tool], Audience | None], project: Project, fast_path: FastPath, streams: Wire
) -> None:
    """Answer until the input ends: with the SDK from the first message that needs it."""
    tools, audience = offered
    # The tools take a fraction of a second, the SDK most of one: the workers start meanwhile.
    await _prepare(lambda: [*tools.values(), *offer(tools, "agent").values()])
    fast_path.tools_ready.set()
    if not await fast_path.wants_sdk(streams.deadline_s):
        return
    try:
        await _prepare(import_sdk)
    finally:
        fast_path.end()
    updates = Updates(project)
    server = make_server(
        tools, project, updates, project_names=project, audience=audience, on_roots=project.roots_changed
    )
    streams.take(fast_path, updates.close)
    await _speak(server, streams)


async def _prepare(make: Callable[[], object]) -> None:
    """Call `make` in a thread, without garbage collection: its objects stay to the end.

    Collection would take a quarter of the time, and some of each later answer's.
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
    """The default callback."""


class Wire:
    """Input and output of the transport, as the SDK's streams.

    The input ends only when every request has its answer, so that `printf … | cortex mcp` answers
    before it ends; an unanswered request delays the end by its deadline. Lines that the SDK would
    drop silently get an error here.
    """

    def __init__(self, target: int, deadline_s: float, refused: Callable[[], None] = _do_nothing) -> None:
        """`target`: descriptor of the output; `refused` is called for each invalid line."""
        self._target, self._refused = target, refused
        self.deadline_s = deadline_s
        self._at_end: Callable[[], None] = _do_nothing
        self._waiting = 0
        #: beginning of the SDK's answer to an answered request, which is dropped; "" for none
        self._answered_head = ""
        self._answered = asyncio.Event()
        self._writing = asyncio.Lock()
        #: time since when the client has not read a message (monotonic); 0: none waits
        self._since = 0.0
        self._stuck = asyncio.Event()
        #: time of the client's last request (monotonic)
        self._heard = 0.0

    def take(self, lines: AsyncIterable[Line], at_end: Callable[[], None] = _do_nothing) -> None:
        """Read from `lines`. `at_end` ends streams of events with the input."""
        self._lines, self._at_end = lines, at_end

    def expect(self, head: str = "") -> None:
        """Expect one more answer; with `head`, drop the SDK's answer that begins so."""
        self._waiting += 1
        self._heard = time.monotonic()
        self._answered_head = head or self._answered_head

    def forgo(self) -> None:
        """Expect one answer less: the client cancelled its request."""
        self._count_answer()

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines:
            self._heard = time.monotonic()
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
        """Send one message of the SDK, unless it is the dropped answer; `flush` does nothing."""
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
        """Send a line; the part that does not fit into the pipe is written in a thread."""
        data = line.encode()
        async with self._writing:
            sent = hosts.send_now(self._target, data)
            if sent < len(data):
                self._since = time.monotonic()
                self._stuck.set()
                writing = asyncio.ensure_future(asyncio.to_thread(_write_all, self._target, data[sent:]))
                try:
                    await asyncio.shield(writing)
                except asyncio.CancelledError:  # a message is never cut
                    await writing
                    raise
                finally:
                    self._since = 0.0
                    self._stuck.clear()

    async def wait_abandoned(self, source: int) -> None:
        """Return when the client has closed our input `source` and has not read for STUCK_S.

        The system is asked for the end of the input: no line is read while an answer is blocked.
        """
        has_gone = hosts.hang_up_check(source)
        while not (self._since and time.monotonic() - self._since >= STUCK_S and has_gone()):
            await self._stuck.wait()
            await asyncio.sleep(LOOK_S)  # without a read there is no event for the end

    async def wait_orphaned(self) -> None:
        """Return when the parent of this process has ended and no message came since. Another child
        of it may hold our input open for ever.
        """
        await asyncio.sleep(LAUNCH_S)
        await hosts.wait_for_parent_end(PARENT_S)
        gone_at = time.monotonic()
        await asyncio.sleep(ORPHANED_S)
        if self._heard > gone_at:
            await asyncio.Event().wait()  # another process speaks: the parent was only its launcher

    async def flush(self) -> None:
        """Do nothing: `write` never buffers."""


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:  # one socket for both directions, made non-blocking by reading
            select.select((), (descriptor,), ())
