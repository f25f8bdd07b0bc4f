"""Measures ranking quality: annotated queries against real repositories, through the MCP front and its workers.

    scripts/bench/quality.py --repos DIR --queries DIR [--only NAME] [--jsonl FILE] [--json] [--cmd COMMAND]

DIR of `--queries` holds `repos.json` and `annotations/<name>.json`; DIR of `--repos` one folder for each repository.
`--cmd` measures another program instead: it is run as `COMMAND QUERY` in the repository's folder and prints one JSON
object a line with `file`, `start`, `end`, best first.

A target counts at the rank of the first result that covers it (same file; overlapping lines where it has lines).
NDCG@10 with binary gains; targets are relevant and secondary ones.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

ROOT = Path(__file__).resolve().parents[2]
#: ranks that count
DEPTH = 10
#: bytes of a token, for the tokens that an agent reads until the first relevant file
TOKEN_BYTES = 4
#: seconds for one index, one question
INDEX_S, QUESTION_S = 600, 60


@dataclass(frozen=True)
class Hit:
    file: str
    start: int
    end: int
    bytes: int = 0


@dataclass(frozen=True)
class Scored:
    """One query's result. `ranks` are those of its targets, 0 for none within DEPTH."""

    repo: str
    language: str
    category: str
    query: str
    ndcg: float
    ranks: list[int]
    first: int
    tokens: int
    ms: float


Ask = Callable[[str], Awaitable[list[Hit]]]


def covers(hit: Hit, target: Any, root: str) -> bool:
    path = target if isinstance(target, str) else target["path"]
    if hit.file not in (path, f"{root}/{path}" if root else path):
        return False
    if isinstance(target, str) or "start_line" not in target:
        return True
    return hit.start <= target["end_line"] and target["start_line"] <= hit.end


def score(query: dict[str, Any], hits: list[Hit], repo: dict[str, Any], seconds: float) -> Scored:
    root = repo.get("benchmark_root") or ""
    targets = [*query["relevant"], *query.get("secondary", [])]
    ranks = [next((at for at, hit in enumerate(hits[:DEPTH], 1) if covers(hit, t, root)), 0) for t in targets]
    gained = sum(1 / math.log2(rank + 1) for rank in ranks if rank)
    ideal = sum(1 / math.log2(at + 1) for at in range(1, min(len(targets), DEPTH) + 1))
    first = min((rank for rank in ranks if rank), default=0)
    read = sum(hit.bytes for hit in hits[: first or DEPTH]) // TOKEN_BYTES
    return Scored(
        repo["name"],
        repo["language"],
        query["category"],
        query["query"],
        gained / ideal,
        ranks,
        first,
        read,
        1000 * seconds,
    )


@contextmanager
def sparse_copy(source: Path, root: str) -> Iterator[Path]:
    """A project folder that holds only the part of the repository that is measured, at its place."""
    with tempfile.TemporaryDirectory(prefix="cortex-quality-") as folder:
        project = Path(folder, source.name)
        shutil.copytree(source / root, project / root, symlinks=True)
        (project / ".cortex").mkdir(exist_ok=True)
        yield project


@asynccontextmanager
async def product(project: Path) -> AsyncIterator[Ask]:
    """Cortex as an agent has it: indexed, served by its workers, asked through the MCP client over stdio."""
    cortex = [sys.executable, "-P", "-m", "cortex.front.cli"]
    subprocess.run(  # noqa: ASYNC221 - nothing else runs here
        [*cortex, "index", "--project", project], check=True, stdout=subprocess.DEVNULL, timeout=INDEX_S
    )
    parameters = StdioServerParameters(
        command=cortex[0], args=[*cortex[1:], "mcp", "--project", str(project)]
    )
    try:
        async with (
            stdio_client(parameters, errlog=sys.stderr) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()

            async def ask(query: str) -> list[Hit]:
                reply = await session.call_tool("cortex_search", {"query": query, "limit": DEPTH})
                results = json.loads(reply.content[0].text)["results"]
                return [_hit(result["chunk"]) for result in results]

            await _settled(session)
            yield ask
    finally:
        subprocess.run(  # noqa: ASYNC221
            [*cortex, "down", "--project", project], check=False, stdout=subprocess.DEVNULL, timeout=60
        )


async def _settled(session: ClientSession) -> None:
    """Until everything that was indexed is served."""
    deadline = time.monotonic() + INDEX_S
    while time.monotonic() < deadline:
        reply = await session.call_tool(
            "cortex_search", {"query": "warm up", "limit": 1, "detail": "location"}
        )
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
async def program(project: Path, command: str) -> AsyncIterator[Ask]:
    async def ask(query: str) -> list[Hit]:
        done = subprocess.run(  # noqa: ASYNC221 - one after the other is what is measured
            [*shlex.split(command), query],
            cwd=project,
            check=False,
            capture_output=True,
            text=True,
            timeout=QUESTION_S,
        )
        rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return [Hit(row["file"], row["start"], row["end"]) for row in rows]

    yield ask


async def measure(repo: dict[str, Any], options: argparse.Namespace) -> list[Scored]:
    queries = json.loads((options.queries / "annotations" / f"{repo['name']}.json").read_text())
    scored = []
    with sparse_copy(options.repos / repo["name"], repo.get("benchmark_root") or "") as project:
        async with program(project, options.cmd) if options.cmd else product(project) as ask:
            for query in queries:
                started = time.perf_counter()
                hits = await ask(query["query"])
                scored.append(score(query, hits, repo, time.perf_counter() - started))
    return scored


def summary(scored: list[Scored]) -> dict[str, Any]:
    def mean(rows: list[Scored]) -> float:
        return round(statistics.mean(row.ndcg for row in rows), 4)

    def by(key: str) -> dict[str, float]:
        groups: dict[str, list[Scored]] = defaultdict(list)
        for row in scored:
            groups[getattr(row, key)].append(row)
        return {name: mean(rows) for name, rows in sorted(groups.items())}

    found = [row for row in scored if row.first]
    times = sorted(row.ms for row in scored)
    return {
        "queries": len(scored),
        "ndcg10": mean(scored),
        "ndcg10_repositories": round(statistics.mean(by("repo").values()), 4),
        "recall10": round(
            sum(1 for row in scored for rank in row.ranks if rank) / sum(len(row.ranks) for row in scored), 4
        ),
        "mrr": round(sum(1 / row.first for row in found) / len(scored), 4),
        "tokens_to_first": round(statistics.mean(row.tokens for row in scored)),
        "ms_p50": round(times[len(times) // 2], 2),
        "ms_p95": round(times[int(0.95 * len(times))], 2),
        "category": by("category"),
        "language": by("language"),
        "repository": by("repo"),
    }


def show(result: dict[str, Any]) -> None:
    for key, value in result.items():
        if isinstance(value, dict):
            print(key)
            for name, each in value.items():
                print(f"  {name:22} {each:.4f}")
        else:
            print(f"{key:24} {value}")


def save(result: dict[str, Any]) -> Path:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    machine = {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }
    path = (
        ROOT
        / "scripts"
        / "bench"
        / "results"
        / f"{time.strftime('%Y-%m-%d')}-{commit.stdout.strip()}-quality.json"
    )
    path.write_text(json.dumps({"machine": machine} | result, indent=1) + "\n")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--only", action="append", default=[], help="a repository's name; may be repeated")
    parser.add_argument("--cmd", default="", help="another program to measure")
    parser.add_argument("--jsonl", type=Path, help="write each query's ranks there")
    parser.add_argument(
        "--json", action="store_true", help="write scripts/bench/results/<date>-<commit>-quality.json"
    )
    options = parser.parse_args()
    repos = json.loads((options.queries / "repos.json").read_text())
    scored: list[Scored] = []
    for repo in repos:
        if options.only and repo["name"] not in options.only:
            continue
        rows = asyncio.run(measure(repo, options))
        scored += rows
        print(
            f"{repo['name']:20} {statistics.mean(row.ndcg for row in rows):.4f}", file=sys.stderr, flush=True
        )
    if options.jsonl:
        options.jsonl.write_text("".join(json.dumps(asdict(row)) + "\n" for row in scored))
    result = summary(scored)
    show(result)
    if options.json:
        print(save(result))


if __name__ == "__main__":
    main()
