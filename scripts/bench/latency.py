"""A benchmark of the whole path: from the official MCP client over standard input and output and
back.

    scripts/bench/latency.py [--project DIR] [--chunks 10000] [--runs 300] [--json]

Without --project a synthetic one of about --chunks chunks is made. Prints p50, p95 and p99 of each
tool after a warm-up, the time from the start of a front to its first answer, and the memory of
every process. The ratio is to a peer measured in the same run: `grep -rn` over the same files.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil
from product import Front, connect, isolated_environment, open_project, processes_of, wait_until_indexed
from report import Figures, add_json, begin, print_machine, print_table, summarise, write

from cortex.ask.freshness import Freshness
from cortex.processes import attach
from cortex.settings.config import Config

#: chunks that the indexer makes of a synthetic file
CHUNKS_PER_FILE = 12
#: calls before measuring
WARM_UP = 20
#: words of a command line that name a process
NAMES = ("mcp", "embed", "vector", "text", "graph", "watcher", "index", "cortex.processes.forkserver")
#: searches by the peer
GREPS = 5

VERBS = (
    "open close read write parse render merge split load store send receive encode decode sort "
    "filter count retry".split()
)
NOUNS = (
    "session token request response header buffer cache index segment chunk worker queue socket file path "
    "record user account ledger invoice report schema column query result cursor page event handler lock".split()
)
TOPICS = "auth billing network storage search render config events metrics sync".split()

QUESTIONS = [
    f"how does the {topic} code {verb} a {noun}"
    for topic, verb, noun in zip(TOPICS * 3, VERBS * 2, NOUNS, strict=False)
]
KEYWORDS = [f"{verb}_{noun}" for verb, noun in zip(VERBS * 2, NOUNS, strict=False)] + [
    f"{a} AND {b}" for a, b in itertools.pairwise(NOUNS)
]


def write_project(root: Path, chunks: int, per_file: int = CHUNKS_PER_FILE) -> None:
    """Write Python modules with the words of TOPICS, VERBS and NOUNS; the same in every run."""
    chance = random.Random(7)
    for number in range(max(1, chunks // per_file)):
        topic, noun = chance.choice(TOPICS), chance.choice(NOUNS)
        path = root / topic / f"{noun}_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = [
            f'"""The {noun}s of {topic}, number {number}."""\n\nLIMIT_{noun.upper()}_{number} = {number}\n'
        ]
        parts += [_function(chance, topic, number, at) for at in range(per_file - 3)]
        path.write_text("\n\n".join(parts))


def _function(chance: random.Random, topic: str, number: int, at: int) -> str:
    verb, noun, other = chance.choice(VERBS), chance.choice(NOUNS), chance.choice(NOUNS)
    body = [
        f"def {verb}_{noun}_{number}_{at}({noun}, {other}=None):",
        f'    """{verb.title()} one {noun} of {topic} after its {other}."""',
    ]
    for line in range(18):
        a, b, c = (chance.choice(NOUNS) for _ in range(3))
        body.append(
            f"    {a}_{line} = {chance.choice(VERBS)}_{b}({c}, {noun}, limit={chance.randint(1, 999)})"
        )
    return "\n".join([*body, f"    return {noun}", ""])


async def measure_start(root: Path) -> tuple[float, float]:
    """Return (seconds to the answer of `initialize`, seconds to the first answer with a result)."""
    async with connect(root) as front:
        initialised = time.perf_counter() - front.started
        while not (await front.call("cortex_exact", query=NOUNS[0], limit=1))["results"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        return initialised, time.perf_counter() - front.started


#: (name of the row, tool, arguments, queries)
CASES: list[tuple[str, str, dict[str, Any], list[str]]] = [
    ("cortex_explore", "cortex_explore", {}, QUESTIONS),
    ("cortex_search", "cortex_search", {}, QUESTIONS),
    ("cortex_search, limit 5, snippets", "cortex_search", {"limit": 5, "detail": "snippet"}, QUESTIONS),
    ("cortex_search, semantic", "cortex_search", {"mode": "semantic"}, QUESTIONS),
    ("cortex_exact", "cortex_exact", {}, KEYWORDS),
    ("code_context", "code_context", {}, QUESTIONS),
]


async def measure_tools(root: Path, runs: int) -> tuple[list[Figures], list[Figures]]:
    """Return (a row for each case, the memory of each process)."""
    rows = []
    async with connect(root) as front:
        for case, tool, arguments, queries in CASES:
            seconds = []
            before = 0.0
            for at in range(WARM_UP + runs):
                if at == WARM_UP:
                    before = measure_cpu(root)
                started = time.perf_counter()
                await front.call(tool, **arguments, query=queries[at % len(queries)])
                seconds.append(time.perf_counter() - started)
            spent = round(1000 * (measure_cpu(root) - before) / runs, 2)
            rows.append(summarise(case, seconds[WARM_UP:]) | {"cpu_ms": spent})
        rows.append(await _measure_in_flight(front, runs))
        return rows, measure_memory(root)


async def _measure_in_flight(front: Front, runs: int) -> Figures:
    """Keep eight queries in flight at any time."""
    seconds: list[float] = []
    questions = iter(range(runs))

    async def ask_in_turn() -> None:
        for at in questions:
            started = time.perf_counter()
            await front.call("cortex_search", query=QUESTIONS[at % len(QUESTIONS)])
            seconds.append(time.perf_counter() - started)

    await asyncio.gather(*(ask_in_turn() for _ in range(8)))
    return summarise("cortex_search, 8 at a time", seconds)


def measure_cpu(root: Path) -> float:
    """Return the seconds of processor time that all processes of the project have used."""
    return sum(sum(process.cpu_times()[:2]) for process in processes_of(root))


def measure_memory(root: Path) -> list[Figures]:
    """Return resident and, on Linux, proportional memory of every process of the project."""
    rows = []
    for process in processes_of(root):
        with contextlib.suppress(psutil.Error):
            info = process.memory_full_info()
            name = next((argument for argument in process.cmdline() if argument in NAMES), "supervisor")
            sizes = {"rss_mb": info.rss, "pss_mb": getattr(info, "pss", 0)}
            rows.append({"process": name} | {key: round(size / 2**20, 1) for key, size in sizes.items()})
    return sorted(rows, key=lambda row: -row["rss_mb"])


def measure_grep(root: Path) -> Figures:
    """Time an agent's alternative without an index: a grep over the same files."""
    command = ["grep", "-rnI", "--exclude-dir=.cortex", "--exclude-dir=.git"]
    seconds = []
    for at in range(GREPS):
        started = time.perf_counter()
        subprocess.run([*command, KEYWORDS[at], str(root)], stdout=subprocess.DEVNULL, check=False)
        seconds.append(time.perf_counter() - started)
    return summarise("peer: grep -rn", seconds)


def run(options: argparse.Namespace) -> Figures:
    with contextlib.ExitStack() as stack:
        stack.enter_context(isolated_environment())
        if options.project:
            root = Path(options.project).resolve()
        else:
            root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cortex-bench-"))).resolve()
            write_project(root, options.chunks)
        return measure(stack.enter_context(open_project(root)), options)


def measure(config: Config, options: argparse.Namespace) -> Figures:
    root, result = config.root, begin("latency")
    cold = asyncio.run(measure_start(root))
    asyncio.run(wait_until_indexed(root))
    warm = []
    for _ in range(options.starts):
        attach.stop(config)
        warm.append(asyncio.run(measure_start(root)))
    attached = [asyncio.run(measure_start(root)) for _ in range(options.starts)]
    rows, memory = asyncio.run(measure_tools(root, options.runs))
    return result | {
        "chunks": Freshness(config).current().rows,
        "starts": {
            "cold, nothing indexed": _median([cold]),
            "warm, indexed, no workers": _median(warm),
            "attached, workers running": _median(attached),
        },
        "tools": [*rows, measure_grep(root)],
        "memory": memory,
        "pss_mb": round(sum(row["pss_mb"] for row in memory), 1),
    }


def _median(pairs: list[tuple[float, float]]) -> dict[str, float]:
    first, answer = zip(*pairs, strict=True)
    return {
        "initialize_s": round(statistics.median(first), 2),
        "first_answer_s": round(statistics.median(answer), 2),
    }


def show(result: Figures) -> None:
    print_machine(result)
    print(f"\n{result['chunks']} chunks")
    starts = result["starts"].items()
    rows = [(name, row["initialize_s"], row["first_answer_s"]) for name, row in starts]
    print_table(("start", "initialize s", "first answer s"), rows)
    print()
    peer = result["tools"][-1]["p50_ms"]
    header = ("tool, through the MCP client", "runs", "p50", "p95", "p99 ms", "cpu ms", "peer ÷ p50")
    keys = ("case", "runs", "p50_ms", "p95_ms", "p99_ms", "cpu_ms")
    tools = [(*map(row.get, keys), f"{peer / row['p50_ms']:.1f}") for row in result["tools"]]
    print_table(header, tools)
    print()
    memory = [tuple(row.values()) for row in result["memory"]]
    print_table(("memory", "resident MB", "proportional MB"), [*memory, ("all", None, result["pss_mb"])])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--project", help="measure this project instead of a synthetic one")
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=300, help="calls of each tool")
    parser.add_argument("--starts", type=int, default=5, help="starts of each kind")
    add_json(parser)
    options = parser.parse_args()
    result = run(options)
    show(result)
    if options.json:
        write(result)


if __name__ == "__main__":
    main()
