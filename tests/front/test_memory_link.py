"""The connection of a front to memory: none before the first call; faults are one sentence."""

import asyncio
import time

import pytest

from cortex.ask.memory import Caller
from cortex.front.memory_link import MemoryLink
from cortex.front.programs.library import Cortex
from cortex.settings.config import load_data
from cortex.settings.data import DataFolder
from cortex.system.errors import Misconfigured, Unavailable

#: deadline of a call in seconds; a test should use none of it
DEADLINE_S = 30.0


def call(find, **options):
    async def run():
        remembering = MemoryLink(find, **options)
        try:
            context = remembering.context(time.monotonic() + DEADLINE_S, Caller)
            return await context.call("stats", writes=False)
        finally:
            await remembering.close()

    return asyncio.run(run())


def test_before_the_first_call_memory_is_not_even_looked_for(tmp_path):
    def find():
        raise AssertionError("nobody asked for memory")

    async def run():
        remembering = MemoryLink(find)
        remembering.context(time.monotonic() + DEADLINE_S, Caller)
        await remembering.close()

    asyncio.run(run())


def test_every_call_reports_a_wrong_folder():
    for _ in range(2):
        with pytest.raises(Misconfigured, match="not an absolute path"):
            call(lambda: load_data({"memory": {"data_dir": "here"}}))


def test_every_call_reports_a_folder_that_cannot_be_created(tmp_path):
    (tmp_path / "file").write_text("")
    for _ in range(2):
        with pytest.raises(Misconfigured, match=r"memory's folder .*file/data cannot be used"):
            call(lambda: DataFolder(tmp_path / "file" / "data"))


def test_without_start_a_missing_set_is_reported(tmp_path):
    with pytest.raises(Unavailable, match="`cortex memory up` starts them"):
        call(lambda: DataFolder(tmp_path), start=False)


def glance(find):
    async def run():
        remembering = MemoryLink(find)
        try:
            context = remembering.context(time.monotonic() + DEADLINE_S, Caller)
            return await context.glance("stats", {})
        finally:
            await remembering.close()

    return asyncio.run(run())


def test_a_question_of_code_starts_no_memory(tmp_path):
    data = DataFolder(tmp_path / "data")
    assert glance(lambda: data) is None
    assert not data.root.exists()
    assert not data.runtime_dir.exists()


def test_a_query_about_code_gets_notes_of_a_running_memory(data):
    with Cortex.open(data, embedded=True) as memory:
        memory.store("The port is 8080")
        stats = None
        for _ in range(100):  # the machine may be busy at first
            stats = stats or glance(lambda: DataFolder(data))
        assert stats["node_count"] == 1


@pytest.mark.parametrize(("connect_s", "asked_again"), [(DEADLINE_S, True), (0.0, False)])
def test_a_memory_is_left_alone_when_it_is_silent_and_not_while_it_is_being_connected_to(
    tmp_path, monkeypatch, connect_s, asked_again
):
    monkeypatch.setattr("cortex.front.memory_link.CONNECT_S", connect_s)
    data = DataFolder(tmp_path / "data")
    data.runtime_dir.mkdir(parents=True)
    (data.runtime_dir / "memory.1.sock").touch()  # nothing answers there

    async def run():
        remembering = MemoryLink(lambda: data)
        try:
            remembering.warm()
            context = remembering.context(time.monotonic() + DEADLINE_S, Caller)
            assert await context.glance("stats", {}) is None
            assert (remembering.client() is not None) is asked_again
        finally:
            await remembering.close()

    asyncio.run(run())


def test_a_one_shot_process_waits_for_the_first_connection(data):
    async def run():
        remembering = MemoryLink(lambda: DataFolder(data), glance_s=DEADLINE_S)
        try:
            return await remembering.context(time.monotonic() + DEADLINE_S, Caller).glance("stats", {})
        finally:
            await remembering.close()

    with Cortex.open(data, embedded=True) as memory:
        memory.store("The port is 8080")
        assert asyncio.run(run())["node_count"] == 1
