"""A whole set over an index in milvus-lite, as clients see it when that process fails."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
from mcp import MCPError

from tests.wait_until import until

pytest.importorskip(
    "milvus_lite", reason="milvus-lite is not here: pip install 'cortex-context-engine[milvus]'"
)
pytestmark = pytest.mark.e2e


@pytest.fixture
def milvus_project(project, tmp_path, monkeypatch):
    """A project that is published to a milvus-lite file, and served from there."""
    settings = {"ENGINES_TEXT": "milvus", "ENGINES_VECTOR": "milvus", "MILVUS_URI": str(tmp_path / "lite.db")}
    for name, value in settings.items():
        monkeypatch.setenv(f"CORTEX_{name}", value)
        project.environment[f"CORTEX_{name}"] = value
    done = project.run("index", "--to", "milvus")
    assert done.returncode == 0, done.stderr
    return project


def test_a_hanging_or_dead_milvus_is_reported_in_time_and_answers_recover_without_a_restart(
    milvus_project, facts
):
    async def tried(front, word):
        """Return whether the query was answered; a refusal must name Milvus or the silent
        worker.
        """
        try:
            answer = await front.call("cortex_exact", query=word)
        except MCPError as error:
            assert error.code == -32603, error  # noqa: PT017
            return False
        paths = [hit["chunk"]["metadata"]["file_path"] for hit in answer["results"]]
        assert facts[word] in paths or answer["index"]["degraded"], answer
        return facts[word] in paths

    async def ask():
        async with milvus_project.front() as front:
            await front.until_complete()
            process = (await asyncio.to_thread(milvus_project.member, "milvus"))["pid"]
            os.kill(process, signal.SIGSTOP)
            word = next(iter(facts))
            for _ in range(3):  # each within the deadline of a call
                await tried(front, word)
            os.kill(process, signal.SIGCONT)
            await front.until_complete()
            os.kill(process, signal.SIGKILL)
            await tried(front, word)
            await asyncio.to_thread(
                until,
                lambda: milvus_project.members()["milvus"]["pid"] not in (0, process),
                "the replacement",
            )
            await front.until_complete()

    asyncio.run(ask())
    milvus_project.nothing_left()
