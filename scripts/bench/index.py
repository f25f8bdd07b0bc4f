"""How fast a tree is indexed: cold, unchanged, and one saved file. Prints a table; `--json` keeps the figures.

    python scripts/bench/index.py TREE [--runs 3] [--files 5000] [--json]

TREE is copied to a temporary folder first: nothing is written into it.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Self

import numpy as np
import psutil

from cortex import __version__
from cortex.config import Config
from cortex.embedders import open_embedder
from cortex.indexer.run import Indexer, index, writer_lock
from cortex.indexer.scan import Candidate, Scanner

RESULTS = Path(__file__).parent / "results"
#: seconds between two looks at the memory of this process and its children
SAMPLE_S = 0.05
#: saved files after which p95 is worth printing
SAVES = 40


def main() -> None:
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "tree"
        copy(arguments.tree, root, arguments.files)
        config = Config(root=root, explicit_root=True)
        figures = machine(arguments.tree) | measure(config, arguments.runs)
    width = max(map(len, figures))
    for name, value in figures.items():
        print(f"{name:<{width}}  {value}")
    if arguments.json:
        commit = git("rev-parse", "--short", "HEAD")
        path = RESULTS / f"{dt.date.today().isoformat()}-{commit}-index.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"bench": "index"} | figures, indent=2) + "\n")
        print(f"\nwritten to {path}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--runs", type=int, default=3, help="cold runs; the median counts")
    parser.add_argument("--files", type=int, default=0, help="take only the first N files")
    parser.add_argument("--json", action="store_true", help=f"write {RESULTS}/<date>-<commit>-index.json")
    return parser.parse_args()


def copy(tree: Path, root: Path, limit: int) -> None:
    files = sorted(Scanner(Config(root=tree.resolve(), explicit_root=True)).walk().files)
    for path in files[: limit or None]:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tree / path, root / path)


def machine(tree: Path) -> dict[str, object]:
    return {
        "tree": tree.name,
        "machine": f"{cpu_name()}, {len(os.sched_getaffinity(0))} cores, {psutil.virtual_memory().total >> 30} GiB",
        "versions": f"cortex {__version__} {git('rev-parse', '--short', 'HEAD')}, Python {platform.python_version()}, numpy {np.__version__}",
        "load": round(os.getloadavg()[0], 2),
    }


def cpu_name() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in text.split("\n") if line.startswith("model name")), ""
    )


def git(*arguments: str) -> str:
    here = Path(__file__).parent
    return subprocess.run(
        ["git", *arguments], cwd=here, check=True, capture_output=True, text=True
    ).stdout.strip()


def measure(config: Config, runs: int) -> dict[str, object]:
    cold: list[float] = []
    with Memory() as memory:
        for _ in range(runs):
            shutil.rmtree(config.home, ignore_errors=True)
            report = index(config)
            cold.append(report.seconds)
    unchanged = [index(config).seconds for _ in range(max(runs, 5))]
    seconds = statistics.median(cold)
    return {
        "files": report.files,
        "source_mb": round(report.bytes / 1e6, 1),
        "chunks": report.chunks,
        "skipped": len(report.skipped),
        "chunk_files_mb": round(
            sum(path.stat().st_size for path in config.chunks_dir.glob("*.json")) / 1e6, 1
        ),
        "cold_s": round(seconds, 2),
        "cold_s_runs": [round(one, 2) for one in cold],
        "cold_files_per_s": round(report.files / seconds),
        "cold_mb_per_s": round(report.bytes / 1e6 / seconds, 2),
        "cold_chunks_per_s": round(report.chunks / seconds),
        "unchanged_s": round(statistics.median(unchanged), 3),
        "memory_peak_mb": round(memory.peak / 1e6),
        **saves(config),
        **embedding(config),
    }


def saves(config: Config) -> dict[str, object]:
    """One appended line at a time, from after it was seen until the chunk files and the manifest hold it."""
    indexer = Indexer(config, open_embedder(config))
    scanner = Scanner(config)
    manifest = indexer.load()
    paths = sorted(manifest.files)[:: max(1, len(manifest.files) // SAVES)][:SAVES]
    times: list[float] = []
    for path in paths:
        with (config.root / path).open("a") as file:
            file.write(f"\nx{time.time_ns()} = 1\n")
        candidate = scanner.look(path)
        assert isinstance(candidate, Candidate)
        started = time.perf_counter()
        with writer_lock(config):
            indexer.update(manifest, {path: candidate})
        times.append((time.perf_counter() - started) * 1000)
    times = sorted(times[1:])  # the first one loads grammars
    return {f"save_ms_p{p}": round(float(np.percentile(times, p)), 1) for p in (50, 95, 99)}


def embedding(config: Config) -> dict[str, object]:
    embedder = open_embedder(config)
    texts = [
        path.read_text(errors="replace")[:1500]
        for path in list(config.root.rglob("*.*"))[:3000]
        if path.is_file()
    ]
    embedder.embed(texts)
    started = time.perf_counter()
    embedder.embed(texts)
    return {"embed_chunks_per_s_per_core": round(len(texts) / (time.perf_counter() - started))}


class Memory:
    """The largest sum of resident memory of this process and its children (shared pages counted for each)."""

    def __enter__(self) -> Self:
        self.peak = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        me = psutil.Process()
        while not self._stop.wait(SAMPLE_S):
            total = 0
            for process in (me, *me.children(recursive=True)):
                try:
                    total += process.memory_info().rss
                except psutil.Error:
                    continue
            self.peak = max(self.peak, total)


if __name__ == "__main__":
    sys.exit(main())
