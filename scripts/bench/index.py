"""A benchmark of indexing: cold and unchanged, and the processor time of a set's processes from the
start until the last file is served. freshness.py measures saved files.

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
from collections.abc import Callable
from pathlib import Path

import product
import usage
from minimal_client import Server
from report import Figures, begin, make_parser, print_figures, print_machine, write

from cortex.ask.freshness import Freshness
from cortex.indexer.run import index
from cortex.indexer.scan import Scanner
from cortex.settings.config import Config

#: seconds between two looks at what is served
LOOK_S = 0.2
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
        say("unchanged")
        repeats = [
            repeated_run
            for _ in range(UNCHANGED)
            if (repeated_run := run_child("unchanged", root, options.limit_s))
        ]
        figures["unchanged_s"] = round(statistics.median(row["seconds"] for row in repeats), 3)
        figures["unchanged_command_s"] = round(statistics.median(row["wall_s"] for row in repeats), 2)
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
        "disk_mb": cold["disk_mb"],
        "cold_s": round(seconds, 2),
        "cold_files_per_s": round(cold["files"] / seconds),
        "cold_chunks_per_s": round(cold["chunks"] / seconds),
        "cold_processor_s": round(cold["processor_s"], 1),
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
    report = index(config)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "seconds": report.seconds,
        "files": report.files,
        "bytes": report.bytes,
        "chunks": report.chunks,
        "left_out": len(report.skipped),
        "disk_mb": usage.disk_mb(config.home),
        "processor_s": sum(rusage.ru_utime + rusage.ru_stime for rusage in used),
    }


def measure_unchanged(config: Config) -> Figures:
    report = index(config)
    return {"seconds": report.seconds, "indexed": report.indexed}


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


CHILDREN: dict[str, Callable[[Config], Figures]] = {
    "cold": measure_cold,
    "unchanged": measure_unchanged,
    "served": measure_served,
}

if __name__ == "__main__":
    sys.exit(main())
