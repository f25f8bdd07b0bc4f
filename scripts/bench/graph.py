"""A benchmark of the code graph: correctness against jedi, and speed.

    python scripts/bench/graph.py [--package FOLDER …] [--nodes 100000] [--edges 500000]
        [--project FOLDER] [--json] [--show 20]

Speed is measured on a synthetic graph: inside the engine, and through MCP client, front and worker.
Freshness: the time from a saved file's chunks to its graph file, and from the text worker's answer
to the graph worker's, in a copy of this repository's sources or of `--project`.

FOLDER is an unpacked Python package (`pip download`, unzip). jedi is needed only with `--package`:
`pip install jedi`. Compared are every call site whose target jedi finds inside the package and
takes for a function or class, and every class with its bases. Precision: of our resolved calls for
which jedi has a target, the share with the same target. Recall: of jedi's targets, the share that
we name. Ambiguous calls, which list candidates, count as not found.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import shutil
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import psutil
from product import Front, connect, processes_of, scratch_project
from report import ROOT, Figures, add_json, begin, percentiles, print_figures, print_machine, write

from cortex.ask.freshness import Freshness
from cortex.engines.graph.answers import GraphSnapshot
from cortex.engines.graph.arrays import GraphOpener
from cortex.engines.graph.sources import Sources
from cortex.generation.graph import write_graph
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import Source, decode, digest
from cortex.processes import attach
from cortex.settings import config as configuration
from cortex.settings.config import Config
from cortex.system.errors import CortexError
from cortex.terms.kinds import TYPE_KINDS
from ipc.client import Client
from ipc.messages import ExactSearch, GraphSearch

#: nodes of a synthetic file, and files of a shard
FILE_NODES, SHARD_FILES = 20, 96
#: queries of each operation, and how many of them do not count
QUESTIONS, WARM_UP = 200, 10
#: definitions with the most edges to them, whose impact is measured too
HUBS = 20
#: methods of a synthetic class, and files whose classes are bases
METHODS, BASE_FILES = 5, 100
#: seconds until an index must be served
BOUND_S = 300.0


def main() -> None:
    arguments = parse_arguments()
    head = begin("graph")
    figures: Figures = {}
    for folder in arguments.package:
        figures[f"accuracy {folder.name.partition('-py')[0]}"] = accuracy(folder, arguments.show)
    if arguments.nodes:
        figures |= speed(arguments.nodes, arguments.edges)
    if arguments.saves:
        figures |= asyncio.run(freshness(arguments.project, arguments.saves))
    print_machine(head)
    print_figures(figures)
    if arguments.json:
        write(head | figures)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--package", type=Path, action="append", default=[])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=500_000)
    parser.add_argument("--project", type=Path, help="a project; a copy of it is edited to measure freshness")
    parser.add_argument("--saves", type=int, default=20, help="edits of one file; 0 leaves freshness out")
    parser.add_argument("--show", type=int, default=0, help="differences to print")
    add_json(parser)
    return parser.parse_args()


Place = tuple[str, int]


def load(root: Path) -> Project:
    changes = {}
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        raw = path.read_bytes()
        source = decode(name, raw)
        if isinstance(source, Source) and (facts := facts_of(source, digest(raw))) is not None:
            changes[name] = facts
    project = Project(LANGUAGES)
    project.update(changes)
    return project


def accuracy(root: Path, show: int) -> dict[str, Any]:
    """Compare our calls and bases with jedi's."""
    project = load(root)
    evaluator = Evaluator(project)
    places = {
        project.id_of((path, at)): (path, definition.line)
        for path, index in project.files.items()
        for at, definition in enumerate(index.facts.definitions)
    }
    ours: dict[tuple[str, int, int], tuple[Place, str]] = {}
    unsure: set[tuple[str, int, int]] = set()
    supers: dict[tuple[str, int, int], tuple[Place, str]] = {}
    for path in project.files:
        for edge in edges_of(project, evaluator, path):
            key = (path, edge.location.line, edge.location.column)
            if edge.type == "calls" and edge.candidates:
                unsure.add(key)
            elif edge.type == "calls":
                ours[key] = (places[edge.target], edge.confidence)
            elif edge.type in ("extends", "implements"):
                supers[key] = (places[edge.target], edge.confidence)
    theirs = dict(jedi_targets(root, project, calls=True))
    their_supers = dict(jedi_targets(root, project, calls=False))
    return {
        "calls": compare(ours, theirs, show) | {"ambiguous": len(unsure & theirs.keys())},
        "bases": compare(supers, their_supers, show),
    }


def compare(
    ours: dict[tuple[str, int, int], tuple[Place, str]],
    theirs: dict[tuple[str, int, int], set[Place] | None],
    show: int,
) -> dict[str, Any]:
    """Return precision and recall; None among theirs is a target outside the package."""
    right: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    wrong, missed = [], []
    inside = {key: targets for key, targets in theirs.items() if targets}
    for key, (place, confidence) in ours.items():
        if key in theirs:
            judged[confidence] += 1
            if place in (theirs[key] or ()):
                right[confidence] += 1
            else:
                wrong.append((key, place, confidence, theirs[key]))
    for key, targets in inside.items():
        if key not in ours:
            missed.append((key, targets))
    for difference in (*wrong[:show], *missed[:show]):
        print("wrong " if len(difference) == 4 else "missed", *difference, file=sys.stderr)
    hits = sum(1 for key, targets in inside.items() if key in ours and ours[key][0] in targets)
    return {
        "precision": round(sum(right.values()) / max(1, sum(judged.values())), 4),
        "recall": round(hits / max(1, len(inside)), 4),
        "jedi_finds": len(inside),
        "we_find": len(ours),
        "judged": sum(judged.values()),
        "by_confidence": {name: f"{right[name]}/{judged[name]}" for name in sorted(judged)},
    }


def jedi_targets(
    root: Path, project: Project, *, calls: bool
) -> Iterator[tuple[tuple[str, int, int], set[Place] | None]]:
    """Yield (call site or base, its targets in the package; None if jedi finds one outside it)."""
    import jedi  # type: ignore[import-not-found]

    # Not the packages installed here: one may be the measured package itself under its own name.
    standard = [path for path in sys.path if path and "site-packages" not in path]
    jedi_project = jedi.Project(root, sys_path=[str(root), *standard], smart_sys_path=False)
    for path, index in sorted(project.files.items()):
        script = jedi.Script(path=root / path, project=jedi_project)
        if calls:
            sites = [
                (reference.line, reference.column)
                for reference in index.references
                if reference.kind == "call"
            ]
        else:
            sites = [
                (b.line, b.column + len(b.chain) - len(b.chain.rpartition(".")[2]))
                for d in index.facts.definitions
                if d.kind in TYPE_KINDS
                for b in d.bases
            ]
        for line, column in sites:
            try:
                names = script.goto(line, column, follow_imports=True)
            except Exception as error:  # jedi's own faults give no target
                print(f"jedi: {path}:{line}: {error}", file=sys.stderr)
                continue
            targets: set[Place] = set()
            outside = False
            for name in names:
                module = Path(name.module_path) if name.module_path else None
                if module is None or not module.is_relative_to(root):
                    outside = True
                elif name.type in ("function", "class"):
                    targets.add((module.relative_to(root).as_posix(), name.line))
            start = (
                column
                if calls
                else next(
                    b.column
                    for d in index.facts.definitions
                    for b in d.bases
                    if (b.line, b.column + len(b.chain) - len(b.chain.rpartition(".")[2])) == (line, column)
                )
            )
            if targets:
                yield (path, line, start), targets
            elif outside:
                yield (path, line, start), None


def speed(nodes: int, edges: int) -> dict[str, Any]:
    """Measure operations on a synthetic graph with the degrees of real graphs.

    Most functions are called once, a few by thousands. A third of the classes extend one of some
    hundred bases, and override its methods.
    """
    with scratch_project(server_auto_index="false") as root:
        config = configuration.load(root)
        ids = synthesize(config, nodes, edges)
        place = root / "segments"
        place.mkdir()
        started = time.perf_counter()
        names = {}
        for path in sorted(config.graph_dir.iterdir()):
            write_graph(place / f"{path.name}.seg", path.read_bytes())
            names[path.name] = f"{path.name}.seg"
        packed_s = time.perf_counter() - started
        cold = []
        for _ in range(3):
            started = time.perf_counter()
            opener = GraphOpener(place)
            snapshot = GraphSnapshot(opener.open(names), 1, Sources(root))
            cold.append(time.perf_counter() - started)
        first = next(iter(names))
        write_graph(place / "again.seg", (config.graph_dir / first).read_bytes())
        started = time.perf_counter()
        GraphSnapshot(opener.open(names | {first: "again.seg"}), 2, Sources(root))
        figures: dict[str, Any] = {
            "nodes": nodes,
            "edges": edges,
            "pack_s": round(packed_s, 2),
            "load_s": round(statistics.median(cold), 3),
            "reload_one_shard_s": round(time.perf_counter() - started, 3),
        }
        targets = random.sample(ids, QUESTIONS)
        for operation, queries in cases(targets):
            figures[f"engine {operation} ms"] = time_questions(
                lambda q: snapshot.search(GraphSearch(**q)), queries
            )
        hubs = [{"operation": "impact", "target": name, "depth": 3} for name in find_hubs(snapshot)]
        figures["engine impact depth 3, hubs, worst ms"] = max(
            time_questions(lambda q: snapshot.search(GraphSearch(**q)), [hub] * (WARM_UP + 3))["p50"]
            for hub in hubs
        )
        return figures | asyncio.run(measure_front(config, targets))


def find_hubs(snapshot: GraphSnapshot) -> list[str]:
    """Return the ids of the HUBS definitions with the most edges to them."""
    graph = snapshot.graph
    counts = np.bincount(graph.edges[:, 1], minlength=len(graph.names))
    return [graph.names[number] for number in np.argsort(-counts)[:HUBS].tolist()]


def cases(ids: list[str]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield (operation, its queries) with the tool's defaults."""
    for operation in ("callers", "callees", "implementations", "dependencies", "dependents", "type_usages"):
        yield operation, [{"operation": operation, "target": name} for name in ids]
    yield "impact depth 3", [{"operation": "impact", "target": name, "depth": 3} for name in ids]
    yield "path", [{"operation": "path", "target": name, "to": ids[0]} for name in ids]
    yield "unknown name", [{"operation": "callers", "target": f"{name}x"} for name in ids]


def synthesize(config: Config, nodes: int, edges: int) -> list[str]:
    """Write the graph files of a synthetic project with sources and one chunk; return its
    node ids.
    """
    random.seed(1)
    files = nodes // FILE_NODES
    ids = [f"src/p{f % 97}/m{f}:C{i // 5}.f{i}" for f in range(files) for i in range(FILE_NODES)]
    targets = np.minimum(np.random.default_rng(1).zipf(1.3, edges) * 7919 % nodes, nodes - 1)
    kinds = random.choices(["calls", "uses_type", "imports", "extends"], [70, 20, 8, 2], k=edges)
    shards: list[tuple[list[Any], list[Any]]] = [([], []) for _ in range(max(1, files // SHARD_FILES))]
    for at, name in enumerate(ids):
        file = at // FILE_NODES
        node = {
            "id": name,
            "kind": "method",
            "file": f"src/p{file % 97}/m{file}.py",
            "start_line": at % 900 + 1,
        }
        shards[file % len(shards)][0].append(node | {"end_line": at % 900 + 9})
        if not at % METHODS:
            around = node | {"id": name.rpartition(".")[0], "kind": "class"}
            shards[file % len(shards)][0].append(around | {"end_line": at % 900 + 90})
    for at in range(edges):
        source = at * nodes // edges
        file = source // FILE_NODES
        location = {"file": f"src/p{file % 97}/m{file}.py", "line": at % 900 + 1, "column": 4}
        start, end = ids[source], ids[int(targets[at])]
        if kinds[at] == "extends":  # a class of one of the first files, with the same methods
            base = random.randrange(BASE_FILES) * FILE_NODES + source % FILE_NODES
            start, end = (ids[number].rpartition(".")[0] for number in (source, base))
        edge = {"from": start, "to": end, "type": kinds[at], "location": location}
        shards[file % len(shards)][1].append(edge | {"confidence": "exact"})
    config.graph_dir.mkdir(parents=True)
    for number, (shard_nodes, out) in enumerate(shards):
        body = orjson.dumps({"_metadata": {}, "nodes": shard_nodes, "edges": out})
        (config.graph_dir / f"code-graph.{number:03d}.json").write_bytes(body)
    write_sources(config, files)
    return ids


def write_sources(config: Config, files: int) -> None:
    """Write a text of 910 lines to every file, and a chunk so that there is an index."""
    text = config.root / "text.py"
    text.write_text("".join(f"    value_{line} = compute({line})\n" for line in range(910)))
    for file in range(files):
        path = config.root / f"src/p{file % 97}/m{file}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.hardlink_to(text)
    config.chunks_dir.mkdir(parents=True)
    chunk = {"id": "one", "chunk_type": "code", "text": "one", "metadata": {"file_path": "src/one.py"}}
    (config.chunks_dir / "bench.json").write_bytes(orjson.dumps([chunk]))


async def measure_front(config: Config, ids: list[str]) -> dict[str, Any]:
    """Measure the same queries from the MCP client, and the graph worker's memory."""
    figures: dict[str, Any] = {}
    async with connect(config.root) as front:
        await wait_served(front, config, ids[0])
        for operation, queries in cases(ids):
            times = []
            for question in queries:
                started = time.perf_counter()
                await front.call("cortex_graph", **question)
                times.append(time.perf_counter() - started)
            figures[f"MCP {operation} ms"] = milliseconds(times[WARM_UP:])
        figures["graph worker MB"] = memory(config)
    return figures


async def wait_served(front: Front, config: Config, name: str) -> None:
    async with asyncio.timeout(BOUND_S):
        while True:
            answer = await front.call("cortex_graph", operation="callers", target=name)
            if answer["target"] == name and not busy(config):
                return
            await asyncio.sleep(0.2)


def busy(config: Config) -> bool:
    """Return whether the watcher has still to read graph files."""
    return len(Freshness(config).current().graph) < len(list(config.graph_dir.glob("code-*.json*")))


def memory(config: Config) -> dict[str, float]:
    """Return the graph worker's memory.

    `anonymous` is its own, the other pages of `resident` are mapped files that others share.
    """
    for process in processes_of(config.root):
        with contextlib.suppress(psutil.Error):
            if "graph" in process.cmdline():
                info = process.memory_info()
                anonymous = info.rss - getattr(info, "shared", 0)
                return {"resident": round(info.rss / 2**20, 1), "anonymous": round(anonymous / 2**20, 1)}
    return {}


async def freshness(project: Path | None, saves: int) -> dict[str, Any]:
    """Save a file repeatedly under the real indexer, watcher and workers."""
    behind, answered = [], []
    with scratch_project() as root:
        for package in [project] if project else [ROOT / name for name in ("cortex", "ipc", "workers")]:
            ignored = shutil.ignore_patterns("__pycache__", "*.npy", ".git", ".cortex")
            shutil.copytree(package, root / package.name, ignore=ignored)
        config = configuration.load(root)
        path = root / "fresh_bench.py"
        path.write_text("def fresh_0():\n    pass\n")
        attachment = await attach.attach(config)
        client = Client(config.runtime_dir)
        try:
            await until(client, ExactSearch("fresh_0", limit=1))
            await until(client, GraphSearch("callers", "fresh_0"))
            for number in range(1, saves + 1):
                path.write_text(f"def caller():\n    fresh_{number}()\n\n\ndef fresh_{number}():\n    pass\n")
                moments = await asyncio.gather(
                    until(client, ExactSearch(f"fresh_{number}", limit=1)),
                    until(client, GraphSearch("callers", f"fresh_{number}")),
                )
                answered.append(moments[1] - moments[0])
                behind.append(last_written(config.graph_dir) - last_written(config.chunks_dir))
                await asyncio.sleep(1.0)
        finally:
            await client.close()
            await attachment.close()
        files = len(list(root.rglob("*.*")))
    return {
        "freshness: files": files,
        "graph file after chunk files ms": milliseconds(behind),
        "graph answers after text ms": milliseconds(answered),
    }


def last_written(folder: Path) -> float:
    """Return when a file of `folder` was written last, in seconds."""
    return max(path.stat().st_mtime_ns for path in folder.glob("code-*.json*")) / 1e9


async def until(client: Client, question: ExactSearch | GraphSearch) -> float:
    """Return when the query had a result."""
    async with asyncio.timeout(BOUND_S):
        while True:
            with contextlib.suppress(CortexError):
                worker = "text" if isinstance(question, ExactSearch) else "graph"
                hits: Any = await client.ask(worker, question, 5.0)
                if hits.total_found or (isinstance(question, GraphSearch) and hits.target):
                    return time.perf_counter()
            await asyncio.sleep(0.002)


def time_questions(
    ask: Callable[[dict[str, Any]], object], questions: list[dict[str, Any]]
) -> dict[str, float]:
    times = []
    for question in questions:
        started = time.perf_counter()
        ask(question)
        times.append(time.perf_counter() - started)
    return milliseconds(times[WARM_UP:])


def milliseconds(seconds: list[float]) -> dict[str, float]:
    return percentiles([1000 * second for second in seconds])


if __name__ == "__main__":
    sys.exit(main())
