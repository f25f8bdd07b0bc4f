"""A front with a client of a few lines of JSON-RPC: a killed, frozen or confused front must not
take this client along, as it would the official one.
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

#: seconds after which a call counts as unanswered: the usual deadline of ten, and some air. Time
#: that the front's threads wait for a processor is not counted, here and in START_S: a loaded
#: machine breaks no promise
CALL_S = 13.0
#: seconds within which a front must answer `initialize`; it takes two of processor time
START_S = 6.0
#: seconds after which a wait ends, however long the front waited for a processor
EVER_S = 120.0
#: seconds between two measurements of the front's wait for a processor
LOOK_S = 0.5
#: seconds that a front has to end after its standard input is closed
END_S = 2.0
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "torture", "version": "1"},
}


@dataclass(frozen=True)
class Reply:
    """How a call ended: `answer`, `refused` (an error or a result with isError), `gone` (the front
    ended) or `silent`.
    """

    kind: str
    value: dict[str, Any]
    seconds: float

    @property
    def files(self) -> list[str]:
        """Return the files of an answer's hits."""
        return [hit["chunk"]["metadata"]["file_path"] for hit in self.value.get("results", ())]

    @property
    def index(self) -> dict[str, Any]:
        return dict(self.value.get("index") or {})


class Front:
    """A `cortex mcp` process; several threads may call it."""

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
        #: messages that no call waits for: errors without an id, notifications
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
        """Write a line as it is; return False if the front no longer reads."""
        assert self.process.stdin is not None
        try:
            with self._writing:
                self.process.stdin.write(line + b"\n")
                self.process.stdin.flush()
        except (OSError, ValueError):
            return False
        return True

    def request(self, method: str, params: dict[str, Any], bound_s: float) -> Reply:
        """Send a request; return its reply, or how it ended within `bound_s` seconds."""
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
        """Do the handshake."""
        reply = self.request("initialize", HELLO, bound_s)
        if reply.kind == "answer":
            self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return reply

    def call(self, tool: str, bound_s: float = CALL_S, **arguments: Any) -> Reply:
        """Call a tool."""
        return self.request("tools/call", {"name": tool, "arguments": arguments}, bound_s)

    def close(self, bound_s: float = END_S) -> bool:
        """Close the standard input; return whether the front ended within `bound_s`. Kill it
        otherwise.
        """
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
    """Return a tool's result: decoded if its text is JSON, else as it is."""
    if "content" not in result:
        return Reply("answer", result, took)
    text = result["content"][0]["text"] if result["content"] else "{}"
    if result.get("isError"):
        return Reply("refused", {"message": text}, took)
    return Reply("answer", json.loads(text), took)


def delay_s(process: int) -> float:
    """Return the seconds that the threads of a process have waited for a processor; 0 if
    unknown.
    """
    total = 0
    with contextlib.suppress(OSError, IndexError):
        for path in Path(f"/proc/{process}/task").iterdir():
            total += int((path / "schedstat").read_bytes().split()[1])
    return total / 1e9
