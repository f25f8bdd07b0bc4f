"""MCP over standard input and output. The only importer of `mcp`; what the tools do is in cortex.front.tools."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import fcntl
import io
import logging
import os
import select
import signal
import socket
import stat
import sys
import termios
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from cortex import __version__
from cortex.ask.freshness import Freshness, say_progress
from cortex.front.link import Link
from cortex.front.tool import Tool
from cortex.front.tools import INSTRUCTIONS, choose
from cortex.processes import attach
from cortex.settings import config as configuration
from cortex.settings.config import Config
from ipc.errors import BadRequest, CortexError, Misconfigured, NotFound, TooLarge, Unavailable

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

log = logging.getLogger(__name__)

EXIT_USAGE, EXIT_UNAVAILABLE = 2, 3
#: JSON-RPC: the arguments are wrong; something of ours is
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603
#: seconds in which everything must be closed once the client is gone
CLOSE_S = 3.0
#: seconds between two looks at how far indexing is, for a client that asked to be told
PROGRESS_S = 0.2
#: bytes of one message from the client; a query may have 64 kB
LINE_BYTES_MAX = 16 * 1024 * 1024


def main(arguments: list[str]) -> int:
    """`cortex mcp`; the exit code. Takes the process over: standard output belongs to MCP from the first line on."""
    parser = argparse.ArgumentParser(
        prog="cortex mcp", description="Serve MCP over standard input and output."
    )
    parser.add_argument("--project", help="the project's folder; default: found from the working folder")
    parser.add_argument("--toolsets", help="comma-separated; default: server.toolsets")
    options = parser.parse_args(arguments)
    wire = _take_stdout()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="cortex: %(message)s")
    try:
        config, problem = _load(options.project, options.toolsets)
        tools = choose(config.server.toolsets if config else ("code",))
        if config is not None:
            attach.check_start(config)
    except Misconfigured as error:
        print(f"cortex: {error}", file=sys.stderr)
        return EXIT_USAGE
    except Unavailable as error:
        print(f"cortex: {error}", file=sys.stderr)
        return EXIT_UNAVAILABLE
    asyncio.run(_run(config, problem, tools, wire))
    return 0


def _take_stdout() -> int:
    """A private descriptor of standard output; whoever else writes there writes to standard error from now on."""
    wire = os.dup(1)
    os.dup2(2, 1)
    return wire


def _load(project: str | None, toolsets: str | None) -> tuple[Config | None, str]:
    """(configuration, problem). Without a project every tool says how to name one; other faults raise."""
    if not (project or os.environ.get("CORTEX_PROJECT") or os.environ.get("CLAUDE_PROJECT_DIR")):
        try:
            configuration.find_root()
        except Misconfigured as error:
            return None, str(error)
    flags = {"server": {"toolsets": tuple(filter(None, toolsets.split(",")))}} if toolsets else None
    return configuration.load(project, flags), ""


async def _run(config: Config | None, problem: str, tools: Mapping[str, Tool], wire: int) -> None:
    """Serve until standard input ends or a signal comes; then end the process."""
    link = None
    deadline_s = config.server.deadline_s if config is not None else CLOSE_S
    try:
        if config is not None:
            link = Link(config)
            link.open()
        # The SDK takes most of a second to import: the workers start meanwhile.
        await asyncio.to_thread(_import_sdk)
        server = make_server(tools, link, problem)
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        tasks = [asyncio.create_task(_serve(server, wire, deadline_s)), asyncio.create_task(stop.wait())]
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            if error := task.exception():
                log.error("MCP ended: %s", error)
    finally:
        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout(CLOSE_S):
                if link is not None:
                    await link.close()
        sys.stderr.flush()
        # A thread may be blocked in reading standard input for ever; nothing else is left to be closed.
        os._exit(0)


def _import_sdk() -> None:
    import mcp.server.lowlevel
    import mcp.server.stdio  # noqa: F401


class Wire:
    """The two streams of the transport. The end of the input is passed on when every request has its answer, so that
    `printf … | cortex mcp` answers before it ends; a request that is never answered delays the end by its deadline.
    """

    def __init__(self, lines: AsyncIterable[str], target: int, deadline_s: float) -> None:
        self._lines, self._target = lines, target
        self._deadline_s = deadline_s
        self._waiting = 0
        self._answered = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines:
            self._waiting += _is_request(line)
            yield line
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._deadline_s):
                while self._waiting > 0:
                    await self._answered.wait()
                    self._answered.clear()

    async def write(self, line: str) -> None:
        """Send one message whole, so that flush has nothing to do. What the client does not take at once is written in a
        thread: it may read slowly.
        """
        data = line.encode()
        sent = _send_now(self._target, data)
        if sent < len(data):
            await asyncio.to_thread(_write_all, self._target, data[sent:])
        if line.startswith('{"jsonrpc":"2.0","id":'):
            self._waiting -= 1
            self._answered.set()

    async def flush(self) -> None:
        """Nothing is ever buffered."""


def _send_now(descriptor: int, data: bytes) -> int:
    """How many bytes of `data` were written without waiting: of a socket's what it takes, of a pipe's all or none."""
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
        except BlockingIOError:  # one socket for both directions, which reading has made non-blocking
            select.select((), (descriptor,), ())


async def read_lines(source: io.FileIO) -> AsyncIterator[str]:
    """The lines of standard input, without a thread for each where the loop can wait for them (a pipe or a socket)."""
    reader = asyncio.StreamReader(limit=LINE_BYTES_MAX)
    try:
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), source
        )
    except ValueError:  # a file
        while line := await asyncio.to_thread(source.readline):
            yield line.decode("utf-8", "replace")
        return
    while True:
        try:
            line = await reader.readline()
        except ValueError:  # longer than the limit: what has been read of it is dropped
            yield "too long"
            continue
        if not line:
            return
        yield line.decode("utf-8", "replace")


def _is_request(line: str) -> bool:
    """Whether a line asks for an answer."""
    try:
        message = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return isinstance(message, dict) and "id" in message and "method" in message


async def _serve(server: Server, wire: int, deadline_s: float) -> None:
    from mcp.server.stdio import stdio_server

    streams: Any = Wire(read_lines(io.FileIO(0, closefd=False)), wire, deadline_s)
    async with stdio_server(streams, streams) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def make_server(tools: Mapping[str, Tool], link: Link | None, problem: str = "") -> Server:
    """The MCP server over `tools`. Without a link every tool answers with `problem`."""
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    annotations = types.ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    listed = types.ListToolsResult(
        tools=[
            types.Tool(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                input_schema=tool.schema,
                annotations=annotations.model_copy(update={"title": tool.title}),
            )
            for tool in tools.values()
        ]
    )

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return listed

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            async with _progress(link, context):
                text = await call(tools, link, problem, params.name, params.arguments)
        except CortexError as error:
            raise MCPError(code_of(error), str(error)) from error
        except Exception as error:
            log.exception("the call of %s failed", params.name)
            raise MCPError(
                INTERNAL_ERROR, f"Cortex failed on this call ({error!r}); please report it."
            ) from error
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    server: Server = Server(
        "cortex",
        version=__version__,
        title="Cortex",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.middleware.clear()  # traces for a collector that is never there
    return server


@contextlib.asynccontextmanager
async def _progress(link: Link | None, context: Any) -> AsyncIterator[None]:
    """Meanwhile tell the client how far indexing is, if its request has a progress token."""
    if link is None or "progress_token" not in (context.meta or {}):
        yield
        return
    task = asyncio.create_task(tell_progress(link.freshness, context.session.report_progress))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def tell_progress(freshness: Freshness, tell: Callable[[float, float, str], Awaitable[None]]) -> None:
    """Report (files done, files to do, sentence) for as long as the project is being indexed; never a smaller number."""
    told = -1
    while True:
        progress = freshness.progress()
        if progress.indexing and progress.total and progress.done > told:
            told = progress.done
            await tell(told, progress.total, say_progress(progress))
        await asyncio.sleep(PROGRESS_S)


async def call(
    tools: Mapping[str, Tool], link: Link | None, problem: str, name: str, arguments: Mapping[str, Any] | None
) -> str:
    """The answer as one JSON text. Raises CortexError."""
    tool = tools.get(name)
    if tool is None:
        raise BadRequest(f"There is no tool {name!r}; there are: {', '.join(tools)}.")
    if link is None:
        raise Unavailable(problem)
    return orjson.dumps(await link.call(tool, arguments)).decode()


def code_of(error: CortexError) -> int:
    """The JSON-RPC code: whose fault it is."""
    return INVALID_PARAMS if isinstance(error, BadRequest | NotFound | TooLarge) else INTERNAL_ERROR
