"""A benchmark of the cost of an idle set, beside a floor: as many bare processes, with the
libraries needed for messages and nothing of Cortex.

    scripts/bench/idle_cost.py --sources DIR [DIR …] [--files 400] [--rest-s 120] [--json]

Memory is proportional (pages that processes share count once), in MB. The floor is measured with
all bare processes running, like the set: `python` alone for the supervisor, with pyzmq and msgspec
for the indexer, with numpy too for workers, publisher and fork server, with mcp's server for the
front. Wake-ups are counted by thread.
"""

from __future__ import annotations

import argparse
import contextlib
import select
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil
import usage
from minimal_client import Server
from product import CORTEX, INDEX_S
from report import Figures, add_json, begin, print_machine, write
from speed import SHORT, START_S, settle
from trees import temporary_tree

from cortex.ask.freshness import Freshness
from cortex.settings.config import Config

#: seconds between two checks of the index, and until a bare process must have done its imports
LOOK_S, BARE_S = 0.5, 60.0
#: imports of the bare process in place of each of ours
WRITING = "import zmq, msgspec"
TALKING = f"{WRITING}, numpy"
BARE = {
    "supervisor": "",
    "mcp": "import mcp.server.lowlevel",
    "index": WRITING,
    **dict.fromkeys(("forkserver", "text", "vector", "graph", "watcher"), TALKING),
}
#: end of a bare process's program
_WAITS = "import sys; print(flush=True); sys.stdin.read()"


@contextlib.contextmanager
def bare_processes() -> Iterator[dict[str, psutil.Popen]]:
    """Start all processes of BARE; yield them by name."""
    started: dict[str, psutil.Popen] = {}
    try:
        for name, imports in BARE.items():
            command = [sys.executable, "-P", "-c", f"{imports}\n{_WAITS}"]
            started[name] = psutil.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for name, process in started.items():
            if not select.select([process.stdout], [], [], BARE_S)[0] or not process.stdout.readline():
                raise SystemExit(f"the bare process for {name} has not imported all in {BARE_S:.0f} s")
        yield started
    finally:
        for process in started.values():
            process.stdin.close()
            process.kill()
            process.wait()


def floor_mb() -> Figures:
    with bare_processes() as processes:
        return {name: megabytes(process) for name, process in processes.items()}


def megabytes(process: psutil.Process) -> float:
    return round(process.memory_full_info().pss / 1e6, 1)


def wakes(root: Path) -> Counter[tuple[str, str]]:
    """Return how often each thread ran after a wait: (process, thread's name and number) →
    count.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for name, process in usage.named_processes(root):
        for place, task in enumerate(sorted(Path(f"/proc/{process.pid}/task").iterdir())):
            with contextlib.suppress(OSError):
                thread_name = (task / "comm").read_text().strip()
                counts[name, f"{thread_name} {place}"] += usage.switches(process.pid, int(task.name))
    return counts


def measure_rest(config: Config, seconds: float) -> Figures:
    """Measure an idle set: memory, share of a core, wake-ups a minute."""
    with Server([CORTEX, "mcp", "--project", str(config.root)]) as front:
        front.call("cortex_search", SHORT | {"query": "where is a name looked up"})
        freshness = Freshness(config)
        while not freshness.serves_all(freshness.current()):
            if time.perf_counter() - front.started > INDEX_S:
                raise SystemExit(f"{config.root} was not searchable in {INDEX_S:.0f} s")
            time.sleep(LOOK_S)
        settle(freshness, config.root)
        time.sleep(START_S)
        spent, woken = usage.processor_s(config.root), wakes(config.root)
        time.sleep(seconds)
        spent_then, woken_then = usage.processor_s(config.root), wakes(config.root)
        woken_then.subtract(woken)
        return {
            "rows": freshness.current().rows,
            "memory_mb": usage.memory_mb(config.root),
            "percent": {
                name: round(100 * (spent_then[name] - spent.get(name, 0.0)) / seconds, 2)
                for name in spent_then
            },
            "wakes": {
                f"{name}: {thread}": round(60 * count / seconds, 1)
                for (name, thread), count in woken_then.items()
                if count > 0
            },
        }


def show(figures: Figures) -> None:
    floor, memory = figures["floor_mb"], figures["memory_mb"]
    print(f"{figures['rows']} rows\n{'':12} {'floor':>7} {'ours':>7} {'of it':>7} {'% core':>7}")
    for name in sorted(memory):
        least = floor.get(name, 0.0)
        print(
            f"{name:12} {least:7.1f} {memory[name]:7.1f} {memory[name] - least:7.1f} {figures['percent'].get(name, 0):7.2f}"
        )
    print(
        f"{'all':12} {sum(floor.values()):7.1f} {sum(memory.values()):7.1f} "
        f"{sum(memory.values()) - sum(floor.values()):7.1f} {sum(figures['percent'].values()):7.2f}"
    )
    print("wake-ups a minute, by thread:")
    for name, count in sorted(figures["wakes"].items(), key=lambda entry: -entry[1]):
        print(f"  {name:32} {count:7.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sources", type=Path, nargs="+", required=True, help="folders of projects")
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--rest-s", type=float, default=120.0)
    add_json(parser)
    options = parser.parse_args()
    result = begin("rest")
    print_machine(result)
    with temporary_tree(options.sources, options.files) as config:
        result["floor_mb"] = floor_mb()
        result |= measure_rest(config, options.rest_s)
    show(result)
    if options.json:
        write(result)


if __name__ == "__main__":
    main()
