"""A front as an agent has it, by its own few lines of JSON-RPC: what is killed, frozen and fed
garbage must not take the client along, as it would the official one.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: seconds of a call after which it counts as one without an answer: the usual deadline of ten, and
#: some air. Time that the front's threads waited for a processor does not count: with this, and
#: with START_S, a machine under load breaks no promise
CALL_S = 13.0
#: seconds until a front must have answered `initialize`; it takes two of a processor
START_S = 6.0
#: seconds after which a wait ends whatever the front waited for
EVER_S = 120.0
#: seconds between two looks at how long the front waited for a processor
LOOK_S = 0.5
#: seconds that a front has to end after the end of its standard input
END_S = 2.0
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "torture", "version": "1"},
}


@dataclass(frozen=True)
class Reply:
    """How a call ended: `answer`, `refused` (an error or a result with isError), `gone` (the front
    ended meanwhile) or `silent`.
    """

    kind: str
    value: dict[str, Any]
    seconds: float

    @property
    def files(self) -> list[str]:
        """The files of an answer's hits."""
        return [hit["chunk"]["metadata"]["file_path"] for hit in self.value.get("results", ())]

    @property
    def index(self) -> dict[str, Any]:
        return dict(self.value.get("index") or {})


class Front:
    """One `cortex mcp`; calls may come from several threads."""

    def __init__(self, root: Path, environment: Mapping[str, str], log: Path) -> None:
        command = [sys.executable, "-P", "-m", "cortex", "mcp", "--project", str(root)]
        self._log = log.open("ab")
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=dict(environment),
            cwd="/",
        )
        self._numbers = itertools.count(1)
        self._waiting: dict[Any, queue.SimpleQueue[dict[str, Any] | None]] = {}
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._ended = self.closed = False
        #: what came that no call waited for: errors without an id, notifications
        self.others: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def alive(self) -> bool:
        return not self._ended and self.process.poll() is None

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                message = {"not_json": line.decode(errors="replace")}
            with self._lock:
                waiting = self._waiting.pop(message.get("id"), None) if "method" not in message else None
            (waiting or self.others).put(message)
        with self._lock:
            self._ended = True
            left, self._waiting = list(self._waiting.values()), {}
        for waiter in left:
            waiter.put(None)

    def send(self, line: bytes) -> bool:
        """Write one line as it is; False when the front does not take it any more."""
        assert self.process.stdin is not None
        try:
            with self._writing:
                self.process.stdin.write(line + b"\n")
                self.process.stdin.flush()
        except (OSError, ValueError):
            return False
        return True

    def request(self, method: str, params: dict[str, Any], bound_s: float) -> Reply:
        """One request, and how it ended within `bound_s` seconds."""
        number = next(self._numbers)
        answer: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        started = time.monotonic()
        with self._lock:
            if self._ended:
                return Reply("gone", {}, 0.0)
            self._waiting[number] = answer
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        if not self.send(json.dumps(message).encode()):
            return Reply("gone", {}, 0.0)
        delayed = delay_s(self.process.pid)
        while True:
            try:
                response = answer.get(timeout=LOOK_S)
                break
            except queue.Empty:
                took = time.monotonic() - started
                if took > EVER_S or took - max(0.0, delay_s(self.process.pid) - delayed) > bound_s:
                    with self._lock:
                        self._waiting.pop(number, None)
                    return Reply("silent", {}, took)
        took = time.monotonic() - started
        if response is None:
            return Reply("gone", {}, took)
        return (
            Reply("refused", response["error"], took)
            if "error" in response
            else _result(response["result"], took)
        )

    def initialize(self, bound_s: float = START_S) -> Reply:
        """The handshake."""
        reply = self.request("initialize", HELLO, bound_s)
        if reply.kind == "answer":
            self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return reply

    def call(self, tool: str, bound_s: float = CALL_S, **arguments: Any) -> Reply:
        """One call of a tool."""
        return self.request("tools/call", {"name": tool, "arguments": arguments}, bound_s)

    def close(self, bound_s: float = END_S) -> bool:
        """End the standard input; whether the front ended within `bound_s`. Kills it otherwise."""
        assert self.process.stdin is not None
        self.closed = True
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        started, first, delayed = time.monotonic(), delay_s(self.process.pid), 0.0
        in_time = True
        while in_time and self.process.poll() is None:
            delayed = max(delayed, delay_s(self.process.pid) - first)
            in_time = time.monotonic() - started - delayed < bound_s
            time.sleep(0.02)
        if not in_time:
            self.process.kill()
        self.process.wait()
        self._reader.join(5.0)
        self._log.close()
        return in_time


def _result(result: dict[str, Any], took: float) -> Reply:
    """A tool's result: its text is the answer's JSON; other results are as they are."""
    if "content" not in result:
        return Reply("answer", result, took)
    text = result["content"][0]["text"] if result["content"] else "{}"
    if result.get("isError"):
        return Reply("refused", {"message": text}, took)
    return Reply("answer", json.loads(text), took)


def delay_s(process: int) -> float:
    """Seconds that the threads of a process waited for a processor so far; 0 if it is not told."""
    total = 0
    with contextlib.suppress(OSError, IndexError):
        for path in Path(f"/proc/{process}/task").iterdir():
            total += int((path / "schedstat").read_bytes().split()[1])
    return total / 1e9
