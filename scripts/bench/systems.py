"""The systems that quality.py measures: the product (or a variant of its ranking), and its peers.

Each takes a folder and a question, and returns places.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environments import python_with
from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from product import environment

from cortex.settings import config as configuration

PEERS = Path(__file__).parent / "peers"
#: results of one question
DEPTH = 10
#: seconds for one index, one question
INDEX_S, QUESTION_S = 600, 60
BASELINES = ("rg", "bm25", "semble")
#: peer → its package, if that has another name
PACKAGES = {"bm25": "bm25s"}
CORTEX = [sys.executable, "-P", "-m", "cortex"]
#: words that ripgrep does not search, as they say nothing about code
STOP_WORDS = frozenset(
    "a an and are as at be by can do does for from has have how i in into is it its of on or so that "
    "the their this to was what when where which who why will with you".split()
)


@dataclass(frozen=True)
class Hit:
    """A place. `bytes`: the text that an agent reads of it."""

    file: str
    start: int
    end: int
    bytes: int = 0


Ask = Callable[[str], Awaitable[list[Hit]]]


@contextmanager
def sparse_copy(
    source: Path, root: str, *, alone: bool = False, keep_in: Path | None = None
) -> Iterator[Path]:
    """Copy the measured part of the repository to a project folder.

    It is at its place in the repository, or with `alone` the project itself. `keep_in`: below this
    folder, where an earlier run may have left it.
    """
    place = nullcontext(str(keep_in)) if keep_in else tempfile.TemporaryDirectory(prefix="cortex-quality-")
    with place as folder:
        project = Path(folder, (source / root).name if alone else source.name)
        if not project.exists():
            making = Path(folder, f"{project.name}.part")  # an interrupted copy does not count as complete
            shutil.rmtree(making, ignore_errors=True)
            shutil.copytree(source / root, making if alone else making / root, symlinks=True)
            making.rename(project)
        (project / ".cortex").mkdir(exist_ok=True)
        (
            project / ".cortex" / "config.yml"
        ).touch()  # marks the folder as a project for programs that are started in it
        yield project


@contextmanager
def indexed(project: Path, *, keep_index: bool = False) -> Iterator[None]:
    """Index the project, a temporary copy; in the end stop its workers, which the first front
    starts.

    Its index is removed, unless `keep_index` is set.
    """
    subprocess.run(
        [*CORTEX, "index", "--project", project], check=True, stdout=subprocess.DEVNULL, timeout=INDEX_S
    )
    try:
        yield
    finally:
        subprocess.run(
            [*CORTEX, "down", "--project", project], check=False, stdout=subprocess.DEVNULL, timeout=60
        )
        if not keep_index:
            shutil.rmtree(configuration.load(project).home, ignore_errors=True)


@asynccontextmanager
async def product(project: Path, switch: str = "") -> AsyncIterator[Ask]:
    """Search with Cortex as an agent does: through the MCP client over stdio and the workers.

    `switch`: the file of a variant's signals (peers/front.py).
    """
    front = [sys.executable, "-P", str(PEERS / "front.py"), switch] if switch else CORTEX
    parameters = StdioServerParameters(
        command=front[0], args=[*front[1:], "mcp", "--project", str(project)], env=environment()
    )
    async with (
        stdio_client(parameters, errlog=sys.stderr) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        await _wait_until_served(session)

        async def ask(query: str) -> list[Hit]:
            reply = await session.call_tool(
                "cortex_search", {"query": query, "limit": DEPTH, "detail": "location"}
            )
            results = json.loads(reply.content[0].text)["results"]
            return [_hit(result["chunk"]) for result in results]

        yield ask


async def _wait_until_served(session: ClientSession) -> None:
    """Wait until the whole index is served."""
    deadline = time.monotonic() + INDEX_S
    arguments = {"query": "warm up", "limit": 1, "detail": "location"}
    while time.monotonic() < deadline:
        try:
            reply = await session.call_tool("cortex_search", arguments)
        except MCPError:  # its workers are starting, on a machine that others use
            continue
        index = json.loads(reply.content[0].text)["index"]
        busy = index["pending_count"] or index["degraded"] or "indexing" in index or "publishing" in index
        if index["generation"] and not busy:
            return
        await asyncio.sleep(0.2)
    raise SystemExit("the index was not served in time")


def _hit(chunk: dict[str, Any]) -> Hit:
    metadata = chunk["metadata"]
    return Hit(metadata["file_path"], metadata["start_line"], metadata["end_line"], len(json.dumps(chunk)))


@asynccontextmanager
async def ripgrep(project: Path) -> AsyncIterator[Ask]:
    """Search as an agent without an index: count each word of the question, and rank files by
    matches.
    """
    if shutil.which("rg") is None:
        raise SystemExit("the baseline rg needs ripgrep on the PATH")

    async def ask(query: str) -> list[Hit]:
        words = [word for word in re.findall(r"\w+", query) if word.lower() not in STOP_WORDS] or [query]
        patterns = [argument for word in words for argument in ("-e", word)]
        done = subprocess.run(  # noqa: ASYNC221
            [*"rg --count-matches --ignore-case --fixed-strings --glob !.cortex".split(), *patterns, "."],
            cwd=project,
            check=False,
            capture_output=True,
            text=True,
            timeout=QUESTION_S,
        )
        counts: Counter[str] = Counter()
        for line in done.stdout.splitlines():
            path, _, count = line.rpartition(":")
            counts[path.removeprefix("./")] = int(count)
        best = sorted(counts, key=lambda path: (-counts[path], path))[:DEPTH]
        return _with_sizes(project, [{"file": path, "start": 1, "end": 1 << 30} for path in best])

    yield ask


@asynccontextmanager
async def peer(project: Path, name: str, python: str, model: str) -> AsyncIterator[Ask]:
    """Search with another project's library, in a separate environment, open over all questions."""
    interpreter = python or str(python_with(name, [PACKAGES.get(name, name)]))
    with tempfile.TemporaryDirectory(prefix="cortex-peer-") as home:
        process = subprocess.Popen(  # noqa: ASYNC220
            [interpreter, PEERS / f"ask_{name}.py", project, *([model] if model else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # No cache of an earlier run, and none left behind.
            env=os.environ | {"HOME": home, "XDG_CACHE_HOME": home, "HF_HUB_OFFLINE": "1" if model else "0"},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout
        try:
            while (line := stdout.readline()) != "ready\n":
                if not line:
                    raise SystemExit(f"the baseline {name} ended: exit code {process.wait()}")

            async def ask(query: str) -> list[Hit]:
                stdin.write(json.dumps(query) + "\n")
                stdin.flush()
                return _with_sizes(project, json.loads(stdout.readline()))

            yield ask
        finally:
            stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _with_sizes(project: Path, rows: list[dict[str, Any]]) -> list[Hit]:
    """Return hits with the size of their lines, if the files exist."""
    hits = []
    for row in rows:
        try:
            lines = (project / row["file"]).read_bytes().split(b"\n")
        except OSError:
            lines = []
        size = sum(len(line) + 1 for line in lines[row["start"] - 1 : row["end"]])
        hits.append(Hit(row["file"], row["start"], row["end"], size))
    return hits
