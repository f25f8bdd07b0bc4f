"""A benchmark of the speed of the code graph: on a synthetic graph, inside the engine, and through
MCP client, front and worker.

    python scripts/bench/graph.py [--nodes 100000] [--edges 500000] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import orjson
import psutil
from product import Front, connect, processes_of, scratch_project
from report import add_json, begin, percentiles, print_figures, print_machine, write

from cortex.ask.freshness import Freshness
from cortex.engines.graph.answers import GraphSnapshot
from cortex.engines.graph.arrays import GraphOpener
from cortex.engines.graph.sources import Sources
from cortex.generation.graph import write_graph
from cortex.settings import config as configuration
from cortex.settings.config import Config
from ipc.messages import GraphSearch

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
    figures = speed(arguments.nodes, arguments.edges)
    print_machine(head)
    print_figures(figures)
    if arguments.json:
        write(head | figures)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=500_000)
    add_json(parser)
    return parser.parse_args()


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
