"""Garbage on every socket of a running set, by ZeroMQ and in other protocols.

No process ends, no call hangs, and the next query is answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
import time

import pytest
import zmq
from zmq.utils.monitor import parse_monitor_message

from ipc.codec import MESSAGE_BYTES_MAX
from tests.wait_until import BOUND_S

pytestmark = pytest.mark.e2e

#: a body nested deeper than any reader goes
DEEP = b'{"fields": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
#: seconds that a socket may take to accept its input
SEND_S = 5.0


def frame_of(deadline: float, kind: bytes, body: bytes, *raw: bytes) -> list[bytes]:
    """Return a frame in our format with any content."""
    return [struct.pack(">QdBI", 1, deadline, len(kind), len(body)) + b"".join((kind, body, *raw))]


def messages(draws: random.Random) -> list[list[bytes]]:
    """Return frames that are no message of ours, or a message that has no reply."""
    soon = time.monotonic() + 60
    return [
        [b""],
        [b"", b"", b""],
        [draws.randbytes(16), draws.randbytes(40), draws.randbytes(4000)],
        [draws.randbytes(4000)],
        [struct.pack(">QdBI", 1, soon, 255, 0xFFFFFFFF) + b"ExactSearch"],
        frame_of(soon, b"ExactSearch", b""),
        frame_of(soon, b"ExactSearch", DEEP),
        frame_of(soon, b"ExactSearch", b'{"fields": {"query": 7}}'),
        frame_of(
            soon, b"ExactSearch", b'{"fields": {"query": "x"}, "raw": {"vector": ["<f4", [1]]}}', b"\0" * 9
        ),
        frame_of(soon, b"VectorSearch", b'{"fields": {}, "raw": {"vector": ["<f8", [-1, 4]]}}', b"\0" * 7),
        frame_of(
            soon, b"VectorSearch", b'{"fields": {"limit": -1}, "raw": {"vector": ["|O", [2]]}}', bytes(16)
        ),
        frame_of(soon, b"os.system", b'{"fields": {"command": "true"}}'),
        frame_of(float("inf"), b"ExactSearch", b'{"fields": {"query": "x"}}'),
        frame_of(float("nan"), b"ExactSearch", b'{"fields": {"query": "x"}}'),
        frame_of(-1e308, b"GetStatus", b'{"fields": {}}'),
        [*frame_of(soon, b"GetStatus", b'{"fields": {}}'), *[b"x"] * 2000],
        frame_of(soon, b"Embed", b'{"fields": {"texts": [' + b'"x",' * 100_000 + b'"x"]}}'),
        [b"\xff" * 1_000_000] * 5,
        frame_of(soon, b"ExactSearch", bytes(MESSAGE_BYTES_MAX + 1)),
    ]


def connect(link: zmq.Socket[bytes], address: str) -> bool:
    """Connect, and return whether the other side takes this kind of socket: else each message would
    wait until its deadline.
    """
    monitor = link.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED)
    link.connect(address)
    assert monitor.poll(BOUND_S * 1000)
    is_taken: bool = parse_monitor_message(monitor.recv_multipart())["event"] == zmq.EVENT_HANDSHAKE_SUCCEEDED
    link.disable_monitor()
    return is_taken


def send(address: str, draws: random.Random) -> list[int]:
    """Send each message by ZeroMQ, from each kind of socket that may connect; return the kinds that
    the other side takes.
    """
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    taken = []
    for kind in (zmq.DEALER, zmq.REQ, zmq.SUB, zmq.PUSH):
        with context.socket(kind) as link:
            link.setsockopt(zmq.LINGER, int(SEND_S * 1000))
            link.setsockopt(zmq.SNDTIMEO, int(SEND_S * 1000))
            if not connect(link, address):
                link.setsockopt(zmq.LINGER, 0)
                continue
            taken.append(kind)
            if kind == zmq.SUB:
                for _ in range(200):
                    link.subscribe(draws.randbytes(100))
                continue
            for frames in messages(draws) if kind == zmq.DEALER else messages(draws)[:1]:
                with contextlib.suppress(zmq.Again):
                    link.send_multipart(frames)
    context.destroy()
    return taken


def speak(path: str, draws: random.Random) -> None:
    """Send bytes that are not ZeroMQ, its greeting with unknown versions, and unknown commands to
    the supervisor.
    """
    greeting = b"\xff" + bytes(8) + b"\x7f"
    for data in (
        b"",
        draws.randbytes(100_000),
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        *(greeting + bytes([version]) + draws.randbytes(53) for version in (0, 1, 2, 3, 4, 255)),
        greeting
        + b"\x03\x01NULL"
        + bytes(48)
        + b"\x06\xff\xff\xff\xff\xff\xff\xff\xff"
        + draws.randbytes(64),
        b"[" * 60_000 + b"\n",
        b'{"command": ' + b"[" * 50_000 + b"\n",
        b'{"command": {"a": NaN}}\n{"command": 1e999}\n\xff\xfe\n',
        b'{"command": "status"}\n' * 2000,
    ):
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(SEND_S)
            link.connect(path)
            with contextlib.suppress(OSError):
                link.recv(1)  # a client that has left is not read from
                link.sendall(data)
                link.shutdown(socket.SHUT_WR)
                while link.recv(1 << 16):
                    pass


def test_garbage_on_every_socket_ends_no_process_and_the_next_query_is_answered(project, facts):
    draws = random.Random(1)

    async def ask():
        async with project.front() as front:
            await front.until_complete()
            before = {name: member["pid"] for name, member in project.members().items()}
            sockets = sorted(project.config.runtime_dir.glob("*.sock"))
            assert len(sockets) >= 6, sockets
            for path in sockets:
                await asyncio.to_thread(speak, str(path), draws)
                if path.name != "supervisor.sock":
                    taken = await asyncio.to_thread(send, f"ipc://{path}", draws)
                    assert taken == ([zmq.SUB] if path.name == "events.sock" else [zmq.DEALER, zmq.REQ]), path
            for word, file in facts.items():
                answer = await front.call("cortex_search", query=word)
                assert file in [hit["chunk"]["metadata"]["file_path"] for hit in answer["results"]]
                assert not answer["index"]["degraded"], answer["index"]
            assert {name: member["pid"] for name, member in project.members().items()} == before

    asyncio.run(ask())
    project.nothing_left()
