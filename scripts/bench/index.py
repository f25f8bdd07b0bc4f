"""A benchmark of indexing: cold, unchanged, and one saved file; its stages; and the processor time
of a set's processes from the start until the last file is served.

    python scripts/bench/index.py TREE [TREE …] [--files 5000] [--runs 3] [--limit-s 600] [--json]

Each TREE is copied to a temporary folder and stays as it is. Every run is a separate process that
is ended after `--limit-s`; its figures are then missing, and the others go on. Memory is the
largest sum of proportional set sizes (pages that processes share count once).
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import product
import usage
from minimal_client import Server
from report import Figures, begin, make_parser, percentiles, print_figures, print_machine, write

from cortex.ask.freshness import Freshness
from cortex.embedders import open_embedder
from cortex.engines.text.engine import TextEngine
from cortex.engines.vector.engine import VectorEngine
from cortex.generation import write as write_rows
from cortex.generation.segments import trigrams, words
from cortex.indexer import run
from cortex.indexer.run import Indexer, index
from cortex.indexer.scan import Candidate, Scanner
from cortex.indexer.store.graph_store import GraphStore
from cortex.indexer.store.writer import Writer, writer_lock
from cortex.publish import builder as building
from cortex.publish import chunk_files
from cortex.publish.graph_files import GraphFiles
from cortex.publish.vectors import VectorMaker
from cortex.settings.config import Config

#: seconds between two looks at what is served
LOOK_S = 0.2
#: saved files from which p95 is meaningful
SAVES = 40
#: runs over an unchanged tree
UNCHANGED = 3


def main() -> None:
    options = parse_arguments()
    if options.child:
        print(json.dumps(CHILDREN[options.child](config_of(options.trees[0]))))
        return
    figures = begin("index")
    print_machine(figures)
    for tree in options.trees:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve() / "tree"
            say(f"copying {tree}")
            copy(tree, root, options.files)
            figures[tree.name] = measure(root, options)
        print(f"\n{tree.name}")
        print_figures(figures[tree.name])
    if options.json:
        write(figures)


def parse_arguments() -> argparse.Namespace:
    parser = make_parser(__doc__)
    parser.add_argument("trees", type=Path, nargs="+", metavar="TREE")
    parser.add_argument("--runs", type=int, default=3, help="cold runs; the median counts")
    parser.add_argument("--files", type=int, default=0, help="take only the first N files")
    parser.add_argument("--limit-s", type=float, default=600.0, help="seconds after which a run is ended")
    parser.add_argument("--child", choices=CHILDREN, help=argparse.SUPPRESS)
    return parser.parse_args()


def say(text: str) -> None:
    print(f"[{dt.datetime.now():%H:%M:%S}] {text}", file=sys.stderr, flush=True)


def config_of(root: Path) -> Config:
    return Config(root=root.resolve(), explicit_root=True)


def copy(tree: Path, root: Path, limit: int) -> None:
    for path in sorted(Scanner(config_of(tree)).walk().files)[: limit or None]:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tree / path, root / path)


def measure(root: Path, options: argparse.Namespace) -> Figures:
    figures: Figures = {}
    cold = []
    for number in range(options.runs):
        shutil.rmtree(config_of(root).home, ignore_errors=True)
        say(f"cold run {number + 1} of {options.runs}")
        cold.append(run_child("cold", root, options.limit_s))
    done = [row for row in cold if row]
    if done:
        middle = sorted(done, key=lambda row: row["seconds"])[len(done) // 2]
        figures |= cold_figures(middle) | {"cold_s_runs": [round(row["seconds"], 2) for row in done]}
        figures["memory_peak_mb"] = max(row["memory_mb"] for row in done)
        say("published")
        figures["published_processor_s"] = run_child("published", root, options.limit_s)
        say("unchanged")
        repeats = [
            repeated_run
            for _ in range(UNCHANGED)
            if (repeated_run := run_child("unchanged", root, options.limit_s))
        ]
        figures["unchanged_s"] = round(statistics.median(row["seconds"] for row in repeats), 3)
        figures["unchanged_command_s"] = round(statistics.median(row["wall_s"] for row in repeats), 2)
        say("saves")
        figures |= run_child("saves", root, options.limit_s) or {"save_ms": None}
        say("served")
        figures["served"] = run_child("served", root, options.limit_s)
    else:
        figures["cold_s"] = f"over {options.limit_s:g}"
    return figures


def cold_figures(cold: Figures) -> Figures:
    seconds = cold["seconds"]
    return {
        "files": cold["files"],
        "source_mb": round(cold["bytes"] / 1e6, 1),
        "chunks": cold["chunks"],
        "left_out": cold["left_out"],
        "chunk_files_mb": cold["chunk_files_mb"],
        "graph_files_mb": cold["graph_files_mb"],
        "cold_s": round(seconds, 2),
        "cold_files_per_s": round(cold["files"] / seconds),
        "cold_chunks_per_s": round(cold["chunks"] / seconds),
        "cold_processor_s": round(cold["processor_s"], 1),
        "cold_phases_s": cold["phases_s"],
        "load_before": cold["load"],
    }


def run_child(what: str, root: Path, limit_s: float) -> Figures | None:
    """Return the JSON output of a step of CHILDREN, with its time and memory; None if it was ended
    or failed.
    """
    command = [sys.executable, __file__, "--child", what, str(root)]
    load, started = round(os.getloadavg()[0], 2), time.perf_counter()
    # A separate session, so that children do not outlive a run that is ended.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    with usage.Highest(process.pid) as memory:
        try:
            out, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            say(f"ended after {limit_s:g} s")
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.communicate()
            return None
    if process.returncode != 0:
        say(f"failed with {process.returncode}")
        return None
    wall = round(time.perf_counter() - started, 2)
    printed: Figures = json.loads(out)
    return printed | {"wall_s": wall, "memory_mb": round(memory.all), "load": load}


def measure_cold(config: Config) -> Figures:
    phases: dict[str, float] = {}
    time_method(phases, Scanner, "walk", "walk")
    time_method(phases, Writer, "place", "place")
    time_method(phases, GraphStore, "update", "graph")
    report = index(config)
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "seconds": report.seconds,
        "files": report.files,
        "bytes": report.bytes,
        "chunks": report.chunks,
        "left_out": len(report.skipped),
        "chunk_files_mb": megabytes(config.chunks_dir),
        "graph_files_mb": megabytes(config.graph_dir),
        "processor_s": sum(rusage.ru_utime + rusage.ru_stime for rusage in usage),
        "phases_s": {name: round(seconds, 2) for name, seconds in phases.items()}
        | {"read, cut, embed": round(report.seconds - sum(phases.values()), 2)},
    }


def measure_publishing(config: Config) -> Figures:
    """Return seconds of processor time for each stage from chunk files to an index, in one process.

    The remainder is tantivy's threads, and the work that joins the stages.
    """
    stages: dict[str, float] = {}
    for owner, name, stage in STAGES:
        time_method(stages, owner, name, stage, time.thread_time)
    started = time.process_time()
    builder = building.Builder(config)
    while builder.refresh() is not None:
        continue
    builder.close()
    total_s = time.process_time() - started
    remainder_s = total_s - sum(stages.values())
    return {name: round(spent, 2) for name, spent in stages.items()} | {
        "tantivy's threads, the rest": round(remainder_s, 2),
        "all": round(total_s, 2),
    }


def time_method(
    phases: dict[str, float],
    owner: Any,
    name: str,
    phase: str,
    clock: Callable[[], float] = time.perf_counter,
) -> None:
    plain: Callable[..., Any] = getattr(owner, name)

    def timed_call(*arguments: Any, **keywords: Any) -> Any:
        started = clock()
        try:
            return plain(*arguments, **keywords)
        finally:
            phases[phase] = phases.get(phase, 0.0) + clock() - started

    setattr(owner, name, timed_call)


def megabytes(folder: Path) -> float:
    return round(sum(path.stat().st_size for path in folder.glob("*.json")) / 1e6, 1)


def measure_unchanged(config: Config) -> Figures:
    report = index(config)
    return {"seconds": report.seconds, "indexed": report.indexed}


def measure_saves(config: Config) -> Figures:
    """Measure an appended line: from its detection until chunk files and manifest, and the graph,
    have it.
    """
    indexer = Indexer(config, open_embedder(config))
    scanner = Scanner(config)
    manifest = indexer.load()
    code = [path for path in sorted(manifest.files) if path.endswith((".py", ".ts", ".go", ".java", ".rs"))]
    paths = (code or sorted(manifest.files))[:: max(1, len(code or manifest.files) // SAVES)][:SAVES]
    chunks: list[float] = []
    totals: list[float] = []
    for path in paths:
        with (config.root / path).open("a") as file:
            file.write(f"\nx{time.time_ns()} = 1\n")
        candidate = scanner.check_path(path)
        if not isinstance(candidate, Candidate):
            continue
        with writer_lock(config):
            started = time.perf_counter()
            with call_when_placed(lambda at=started: chunks.append((time.perf_counter() - at) * 1000)):
                indexer.update(manifest, {path: candidate})
            totals.append((time.perf_counter() - started) * 1000)
    # the first saves load grammars and the facts of the project
    return {
        f"{name}_ms_{at}": value
        for name, times in (("save_to_chunk_files", chunks), ("save_to_graph_files", totals))
        for at, value in percentiles(times[2:], (50, 95)).items()
    } | {"first_save_to_graph_files_ms": round(totals[0], 1)}


def measure_served(config: Config) -> Figures:
    """Return seconds of processor time of each process of a set, from the start of its first front
    until the whole project is searchable.

    On a busy machine compare these, not elapsed seconds.
    """
    with (
        product.isolated_environment(server_idle_exit_s=2),
        product.open_project(config.root) as fresh,
        Server([product.CORTEX, "mcp", "--project", str(config.root)]) as front,
    ):
        freshness = Freshness(fresh)
        while not freshness.serves_all(freshness.current()):
            time.sleep(LOOK_S)
        seconds, spent = time.perf_counter() - front.started, dict[str, float]()
        for name, process in product.processes_of_set(fresh).items():
            times = process.cpu_times()
            spent[name] = round(times.user + times.system, 2)
            if name == "indexer":  # the supervisor's children are the other processes
                spent["children of the indexer"] = round(times.children_user + times.children_system, 2)
        generations = freshness.current().number
    return {
        "searchable_s": round(seconds, 2),
        "processor_s": spent,
        "processor_s_all": round(sum(spent.values()), 2),
        "generations": generations,
    }


@contextlib.contextmanager
def call_when_placed(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` once chunk files and the manifest are written."""
    plain = run.Writer.place

    def place(self: Writer, *arguments: Any) -> None:
        plain(self, *arguments)
        tell()

    run.Writer.place = place  # type: ignore[method-assign]
    try:
        yield
    finally:
        run.Writer.place = plain  # type: ignore[method-assign]


#: functions of the stages of publishing; none calls another
STAGES: tuple[tuple[Any, str, str], ...] = (
    (chunk_files, "read_chunk_file", "chunk files read"),
    (words, "make_sections", "words of rows"),
    (trigrams, "make_sections", "trigrams of rows"),
    (write_rows, "write_segment", "segments written"),
    (TextEngine, "build", "documents made for tantivy"),
    (VectorMaker, "rows", "vectors made of texts"),
    (VectorEngine, "build", "vectors indexed"),
    (GraphFiles, "read", "graph read and written"),
    (building, "merge", "segments merged"),
)
CHILDREN: dict[str, Callable[[Config], Figures]] = {
    "cold": measure_cold,
    "published": measure_publishing,
    "unchanged": measure_unchanged,
    "saves": measure_saves,
    "served": measure_served,
}

if __name__ == "__main__":
    sys.exit(main())
