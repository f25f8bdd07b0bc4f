"""Properties of walks over real checkouts: impact at depth 1 contains the callers, at n + 1 the
callers of the impact at n, and a path exists where a chain of callers does.

    python scripts/bench/graph_walks.py FOLDER … [--drawn 200]

Each folder's graph is built in a temporary copy. Prints a line for each folder and each fault;
exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

from report import ROOT

from cortex.engines.graph.arrays import Graph, GraphOpener
from cortex.generation.contract import GRAPH_BYTES_MAX, unpack
from cortex.generation.graph import write_graph
from cortex.generation.manifest import Entry
from cortex.indexer.store.graph_store import GraphStore
from cortex.indexer.syntax.source import digest
from cortex.settings import config as configuration
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS
from cortex.terms.languages import language_of

sys.path.insert(0, str(ROOT))
from tests.engines.walk_properties import find_faults

#: bytes of a file that is read
FILE_BYTES_MAX = 1_000_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--drawn", type=int, default=200, help="definitions of each folder")
    arguments = parser.parse_args()
    count = 0
    for folder in arguments.folders:
        with tempfile.TemporaryDirectory() as scratch:
            graph = build(folder, Path(scratch))
            names = [n for n in graph.nodes[:, 0].tolist() if graph.kind(n) in CALLABLE_KINDS | TYPE_KINDS]
            random.seed(1)
            drawn = random.sample(names, min(arguments.drawn, len(names)))
            faults = list(find_faults(graph, drawn))
            print(
                f"{folder.name}: {len(names)} definitions, {len(drawn)} drawn, {len(faults)} faults",
                flush=True,
            )
            for fault in faults[:10]:
                print(f"  {fault}")
            count += len(faults)
    return int(count > 0)


def build(folder: Path, scratch: Path) -> Graph:
    """Return the graph of a copy of `folder` in `scratch`."""
    root = scratch / "project"
    ignored = shutil.ignore_patterns(".git", ".cortex", "node_modules")
    shutil.copytree(folder, root, ignore=ignored, symlinks=True)
    config = configuration.load(root)
    paths = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    entries = {
        path.relative_to(root).as_posix(): Entry(digest(path.read_bytes()), 1, 1)
        for path in sorted(paths)
        if language_of(path.name).kind == "code" and path.stat().st_size < FILE_BYTES_MAX
    }
    GraphStore(config).update(entries, {})
    place, segments = scratch / "segments", {}
    place.mkdir()
    for path in sorted(config.graph_dir.glob("code-*")):
        write_graph(place / f"{path.name}.seg", unpack(path.name, path.read_bytes(), GRAPH_BYTES_MAX))
        segments[path.name] = f"{path.name}.seg"
    return GraphOpener(place).open(segments)


if __name__ == "__main__":
    sys.exit(main())
