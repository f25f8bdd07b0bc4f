"""A timeline of each process while a project is indexed for the first time, in steps of half a
second.

    scripts/bench/timeline.py --sources DIR [DIR …] [--files 2000] [--step-s 0.5] [--json]

A line is a step: percent of a core of each process and of the busiest threads of the watcher, idle
time of the machine's cores, percent of the sources read, and rows served. It shows idle cores, and
the work that ends last: for each process its processor time, and the part of it after all chunk
files were written. On a busy machine read that, and not the clock.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import usage
from minimal_client import Server
from product import CORTEX
from report import Figures, add_json, begin, print_machine, write
from trees import temporary_tree

from cortex.ask.freshness import Freshness
from cortex.settings.config import Config

#: seconds between two checks of the progress
LOOK_S = 0.05
#: seconds until the whole project must be served
BOUND_S = 900.0
TICKS = os.sysconf("SC_CLK_TCK")
#: user and system time in a line of stat, after the name
_TIMES = slice(11, 13)
#: columns of the table, by process
COLUMNS = ("index", "pool", "watcher", "text", "vector", "graph", "mcp", "supervisor")
#: threads of the watcher that a line names
THREADS_SHOWN = 3


@dataclass(slots=True)
class Look:
    """Processor time so far, in seconds: by process, by kind of thread of the watcher, idle."""

    at: float
    process: dict[str, float] = field(default_factory=dict)
    thread: dict[str, float] = field(default_factory=dict)
    idle_s: float = 0.0


class Looks:
    """Samples of a project's processes; the time of a thread that has ended still counts."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._threads: dict[tuple[str, str, int, str], float] = {}

    def take(self) -> Look:
        for called, process in usage.named_processes(self._root):
            for task in Path(f"/proc/{process.pid}/task").glob("*"):
                with contextlib.suppress(OSError):
                    head, _, fields = (task / "stat").read_text().rpartition(")")
                    of = (called.partition(" ")[0], head.partition("(")[2], process.pid, task.name)
                    self._threads[of] = sum(map(int, fields.split()[_TIMES])) / TICKS
        taken = Look(time.perf_counter(), idle_s=idle_s())
        for (name, thread, _, _), spent in self._threads.items():
            taken.process[name] = taken.process.get(name, 0.0) + spent
            if name == "watcher":
                taken.thread[thread] = taken.thread.get(thread, 0.0) + spent
        return taken


def idle_s() -> float:
    """Return the idle seconds of all cores."""
    parts = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return (int(parts[4]) + int(parts[5])) / TICKS


def follow(config: Config, step_s: float) -> Figures:
    """Index from nothing, and sample every `step_s` until the last file is served."""
    freshness, looks, steps = Freshness(config), Looks(config.root), []
    with Server([CORTEX, "mcp", "--project", str(config.root)]) as front:
        before, has_indexed, searchable = looks.take(), False, 0.0
        all_written: Look | None = None
        while not searchable:
            time.sleep(LOOK_S)
            now = time.perf_counter()
            if now - front.started > BOUND_S:
                raise SystemExit(f"{config.root} was not searchable in {BOUND_S:.0f} s")
            progress = freshness.progress()
            has_indexed = has_indexed or progress.indexing
            if all_written is None and (progress.all_read or (has_indexed and not progress.indexing)):
                all_written = looks.take()
            if freshness.serves_all(freshness.current()):
                searchable = now - front.started
            if searchable or now - before.at >= step_s:
                after = looks.take()
                share = 100 * progress.done // progress.total if progress.total else 0
                progress_figures = {"read_percent": share, "rows": freshness.current().rows}
                steps.append(step(before, after, front.started) | progress_figures)
                before = after
    written = all_written or before
    return {
        "written_s": round(written.at - front.started, 2),
        "searchable_s": round(searchable, 2),
        "idle_s": round(sum(row["idle_s"] for row in steps), 1),
        "generations": freshness.current().number,
        "processor_s": {name: round(spent, 1) for name, spent in before.process.items()},
        "after_written_s": {
            name: round(spent - written.process.get(name, 0.0), 1) for name, spent in before.process.items()
        },
        "steps": steps,
    }


def step(before: Look, after: Look, started: float) -> Figures:
    took = after.at - before.at

    def percent(then: dict[str, float], now: dict[str, float]) -> dict[str, int]:
        return {name: round(100 * (spent - then.get(name, 0.0)) / took) for name, spent in now.items()}

    return {
        "at_s": round(after.at - started, 1),
        "idle_s": round(after.idle_s - before.idle_s, 2),
        "percent": percent(before.process, after.process),
        "threads": percent(before.thread, after.thread),
    }


def show(figures: Figures) -> None:
    print(
        f"{'s':>5} {'idle':>5} "
        + " ".join(f"{name[:7]:>7}" for name in COLUMNS)
        + "  read%    rows  watcher's"
    )
    for row in figures["steps"]:
        shares = " ".join(f"{row['percent'].get(name, 0):7}" for name in COLUMNS)
        threads = sorted(row["threads"].items(), key=lambda entry: -entry[1])
        busiest = ", ".join(f"{name} {share}" for name, share in threads[:THREADS_SHOWN] if share)
        print(
            f"{row['at_s']:5.1f} {row['idle_s']:5.2f} {shares}  {row['read_percent']:5} {row['rows']:7}  {busiest}"
        )
    print(
        f"chunk files {figures['written_s']} s, searchable {figures['searchable_s']} s, in {figures['generations']}"
    )
    print(
        f"generations; {figures['idle_s']} s of cores idle; processor time, in s (once chunk files were written):"
    )
    late = figures["after_written_s"]
    print(
        ", ".join(f"{name} {spent} ({late[name]})" for name, spent in sorted(figures["processor_s"].items()))
    )
    print(f"all {sum(figures['processor_s'].values()):.1f} ({sum(late.values()):.1f})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sources", type=Path, nargs="+", required=True, help="folders of projects")
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--step-s", type=float, default=0.5)
    add_json(parser)
    options = parser.parse_args()
    result = begin("timeline")
    print_machine(result)
    with temporary_tree(options.sources, options.files) as config:
        result |= follow(config, options.step_s)
    show(result)
    if options.json:
        write(result)


if __name__ == "__main__":
    main()
