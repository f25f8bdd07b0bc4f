"""The code graph: how right it is against jedi, and how fast. Prints a table; `--json` keeps the figures.

    python scripts/bench/graph.py [--package FOLDER …] [--nodes 100000] [--edges 500000] [--json] [--show 20]

FOLDER is an unpacked Python package (`pip download`, unzip). jedi is wanted only with `--package`: `pip install jedi`.
Compared is every call site whose target jedi finds inside the package and takes for a function or class, and every class
with its bases. Precision: of our resolved calls that jedi has an opinion of, the share with the same target. Recall: of
jedi's targets, the share that we name. Ambiguous calls, which list candidates, count as not found.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from cortex import __version__
from cortex.engines.graph_answers import GraphSnapshot
from cortex.engines.graph_arrays import GraphOpener
from cortex.engines.graph_segments import write_graph
from cortex.engines.graph_sources import Sources
from cortex.graph.evaluate import Evaluator
from cortex.graph.facts import TYPE_KINDS
from cortex.graph.project import Project
from cortex.graph.resolve import edges_of
from cortex.indexer.graph_facts import facts_of
from cortex.indexer.source import Source, decode, digest
from ipc.messages import GraphSearch

RESULTS = Path(__file__).parent / "results"
#: nodes of one synthetic file, and files of one shard
FILE_NODES, SHARD_FILES = 20, 96
#: questions of each operation
QUESTIONS = 200


def main() -> None:
    arguments = parse_arguments()
    figures: dict[str, Any] = machine()
    for folder in arguments.package:
        figures[f"accuracy {folder.name.partition('-py')[0]}"] = accuracy(folder, arguments.show)
    if arguments.nodes:
        figures |= speed(arguments.nodes, arguments.edges)
    for name, value in figures.items():
        print(f"{name:<34}{value}")
    if arguments.json:
        commit = git("rev-parse", "--short", "HEAD")
        path = RESULTS / f"{dt.date.today().isoformat()}-{commit}-graph.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"bench": "graph"} | figures, indent=2) + "\n")
        print(f"\nwritten to {path}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--package", type=Path, action="append", default=[])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=500_000)
    parser.add_argument("--show", type=int, default=0, help="differences to print")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def machine() -> dict[str, Any]:
    return {
        "cortex": __version__,
        "commit": git("rev-parse", "--short", "HEAD"),
        "python": platform.python_version(),
        "machine": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "load_average": round(os.getloadavg()[0], 1),
    }


def git(*arguments: str) -> str:
    folder = Path(__file__).parent
    return subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=False
    ).stdout.strip()


Place = tuple[str, int]


def load(root: Path) -> Project:
    changes = {}
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        raw = path.read_bytes()
        source = decode(name, raw)
        if isinstance(source, Source) and (facts := facts_of(source, digest(raw))) is not None:
            changes[name] = facts
    project = Project()
    project.update(changes)
    return project


def accuracy(root: Path, show: int) -> dict[str, Any]:
    """Our calls and bases against jedi's."""
    project = load(root)
    evaluator = Evaluator(project)
    places = {
        project.id_of((path, at)): (path, one.line)
        for path, index in project.files.items()
        for at, one in enumerate(index.facts.definitions)
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
    """None among theirs: outside the package."""
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
    for one in (*wrong[:show], *missed[:show]):
        print("wrong " if len(one) == 4 else "missed", *one, file=sys.stderr)
    found = sum(1 for key, targets in inside.items() if key in ours and ours[key][0] in targets)
    return {
        "precision": round(sum(right.values()) / max(1, sum(judged.values())), 4),
        "recall": round(found / max(1, len(inside)), 4),
        "jedi_finds": len(inside),
        "we_find": len(ours),
        "judged": sum(judged.values()),
        "by_confidence": {name: f"{right[name]}/{judged[name]}" for name in sorted(judged)},
    }


def jedi_targets(
    root: Path, project: Project, *, calls: bool
) -> Iterator[tuple[tuple[str, int, int], set[Place] | None]]:
    """(call site or base, its targets in the package; None when jedi finds something outside it)."""
    import jedi  # type: ignore[import-not-found]

    # Not the packages installed here: one of them may be the very package under its own name.
    standard = [path for path in sys.path if path and "site-packages" not in path]
    whole = jedi.Project(root, sys_path=[str(root), *standard], smart_sys_path=False)
    for path, index in sorted(project.files.items()):
        script = jedi.Script(path=root / path, project=whole)
        if calls:
            sites = [(one.line, one.column) for one in index.references if one.kind == "call"]
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
            except Exception as error:  # jedi's own faults are no opinion
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
    """Operations on a graph made up with the degrees of real ones: most functions are called once, a few by thousands."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        started = time.perf_counter()
        names = synthesize(place, nodes, edges)
        packed_s = time.perf_counter() - started
        cold = []
        for _ in range(3):
            started = time.perf_counter()
            opener = GraphOpener(place)
            snapshot = GraphSnapshot(opener.open(names), 1, Sources(place))
            cold.append(time.perf_counter() - started)
        first, segment = next(iter(names.items()))
        (place / "again.seg").write_bytes((place / segment).read_bytes())
        started = time.perf_counter()
        GraphSnapshot(opener.open(names | {first: "again.seg"}), 2, Sources(place))
        reload_s = time.perf_counter() - started
        figures: dict[str, Any] = {
            "nodes": nodes,
            "edges": edges,
            "pack_s": round(packed_s, 2),
            "load_s": round(statistics.median(cold), 3),
            "reload_one_shard_s": round(reload_s, 3),
        }
        return figures | operations(snapshot, nodes)


def synthesize(place: Path, nodes: int, edges: int) -> dict[str, str]:
    """Segments of a made-up graph; graph file → segment."""
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
    for at in range(edges):
        source = at * nodes // edges
        file = source // FILE_NODES
        location = {"file": f"src/p{file % 97}/m{file}.py", "line": at % 900 + 1, "column": 4}
        edge = {"from": ids[source], "to": ids[int(targets[at])], "type": kinds[at], "location": location}
        shards[file % len(shards)][1].append(edge | {"confidence": "exact"})
    names = {}
    for number, (own, out) in enumerate(shards):
        name = f"code-graph.{number:03d}.json"
        write_graph(place / f"{name}.seg", orjson.dumps({"_metadata": {}, "nodes": own, "edges": out}))
        names[name] = f"{name}.seg"
    return names


def operations(snapshot: GraphSnapshot, nodes: int) -> dict[str, Any]:
    random.seed(2)
    ids = [
        snapshot.graph.names[int(n)]
        for n in snapshot.graph.nodes[:, 0][random.sample(range(nodes), QUESTIONS)]
    ]
    figures: dict[str, Any] = {}
    for operation in ("callers", "callees", "implementations", "dependencies", "dependents", "type_usages"):
        figures[f"{operation} ms"] = timed(
            lambda name, op=operation: snapshot.search(GraphSearch(op, name)), ids
        )
    figures["impact depth 3 ms"] = timed(
        lambda name: snapshot.search(GraphSearch("impact", name, depth=3)), ids
    )
    figures["path ms"] = timed(lambda name: snapshot.search(GraphSearch("path", name, ids[0])), ids[:50])
    figures["unknown name ms"] = timed(
        lambda name: snapshot.search(GraphSearch("callers", f"{name}x")), ids[:20]
    )
    return figures


def timed(ask: Callable[[str], object], names: list[str]) -> dict[str, float]:
    ask(names[0])
    times = []
    for name in names:
        started = time.perf_counter()
        ask(name)
        times.append((time.perf_counter() - started) * 1000)
    return {f"p{p}": round(float(np.percentile(times, p)), 2) for p in (50, 95, 99)}


if __name__ == "__main__":
    sys.exit(main())
