"""Measures the whole path: the official MCP client over real standard input and output, front, workers and back.

    scripts/bench/latency.py [--project DIR] [--chunks 10000] [--runs 300] [--json]

Without --project a synthetic one of about --chunks chunks is made. Prints p50, p95 and p99 of each tool after a warm-up, the
time from the start of a front to its first answer, and the memory of every process. The ratio is to a peer
measured in the same run: `grep -rn` over the same files.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.metadata
import itertools
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
import psutil
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from cortex.ask.freshness import Freshness
from cortex.processes import attach
from cortex.settings import config as configuration

ROOT = Path(__file__).resolve().parents[2]
CORTEX = str(Path(sys.executable).parent / "cortex")
#: chunks that the indexer makes of one synthetic file
CHUNKS_PER_FILE = 12
#: calls before anything counts
WARM_UP = 20
#: answers in a row that must speak of a complete index
QUIET = 20
#: words of a command line that name a process
NAMES = ("mcp", "embed", "vector", "text", "graph", "watcher", "index")
#: seconds until an index must be complete
INDEX_S = 600.0
GREPS = 5

VERBS = "open close read write parse render merge split load store send receive encode decode sort filter count retry".split()
NOUNS = [
    "session",
    "token",
    "request",
    "response",
    "header",
    "buffer",
    "cache",
    "index",
    "segment",
    "chunk",
    "worker",
    "queue",
    "socket",
    "file",
    "path",
    "record",
    "user",
    "account",
    "ledger",
    "invoice",
    "report",
    "schema",
    "column",
    "query",
    "result",
    "cursor",
    "page",
    "event",
    "handler",
    "lock",
]
TOPICS = "auth billing network storage search render config events metrics sync".split()

QUESTIONS = [
    f"how does the {topic} code {verb} a {noun}"
    for topic, verb, noun in zip(TOPICS * 3, VERBS * 2, NOUNS, strict=False)
]
NOWHERE = Path(os.devnull)
KEYWORDS = [f"{verb}_{noun}" for verb, noun in zip(VERBS * 2, NOUNS, strict=False)] + [
    f"{a} AND {b}" for a, b in itertools.pairwise(NOUNS)
]


@dataclass
class Row:
    case: str
    runs: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    #: processor time of one call in all of the project's processes; 0 where it is not measured
    cpu_ms: float = 0.0


@dataclass
class Memory:
    process: str
    rss_mb: float
    pss_mb: float


def summarise(case: str, seconds: list[float]) -> Row:
    ms = sorted(1000 * each for each in seconds)
    at = [ms[min(len(ms) - 1, int(share * len(ms)))] for share in (0.5, 0.95, 0.99)]
    return Row(case, len(ms), *(round(value, 2) for value in at))


def write_project(root: Path, chunks: int) -> None:
    """Python modules with the words of TOPICS, VERBS and NOUNS; the same on every run."""
    chance = random.Random(7)
    for number in range(max(1, chunks // CHUNKS_PER_FILE)):
        topic, noun = chance.choice(TOPICS), chance.choice(NOUNS)
        path = root / topic / f"{noun}_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = [
            f'"""The {noun}s of {topic}, number {number}."""\n\nLIMIT_{noun.upper()}_{number} = {number}\n'
        ]
        parts += [_function(chance, topic, number, at) for at in range(CHUNKS_PER_FILE - 3)]
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


class Front:
    """One `cortex mcp`, and how long it took from its start to the first answer that found something."""

    def __init__(self, session: ClientSession, started: float) -> None:
        self.session, self.started = session, started

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.session.call_tool(tool, arguments)
        answer: dict[str, Any] = orjson.loads(result.content[0].text)  # type: ignore[union-attr]
        return answer


@contextlib.asynccontextmanager
async def connect(project: Path, environment: dict[str, str]) -> AsyncIterator[Front]:
    started = time.perf_counter()
    parameters = StdioServerParameters(
        command=CORTEX, args=["mcp", "--project", str(project)], env=environment
    )
    with NOWHERE.open("w") as nowhere:  # noqa: ASYNC230 - nothing else runs yet
        async with (
            stdio_client(parameters, errlog=nowhere) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            yield Front(session, started)


async def measure_start(project: Path, environment: dict[str, str]) -> tuple[float, float]:
    """(seconds to the answer of `initialize`, seconds to the first answer with a result)"""
    async with connect(project, environment) as front:
        initialised = time.perf_counter() - front.started
        while not (await front.call("cortex_exact", query=NOUNS[0], limit=1))["results"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        return initialised, time.perf_counter() - front.started


async def wait_whole(project: Path, environment: dict[str, str]) -> None:
    """Return once everything is indexed and served."""
    deadline = time.monotonic() + INDEX_S
    async with connect(project, environment) as front:
        quiet = 0
        while time.monotonic() < deadline and quiet < QUIET:
            index = (await front.call("cortex_search", query=NOUNS[0], limit=1))["index"]
            busy = index.get("indexing") or index["pending_count"] or index["degraded"]
            quiet = 0 if busy else quiet + 1
            await asyncio.sleep(0.1)
    if quiet < QUIET:
        raise SystemExit("the index was not complete in time")


async def measure_tools(
    project: Path, environment: dict[str, str], runs: int
) -> tuple[list[Row], list[Memory]]:
    cases: list[tuple[str, str, dict[str, Any], str, list[str]]] = [
        ("cortex_search", "cortex_search", {}, "query", QUESTIONS),
        (
            "cortex_search, limit 5, snippets",
            "cortex_search",
            {"limit": 5, "detail": "snippet"},
            "query",
            QUESTIONS,
        ),
        ("cortex_search, semantic", "cortex_search", {"mode": "semantic"}, "query", QUESTIONS),
        ("cortex_exact", "cortex_exact", {}, "query", KEYWORDS),
        ("code_context", "code_context", {}, "query", QUESTIONS),
    ]
    rows = []
    async with connect(project, environment) as front:
        for case, tool, arguments, name, queries in cases:
            seconds = []
            before = 0.0
            for at in range(WARM_UP + runs):
                if at == WARM_UP:
                    before = measure_cpu(project)
                query = {name: queries[at % len(queries)]}
                started = time.perf_counter()
                await front.call(tool, **arguments, **query)
                seconds.append(time.perf_counter() - started)
            row = summarise(case, seconds[WARM_UP:])
            row.cpu_ms = round(1000 * (measure_cpu(project) - before) / runs, 2)
            rows.append(row)
        rows.append(await _together(front, runs))
        memory = measure_memory(project)
    return rows, memory


async def _together(front: Front, runs: int) -> Row:
    """Eight questions in flight at any time."""
    seconds: list[float] = []
    questions = iter(range(runs))

    async def one() -> None:
        for at in questions:
            started = time.perf_counter()
            await front.call("cortex_search", query=QUESTIONS[at % len(QUESTIONS)])
            seconds.append(time.perf_counter() - started)

    await asyncio.gather(*(one() for _ in range(8)))
    return summarise("cortex_search, 8 at a time", seconds)


def processes_of(project: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid != os.getpid() and any(str(project) in part for part in process.cmdline()):
                found.append(process)
    return found


def measure_cpu(project: Path) -> float:
    """Seconds of processor time that all processes of the project have used."""
    return sum(sum(process.cpu_times()[:2]) for process in processes_of(project))


def measure_memory(project: Path) -> list[Memory]:
    """Every process of the project: resident and, on Linux, proportional memory."""
    found = []
    for process in processes_of(project):
        with contextlib.suppress(psutil.Error):
            info = process.memory_full_info()
            command = process.cmdline()
            name = next((part for part in command if part in NAMES), "supervisor")
            found.append(Memory(name, round(info.rss / 2**20, 1), round(getattr(info, "pss", 0) / 2**20, 1)))
    return sorted(found, key=lambda each: -each.rss_mb)


def measure_grep(project: Path) -> Row:
    """What an agent does without an index: one grep over the same files."""
    seconds = []
    for at in range(GREPS):
        started = time.perf_counter()
        subprocess.run(
            ["grep", "-rnI", "--exclude-dir=.cortex", "--exclude-dir=.git", KEYWORDS[at], str(project)],
            stdout=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        seconds.append(time.perf_counter() - started)
    return summarise("peer: grep -rn", seconds)


def run(options: argparse.Namespace) -> dict[str, Any]:
    with contextlib.ExitStack() as stack:
        runtime = tempfile.mkdtemp(prefix="cx", dir="/tmp")
        stack.callback(shutil.rmtree, runtime)
        environment = {"XDG_RUNTIME_DIR": runtime, "PATH": os.environ["PATH"]}
        os.environ["XDG_RUNTIME_DIR"] = runtime
        if options.project:
            project = Path(options.project).resolve()
        else:
            project = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cortex-bench-"))).resolve()
            write_project(project, options.chunks)
        (project / ".git").mkdir(exist_ok=True)
        config = configuration.load(str(project))
        stack.callback(attach.stop, config)
        return measure(config, environment, options)


def measure(
    config: configuration.Config, environment: dict[str, str], options: argparse.Namespace
) -> dict[str, Any]:
    project = config.root
    cold = asyncio.run(measure_start(project, environment))
    asyncio.run(wait_whole(project, environment))
    warm = []
    for _ in range(options.starts):
        attach.stop(config)
        warm.append(asyncio.run(measure_start(project, environment)))
    attached = [asyncio.run(measure_start(project, environment)) for _ in range(options.starts)]
    rows, memory = asyncio.run(measure_tools(project, environment, options.runs))
    rows.append(measure_grep(project))
    return {
        "benchmark": "latency",
        "machine": describe_machine(),
        "chunks": Freshness(config).current().rows,
        "starts": {
            "cold, nothing indexed": _median([cold]),
            "warm, indexed, no workers": _median(warm),
            "attached, workers running": _median(attached),
        },
        "tools": [asdict(row) for row in rows],
        "memory": [asdict(each) for each in memory],
        "pss_mb": round(sum(each.pss_mb for each in memory), 1),
    }


def _median(pairs: list[tuple[float, float]]) -> dict[str, float]:
    first, answer = zip(*pairs, strict=True)
    return {
        "initialize_s": round(statistics.median(first), 2),
        "first_answer_s": round(statistics.median(answer), 2),
    }


def describe_machine() -> dict[str, Any]:
    names = ("mcp", "pyzmq", "tantivy", "usearch", "numpy")
    return {
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
        "versions": {name: importlib.metadata.version(name) for name in names},
    }


def print_table(result: dict[str, Any]) -> None:
    machine = result["machine"]
    print(
        f"{machine['system']}, {machine['cores']} cores, Python {machine['python']}, load {machine['load']}, {result['chunks']} chunks"
    )
    print(f"\n{'start':36} {'initialize':>12} {'first answer':>13}")
    for name, row in result["starts"].items():
        print(f"{name:36} {row['initialize_s']:>10.2f} s {row['first_answer_s']:>11.2f} s")
    peer = result["tools"][-1]["p50_ms"]
    print(
        f"\n{'tool, through the MCP client':36} {'runs':>6} {'p50':>8} {'p95':>8} {'p99':>8} ms   peer ÷ p50"
    )
    for row in result["tools"]:
        print(
            f"{row['case']:36} {row['runs']:>6} {row['p50_ms']:>8.2f} {row['p95_ms']:>8.2f} {row['p99_ms']:>8.2f} {row['cpu_ms']:>8.2f}      {peer / row['p50_ms']:>6.1f}"
        )
    print(f"\n{'memory':36} {'resident':>10} {'proportional':>13}")
    for row in result["memory"]:
        print(f"{row['process']:36} {row['rss_mb']:>7.1f} MB {row['pss_mb']:>10.1f} MB")
    print(f"{'all':36} {'':>10} {result['pss_mb']:>10.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--project", help="measure this project instead of a synthetic one")
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=300, help="calls of each tool")
    parser.add_argument("--starts", type=int, default=5, help="starts of each kind")
    parser.add_argument(
        "--json", action="store_true", help="write scripts/bench/results/<date>-<commit>.json"
    )
    options = parser.parse_args()
    result = run(options)
    print_table(result)
    if options.json:
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        path = (
            ROOT
            / "scripts"
            / "bench"
            / "results"
            / f"{time.strftime('%Y-%m-%d')}-{commit.stdout.strip()}-latency.json"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(orjson.dumps(result, option=orjson.OPT_INDENT_2) + b"\n")
        print(f"\n{path}")


if __name__ == "__main__":
    main()
