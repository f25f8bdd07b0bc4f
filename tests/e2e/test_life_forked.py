"""The fork server of a real set: it has imported all that its children need, and starts no thread
or socket of its own.
"""

from __future__ import annotations

import asyncio

import psutil
import pytest

from cortex.processes.fork_client import may_fork

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not may_fork(), reason="nothing is forked here"),
]

#: an indexer has the grammars of its project's languages as well
WORKERS = ("text", "vector", "graph", "watcher")


def libraries(pid: int) -> set[str]:
    return {mapping.path for mapping in psutil.Process(pid).memory_maps() if ".so" in mapping.path}


def test_a_fork_server_has_loaded_every_library_of_its_workers(project, facts):
    async def ask() -> None:
        async with project.front() as front:
            for word, path in facts.items():
                await front.until_found(word, path)
            await front.call("cortex_search", query="how often is a request repeated", limit=3)
            await front.call("cortex_explore", query="check_password")
            server = project.status()["fork_server"]
            assert psutil.Process(server).num_threads() == 1
            had = libraries(server)
            assert any("tantivy" in library for library in had)
            for name in WORKERS:
                assert not libraries(project.member(name)["pid"]) - had, name

    asyncio.run(ask())
    project.nothing_left()
