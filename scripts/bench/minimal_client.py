"""A minimal client of MCP over standard input and output: its times are the server's."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

import orjson

#: seconds until an answer must arrive
ANSWER_S = 600.0
#: bytes that are read at once
BLOCK_BYTES = 1 << 16
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "plain", "version": "1"}}


class Server:
    """An MCP server, from `initialize` on; `started` is its start by time.perf_counter."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            bufsize=0,
        )
        self._buffer, self._number = b"", 0
        assert self._process.stdout is not None
        self._out = self._process.stdout.fileno()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)
        self.ask("initialize", HELLO)
        self._say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def call(self, tool: str, arguments: Mapping[str, Any], bound_s: float = ANSWER_S) -> bytes:
        """Return a tool's answer as received, without parsing.

        Raises TimeoutError if none arrives within `bound_s`, RuntimeError if the server ends.
        """
        return self.ask("tools/call", {"name": tool, "arguments": arguments}, bound_s)

    def kill(self) -> None:
        """Kill the server while it works."""
        self._process.kill()

    def ask(self, method: str, parameters: Mapping[str, Any], bound_s: float = ANSWER_S) -> bytes:
        self._number += 1
        number = self._number
        self._say({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
        until = time.monotonic() + bound_s
        while True:
            line = self._line(until)
            if b'"method"' in line[:80]:  # a notification, or a request to the client
                continue
            if orjson.loads(line).get("id") == number:
                return line

    def _say(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(orjson.dumps(message) + b"\n")

    def _line(self, until: float) -> bytes:
        while b"\n" not in self._buffer:
            if not self._selector.select(max(0.0, until - time.monotonic())):
                raise TimeoutError("no answer in time")
            block = os.read(self._out, BLOCK_BYTES)
            if not block:
                raise RuntimeError("the server ended without an answer")
            self._buffer += block
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line
