"""A folder with more files than any project is refused at every door, until a person names it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import orjson
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ListRootsResult, Root

import cortex
from cortex.indexer.scan import FILES_MAX
from tests.e2e.conftest import BIN, CALL_S
from tests.wait_until import BOUND_S, until

pytestmark = pytest.mark.e2e

#: the limit of this test's processes: the folder is made, walked and indexed in seconds
LIMIT = 1_000
REFUSED = f"holds more than {LIMIT:,} files to index"


def limit(site: Path) -> None:
    """Install the packages in `site`, with another limit of files."""
    source, changed = Path(cortex.__file__).parent, Path("indexer", "scan.py")
    for folder in (Path(), changed.parent):
        (site / "cortex" / folder).mkdir(parents=True)
        for entry in (source / folder).iterdir():
            relative = folder / entry.name
            if relative not in (changed.parent, changed) and entry.name != "__pycache__":
                (site / "cortex" / relative).symlink_to(entry)
    line, text = f"FILES_MAX = {FILES_MAX:_}\n", (source / changed).read_text()
    assert line in text
    (site / "cortex" / changed).write_text(text.replace(line, f"FILES_MAX = {LIMIT}\n"))


@pytest.fixture
def disk(project, tmp_path, monkeypatch):
    for name in ("CORTEX_PROJECT", "CLAUDE_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    project.environment["CORTEX_SERVER_IDLE_EXIT_S"] = "60"  # one set for all doors
    limit(tmp_path / "site")
    project.environment["PYTHONPATH"] = str(tmp_path / "site")
    (project.root / "data").mkdir()
    for number in range(LIMIT):
        (project.root / "data" / f"{number}.txt").touch()
    return project


def run(project, *words):
    """Run a command in the folder, which it finds by itself."""
    return subprocess.run(
        [BIN / "cortex", *words],
        env=os.environ | project.environment,
        cwd=project.root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )


async def ask(project, cwd, roots=None):
    """Return the suggestion of a front in the folder `cwd`, of a client with these roots."""

    async def list_roots(_context):
        return ListRootsResult(roots=[Root(uri=root.as_uri()) for root in roots])

    env = os.environ | project.environment
    server = StdioServerParameters(command=str(BIN / "cortex"), args=["mcp"], env=env, cwd=cwd)
    async with (
        stdio_client(server) as streams,
        ClientSession(*streams, list_roots_callback=list_roots if roots else None) as session,
    ):
        await session.initialize()
        async with asyncio.timeout(BOUND_S + CALL_S):
            while True:
                answer = await session.call_tool("cortex_exact", {"query": "jitter", "format": "json"})
                sentence = orjson.loads(answer.content[0].text).get("suggestion", "")
                if REFUSED in sentence:
                    return sentence
                await asyncio.sleep(0.5)


@pytest.mark.timeout(400)
def test_a_folder_that_is_rather_a_disk_is_refused_at_every_door(disk, tmp_path):
    indexed = run(disk, "index")
    assert indexed.returncode == 2
    assert REFUSED in indexed.stderr
    for words in (["search", "retry"], ["exact", "jitter"]):
        until(lambda words=words: REFUSED in (answer := run(disk, *words)).stdout + answer.stderr)
    (disk.root / "saved.md").write_text("# jitter\n")  # an event is no door either
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for cwd, roots in ((disk.root, None), (elsewhere, [disk.root])):
        assert "--project" in asyncio.run(ask(disk, cwd, roots))
    assert REFUSED in (status := run(disk, "status")).stdout + status.stderr
    assert not disk.config.manifest.exists()
    # A person names it: the set that refused it takes it in.
    until(lambda: "saved.md" in disk.run("exact", "jitter").stdout, "the index")
    assert REFUSED not in run(disk, "exact", "jitter").stdout
    disk.run("down")
