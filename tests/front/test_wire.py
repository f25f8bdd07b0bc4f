"""Output of a front: at once if the client reads it, in a thread for a slow one, always whole."""

import asyncio
import os
import select
import socket
import sys
import threading

import pytest

from cortex.front.mcp.stdio import Wire
from cortex.system.hosts import send_now

LINE = '{"jsonrpc":"2.0","id":1,"result":"' + "x" * 1_000_000 + '"}\n'


@pytest.fixture
def pipe():
    read, write = os.pipe()
    yield read, write
    os.close(read)
    os.close(write)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a pipe holds")
def test_an_empty_pipe_takes_an_answer_at_once_and_a_filled_one_does_not(pipe):
    read, write = pipe
    assert send_now(write, b"x" * 40_000) == 40_000
    assert send_now(write, b"y") == 0
    assert os.read(read, 65536) == b"x" * 40_000
    assert send_now(write, b"y" * 1_000_000) == 0


def test_a_socket_takes_what_it_has_room_for():
    first, other = socket.socketpair()
    with first, other:
        data = b"x" * 4_000_000
        sent = send_now(first.fileno(), data)
        assert 0 < sent < len(data)
        assert send_now(first.fileno(), data) < len(data)
        assert other.recv(100) == b"x" * 100


def test_a_file_is_left_to_the_thread(tmp_path):
    with (tmp_path / "out").open("wb") as file:
        assert send_now(file.fileno(), b"x") == 0


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_slow_reader_gets_every_byte(kind):
    if kind == "pipe":
        read, write = os.pipe()
    else:
        read, write = (end.detach() for end in socket.socketpair())
    received = bytearray()

    def take():
        while data := os.read(read, 1000):
            received.extend(data)

    async def give():
        wire = Wire(write, 5.0)
        for _ in range(3):
            await wire.write(LINE)

    reader = threading.Thread(target=take)
    reader.start()
    asyncio.run(asyncio.wait_for(give(), 30))
    os.close(write)
    reader.join(30)
    os.close(read)
    assert bytes(received) == 3 * LINE.encode()


def test_a_reader_that_never_reads_ends_with_its_input(pipe):
    read, write = os.pipe()

    async def run():
        wire = Wire(pipe[1], 5.0)
        writing = asyncio.create_task(wire.write(LINE))
        waiting = asyncio.create_task(wire.wait_abandoned(read))
        _, pending = await asyncio.wait([writing, waiting], timeout=2.5)
        assert pending == {writing, waiting}  # the client is connected, and may still read
        os.close(write)
        await asyncio.wait_for(waiting, 10)
        while not writing.done():
            # All may have been written since the last look: a read alone would wait for ever.
            ready, _, _ = await asyncio.to_thread(select.select, [pipe[0]], [], [], 0.05)
            if ready:
                os.read(pipe[0], 1 << 20)

    asyncio.run(asyncio.wait_for(run(), 30))
    os.close(read)
