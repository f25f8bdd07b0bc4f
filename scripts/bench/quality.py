"""A benchmark of ranking quality: annotated queries on real repositories, through the MCP front.

    scripts/bench/quality.py --repos DIR --queries DIR [--layout parents|root] [--only NAME]
        [--work DIR] [--jsonl [FILE]] [--json]
        [--baseline rg|bm25|semble] [--without SIGNAL|model|words] [--ablate]

DIR of `--queries` holds `repos.json` and `annotations/<name>.json`; DIR of `--repos` one folder for
each repository. Only the annotated folder of a repository is measured: `--layout parents` keeps it
at its place, `root` makes it the project, as if a person opened it there. `--work` keeps the copies
and their indexes between runs. second_set.py makes another set of questions; paired.py compares two
runs' `--jsonl` and judges a change.

A target counts at the rank of the first result that covers it (same file; overlapping lines if it
has lines). NDCG@10 with binary gains; targets are relevant and secondary ones. tokens_to_first: the
tokens of the results up to the first relevant one, of all ten if there is none. ms: one query, as
the caller waits for it.

Beside the product, in the same run, on the same files:
`--baseline rg`      ripgrep over the question's words, files by the number of matches; the agent
                     reads whole files
`--baseline bm25`    bm25s over windows of 50 lines
`--baseline semble`  semble, with the model of `--peer-model DIR`
`--without SIGNAL`   the product with a weight of 0 for a signal of docs/RANKING.md; `model` leaves
                     the vectors out, `words` all but them: as when a worker is down
`--ablate`           that for every signal, one after the other: the gain of each
Only the front ranks, so a variant costs its queries alone. The packages of the peers go into a
virtual environment below ~/.cache/cortex-bench, or are those of `--peer-python`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from report import begin, make_parser, percentiles, print_machine, write
from systems import BASELINES, DEPTH, Ask, Hit, indexed, peer, product, ripgrep, sparse_copy

from cortex.ranking.weights import WITH_VECTORS

#: bytes of a token, for the tokens that an agent reads until the first relevant file
TOKEN_BYTES = 4
#: the product without variation
CORTEX = "cortex"
#: place of the annotated folder in the project: below its parents, or the project itself
PARENTS, ROOT = "parents", "root"
#: the categories of questions without annotators: each is a separate set
DERIVED_CATEGORIES = frozenset(("commit", "doc"))
#: lanes that a variant may leave out like a signal: the vector worker, the text worker
LANES = ("model", "words")


@dataclass(frozen=True)
class ScoredQuery:
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
    system: str = CORTEX
    #: for paired.py: the layout, or the source of the questions if nobody annotated them
    set: str = PARENTS


@dataclass(frozen=True)
class System:
    """A system to measure. `open(project)` returns the function that searches.

    `ours`: it needs the project indexed. `omitted`: the signal that this variant leaves out.
    """

    name: str
    open: Any = None
    ours: bool = False
    omitted: str = ""


def covers(hit: Hit, target: dict[str, Any]) -> bool:
    if hit.file != target["path"]:
        return False
    return "start_line" not in target or (hit.start <= target["end_line"] and target["start_line"] <= hit.end)


def resolve_paths(query: dict[str, Any], root: str, layout: str, project: Path) -> dict[str, Any]:
    """Return a question whose targets have their paths in `project`.

    Annotated paths are relative to the repository or to its annotated folder `root`.
    """

    def resolve_target(target: Any) -> dict[str, Any]:
        spelled = {"path": target} if isinstance(target, str) else target
        path = spelled["path"]
        if layout == ROOT:
            return spelled | {"path": path.removeprefix(f"{root}/") if root else path}
        return spelled | {"path": path if not root or (project / path).exists() else f"{root}/{path}"}

    return query | {
        name: [resolve_target(entry) for entry in query.get(name, ())] for name in ("relevant", "secondary")
    }


def score(
    query: dict[str, Any], hits: list[Hit], repo: dict[str, Any], seconds: float, system: str
) -> ScoredQuery:
    """Score the hits of a query; `query` is the result of `resolve_paths`."""
    targets = [*query["relevant"], *query["secondary"]]
    ranks = [next((at for at, hit in enumerate(hits[:DEPTH], 1) if covers(hit, t)), 0) for t in targets]
    gained = sum(1 / math.log2(rank + 1) for rank in ranks if rank)
    ideal = sum(1 / math.log2(at + 1) for at in range(1, min(len(targets), DEPTH) + 1))
    first = min((rank for rank in ranks if rank), default=0)
    read = sum(hit.bytes for hit in hits[: first or DEPTH]) // TOKEN_BYTES
    return ScoredQuery(
        repo["name"],
        repo["language"],
        query["category"],
        query["query"],
        gained / ideal,
        ranks,
        first,
        read,
        1000 * seconds,
        system,
        query["category"] if query["category"] in DERIVED_CATEGORIES else repo.get("layout", PARENTS),
    )


def choose_systems(options: argparse.Namespace) -> list[System]:
    systems = [System(CORTEX, product, ours=True)]
    signals = list(vars_of_weights()) if options.ablate else []
    omitted = dict.fromkeys([*options.without, *signals, *(LANES if options.ablate else ())])
    systems += [System(f"-{name}", ours=True, omitted=name) for name in omitted]
    for name in options.baseline:
        if name == "rg":
            systems.append(System("rg", ripgrep))
        else:
            model = options.peer_model if name == "semble" else ""
            systems.append(System(name, partial(peer, name=name, python=options.peer_python, model=model)))
    return systems


def vars_of_weights() -> dict[str, float]:
    """Return the signals that count, and their weights; `cited` is left out, as no question is
    pasted.
    """
    return {name: weight for name, weight in asdict(WITH_VECTORS).items() if weight and name != "cited"}


async def measure(system: System, ask: Ask, repo: dict[str, Any], queries: list[Any]) -> list[ScoredQuery]:
    scored = []
    for query in queries:
        started = time.perf_counter()
        hits = await ask(query["query"])
        scored.append(score(query, hits, repo, time.perf_counter() - started, system.name))
    return scored


async def measure_alone(
    system: System, project: Path, repo: dict[str, Any], queries: list[Any]
) -> list[ScoredQuery]:
    async with system.open(project) as ask:
        return await measure(system, ask, repo, queries)


async def measure_variants(
    variants: list[System], project: Path, repo: dict[str, Any], queries: list[Any]
) -> list[ScoredQuery]:
    """Measure all variants through one front, which reads for every query what to leave out."""
    scored: list[ScoredQuery] = []
    with tempfile.NamedTemporaryFile("w") as switch:
        async with product(project, switch.name) as ask:
            for system in variants:
                Path(switch.name).write_text(system.omitted)  # noqa: ASYNC240 - nothing else runs here
                scored += await measure(system, ask, repo, queries)
    return scored


def measure_all(
    systems: list[System], repo: dict[str, Any], options: argparse.Namespace
) -> list[ScoredQuery]:
    """Measure every system on one copy of a repository's files, and for ours one index."""
    queries = json.loads((options.queries / "annotations" / f"{repo['name']}.json").read_text())
    scored: list[ScoredQuery] = []
    root = repo.get("benchmark_root") or ""
    copy_folder = options.work and options.work / options.layout / repo["name"]
    with sparse_copy(
        options.repos / repo["name"], root, alone=options.layout == ROOT, keep_in=copy_folder
    ) as project:
        queries = [resolve_paths(query, root, options.layout, project) for query in queries]
        with indexed(project, keep_index=bool(copy_folder)):
            for system in systems:
                if system.ours and not system.omitted:
                    scored += asyncio.run(measure_alone(system, project, repo, queries))
            if variants := [system for system in systems if system.omitted]:
                scored += asyncio.run(measure_variants(variants, project, repo, queries))
        for system in systems:
            if not system.ours:
                scored += asyncio.run(measure_alone(system, project, repo, queries))
    return scored


def summary(scored: list[ScoredQuery]) -> dict[str, Any]:
    def mean(rows: list[ScoredQuery]) -> float:
        return round(statistics.mean(row.ndcg for row in rows), 4)

    def by(key: str) -> dict[str, float]:
        groups: dict[str, list[ScoredQuery]] = defaultdict(list)
        for row in scored:
            groups[getattr(row, key)].append(row)
        return {name: mean(rows) for name, rows in sorted(groups.items())}

    answered = [row for row in scored if row.first]
    repositories = by("repo")
    return {
        "queries": len(scored),
        "ndcg10": mean(scored),
        "ndcg10_repositories": round(statistics.mean(repositories.values()), 4),
        "ndcg10_spread": round(statistics.pstdev(repositories.values()), 4),
        "ndcg10_lowest": min(repositories.values()),
        "recall10": round(
            sum(1 for row in scored for rank in row.ranks if rank) / sum(len(row.ranks) for row in scored), 4
        ),
        "mrr": round(sum(1 / row.first for row in answered) / len(scored), 4),
        "tokens_to_first": round(statistics.mean(row.tokens for row in scored)),
        **{f"ms_{at}": value for at, value in percentiles([row.ms for row in scored], (50, 95)).items()},
        "category": by("category"),
        "language": by("language"),
        "repository": repositories,
    }


def show(results: dict[str, dict[str, Any]]) -> None:
    """Print a column for each system; for variants only the loss."""
    variants = {name: result for name, result in results.items() if name.startswith("-")}
    columns = {name: result for name, result in results.items() if name not in variants}
    first = next(iter(columns.values()))
    print(f"{'':24}" + "".join(f"{name:>10}" for name in columns))
    for key, value in first.items():
        if isinstance(value, dict):
            print(key)
            for name in value:
                print(
                    f"  {name:22}"
                    + "".join(f"{figures[key].get(name, 0):10.4f}" for figures in columns.values())
                )
        else:
            print(f"{key:24}" + "".join(f"{figures[key]:>10}" for figures in columns.values()))
    if variants:
        print(f"{'without':24}{'ndcg10':>10}{'earns':>10}{'repos':>10}{'earns':>10}")
    for name, result in sorted(variants.items(), key=lambda entry: entry[1]["ndcg10"]):
        cells = [result["ndcg10"], first["ndcg10"] - result["ndcg10"]]
        cells += [result["ndcg10_repositories"], first["ndcg10_repositories"] - result["ndcg10_repositories"]]
        print(f"{name[1:]:24}" + "".join(f"{cell:10.4f}" for cell in cells))


def result_body(results: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the results to write: the first system's figures at the top, the others below."""
    first, *others = results
    body = {"weights": asdict(WITH_VECTORS)} | results[first]
    return body | ({"others": {name: results[name] for name in others}} if others else {})


def arguments() -> argparse.Namespace:
    parser = make_parser(__doc__)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--layout", choices=(PARENTS, ROOT), default=PARENTS)
    parser.add_argument("--only", action="append", default=[], help="a repository's name; may be repeated")
    parser.add_argument("--work", type=Path, help="folder that keeps copies and their indexes; default: none")
    parser.add_argument("--baseline", action="append", default=[], choices=BASELINES, help="may be repeated")
    parser.add_argument("--peer-python", default="", help="an interpreter that has the peers' packages")
    parser.add_argument(
        "--peer-model", default="", help="the folder of semble's model; default: its own, downloaded"
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=[*asdict(WITH_VECTORS), *LANES],
        help="may be repeated",
    )
    parser.add_argument("--ablate", action="store_true", help="--without every signal in turn, and each lane")
    parser.add_argument(
        "--jsonl",
        nargs="?",
        const="-",
        help="write each query's ranks there; without a file to standard output",
    )
    return parser.parse_args()


def main() -> None:
    options = arguments()
    head = begin("quality" if options.layout == PARENTS else f"quality-{options.layout}")
    repos = json.loads((options.queries / "repos.json").read_text())
    systems = choose_systems(options)
    scored: list[ScoredQuery] = []
    for repo in repos:
        if options.only and repo["name"] not in options.only:
            continue
        rows = measure_all(systems, repo | {"layout": options.layout}, options)
        scored += rows
        means = [
            f"{system.name} {statistics.mean(row.ndcg for row in rows if row.system == system.name):.4f}"
            for system in systems
        ]
        print(f"{repo['name']:20} {'  '.join(means)}", file=sys.stderr, flush=True)
    if not scored:
        raise SystemExit(f"no repository is called {' or '.join(options.only)}")
    if options.jsonl:
        lines = "".join(json.dumps(asdict(row)) + "\n" for row in scored)
        sys.stdout.write(lines) if options.jsonl == "-" else Path(options.jsonl).write_text(lines)
    results = {
        system.name: summary([row for row in scored if row.system == system.name]) for system in systems
    }
    print_machine(head)
    show(results)
    if options.json:
        write(head | {"layout": options.layout} | result_body(results))


if __name__ == "__main__":
    main()
