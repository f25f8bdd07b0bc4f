"""A benchmark of the time until a change is served: replaced chunk files, and saved sources.

Starts a set for a project of its own, queries the text and the vector worker until both serve the
change, and stops it. The clock starts when the last file is written. Beside the median are the time
without the debounce (`after`) and its bound (`allowed`); with a debounce of 0, a change of several
files is read while it is being written. `--chunks 100000` adds 1 000 chunks of 20 files, which may
take half a second.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import itertools
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from product import scratch_project
from report import ROOT, Figures, begin, make_parser, print_machine, print_table, summarise, write

from cortex.engines.vector.usearch import Limits
from cortex.processes import attach
from cortex.settings import config as configuration
from cortex.system.errors import CortexError
from ipc.client import Client
from ipc.messages import ExactSearch, GetStatus

#: chunks of one synthetic chunk file
CHUNKS_PER_FILE = 500
#: seconds until a change must be served, and until a new project is served in full
BOUND_S, BUILD_S = 60.0, 900.0
#: seconds between two queries
POLL_S = 0.001
#: seconds that a set outlives its last front
IDLE_EXIT_S = 2

#: (changed chunks, their files, ms until they are served after the debounce; None: no bound)
CASES = ((1, 1, 45), (100, 1, None), (100, 10, 150))
#: the cases for this many chunks
LARGE, LARGE_CASES = 100_000, ((1_000, 20, 500),)

_changes = itertools.count(1)


class ChunkFolder:
    """Synthetic chunk files with random unit vectors, replaced the way an indexer does it."""

    def __init__(self, folder: Path, chunks: int, dimensions: int) -> None:
        self._folder = folder
        (folder / ".tmp").mkdir(parents=True, exist_ok=True)
        self._dimensions = dimensions
        self._random = np.random.default_rng(7)
        self._files = [
            [self._chunk(file, place) for place in range(CHUNKS_PER_FILE)]
            for file in range(chunks // CHUNKS_PER_FILE)
        ]
        for number in range(len(self._files)):
            self._write(number)

    def _chunk(self, file: int, place: int, word: str = "initial") -> dict[str, Any]:
        vector = self._random.standard_normal(self._dimensions).astype(np.float32)
        vector /= np.linalg.norm(vector)
        path = f"src/module_{file}/part_{place // 10}.py"
        body = "\n".join(f"    step_{line} = transform(value_{place}, {line})" for line in range(12))
        return {
            "id": f"code-{path}#function_{place}~0",
            "chunk_type": "code",
            "title": f"{path} function_{place}",
            "text": f"def function_{file}_{place}():\n{body}\n    return {word}\n",
            "embedding": base64.b64encode(vector.astype("<f2").tobytes()).decode(),
            "tags": ["code", "python"],
            "metadata": {"source": "code", "file_path": path, "language": "python",
                         "start_line": place * 14 + 1, "end_line": place * 14 + 14},
            "created_at": "2025-01-01T00:00:00Z",
            "updated_at": "2025-01-01T00:00:00Z",
        }  # fmt: skip

    def _write(self, number: int) -> None:
        metadata = {"version": "2.0.0", "model": "bench@0", "dimensions": self._dimensions,
                    "chunk_type": "code", "generator": "bench"}  # fmt: skip
        temporary = self._folder / ".tmp" / f"bench.{number:03}.json"
        temporary.write_bytes(orjson.dumps({"_metadata": metadata, "chunks": self._files[number]}))
        os.replace(temporary, self._folder / f"bench.{number:03}.json")

    def change(self, chunks: int, files: int) -> str:
        """Give `chunks` chunks in `files` files a new text and vector; return a word that only they
        have.
        """
        word = f"changed{next(_changes)}word"
        for number in range(files):
            for place in range(chunks // files):
                self._files[number][place] = self._chunk(number, place, word)
            self._write(number)
        return word


@contextlib.asynccontextmanager
async def start(config: configuration.Config) -> AsyncIterator[Client]:
    """Start the set of a project; yield a client of its workers."""
    attachment = await attach.attach(config)
    client = Client(config.runtime_dir)
    try:
        yield client
    finally:
        await client.close()
        await attachment.close()


async def wait_until_served(client: Client, word: str, count: int, bound_s: float = BOUND_S) -> None:
    """Return once the text worker finds `count` chunks with `word` and the vector worker serves
    that generation.
    """
    async with asyncio.timeout(bound_s):
        generation = 0
        while True:
            with contextlib.suppress(CortexError):
                if not generation:
                    hits: Any = await client.ask("text", ExactSearch(word, limit=1), 5.0)
                    generation = hits.generation if hits.total_found >= count else 0
                if generation:
                    status: Any = await client.ask("vector", GetStatus(), 5.0)
                    if status.generation >= generation:
                        return
            await asyncio.sleep(POLL_S)


async def repeat(
    runs: int, change: Callable[[], str], is_served: Callable[[str], Awaitable[None]]
) -> list[float]:
    """Return the seconds from each change until it is served.

    `change` makes it and returns a word that only the change has.
    """
    seconds = []
    for run in range(runs + 2):
        word = change()
        started = time.perf_counter()
        await is_served(word)
        if run >= 2:  # the first two warm up
            seconds.append(time.perf_counter() - started)
        await asyncio.sleep(0.05)
    return seconds


async def measure_replacements(chunks: int, debounce_ms: int, runs: int) -> list[Figures]:
    """Measure: chunk file replaced → served."""
    rows = []
    settings = {"server_auto_index": "false", "server_debounce_ms": debounce_ms}
    with scratch_project(**settings, server_idle_exit_s=IDLE_EXIT_S) as root:
        config = configuration.load(root)
        folder = ChunkFolder(config.chunks_dir, chunks, config.embedding.dimensions)
        async with start(config) as client:
            await wait_until_served(client, "initial", chunks, BUILD_S)
            await wait_for_hnsw(client, chunks)
            for changed, files, allowed_ms in CASES + (LARGE_CASES if chunks >= LARGE else ()):
                change = functools.partial(folder.change, changed, files)
                is_served = functools.partial(wait_until_served, client, count=changed)
                plural = "s" if files > 1 else ""
                case = f"{changed} of {chunks} chunks in {files} file{plural} → served"
                figures = row(case, debounce_ms, await repeat(runs, change, is_served))
                after_ms = round(figures["p50_ms"] - debounce_ms, 2)
                rows.append(figures | {"after_ms": after_ms, "allowed_ms": allowed_ms})
    return rows


async def measure_saves(debounce_ms: int, runs: int) -> list[Figures]:
    """Measure: source saved → found, in a copy of this repository's own sources."""
    settings = {} if debounce_ms else {"indexing_debounce_ms": 0}
    with scratch_project(server_debounce_ms=debounce_ms, server_idle_exit_s=IDLE_EXIT_S, **settings) as root:
        ignored = shutil.ignore_patterns("__pycache__", "*.npy")
        for package in ("cortex", "ipc", "workers"):
            shutil.copytree(ROOT / package, root / package, ignore=ignored)
        config = configuration.load(root)
        path = root / "cortex" / "fresh.py"
        path.write_text("def initial_marker(): ...\n")
        async with start(config) as client:
            await wait_until_served(client, "initial_marker", 1)
            await wait_for_indexer(config)

            def change() -> str:
                word = f"fresh{next(_changes)}word"
                path.write_text(f'def {word}():\n    """Written just now."""\n    return 1\n')
                return word

            seconds = await repeat(runs, change, functools.partial(wait_until_served, client, count=1))
    return [row("source saved → found", debounce_ms, seconds) | {"after_ms": None, "allowed_ms": None}]


def row(case: str, debounce_ms: int, seconds: list[float]) -> Figures:
    worst = {"max_ms": round(1000 * max(seconds), 2)}
    return summarise(case, seconds, (50, 95)) | worst | {"debounce_ms": debounce_ms}


async def wait_for_hnsw(client: Client, chunks: int) -> None:
    """Return once no HNSW index is being built in the background."""
    async with asyncio.timeout(BUILD_S):
        while chunks > Limits().scan_rows_max:
            status: Any = await client.ask("vector", GetStatus(), 5.0)
            if status.info["hnsw"]:
                return
            await asyncio.sleep(0.5)


async def wait_for_indexer(config: configuration.Config) -> None:
    """Return once the indexer has nothing left to do."""
    async with asyncio.timeout(BOUND_S):
        while True:
            with contextlib.suppress(OSError, ValueError, KeyError):
                state = orjson.loads(config.indexer_state.read_bytes())
                if state["state"] == "idle" and not state["dirty"]:
                    return
            await asyncio.sleep(0.05)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", choices=("chunks", "sources"))
    parser.add_argument("--debounce-ms", type=int, nargs="+", default=(500, 0))
    options = parser.parse_args()
    figures = begin("freshness") | {"chunks": options.chunks}
    rows: list[Figures] = []
    for debounce_ms in options.debounce_ms:
        if options.only != "sources":
            rows += asyncio.run(measure_replacements(options.chunks, debounce_ms, options.runs))
        if options.only != "chunks":
            rows += asyncio.run(measure_saves(debounce_ms, options.runs))
    print_machine(figures)
    keys = ("case", "debounce_ms", "runs", "p50_ms", "p95_ms", "max_ms", "after_ms", "allowed_ms")
    header = ("case", "debounce ms", "runs", "p50 ms", "p95 ms", "max ms", "after", "allowed")
    print_table(header, [[row[key] for key in keys] for row in rows])
    if options.json:
        write(figures | {"rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
