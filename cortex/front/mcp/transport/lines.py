"""The lines of standard input: split into messages and checked.

A line that the SDK would drop without an answer gets an error here. The SDK reads the content of
all others.
"""

import asyncio
import io
import os
import re
import stat
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from cortex.system import hosts

#: JSON-RPC codes: not JSON; JSON, but no message
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
#: maximum of bytes of one message; a query may have 64 kB
LINE_BYTES_MAX = 16 * 1024 * 1024
#: bytes at the beginning of an unreadable line that are searched for its id
HEAD_BYTES = 1024 * 1024
#: bytes of one read
BLOCK_BYTES = 256 * 1024

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|[^\s{}\[\],:"]+')
_INTEGER = re.compile(r"-?\d{1,18}")


@dataclass(frozen=True, slots=True)
class Line:
    """One line. `cut`: it is longer than LINE_BYTES_MAX, and `text` is only its beginning."""

    text: str
    cut: bool = False


class InvalidLine(Exception):  # noqa: N818 - errors name the condition
    """A line that is no message, with its JSON-RPC error: `code`, sentence, `number` (the id)."""

    def __init__(self, code: int, sentence: str, number: str | int | None = None) -> None:
        super().__init__(sentence)
        self.code, self.number = code, number

    def answer(self) -> str:
        error = {"code": self.code, "message": str(self)}
        return orjson.dumps({"jsonrpc": "2.0", "id": self.number, "error": error}).decode() + "\n"


class Splitter:
    """Splits blocks of bytes into lines; keeps only the beginning of a line that is too long, and
    drops a byte order mark at the start of a line.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._cut = False

    def feed(self, data: bytes) -> Iterator[Line]:
        *ended, remainder = data.split(b"\n")
        for end in ended:
            self._append(end)
            yield self._take()
        self._append(remainder)

    def finish(self) -> Iterator[Line]:
        """Yield the last line, if no line end followed."""
        if self._buffer:
            yield self._take()

    def _append(self, data: bytes) -> None:
        if self._cut:
            return
        self._buffer += data
        if len(self._buffer) > LINE_BYTES_MAX:
            self._cut = True
            del self._buffer[HEAD_BYTES:]

    def _take(self) -> Line:
        line = Line(self._buffer.decode("utf-8", "replace").removeprefix("\ufeff"), self._cut)
        self._buffer, self._cut = bytearray(), False
        return line


async def read_lines(source: io.FileIO) -> AsyncIterator[Line]:
    """Yield the lines of `source` that are not blank."""
    splitter = Splitter()
    async for block in _read_blocks(source):
        for line in splitter.feed(block):
            if line.text.strip():
                yield line
    for line in splitter.finish():
        if line.text.strip():
            yield line


async def _read_blocks(source: io.FileIO) -> AsyncIterator[bytes]:
    """Yield blocks of bytes: without threads if the loop can wait for them (a pipe or a socket)."""
    kind = os.fstat(source.fileno()).st_mode
    waits = not hosts.WINDOWS and (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or source.isatty())
    if not waits:  # a file, /dev/null, and everything on Windows
        while data := await asyncio.to_thread(source.read, BLOCK_BYTES):
            yield data
        return
    reader = asyncio.StreamReader(limit=BLOCK_BYTES)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    while data := await reader.read(BLOCK_BYTES):
        yield data


def check(line: Line) -> bool:
    """Return whether the line is a request. Raises InvalidLine for a line that is no message."""
    if line.cut:
        size = f"{LINE_BYTES_MAX >> 20} MiB"
        raise InvalidLine(
            INVALID_REQUEST, f"The message is longer than {size}; send less.", find_id(line.text)
        )
    try:
        message = orjson.loads(line.text)
    except orjson.JSONDecodeError as error:
        raise InvalidLine(PARSE_ERROR, f"The line is not JSON: {error}.", find_id(line.text)) from error
    if isinstance(message, list):
        raise InvalidLine(INVALID_REQUEST, "Batches are not served; send each message on a line of its own.")
    if not isinstance(message, dict):
        raise InvalidLine(INVALID_REQUEST, "A message must be a JSON object.")
    number = message.get("id")
    request_id = number if isinstance(number, str | int) and not isinstance(number, bool) else None
    if "method" not in message:  # an answer has an id of ours: the client would mistake it for its own
        request_id = None
    if sentence := _fault(message, request_id):
        raise InvalidLine(INVALID_REQUEST, sentence, request_id)
    _check_with_sdk(line.text, request_id)
    return "id" in message and "method" in message


def _fault(message: dict[str, Any], number: str | int | None) -> str:
    """Return the error in the frame of a message; "" for none."""
    if message.get("jsonrpc") != "2.0":
        return 'A message must have "jsonrpc": "2.0".'
    if "method" not in message:
        answers = "id" in message and ("result" in message or "error" in message)
        return "" if answers else "A message must have a `method`, or be an answer."
    if not isinstance(message["method"], str):
        return "`method` must be a string."
    if not isinstance(message.get("params", {}), dict | None):
        return "`params` must be an object."
    return "`id` must be a string or an integer." if "id" in message and number is None else ""


def _check_with_sdk(text: str, number: str | int | None) -> None:
    """Raise InvalidLine for JSON that the SDK refuses, as nesting of 200 levels."""
    from mcp_types import jsonrpc_message_adapter
    from pydantic import ValidationError

    try:
        jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError as error:
        fault = error.errors()[0]
        broken = fault["type"] == "json_invalid"
        code, what = (PARSE_ERROR, "line") if broken else (INVALID_REQUEST, "message")
        raise InvalidLine(code, f"The {what} cannot be read: {fault['msg']}.", number) from error


def find_id(text: str) -> str | int | None:
    """Return the id of an unreadable request; None if unclear: an answer has an id of ours."""
    depth, number, asks = 0, None, False
    key = colon = value = end = ""
    for match in _TOKEN.finditer(text[:HEAD_BYTES]):
        key, colon, value, end = colon, value, end, match[0]
        if depth == 1 and end == ":":
            asks |= value == '"method"'
        if depth == 1 and key == '"id"' and colon == ":" and end in (",", "}"):
            number = _read_id(value)
        if number is not None and asks:
            return number
        depth += (end in ("{", "[")) - (end in ("}", "]"))
    return None


def _read_id(token: str) -> str | int | None:
    if _INTEGER.fullmatch(token):
        return int(token)
    try:
        read = orjson.loads(token)
    except orjson.JSONDecodeError:
        return None
    return read if isinstance(read, str) else None
