"""`cortex mcp --server URL`: a bridge from standard input and output to Streamable HTTP.

Messages pass unchanged. A request that is lost on the way is repeated once if it only reads. While
no server answers, the client gets an error that says how to start one.
"""

import asyncio
import contextlib
import io
import logging
import time
from typing import Any

import orjson

from cortex import __version__
from cortex.ask.query_context import Audience
from cortex.front.audience import audience_of
from cortex.front.mcp.errors import INTERNAL_ERROR
from cortex.front.mcp.server import list_for
from cortex.front.mcp.stdio import Wire, leave, run_until_end, take_stdout
from cortex.front.mcp.transport.fast_path import capabilities
from cortex.front.mcp.transport.lines import read_lines
from cortex.front.mcp.transport.remote_server import (
    ConnectionLost,
    Denied,
    Message,
    RemoteServer,
    Say,
    check_url,
)
from cortex.front.tools import TOOLS, choose, instruct
from cortex.settings.table import Server as Settings
from cortex.system import hosts
from cortex.system.errors import EXIT_OK
from cortex.system.terminal import escape_controls, log_to_stderr

log = logging.getLogger(__name__)

#: seconds of tries to reach a server before the client gets an error: before the first answer of a
#: server, and after it
FIRST_S, AGAIN_S = 2.0, 8.0
#: seconds between two tries: first and maximum
PAUSE_S, PAUSE_MAX_S = 0.1, 2.0
#: seconds to finish requests after the client has closed our input
ANSWER_S = 15.0
#: the error of a write whose server went away before it answered
UNKNOWN = "The server went away during this call, so its outcome is unknown. Check it before you call again."
#: key of the client's name and version in a request of the newest protocol
CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
#: a client's message after `initialize` was answered
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def serve(url: str, token: str, project: str | None, audience: Audience | None = None) -> int:
    """Bridge until standard input ends; return the exit code. `audience`: the client's, None: that
    of its name. Raises Misconfigured for an unusable URL.
    """
    import urllib.parse

    parameters = {"project": project, "for": audience}
    query = urllib.parse.urlencode({name: value for name, value in parameters.items() if value})
    place = check_url(url)
    if query:
        place += f"{'&' if '?' in place else '?'}{query}"
    wire = take_stdout()
    log_to_stderr("cortex: %(message)s", logging.WARNING)
    hosts.run(_run(place, token, wire, audience))
    return EXIT_OK


async def _run(url: str, token: str, wire: int, audience: Audience | None) -> None:
    streams = Wire(wire, ANSWER_S)
    bridge = Bridge(url, token, streams.say, audience)
    streams.take(read_lines(io.FileIO(0, closefd=False)))

    async def speak() -> None:
        async for line in streams:
            await bridge.take(orjson.loads(line))

    try:
        await run_until_end(speak(), streams)
    finally:
        await leave(bridge.close)


class Bridge:
    """Passes messages between one client and one server. Use it in one event loop."""

    def __init__(self, url: str, token: str, say: Say, audience: Audience | None = None) -> None:
        self._server, self._say = RemoteServer(url, token, say, self._compare), say
        self._audience = audience
        self._tools = choose(Settings().toolsets)
        #: the client's `initialize`; None for a client of the newest protocol
        self._hello: Message | None = None
        self._greeting = asyncio.Lock()
        self._requests: dict[Any, asyncio.Task[None]] = {}
        self._listening: asyncio.Task[None] | None = None
        self._was_reached = self._compared = False

    async def take(self, message: Message) -> None:
        """Pass on one message of the client. A request is answered in a task of its own."""
        number = message.get("id")
        if "method" in message and number is not None:
            if message["method"] == "initialize":
                self._hello = message
            task = asyncio.create_task(self._ask(message))
            self._requests[number] = task
            task.add_done_callback(lambda _task: self._requests.pop(number, None))
            if message["method"] == "initialize":
                await asyncio.wait({task})
            return
        if message.get("method") == "notifications/cancelled" and self._hello is None:
            if task_of := self._requests.get((message.get("params") or {}).get("requestId")):
                task_of.cancel()  # the server notices the end of the stream
            return
        with contextlib.suppress(ConnectionLost, Denied):
            await self._server.send(message)
        if message.get("method") == INITIALIZED["method"]:
            self._listen()

    async def close(self) -> None:
        tasks = [*self._requests.values(), *([self._listening] if self._listening else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._server.close()

    async def _ask(self, message: Message) -> None:
        """Answer one request, with the server's answer or an error."""
        until = time.monotonic() + (AGAIN_S if self._was_reached else FIRST_S)
        pause, sent = PAUSE_S, False
        while (lost := await self._ask_once(message)) is not None:
            if lost.sent and (sent or not _is_read_only(message)):
                await self._fail(message, str(lost) if _is_read_only(message) else UNKNOWN)
                return
            sent |= lost.sent
            if time.monotonic() + pause >= until:
                await self._answer_offline(message, lost)
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, PAUSE_MAX_S)

    async def _ask_once(self, message: Message) -> ConnectionLost | None:
        """Send a request once; return None when the client has its answer."""
        try:
            await self._reach(message)
        except Denied as error:
            await self._fail(message, str(error), error.error)
        except ConnectionLost as lost:
            if lost.session:
                self._server.session = ""
            return lost
        self._was_reached = True
        return None

    async def _reach(self, message: Message) -> None:
        """Send a request to the server, in a session of ours. Raises ConnectionLost and Denied."""
        if message.get("method") == "initialize":
            await self._server.send(message, self._note_version)
            return
        if self._hello is not None and not self._server.session:
            async with self._greeting:
                if not self._server.session:
                    await self._greet_again(self._hello)
        await self._server.send(message)

    async def _greet_again(self, hello: Message) -> None:
        """Open a new session with the client's own `initialize`."""
        await self._server.send(hello | {"id": "cortex-bridge"}, self._read_version)
        await self._server.send(INITIALIZED)
        self._listen()

    async def _read_version(self, line: str) -> None:
        answer = orjson.loads(line)
        self._server.version = (answer.get("result") or {}).get("protocolVersion", "")

    async def _note_version(self, line: str) -> None:
        await self._read_version(line)
        await self._say(line if line.endswith("\n") else line + "\n")

    def _compare(self, version: str) -> None:
        """Log a warning if the server has another version, once."""
        was_compared, self._compared = self._compared, True
        if not was_compared and version and version != __version__:
            log.warning(
                "%s",
                escape_controls(
                    f"The server is Cortex {version}, and this is {__version__}: update the older."
                ),
            )

    def _listen(self) -> None:
        """Begin to pass on the server's messages that answer no request."""
        if self._server.session and (self._listening is None or self._listening.done()):
            self._listening = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        last, pause = "", PAUSE_S
        while self._server.session:
            try:
                async for number, data in self._server.listen(last):
                    last, pause = number or last, PAUSE_S
                    await self._say(data + "\n")
            except Denied:
                return
            except ConnectionLost as lost:
                if lost.session:
                    return
            await asyncio.sleep(pause)
            pause = min(2 * pause, PAUSE_MAX_S)

    async def _answer_offline(self, message: Message, lost: ConnectionLost) -> None:
        """Answer `initialize` and `tools/list` as the server would, all else by an error."""
        audience = self._audience or audience_of(_client_name(self._hello or message))
        if message["method"] == "initialize":
            answer: Message = {
                "capabilities": capabilities(),
                "instructions": instruct(self._tools, audience),
                "protocolVersion": (message.get("params") or {}).get("protocolVersion", ""),
                "serverInfo": {"name": "cortex", "title": "Cortex", "version": __version__},
            }
            await self._answer(message, {"result": answer})
        elif message["method"] == "tools/list":
            await self._answer(message, {"result": {"tools": list_for(self._tools, (), audience)}})
        elif lost.error is not None:
            await self._fail(message, str(lost), lost.error)
        else:
            where = self._server.url.partition("?")[0].removesuffix("/mcp")
            sentence = (
                f"There is no Cortex server at {where} ({str(lost).rstrip('.')}): start `cortex serve` there."
            )
            await self._fail(message, sentence)

    async def _fail(self, message: Message, sentence: str, error: Message | None = None) -> None:
        """Answer with `sentence`, and with the code and data of the server's own `error`."""
        await self._answer(message, {"error": (error or {"code": INTERNAL_ERROR}) | {"message": sentence}})

    async def _answer(self, message: Message, body: Message) -> None:
        await self._say(orjson.dumps({"jsonrpc": "2.0", "id": message["id"]} | body).decode() + "\n")


def _client_name(message: Message) -> str:
    """Return the client's name in `initialize` or in a request of the newest protocol."""
    params = message.get("params") or {}
    client = params.get("clientInfo") or (params.get("_meta") or {}).get(CLIENT_INFO)
    return str(client.get("name", "")) if isinstance(client, dict) else ""


def _is_read_only(message: Message) -> bool:
    """Whether the request can be repeated without harm."""
    if message["method"] != "tools/call":
        return True
    tool = TOOLS.get((message.get("params") or {}).get("name", ""))
    return tool is not None and tool.reads
