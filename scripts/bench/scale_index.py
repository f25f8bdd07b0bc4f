"""The half of scale.py that is about the index: the same projects asked here and in Milvus.

Rankings are compared by NDCG over annotated repositories, answers of cortex_exact by their counts
and places over drawn questions. What Milvus's engine says that it cannot do is left out, and
counted. milvus-lite has to compact first: its newest rows are searched one by one.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import exact
import index
import product
import quality
import queries
import report
import systems

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
    found = [compared(repo, options, options.questions // len(chosen) + 1) for repo in chosen]
    rows = [one["ranking"] for one in found]
    equality = Counter[str]()
    for one in found:
        equality.update(one["equality"])
    figures: report.Figures = {
        "repositories": len(found),
        "rankings": rows,
        "ndcg_here": round(statistics.mean(row["here"] for row in rows), 4),
        "ndcg_milvus": round(statistics.mean(row["milvus"] for row in rows), 4),
        "far_apart": [row["repository"] for row in rows if abs(row["here"] - row["milvus"]) > NEAR],
        "equality": dict(equality),
        "unequal": [each for one in found for each in one["unequal"]],
        "p50_ms": {
            place: round(statistics.median(one["ms"][place] for one in found), 1)
            for place in ("here", "milvus")
        },
        "memory_mb": {place: max(one["memory_mb"][place] for one in found) for place in ("here", "milvus")},
    }
    return figures | (indexed(options) if options.files else {})


@contextlib.contextmanager
def surroundings(milvus: str) -> Iterator[None]:
    """As `product.surroundings`, with the index in Milvus when `milvus` is a place."""
    kept = {"engines_text": "milvus", "engines_vector": "milvus", "milvus_uri": milvus} if milvus else {}
    with product.surroundings(**kept):
        yield


def command(project: Path, milvus: str) -> list[str]:
    to = ["--to", "milvus", "--single-writer"] if milvus else []
    return [*systems.CORTEX, "index", "--project", str(project), *to]


def compared(repo: dict[str, Any], options: argparse.Namespace, count: int) -> dict[str, Any]:
    """One repository in both places."""
    asked = json.loads((options.queries / "annotations" / f"{repo['name']}.json").read_text())
    root = repo.get("benchmark_root") or ""
    answers: dict[str, list[Any]] = {}
    ranking: dict[str, Any] = {"repository": repo["name"]}
    ms, memory = dict[str, float](), dict[str, int]()
    with tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder:
        milvus = options.milvus or f"{folder}/lite.db"
        with systems.sparse_copy(options.repos / repo["name"], root) as project:
            questions = [quality.exact(query, root, quality.PARENTS, project) for query in asked]
            drawn: list[dict[str, Any]] = []
            for place, uri in (("here", ""), ("milvus", milvus)):
                with surroundings(uri):
                    subprocess.run(command(project, uri), check=True, stdout=subprocess.DEVNULL)
                    drawn = drawn or draw(project, count)
                    told = asyncio.run(ask(project, repo | {"layout": quality.PARENTS}, questions, drawn))
                    memory[place] = resident(project)
                    systems._stop(project)
                ranking[place], ms[place], answers[place] = told
    return {"ranking": ranking, "ms": ms, "memory_mb": memory} | equal(
        drawn, answers["here"], answers["milvus"]
    )


def draw(project: Path, count: int) -> list[dict[str, Any]]:
    """Arguments of cortex_exact, drawn from what is indexed here."""
    rows = product.rows_of(configuration.load(project))
    texts = [rows.text(at) for at in product.covering(rows)]
    drawn = queries.draw(texts, count // len(KINDS) + 1)
    all_ = [one for kind in KINDS for one in drawn[kind]]
    return [FILTERS[at % len(FILTERS)] | one for at, one in enumerate(all_)][:count]


async def ask(
    project: Path, repo: dict[str, Any], questions: list[dict[str, Any]], drawn: list[dict[str, Any]]
) -> tuple[float, float, list[Any]]:
    """(NDCG, p50 of a search in ms, what each drawn question is answered)."""
    async with systems.session_of(project) as session:

        async def search(query: str) -> list[systems.Hit]:
            said = {"query": query, "limit": systems.DEPTH, "detail": "location"}
            reply = json.loads((await session.call_tool("cortex_search", said)).content[0].text)
            return [systems._hit(result["chunk"]) for result in reply["results"]]

        scored = await quality.measure(
            quality.System("cortex", systems.product, True), search, repo, questions
        )
        answers = []
        for one in drawn:
            reply = await session.call_tool("cortex_exact", one | {"limit": SHOWN, "detail": "location"})
            answers.append(told(reply))
    return statistics.mean(row.ndcg for row in scored), statistics.median(row.ms for row in scored), answers


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
    return {"equality": counts, "unequal": unequal}


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
