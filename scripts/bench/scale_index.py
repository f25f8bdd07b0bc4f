"""The half of scale.py that is about the index: the same projects asked here and in Milvus.

Rankings are compared by NDCG over annotated repositories, answers of cortex_exact by their counts
and places over drawn questions. What Milvus's engine says that it cannot do is left out, and
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

#: how far the two rankings may be from each other, in NDCG of a repository
NEAR = 0.005
#: seconds in which the files of `--files` are to be in Milvus
INDEXED_S = 120
#: kinds of `queries.draw` that a part of the questions each is of
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
#: filters that are said with questions, in turn
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"chunk_types": ["function", "method"]},
    {"paths": ["src/", "lib/", "*.py"]},
    {"exclude_paths": ["test*/", "docs/"]},
    {"tags": ["test"]},
)
#: seconds in which a question has to be answered by all lanes
PATIENCE_S = 120.0
#: results of one drawn question that are compared
SHOWN = 50


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
    """Ranking, equality, times and memory of all repositories that were chosen."""
    repos = json.loads((options.queries / "repos.json").read_text())
    chosen = [repo for repo in repos if not options.only or repo["name"] in options.only]
    found = []
    for repo in chosen:
        found.append(compared(repo, options, options.questions // len(chosen) + 1))
        print(json.dumps(found[-1]), flush=True)
    figures: report.Figures = {
        "repositories": found,
        "ndcg_here": round(statistics.mean(one["ndcg_here"] for one in found), 4),
        "ndcg_milvus": round(statistics.mean(one["ndcg_milvus"] for one in found), 4),
        "far_apart": [
            one["repository"] for one in found if abs(one["ndcg_here"] - one["ndcg_milvus"]) > NEAR
        ],
        "p50_ms": {
            place: statistics.median(one[f"p50_{place}_ms"] for one in found) for place in ("here", "milvus")
        },
        "memory_mb": {place: max(one[f"memory_{place}_mb"] for one in found) for place in ("here", "milvus")},
    }
    for name in ("equality", "after_a_change", "generation_before"):
        counts = Counter[str]()
        for one in found:
            counts.update({kind: count for kind, count in one[name].items() if isinstance(count, int)})
        figures[name] = dict(counts)
    return figures | (indexed(options) if options.files else {})


@contextlib.contextmanager
def surroundings(milvus: str, home: Path | None = None) -> Iterator[None]:
    """As `product.surroundings`, with the index in Milvus when `milvus` is a place."""
    kept = {"engines_text": "milvus", "engines_vector": "milvus", "milvus_uri": milvus} if milvus else {}
    with product.surroundings(home, **kept):
        yield


def command(project: Path, milvus: str) -> list[str]:
    to = ["--to", "milvus", "--single-writer"] if milvus else []
    return [*systems.CORTEX, "index", "--project", str(project), *to]


def compared(repo: dict[str, Any], options: argparse.Namespace, count: int) -> dict[str, Any]:
    """One repository in both places, before and after a change of its files. Both read the same
    chunk files.
    """
    asked = json.loads((options.queries / "annotations" / f"{repo['name']}.json").read_text())
    root = repo.get("benchmark_root") or ""
    with (
        tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder,
        systems.sparse_copy(options.repos / repo["name"], root) as project,
    ):
        questions = [quality.exact(query, root, quality.PARENTS, project) for query in asked]
        home, milvus = Path(folder, "home"), options.milvus or f"{folder}/lite.db"
        with surroundings("", home):
            run_index(project, "")
            drawn = draw(project, count)
            before = {"here": answered(project, repo, questions, drawn)}
        with surroundings(milvus, home):
            run_index(project, milvus)
            settled = generations.settle(project)
            before["milvus"] = answered(project, repo, questions, drawn)
        with surroundings("", home):
            generations.change(project)
            run_index(project, "")
            after = {"here": answered(project, repo, [], drawn)}
        with surroundings(milvus, home), generations.held(project, drawn) as again:
            run_index(project, milvus)
            held = again()
            after["milvus"] = answered(project, repo, [], drawn)
    return {
        "repository": repo["name"],
        **{f"ndcg_{place}": round(told.ndcg, 4) for place, told in before.items()},
        **{f"p50_{place}_ms": round(told.ms, 1) for place, told in before.items()},
        **{f"memory_{place}_mb": told.memory_mb for place, told in before.items()},
        "settled": settled,
        "equality": equal(drawn, before["here"].answers, before["milvus"].answers),
        "after_a_change": equal(drawn, after["here"].answers, after["milvus"].answers),
        "generation_before": held,
    }


def run_index(project: Path, milvus: str) -> None:
    subprocess.run(command(project, milvus), check=True, stdout=subprocess.DEVNULL)


def answered(project: Path, repo: dict[str, Any], questions: list[Any], drawn: list[dict[str, Any]]) -> Told:
    """What a set of processes answers, which is stopped then."""
    try:
        return asyncio.run(ask(project, repo, questions, drawn))
    finally:
        systems._stop(project)


def draw(project: Path, count: int) -> list[dict[str, Any]]:
    """Arguments of cortex_exact, drawn from what is indexed here."""
    rows = product.rows_of(configuration.load(project))
    texts = [rows.text(at) for at in product.covering(rows)]
    drawn = queries.draw(texts, count // len(KINDS) + 1)
    # of each kind as many, and each filter with each kind
    turns = zip(*(drawn[kind] for kind in KINDS), strict=True)
    said = (
        FILTERS[(turn + at) % len(FILTERS)] | one
        for turn, some in enumerate(turns)
        for at, one in enumerate(some)
    )
    return list(itertools.islice(said, count))


@dataclass(frozen=True, slots=True)
class Told:
    """What one place said: NDCG and p50 of searches, what each drawn question is answered."""

    ndcg: float
    ms: float
    memory_mb: int
    answers: list[Any]


async def ask(
    project: Path, repo: dict[str, Any], questions: list[dict[str, Any]], drawn: list[dict[str, Any]]
) -> Told:
    async with systems.session_of(project) as session:

        async def search(query: str) -> list[systems.Hit]:
            said = {"query": query, "limit": systems.DEPTH, "detail": "location"}
            reply = json.loads((await whole(session, "cortex_search", said)).content[0].text)
            return [systems._hit(result["chunk"]) for result in reply["results"]]

        system = quality.System("cortex", systems.product, True)
        scored = await quality.measure(system, search, repo | {"layout": quality.PARENTS}, questions)
        said = [one | {"limit": SHOWN, "detail": "location"} for one in drawn]
        answers = [told(await whole(session, "cortex_exact", one)) for one in said]
        memory = resident(project)
    ms = [row.ms for row in scored]
    ndcg = [row.ndcg for row in scored]
    return Told(statistics.mean(ndcg) if ndcg else 0.0, statistics.median(ms) if ms else 0.0, memory, answers)


async def whole(session: Any, tool: str, said: dict[str, Any]) -> Any:
    """An answer in which no lane is missing: on a machine that others use deadlines may pass."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            reply = await session.call_tool(tool, said)
            if reply.is_error or not json.loads(reply.content[0].text)["index"]["degraded"]:
                return reply
        except MCPError:
            if time.monotonic() > until:
                raise
        if time.monotonic() > until:
            raise SystemExit(f"{tool} was not answered in whole within {PATIENCE_S:.0f} s: {said}")


def told(reply: Any) -> Any:
    """What two places have to agree on; a sentence where it is refused."""
    text = reply.content[0].text
    if reply.is_error:
        return text
    answer = json.loads(text)
    places = [systems._hit(result["chunk"]) for result in answer["results"]]
    return answer["total_found"], sorted((one.file, one.start, one.end) for one in places)


def equal(drawn: list[dict[str, Any]], here: list[Any], there: list[Any]) -> dict[str, Any]:
    """Counts of questions that are equal, unequal, and left out; those that are unequal."""
    counts, unequal = Counter[str](), []
    for one, first, second in zip(drawn, here, there, strict=True):
        if isinstance(second, str) and not isinstance(first, str):
            counts[f"left out: {one.get('match_type', 'keywords')}"] += 1
        elif first == second or (isinstance(first, str) and isinstance(second, str)):
            counts["equal"] += 1
        elif first[0] == second[0] and first[0] > SHOWN:
            counts["equal counts, other first page"] += 1
        else:
            counts["unequal"] += 1
            unequal.append({"asked": one, "here": first[0], "milvus": second[0]})
    return {**counts, "which": unequal} if unequal else dict(counts)


def resident(project: Path) -> int:
    """MB of the processes that serve the project, milvus-lite's among them."""
    found = product.set_of(configuration.load(project))
    return round(sum(index._memory(process) for process in found.values()) / 1e6)


def indexed(options: argparse.Namespace) -> report.Figures:
    """Seconds until a project of so many files is in Milvus."""
    with tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder:
        project = Path(folder, "project")
        project.mkdir()
        made = exact.compose(options.repos, project, options.files)
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
        "files": made,
        "indexed_s": round(took, 1),
        "indexed_goal_s": INDEXED_S,
        "indexing_mb": round(memory.peak / 1e6),
    }
