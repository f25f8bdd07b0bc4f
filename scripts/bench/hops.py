"""A benchmark of the processor time of a query, hop by hop.

    scripts/bench/hops.py --corpus DIR [--files 1600] [--questions 60] [--json]

Front and workers run in one process; every message goes through the codec as between processes, and
the thread's time is taken at each hop. A table for each tool: how many messages of each kind a
query sends, the worker's time for them, reading and writing included, and the front's other time.
Every query ran once before, so nothing is opened for the first time.

A second table is the overhead of each query: between processes, a line of MCP that does nothing
(ping: two pipes, the front's event loop, JSON), a message that a worker answers with nothing
(ZeroMQ twice, both event loops), and a whole search, in which two messages follow each other. Its
times are medians, and processor time of both sides.

A third follows a search of 5 snippets from step to step, between processes (hop_steps.py).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import time
from collections import Counter
from pathlib import Path
from typing import Any

import usage
from hop_steps import steps
from minimal_client import Server
from product import CORTEX, covering_rows, rows_of, scratch_project
from report import Figures, add_json, begin, print_machine, print_table, summarise, write
from speed import HOP_S, WARM_UP, draw, settle, time_calls
from trees import copy_sources

from cortex.ask.freshness import Freshness
from cortex.engines import ENGINES
from cortex.engines.serving import EngineWorker
from cortex.front.link import Link
from cortex.front.mcp.server import run_tool
from cortex.front.tools import TOOLS
from cortex.indexer.run import index
from cortex.publish.builder import Builder
from cortex.settings.config import Config, load
from cortex.system.errors import BY_CODE, CortexError
from ipc.client import Client
from ipc.codec import decode, encode
from ipc.messages import Failure, Fetch
from ipc.service import answer
from workers import vector

#: case → (tool, kind of question, further arguments)
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "search, 5 snippets": ("cortex_search", "words", {"limit": 5, "detail": "snippet"}),
    "search": ("cortex_search", "words", {}),
    "explore": ("cortex_explore", "words", {}),
    "substring": ("cortex_exact", "substring", {"match_type": "substring"}),
}
#: the case that is followed from step to step
SEARCH = "search, 5 snippets"
#: the columns of each table
TABLES = {
    "rows": ("case", "hop", "messages", "cpu_ms"),
    "imposed": ("case", "p50_ms", "p95_ms", "cpu_ms"),
    "steps": ("case", "p50_ms", "p95_ms", "cpu_ms", "waits"),
}


class InProcessWorkers:
    """The workers of a project, with a client's methods.

    `counts` and `spent` (seconds of processor time) are by hop.
    """

    def __init__(self, config: Config) -> None:
        self._workers = {name: EngineWorker(name, config) for name in ENGINES}
        self._workers["vector"] = vector.make(config)
        for worker in self._workers.values():
            worker.reload()
        self.counts: Counter[str] = Counter()
        self.spent: Counter[str] = Counter()

    async def ask(self, worker: str, message: Any, deadline_s: float) -> Any:
        frame = encode(message, 1, time.monotonic() + deadline_s)
        hop = f"{worker}: {type(message).__name__}"
        began = time.thread_time()
        frame_back = encode(answer(self._workers[worker], frame), 1)
        self.spent[hop] += time.thread_time() - began
        self.counts[hop] += 1
        reply = decode(frame_back)
        if isinstance(reply, Failure):
            raise BY_CODE.get(reply.code, CortexError)(reply.message)
        return reply

    async def close(self) -> None:
        """Do nothing: there is no socket."""


class InProcessLink(Link):
    """A link to workers in this process."""

    def __init__(self, config: Config, workers: InProcessWorkers) -> None:
        super().__init__(config, start=False)
        self._client = workers  # type: ignore[assignment]

    async def ready(self, until: float) -> None:
        """Return at once: they are ready."""


def measure(config: Config, count: int) -> list[Figures]:
    """Return a row for each hop of each case: milliseconds of processor time for a query."""
    workers, rows = InProcessWorkers(config), rows_of(config)
    drawn = draw([rows.text(at) for at in covering_rows(rows)], count)

    async def ask(case: str) -> float:
        tool, kind, more = CASES[case]
        link = InProcessLink(config, workers)
        began = time.thread_time()
        for query in drawn[kind][:count]:
            await run_tool(link, TOOLS[tool], {"query": query} | more)
        spent = time.thread_time() - began
        await link.close()
        return spent

    rows_out: list[Figures] = []
    for case in CASES:
        asyncio.run(ask(case))
        workers.counts.clear()
        workers.spent.clear()
        total_s = asyncio.run(ask(case))
        front = total_s - sum(workers.spent.values())
        rows_out += [
            {
                "case": case,
                "hop": hop,
                "messages": workers.counts[hop] / count or None,
                "cpu_ms": 1000 * spent / count,
            }
            for hop, spent in (("front", front), *workers.spent.most_common())
        ]
        rows_out.append({"case": case, "hop": "all", "messages": None, "cpu_ms": 1000 * total_s / count})
    return rows_out


def measure_imposed(config: Config, count: int) -> tuple[list[Figures], list[Figures]]:
    """Return the overhead of a query and the cost of a whole one, between processes; and
    its steps.
    """
    rows = rows_of(config)
    queries = draw([rows.text(at) for at in covering_rows(rows)], count)["words"][:count]
    rows_out: list[Figures] = []
    with Server([CORTEX, "mcp", "--project", str(config.root)]) as front:
        search = CASES[SEARCH]
        front.call(search[0], search[2] | {"query": queries[0]})
        settle(Freshness(config), config.root)
        cases = {
            "a line of MCP, ping": lambda _at: front.ask("ping", {}),
            "a whole search, 5 snippets": lambda at: front.call(
                search[0], search[2] | {"query": queries[at % count]}
            ),
        }
        for case, call in cases.items():
            time_calls(count, call)
            before = _spent(config)
            took = time_calls(count, call)
            rows_out.append(_row(case, took, before, _spent(config), len(took) + WARM_UP))
        rows_out.insert(1, asyncio.run(_message(config, count)))
        calls_arguments = [search[2] | {"query": question} for question in queries]
        return rows_out, steps(config, TOOLS[search[0]], calls_arguments)


async def _message(config: Config, count: int) -> Figures:
    """Return a row for a message to the text worker that asks for no chunk."""
    client, took = Client(config.runtime_dir), []
    nothing = Fetch((), "snippet", 0, "", Freshness(config).current().number)
    try:
        for at in range(WARM_UP + count):
            if at == WARM_UP:
                before = _spent(config)
            began = time.perf_counter()
            await client.ask("text", nothing, HOP_S)
            took.append(time.perf_counter() - began)
        return _row("a message to a worker, for nothing", took[WARM_UP:], before, _spent(config), count)
    finally:
        await client.close()


def _spent(config: Config) -> float:
    """Return seconds of processor time of the set, its front and this process, without processes
    that only watch.
    """
    busy = ("mcp", "text", "vector")
    spent = usage.processor_s(config.root)
    return sum(spent.get(name, 0.0) for name in busy) + time.process_time()


def _row(case: str, took: list[float], before: float, after: float, calls: int) -> Figures:
    return summarise(case, took) | {"cpu_ms": round(1000 * (after - before) / calls, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True, help="a folder of sources")
    parser.add_argument("--files", type=int, default=1600)
    parser.add_argument("--questions", type=int, default=60)
    add_json(parser)
    options = parser.parse_args()
    result = begin("hops")
    print_machine(result)
    with scratch_project() as root:
        result["files"] = copy_sources([options.corpus], root, options.files)
        config = load(str(root))
        index(config)
        with contextlib.closing(Builder(config)) as builder:
            while builder.refresh() is not None:
                pass
        result["rows"] = measure(config, options.questions)
        result["imposed"], result["steps"] = measure_imposed(config, options.questions)
    for name, keys in TABLES.items():
        print_table(keys, [[row.get(key) for key in keys] for row in result[name]])
        print()
    if options.json:
        write(result)


if __name__ == "__main__":
    main()
