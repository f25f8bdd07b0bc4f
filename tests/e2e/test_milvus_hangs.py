"""A whole set over an index in milvus-lite: what a client notices when that process fails."""

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
def far(project, tmp_path, monkeypatch):
    """The project, published to a file of milvus-lite, and served from there."""
    named = {"ENGINES_TEXT": "milvus", "ENGINES_VECTOR": "milvus", "MILVUS_URI": str(tmp_path / "lite.db")}
    for name, value in named.items():
        monkeypatch.setenv(f"CORTEX_{name}", value)
        project.environment[f"CORTEX_{name}"] = value
    done = project.run("index", "--to", "milvus")
    assert done.returncode == 0, done.stderr
    return project


def test_a_milvus_that_hangs_or_dies_is_told_in_time_and_answers_are_right_again_without_a_restart(
    far, facts
):
    async def tried(front, word):
        """Whether it was answered; a refusal is a sentence that names Milvus or who is silent."""
        try:
            answer = await front.call("cortex_exact", query=word)
        except MCPError as error:
            assert error.code == -32603, error  # noqa: PT017
            return False
        paths = [hit["chunk"]["metadata"]["file_path"] for hit in answer["results"]]
        assert facts[word] in paths or answer["index"]["degraded"], answer
        return facts[word] in paths

    async def ask():
        async with far.front() as front:
            await front.whole()
            process = (await asyncio.to_thread(far.member, "milvus"))["pid"]
            os.kill(process, signal.SIGSTOP)
            word = next(iter(facts))
            for _ in range(3):  # each within the deadline of a call
                await tried(front, word)
            os.kill(process, signal.SIGCONT)
            await front.whole()
            os.kill(process, signal.SIGKILL)
            await tried(front, word)
            await asyncio.to_thread(
                until, lambda: far.members()["milvus"]["pid"] not in (0, process), "the replacement"
            )
            await front.whole()

    asyncio.run(ask())
    far.nothing_left()
