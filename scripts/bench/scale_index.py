"""The half of scale.py for the index: queries on the same projects here and in Milvus.

Rankings are compared by NDCG over annotated repositories, answers of cortex_exact by their counts
and places over drawn queries. A query that Milvus's engine refuses as unsupported is left out, and
counted. milvus-lite has to compact first: its newest rows are searched one by one.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import exact
import index
import product
import quality
import queries
import report
import scale_generations as generations
import systems
from mcp import MCPError

from cortex.settings import config as configuration

#: distance that the two rankings may have, in NDCG of a repository
NEAR = 0.005
#: seconds in which the files of `--files` must be in Milvus
INDEXED_S = 120
#: kinds of `queries.draw`, of which each has a share of the queries
KINDS = (
    "term",
    "and",
    "boolean",
    "phrase",
    "filtered",
    "prefix",
    "wildcard",
    "fuzzy ~1",
    "substring",
    "regex",
)
#: filters of the queries, in turn
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"chunk_types": ["function", "method"]},
    {"paths": ["src/", "lib/", "*.py"]},
    {"exclude_paths": ["test*/", "docs/"]},
    {"tags": ["test"]},
)
#: seconds in which a query must be answered by all lanes
PATIENCE_S = 120.0
#: results of a drawn query that are compared
PAGE_LIMIT = 50


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--repos", type=Path, help="folder of the annotated repositories")
    parser.add_argument("--queries", type=Path, help="folder of their annotations")
    parser.add_argument("--only", action="append", default=[], help="a repository's name; may be repeated")
    parser.add_argument(
        "--milvus", default="", help="a server's address; default: milvus-lite, in a file for a while"
    )
    parser.add_argument("--questions", type=int, default=500, help="drawn questions in all")
    parser.add_argument(
        "--files", type=int, default=5_000, help="files of one project to be indexed; 0: none"
    )


def measure(options: argparse.Namespace) -> report.Figures:
    """Measure ranking, equality, times and memory of all chosen repositories."""
    repos = json.loads((options.queries / "repos.json").read_text())
    selected = [repo for repo in repos if not options.only or repo["name"] in options.only]
    comparisons = []
    for repo in selected:
        comparisons.append(compare_places(repo, options, options.questions // len(selected) + 1))
        print(json.dumps(comparisons[-1]), flush=True)
    figures: report.Figures = {
        "repositories": comparisons,
        "ndcg_here": round(statistics.mean(row["ndcg_here"] for row in comparisons), 4),
        "ndcg_milvus": round(statistics.mean(row["ndcg_milvus"] for row in comparisons), 4),
        "far_apart": [
            row["repository"] for row in comparisons if abs(row["ndcg_here"] - row["ndcg_milvus"]) > NEAR
        ],
        "p50_ms": {
            place: statistics.median(row[f"p50_{place}_ms"] for row in comparisons)
            for place in ("here", "milvus")
        },
        "memory_mb": {
            place: max(row[f"memory_{place}_mb"] for row in comparisons) for place in ("here", "milvus")
        },
    }
    for name in ("equality", "after_a_change", "generation_before"):
        counts = Counter[str]()
        for row in comparisons:
            counts.update({kind: count for kind, count in row[name].items() if isinstance(count, int)})
        figures[name] = dict(counts)
    return figures | (time_indexing(options) if options.files else {})


@contextlib.contextmanager
def surroundings(milvus: str, home: Path | None = None) -> Iterator[None]:
    """Wrap `product.isolated_environment`; the index is in Milvus if `milvus` is an address."""
    milvus_settings = (
        {"engines_text": "milvus", "engines_vector": "milvus", "milvus_uri": milvus} if milvus else {}
    )
    with product.isolated_environment(home, **milvus_settings):
        yield


def command(project: Path, milvus: str) -> list[str]:
    to = ["--to", "milvus", "--single-writer"] if milvus else []
    return [*systems.CORTEX, "index", "--project", str(project), *to]


def compare_places(repo: dict[str, Any], options: argparse.Namespace, count: int) -> dict[str, Any]:
    """Compare a repository in both places, before and after a change of its files.

    Both read the same chunk files.
    """
    annotations = json.loads((options.queries / "annotations" / f"{repo['name']}.json").read_text())
    root = repo.get("benchmark_root") or ""
    with (
        tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder,
        systems.sparse_copy(options.repos / repo["name"], root) as project,
    ):
        questions = [quality.resolve_paths(query, root, quality.PARENTS, project) for query in annotations]
        home, milvus = Path(folder, "home"), options.milvus or f"{folder}/lite.db"
        with surroundings("", home):
            run_index(project, "")
            drawn = draw(project, count)
            before = {"here": measure_place(project, repo, questions, drawn)}
        with surroundings(milvus, home):
            run_index(project, milvus)
            settled = generations.settle(project)
            before["milvus"] = measure_place(project, repo, questions, drawn)
        with surroundings("", home):
            generations.change(project)
            run_index(project, "")
            after = {"here": measure_place(project, repo, [], drawn)}
        with surroundings(milvus, home), generations.open_generation(project, drawn) as compare_again:
            run_index(project, milvus)
            old_generation = compare_again()
            after["milvus"] = measure_place(project, repo, [], drawn)
    return {
        "repository": repo["name"],
        **{f"ndcg_{place}": round(place_figures.ndcg, 4) for place, place_figures in before.items()},
        **{f"p50_{place}_ms": round(place_figures.ms, 1) for place, place_figures in before.items()},
        **{f"memory_{place}_mb": place_figures.memory_mb for place, place_figures in before.items()},
        "settled": settled,
        "equality": equal(drawn, before["here"].answers, before["milvus"].answers),
        "after_a_change": equal(drawn, after["here"].answers, after["milvus"].answers),
        "generation_before": old_generation,
    }


def run_index(project: Path, milvus: str) -> None:
    subprocess.run(command(project, milvus), check=True, stdout=subprocess.DEVNULL)


def measure_place(
    project: Path, repo: dict[str, Any], questions: list[Any], drawn: list[dict[str, Any]]
) -> PlaceFigures:
    """Return the figures of a set of processes, which is then stopped."""
    try:
        return asyncio.run(ask(project, repo, questions, drawn))
    finally:
        systems._stop(project)


def draw(project: Path, count: int) -> list[dict[str, Any]]:
    """Return arguments of cortex_exact, drawn from the local index."""
    rows = product.rows_of(configuration.load(project))
    texts = [rows.text(at) for at in product.covering_rows(rows)]
    drawn = queries.draw(texts, count // len(KINDS) + 1)
    # as many of each kind, and each filter with each kind
    turns = zip(*(drawn[kind] for kind in KINDS), strict=True)
    questions = (
        FILTERS[(turn + at) % len(FILTERS)] | arguments
        for turn, some in enumerate(turns)
        for at, arguments in enumerate(some)
    )
    return list(itertools.islice(questions, count))


@dataclass(frozen=True, slots=True)
class PlaceFigures:
    """The answers of one place: NDCG and p50 of searches, and the outcome of each drawn query."""

    ndcg: float
    ms: float
    memory_mb: int
    answers: list[Any]


async def ask(
    project: Path, repo: dict[str, Any], questions: list[dict[str, Any]], drawn: list[dict[str, Any]]
) -> PlaceFigures:
    async with systems.session_of(project) as session:

        async def search(query: str) -> list[systems.Hit]:
            arguments = {"query": query, "limit": systems.DEPTH, "detail": "location"}
            reply = json.loads((await call_undegraded(session, "cortex_search", arguments)).content[0].text)
            return [systems._hit(result["chunk"]) for result in reply["results"]]

        system = quality.System("cortex", systems.product, True)
        scored = await quality.measure(system, search, repo | {"layout": quality.PARENTS}, questions)
        requests = [drawn_request | {"limit": PAGE_LIMIT, "detail": "location"} for drawn_request in drawn]
        answers = [
            comparable_answer(await call_undegraded(session, "cortex_exact", request)) for request in requests
        ]
        memory = resident(project)
    ms = [row.ms for row in scored]
    ndcg = [row.ndcg for row in scored]
    return PlaceFigures(
        statistics.mean(ndcg) if ndcg else 0.0, statistics.median(ms) if ms else 0.0, memory, answers
    )


async def call_undegraded(session: Any, tool: str, arguments: dict[str, Any]) -> Any:
    """Return an answer without a missing lane: on a machine that others use deadlines may pass."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            reply = await session.call_tool(tool, arguments)
            if reply.is_error or not json.loads(reply.content[0].text)["index"]["degraded"]:
                return reply
        except MCPError:
            if time.monotonic() > until:
                raise
        if time.monotonic() > until:
            raise SystemExit(f"{tool} was not answered in whole within {PATIENCE_S:.0f} s: {arguments}")


def comparable_answer(reply: Any) -> Any:
    """Return the part of an answer that two places must agree on; a sentence if it is refused."""
    text = reply.content[0].text
    if reply.is_error:
        return text
    answer = json.loads(text)
    places = [systems._hit(result["chunk"]) for result in answer["results"]]
    return answer["total_found"], sorted((hit.file, hit.start, hit.end) for hit in places)


def equal(drawn: list[dict[str, Any]], ours: list[Any], theirs: list[Any]) -> dict[str, Any]:
    """Return counts of queries that are equal, unequal, and left out; and the unequal queries."""
    counts, unequal = Counter[str](), []
    for question, first, second in zip(drawn, ours, theirs, strict=True):
        if isinstance(second, str) and not isinstance(first, str):
            counts[f"left out: {question.get('match_type', 'keywords')}"] += 1
        elif first == second or (isinstance(first, str) and isinstance(second, str)):
            counts["equal"] += 1
        elif first[0] == second[0] and first[0] > PAGE_LIMIT:
            counts["equal counts, other first page"] += 1
        else:
            counts["unequal"] += 1
            unequal.append({"asked": question, "here": first[0], "milvus": second[0]})
    return {**counts, "which": unequal} if unequal else dict(counts)


def resident(project: Path) -> int:
    """Return MB of the processes that serve the project, milvus-lite's among them."""
    processes = product.processes_of_set(configuration.load(project))
    return round(sum(index._memory(process) for process in processes.values()) / 1e6)


def time_indexing(options: argparse.Namespace) -> report.Figures:
    """Return the seconds until a project of so many files is in Milvus."""
    with tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder:
        project = Path(folder, "project")
        project.mkdir()
        files = exact.compose(options.repos, project, options.files)
        (project / ".git").mkdir(exist_ok=True)
        with surroundings(options.milvus or f"{folder}/lite.db"):
            started = time.perf_counter()
            process = subprocess.Popen(
                command(project, options.milvus or f"{folder}/lite.db"),
                stdout=subprocess.DEVNULL,
                env=os.environ,
            )
            with index.Memory(process.pid) as memory:
                code = process.wait()
            took = time.perf_counter() - started
    if code:
        raise SystemExit(f"cortex index ended with {code}")
    return {
        "files": files,
        "indexed_s": round(took, 1),
        "indexed_goal_s": INDEXED_S,
        "indexing_mb": round(memory.peak / 1e6),
    }
