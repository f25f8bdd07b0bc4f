"""Concurrent readers and writers of a milvus-lite file."""

import threading

import pytest

from tests.wait_until import until
from workers.milvus import Turns

WAIT_S = 20.0


def test_two_read_at_the_same_time():
    turns, both = Turns(), threading.Barrier(2, timeout=WAIT_S)

    def read():
        with turns.read():
            both.wait()

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(WAIT_S)
    assert not both.broken


def test_a_writer_waits_for_readers_and_is_not_overtaken():
    turns, order = Turns(), list[str]()
    reading, may_finish = threading.Event(), threading.Event()

    def read_first():
        with turns.read():
            reading.set()
            assert may_finish.wait(WAIT_S)
            order.append("first reader")

    def write():
        with turns.write():
            order.append("writer")

    def read_later():
        with turns.read():
            order.append("later reader")

    first, writer, later = (threading.Thread(target=target) for target in (read_first, write, read_later))
    first.start()
    assert reading.wait(WAIT_S)
    writer.start()
    until(turns._door.locked, "the writer's turn")
    later.start()
    may_finish.set()
    for thread in (first, writer, later):
        thread.join(WAIT_S)
    assert order == ["first reader", "writer", "later reader"]


def test_one_writes_at_a_time():
    turns, inside, most = Turns(), list[int](), list[int]()

    def write():
        for _ in range(200):
            with turns.write():
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(WAIT_S)
    assert len(most) == 800
    assert set(most) == {1}


def test_a_wait_for_a_turn_ends():
    turns = Turns(wait_s=0.05)
    with turns.read(), pytest.raises(TimeoutError, match="is being read"), turns.write():
        pass
    with turns.write():
        for way in (turns.read, turns.write):
            with pytest.raises(TimeoutError, match="is being written"), way():
                pass
    with turns.read(), turns.read():  # a reader that gave up blocks nobody
        pass
    with turns.write():
        assert turns._door.locked()
    assert not turns._door.locked()
