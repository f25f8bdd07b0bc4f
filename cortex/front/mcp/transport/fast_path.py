"""Answers to a client without the SDK, equal to the SDK's.

Before the SDK is imported: `initialize` of the handshake, the lists, and calls of tools. Few
clients send anything else. The import takes most of a second and 45 MB, so it waits for the first
other message, or the first call before there is an index. The SDK then answers; it gets
`initialize` as well, for its own state, and its answer to that is dropped.

After the import: calls of tools in the form of the handshake's protocols. The SDK would parse each
three times, a quarter of the front's time for an answer.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Literal, Protocol

import msgspec
import orjson

from cortex import __version__
from cortex.ask.query_context import Audience
from cortex.front.audience import audience_of
from cortex.front.mcp.errors import explain
from cortex.front.mcp.progress import reporting_progress
from cortex.front.mcp.prompts import list_prompts
from cortex.front.mcp.resources import list_resources, list_templates
from cortex.front.mcp.server import list_for, run_tool
from cortex.front.mcp.transport.lines import Line
from cortex.front.open_projects import OpenProjects
from cortex.front.tool import Tool
from cortex.front.tools import find_tool, instruct

#: protocols with answers of the form made here; a test compares them with the SDK's
VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
#: messages of a handshake that wait for the SDK without causing its import
HANDSHAKE_MESSAGES = 2
#: maximum of messages that wait for the SDK; each may have 16 MiB
HELD_MAX = 4
#: maximum of characters of a message that is answered here: the SDK checks longer ones
CHARS_MAX = 65_536
#: maximum of concurrent calls here: the SDK accepts no more than its client reads answers to
CALLS_MAX = 64

Message = dict[str, Any]


class _Client(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """`clientInfo`, with the fields that every version of the protocol has."""

    name: str
    version: str
    title: str = ""
    website_url: str = ""


class _Offers(msgspec.Struct, forbid_unknown_fields=True):
    """Capabilities of a client. A message with others goes to the SDK."""

    roots: dict[Literal["listChanged"], bool] = {}
    sampling: dict[str, Message] = {}
    elicitation: dict[str, Message] = {}
    experimental: dict[str, Message] = {}


class _Hello(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """The parameters of `initialize`."""

    protocol_version: str
    client_info: _Client
    capabilities: _Offers


class _Meta(msgspec.Struct, rename="camel"):
    progress_token: str | int | None = None


class _Call(msgspec.Struct, forbid_unknown_fields=True):
    """The parameters of `tools/call`."""

    name: str
    arguments: Message = {}
    meta: _Meta = msgspec.field(default_factory=_Meta, name="_meta")


class _Request(msgspec.Struct, forbid_unknown_fields=True):
    """A request, or a notification without an id."""

    jsonrpc: Literal["2.0"]
    method: str
    id: str | int | None = None
    params: Message = {}


_REQUESTS = msgspec.json.Decoder(_Request)


class AnswerWriter(Protocol):
    """The part of cortex.front.mcp.stdio.Wire that FastPath uses."""

    def expect(self, head: str = "") -> None: ...
    def forgo(self) -> None: ...
    async def say(self, line: str) -> None: ...


class FastPath:
    """Answers lines of a client that need no SDK, yields the others for it. For one event loop."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        link: OpenProjects | None,
        out: AnswerWriter,
        audience: Audience | None = None,
    ) -> None:
        """Without a `link` all lines go to the SDK, which can ask the client for its roots.

        `audience`: that of the client; None: that of its name.
        """
        self._tools, self._link, self._out = tools, link, out
        self._fixed_audience, self._audience = audience, audience or "program"
        memory = "cortex_store" in tools
        #: method without parameters → its answer
        self._plain: dict[str, Callable[[], Coroutine[Any, Any, Message]]] = {
            "ping": self._answer_ping,
            "prompts/list": partial(self._list_others, list_prompts),
            "resources/list": partial(self._list_others, partial(list_resources, memory=memory)),
            "resources/templates/list": partial(self._list_others, partial(list_templates, memory=memory)),
            "tools/list": self._list,
        }
        #: set once the tools are made
        self.tools_ready = asyncio.Event()
        self._lines: asyncio.Queue[Line | None] = asyncio.Queue(HELD_MAX)
        #: running requests by id, which the client may cancel; all running answers
        self._requests: dict[str | int, asyncio.Task[None]] = {}
        self._answering: set[asyncio.Task[None]] = set()
        #: whether no message has needed the SDK yet; whether the SDK is imported
        self._first, self._imported = link is not None, False
        #: whether the client has a protocol of the handshake; whether `initialize` was answered
        self._speaks_handshake, self._greeted = False, False
        self._reading: asyncio.Task[None] | None = None
        #: set once a message needs the SDK
        self._wanted = asyncio.Event()

    def end(self) -> None:
        """Answer only calls from now on: the SDK is imported."""
        self._first, self._imported = False, self._link is not None

    def begin(self, lines: AsyncIterable[Line]) -> None:
        """Read `lines` from now on."""
        if self._link is None:  # all lines need the SDK: import it at once
            self._wanted.set()
        self._reading = asyncio.create_task(self._read_lines(lines))

    async def wants_sdk(self, deadline_s: float) -> bool:
        """Return True once a message needs the SDK; False when the input has ended without one, and
        all is answered or `deadline_s` have passed. Raises the errors of reading.
        """
        assert self._reading is not None
        wanted = asyncio.create_task(self._wanted.wait())
        await asyncio.wait((wanted, self._reading), return_when=asyncio.FIRST_COMPLETED)
        wanted.cancel()
        if self._wanted.is_set():
            return True
        await self._reading
        if self._answering:
            await asyncio.wait(self._answering, timeout=deadline_s)
        return False

    async def __aiter__(self) -> AsyncIterator[Line]:
        """Yield the lines for the SDK. Raises the errors of reading."""
        while (line := await self._lines.get()) is not None:
            yield line
        assert self._reading is not None
        await self._reading

    async def _read_lines(self, lines: AsyncIterable[Line]) -> None:
        try:
            async for line in lines:
                if not (self._first or self._imported) or not self._accept_line(line):
                    if not self._first or self._lines.qsize() >= HANDSHAKE_MESSAGES:
                        self._wanted.set()
                    await self._lines.put(line)
        finally:
            await self._lines.put(None)

    def _accept_line(self, line: Line) -> bool:
        """Answer a line, or note its content; return whether the SDK must not get it."""
        request = _read_request(line)
        if request is not None and request.id is None:
            return self._note(request)
        answer = self._answer_to(request) if request is not None else None
        if request is None or request.id is None or answer is None:
            self._first = False
            if request is not None and request.method == "initialize":
                self._note_client(request.params)
            return False
        greeting = request.method == "initialize"
        self._out.expect(head_of(request.id) if greeting else "")
        task = asyncio.create_task(self._send(request.id, answer))
        self._requests[request.id] = task
        self._answering.add(task)
        task.add_done_callback(self._answered)
        return not greeting

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._answering.discard(task)
        if task.cancelled():
            self._out.forgo()

    def _note(self, notification: _Request) -> bool:
        """Handle a notification; return whether it concerns only a request answered here."""
        if notification.method == "notifications/cancelled":
            number = notification.params.get("requestId")
            if not isinstance(number, str | int) or isinstance(number, bool):
                return False
            if (task := self._requests.pop(number, None)) is not None:
                task.cancel()
                return True
        if notification.method == "notifications/initialized":
            self._greeted |= self._speaks_handshake
        self._first &= notification.method == "notifications/initialized" and self._greeted
        return False

    def _note_client(self, params: Message) -> None:
        """Note protocol and name from an `initialize` that the SDK answers."""
        client = params.get("clientInfo")
        name = client.get("name") if isinstance(client, dict) else None
        self._speaks_handshake = params.get("protocolVersion") in VERSIONS and isinstance(name, str)
        if self._speaks_handshake and self._link is not None:
            self._name_client(str(name))

    def _name_client(self, name: str) -> None:
        assert self._link is not None
        self._link.name(name)
        self._audience = self._fixed_audience or audience_of(name)

    def _answer_to(self, request: _Request) -> Coroutine[Any, Any, Message] | None:
        """Return the coroutine that answers a request; None if the SDK answers it."""
        if request.id in self._requests:
            return None
        with contextlib.suppress(msgspec.ValidationError, RecursionError):
            if request.method == "tools/call" and self._greeted and len(self._answering) < CALLS_MAX:
                call = msgspec.convert(request.params, _Call)
                tool = find_tool(self._tools, call.name)
                return self._call(tool, call) if tool is not None and self._can_serve(tool) else None
            if self._imported:
                return None
            if request.method == "initialize" and not self._greeted:
                return self._accept_hello(msgspec.convert(request.params, _Hello))
            if self._greeted and not request.params and request.method in self._plain:
                return self._plain[request.method]()
        return None

    def _can_serve(self, tool: Tool) -> bool:
        """Whether there is an index, or the tool needs none. A call without an index waits for the
        first generation, which takes longer than the import of the SDK.
        """
        if self._is_indexed():
            return True
        return self._imported and tool.asks({}) == "memory"

    def _is_indexed(self) -> bool:
        assert self._link is not None
        freshness = self._link.freshness
        return freshness.serves(freshness.current())

    def _accept_hello(self, hello: _Hello) -> Coroutine[Any, Any, Message] | None:
        assert self._link is not None
        if hello.protocol_version not in VERSIONS:
            return None
        self._speaks_handshake = self._greeted = True
        self._name_client(hello.client_info.name)
        return self._greet(hello.protocol_version)

    async def _send(self, number: str | int, answer: Coroutine[Any, Any, Message]) -> None:
        try:
            body = await answer
        finally:
            if self._requests.get(number) is asyncio.current_task():  # the id may be in use again
                del self._requests[number]
        await self._say({"id": number} | body)

    async def _say(self, message: Message) -> None:
        await self._out.say(orjson.dumps({"jsonrpc": "2.0"} | message).decode() + "\n")

    async def _greet(self, version: str) -> Message:
        return {
            "result": {
                "capabilities": capabilities(),
                "instructions": instruct(self._tools, self._audience),
                "protocolVersion": version,
                "serverInfo": {"name": "cortex", "title": "Cortex", "version": __version__},
            }
        }

    async def _answer_ping(self) -> Message:
        return {"result": {}}

    async def _list_others(self, listed: Callable[[], Message]) -> Message:
        return {"result": listed()}

    async def _list(self) -> Message:
        await self.tools_ready.wait()
        assert self._link is not None
        names = await self._link.names()
        return {"result": {"tools": list_for(self._tools, names, self._audience)}}

    async def _call(self, tool: Tool, call: _Call) -> Message:
        assert self._link is not None
        token = call.meta.progress_token

        async def tell(progress: float, total: float | None, sentence: str) -> None:
            fields = {"progressToken": token, "progress": progress, "total": total, "message": sentence}
            params = {key: value for key, value in fields.items() if value is not None}
            await self._say({"method": "notifications/progress", "params": params})

        await self.tools_ready.wait()
        try:
            async with reporting_progress(self._link.freshness, None if token is None else tell):
                text, wrong = await run_tool(self._link, tool, call.arguments, self._audience)
        except Exception as error:
            code, sentence = explain(error, call.name)
            return {"error": {"code": code, "message": sentence}}
        return {"result": {"content": [{"text": text, "type": "text"}], "isError": wrong}}


def capabilities() -> Message:
    """Return the server's capabilities for a client of the handshake."""
    unchanged = {"listChanged": False}
    return {
        "completions": {},
        "logging": {},
        "prompts": unchanged,
        "resources": unchanged | {"subscribe": True},
        "tools": unchanged,
    }


def _read_request(line: Line) -> _Request | None:
    """Return the request in a line; None if the SDK has to read it."""
    if line.cut or len(line.text) > CHARS_MAX:
        return None
    try:
        request = _REQUESTS.decode(line.text)
    except (msgspec.DecodeError, RecursionError):  # nested deeper than any message
        return None
    # An id of more than 64 bits can be read, but not written into the answer.
    return None if isinstance(request.id, int) and abs(request.id) >> 63 else request


def head_of(number: str | int) -> str:
    """Return the beginning of the SDK's answer to the request."""
    return f'{{"jsonrpc":"2.0","id":{orjson.dumps(number).decode()},'
