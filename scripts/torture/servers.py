"""Storms of connections to `cortex serve`, with and without tokens, and a bridge to hostile
servers: the owner is always answered, and no server gets the token.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import urlsplit

import psutil

from torture.kills import load
from torture.record import Record
from torture.world import World, open_world

SCENARIO = "servers"
FILES = 3
TOKEN = "the-token-of-the-owner"
#: seconds for the owner's request, for a server's end, and for a bridge with a hostile server
ANSWER_S, END_S, BRIDGE_S = 10.0, 15.0, 60.0
#: bytes that a bridge may take
BRIDGE_BYTES_MAX = 250 << 20
INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip


def run(record: Record, until: float) -> None:
    """Run steps until `until` (monotonic); each is a storm and a bridge."""
    with open_world(record, SCENARIO, FILES) as world:
        world.environment["CORTEX_TOKEN"] = TOKEN
        while time.monotonic() < until:
            draws = record.draws(SCENARIO)
            _storm(world, record, draws)
            for _ in range(3):
                _bridge(world, record, draws)


def _storm(world: World, record: Record, draws: random.Random) -> None:
    guest = world.run("token", "guest").stdout.strip().splitlines()[-1]
    open_files = draws.choice((256, 1024, 20_000))
    server = subprocess.Popen(
        [
            "sh",
            "-c",
            f"ulimit -n {open_files} 2>&-; exec {sys.executable} -P -m cortex serve --port 0 --project {world.root}",
        ],
        env=world.environment | {"CORTEX_MCP_SSE_PORT": "0"},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    lines: list[str] = []
    try:
        while not lines or " on http://" not in lines[-1]:
            lines.append(server.stderr.readline())
            if not lines[-1]:
                record.breaks(SCENARIO, "a server starts", f"{open_files} open files: {lines}")
                return
        threading.Thread(target=lambda: lines.extend(server.stderr or ()), daemon=True).start()
        port = urlsplit(lines[-1].split()[-1]).port or 0
        with contextlib.ExitStack() as stack:
            kinds = draws.choices(sorted(REQUESTS), k=3)
            for kind in kinds:
                _open(stack, port, REQUESTS[kind].replace(b"TOKEN", guest.encode()), draws.randrange(50, 500))
                record.count(f"storms of {kind}")
            for _ in range(3):
                _ask_as_owner(record, port, f"{kinds} with {open_files} open files")
        if "Traceback" in (log := "".join(lines)):
            fault = log[log.index("Traceback") :]
            record.breaks(SCENARIO, "a storm is no error of the server", f"{kinds}: {fault}")
    finally:
        server.terminate()
        try:
            server.wait(END_S)
        except subprocess.TimeoutExpired:
            record.breaks(SCENARIO, f"a server ends within {END_S:g} s", load())
            server.kill()
            server.wait()


_BODY = json.dumps(INITIALIZE).encode()
_HOST = b"Host: 127.0.0.1\r\n"
_MCP = (
    b"POST /mcp HTTP/1.1\r\n" + _HOST + b"Authorization: Bearer TOKEN\r\nContent-Type: application/json\r\n"
    b"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(_BODY)
)
#: kind of storm → the bytes that each connection sends
REQUESTS = {
    "silence": b"",
    "half requests": b"GET /health HTTP/1.1\r\n" + _HOST + b"X-a: ",
    "unread files": (b"GET /static/page.css HTTP/1.1\r\n" + _HOST + b"\r\n") * 200,
    "wrong tokens": b"GET /v1/tools HTTP/1.1\r\n" + _HOST + b"Authorization: Bearer wrong\r\n\r\n",
    "streams": b"GET /v1/events HTTP/1.1\r\n" + _HOST + b"Authorization: Bearer TOKEN\r\n\r\n",
    "sessions": _MCP + _BODY,
    "half bodies": _MCP + _BODY[:-1],
    "garbage": b"\x16\x03\x01\x02\x00\x01" * 50,
}


def _open(stack: contextlib.ExitStack, port: int, sent: bytes, number: int) -> None:
    for _ in range(number):
        with contextlib.suppress(OSError):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", port), 5.0))
            line.setblocking(False)
            line.send(sent)


def _ask_as_owner(record: Record, port: int, what: str) -> None:
    began = time.monotonic()
    try:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_S)) as line:
            line.request("GET", "/v1/tools", headers={"Authorization": f"Bearer {TOKEN}"})
            status = line.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        record.breaks(SCENARIO, "the owner is answered in a storm", f"{what}: {error!r}; {load()}")
        return
    record.measure("an owner's answer in a storm, s", time.monotonic() - began)
    if status != 200:
        record.breaks(SCENARIO, "the owner is answered in a storm", f"{what}: {status}")


def _head(more: str = "", kind: str = "application/json") -> bytes:
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{more}\r\n".encode()


def _answers(draws: random.Random) -> tuple[bytes, bytes]:
    """Draw a hostile answer: its begin, and what is repeated without end."""
    alive = b'{"alive": true, "ready": true, "version": "0.1.0"}'
    return draws.choice(
        (
            (_head() + b'{"a":"', b"x" * 65536),
            (_head(kind="text/event-stream"), b"data: " + b"x" * 65536),
            (_head(kind="text/event-stream"), b"event: message\ndata: {}\n\n"),
            (_head("Content-Length: 50\r\n") + alive, b""),
            (_head("Content-Length: 50\r\nCortex-Proof: " + "a" * 64 + "\r\n") + alive, b""),
            (b"HTTP/1.1 302 Found\r\nLocation: http://localhost:1/\r\nContent-Length: 0\r\n\r\n", b""),
            (b"HTTP/1.1 200 OK\r\n", b"X-a: b\r\n"),
            (b"HTTP/1.1 503 No\r\nRetry-After: 999999999\r\nContent-Length: 0\r\n\r\n", b""),
            (_head("Content-Length: 20\r\n") + b'"\x1b[2J\x1b]0;title\x07    "', b""),
            (_head() + b"[" * 100_000, b""),
            (b"\x00\xff", b"\x00" * 1000),
            (b"", b""),
        )
    )


def _bridge(world: World, record: Record, draws: random.Random) -> None:
    """Let a bridge talk to a hostile server; it must end or answer, small, and show no token."""
    begin, repeated = _answers(draws)
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_serve, args=(listener, begin, repeated, received), daemon=True).start()
        port = listener.getsockname()[1]
        bridge = subprocess.Popen(
            [sys.executable, "-P", "-m", "cortex", "mcp", "--server", f"http://127.0.0.1:{port}"],
            env=os.environ | world.environment,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        watcher = threading.Thread(target=_watch, args=(bridge, record, begin), daemon=True)
        watcher.start()
        try:
            output, errors = bridge.communicate(_BODY + b"\n", BRIDGE_S)
        except subprocess.TimeoutExpired:
            record.breaks(SCENARIO, f"a bridge ends within {BRIDGE_S:g} s", f"{begin[:100]!r}; {load()}")
            bridge.kill()
            output, errors = bridge.communicate()
        watcher.join()
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
    record.count("bridges to hostile servers")
    if TOKEN.encode() in b"".join(received):
        record.breaks(SCENARIO, "no server gets a token that it has not proven", f"{begin[:100]!r}")
    if b"Traceback" in errors or b"\x1b" in output + errors:
        record.breaks(SCENARIO, "a hostile server is one sentence", f"{begin[:100]!r}: {errors[-600:]!r}")


def _serve(listener: socket.socket, begin: bytes, repeated: bytes, received: list[bytes]) -> None:
    def answer(line: socket.socket) -> None:
        with line, contextlib.suppress(OSError):
            line.settimeout(BRIDGE_S)
            received.append(line.recv(65536))
            line.sendall(begin)
            while repeated:
                line.sendall(repeated)

    with contextlib.suppress(OSError):
        while True:
            threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()


def _watch(bridge: subprocess.Popen[bytes], record: Record, begin: bytes) -> None:
    """Kill a bridge that takes too much memory."""
    while bridge.poll() is None:
        with contextlib.suppress(psutil.Error):
            taken = psutil.Process(bridge.pid).memory_info().rss
            record.measure("memory of a bridge, MB", taken / 1e6)
            if taken > BRIDGE_BYTES_MAX:
                record.breaks(SCENARIO, "a bridge is small", f"{taken >> 20} MiB after {begin[:100]!r}")
                bridge.kill()
        time.sleep(0.1)
