"""A worker is killed under clients: no wrong answer, no hanging call, and soon no difference."""

from __future__ import annotations

import asyncio
import os
import signal

import psutil
import pytest
from mcp import MCPError

from tests.wait_until import until

pytestmark = pytest.mark.e2e

CLIENTS = 8


def test_a_killed_worker_gives_no_wrong_answer_and_is_replaced(project, facts):
    async def ask():
        async with project.front() as front:
            for name in ("vector", "text", "watcher", "indexer"):
                await front.until_complete()
                await kill_under_clients(project, front, facts, name)
            await front.until_complete()

    asyncio.run(ask())
    project.nothing_left()


async def kill_under_clients(project, front, facts, name):
    """Kill the named worker while clients ask, and return when each has had answers of the next."""
    victim = (await asyncio.to_thread(project.member, name))["pid"]
    stop = asyncio.Event()
    answered = [0] * CLIENTS

    async def client(number):
        words = list(facts)
        while not stop.is_set():
            word = words[answered[number] % len(words)]
            tool = ("cortex_search", "cortex_exact")[number % 2]
            try:
                answer = await front.call(tool, query=word)  # its own deadline is inside
            except MCPError as error:
                assert error.code == -32603, error  # noqa: PT017
                await asyncio.sleep(0.01)
            else:
                paths = [hit["chunk"]["metadata"]["file_path"] for hit in answer["results"]]
                assert facts[word] in paths or answer["index"]["degraded"], (name, answer)
            answered[number] += 1

    async with asyncio.TaskGroup() as group:
        for number in range(CLIENTS):
            group.create_task(client(number))
        while min(answered) < 2:
            await asyncio.sleep(0.01)
        os.kill(victim, signal.SIGKILL)
        await asyncio.to_thread(
            until, lambda: project.members()[name]["pid"] not in (0, victim), f"another {name}"
        )
        answered_before = list(answered)
        while any(now < before + 2 for now, before in zip(answered, answered_before, strict=True)):
            await asyncio.sleep(0.01)
        stop.set()


def test_a_watcher_that_is_killed_while_it_publishes_leaves_an_index_that_serves(project, facts):
    def another(killed):
        return until(lambda: (pid := project.member("watcher")["pid"]) != killed and pid, "another watcher")

    async def ask():
        async with project.front() as front:
            await front.until_complete()
            pid = 0
            for number in range(5):
                pid = await asyncio.to_thread(another, pid)
                path = project.root / f"late_{number}.py"
                path.write_text(f"def arrives_late_{number}():\n    return {number}\n")
                index = project.config.index_dir
                before = index.stat().st_mtime_ns
                async with asyncio.timeout(30):
                    while index.stat().st_mtime_ns == before:
                        await asyncio.sleep(0)
                os.kill(pid, signal.SIGKILL)
                for word, path in facts.items():
                    assert path in await front.files("cortex_exact", word)
            for number in range(5):
                await front.until_found(f"arrives_late_{number}", f"late_{number}.py")
            await front.until_complete()

    asyncio.run(ask())
    project.nothing_left()


def test_an_indexer_that_is_killed_with_its_pool_leaves_nothing_behind(project):
    for number in range(400):
        lines = "\n".join(f"def function_{number}_{line}(x): return x + {line}" for line in range(40))
        (project.root / f"many_{number}.py").write_text(lines)

    async def ask():
        async with project.front() as front:
            indexer = psutil.Process((await asyncio.to_thread(project.member, "indexer"))["pid"])
            pool = await asyncio.to_thread(
                until,
                lambda: not indexer.is_running() or indexer.children(recursive=True),
                "the indexer's pool",
            )
            indexer.kill()
            if isinstance(pool, list):
                await asyncio.to_thread(
                    until,
                    lambda: (
                        not any(process.is_running() and process.status() != "zombie" for process in pool)
                    ),
                    "the pool's end",
                )
            await front.until_found("function_399_39", "many_399.py")
            await front.until_complete()

    asyncio.run(ask())
    project.nothing_left()


def test_a_saved_file_is_found(project):
    async def ask():
        async with project.front() as front:
            await front.until_complete()
            path = project.root / "auth" / "login.py"
            path.write_text(path.read_text() + "\n\ndef lock_account(name: str) -> None: ...\n")
            await front.until_found("lock_account", "auth/login.py")
            path.unlink()
            async with asyncio.timeout(60):
                while await front.files("cortex_exact", "lock_account"):
                    await asyncio.sleep(0.05)

    asyncio.run(ask())
