"""The use of the machine by a project's processes: memory, processor time, wake-ups, disk."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import psutil
from product import processes_of

#: words of a command line that name a process, by the part after their last dot; a command line
#: without them is the supervisor's
NAMES = ("mcp", "embed", "vector", "text", "graph", "watcher", "index", "cortex.processes.forkserver")
#: text in the command of a child of the indexer's pool, which does not name the project
POOL = "cortex.indexer.children"
#: seconds between two samples of memory, which cost some 5 ms for a process of 1 GB, at least this
#: many times the duration of a sample: it takes part of a core from the measured processes
SAMPLE_S, SAMPLE_TIMES = 0.5, 50
#: bytes of a block in the system's unit
BLOCK_BYTES = 512


def named_processes(root: Path) -> Iterator[tuple[str, psutil.Process]]:
    """Yield (name, process) of each process of the project; children of its pool are `pool 1` and
    so on.
    """
    for process in processes_of(root):
        with contextlib.suppress(psutil.Error):
            name = next((argument for argument in process.cmdline() if argument in NAMES), "supervisor")
            yield name.rpartition(".")[2], process
            children = process.children(recursive=True) if name == "index" else []
            for number, child in enumerate(filter(_is_pool, children), start=1):
                yield f"pool {number}", child


def _is_pool(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return any(POOL in argument for argument in process.cmdline())
    return False


def memory_mb(root: Path) -> dict[str, float]:
    """Return proportional memory (pages that processes share count once), by name of process, in
    MB.
    """
    sizes: dict[str, float] = defaultdict(float)
    for name, process in named_processes(root):
        with contextlib.suppress(psutil.Error):
            sizes[name] += process.memory_full_info().pss / 1e6
    return {name: round(size, 1) for name, size in sorted(sizes.items())}


def memory_of_tree_mb(pid: int) -> dict[str, float]:
    """Return the proportional memory of a process and its children, by process, in MB."""
    sizes = {}
    with contextlib.suppress(psutil.Error):
        top = psutil.Process(pid)
        for process in (top, *top.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                sizes[str(process.pid)] = process.memory_full_info().pss / 1e6
    return sizes


def processor_s(root: Path) -> dict[str, float]:
    """Return seconds of processor time, by name of process."""
    seconds: dict[str, float] = defaultdict(float)
    for name, process in named_processes(root):
        with contextlib.suppress(psutil.Error):
            seconds[name] += sum(process.cpu_times()[:2])
    return dict(seconds)


def wakes(root: Path) -> dict[str, int]:
    """Return how often each process has run after a wait, by name."""
    counts: dict[str, int] = defaultdict(int)
    for name, process in named_processes(root):
        with contextlib.suppress(psutil.Error):
            for thread in process.threads():
                counts[name] += switches(process.pid, thread.id)
    return dict(counts)


def switches(process: int, thread: int) -> int:
    try:
        lines = Path(f"/proc/{process}/task/{thread}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


def disk_mb(folder: Path) -> float:
    """Return the disk space of a folder; a file of several names counts once."""
    size_by_file: dict[tuple[int, int], int] = {}
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                info = os.lstat(os.path.join(path, name))
                size_by_file[info.st_dev, info.st_ino] = info.st_blocks * BLOCK_BYTES
    return round(sum(size_by_file.values()) / 1e6, 1)


class Highest:
    """The most memory, in MB, that each process, and all together, had in this context.

    `of`: a project's root, or a process with its children. `at_peak` is the memory of each when all
    had most together.
    """

    def __init__(self, of: Path | int) -> None:
        self._of, self._stop = of, threading.Event()
        self.by_process: dict[str, float] = {}
        self.at_peak: dict[str, float] = {}
        self.all = 0.0
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        took = 0.0
        while not self._stop.wait(max(SAMPLE_S, SAMPLE_TIMES * took)):
            began = time.perf_counter()
            now = memory_mb(self._of) if isinstance(self._of, Path) else memory_of_tree_mb(self._of)
            took = time.perf_counter() - began
            if (together := round(sum(now.values()), 1)) > self.all:
                self.all, self.at_peak = together, now
            for name, size in now.items():
                self.by_process[name] = max(self.by_process.get(name, 0.0), size)


def measure_rest(root: Path, seconds: float) -> dict[str, dict[str, float]]:
    """Return for each idle process, and for all: percent of a core, wake-ups a minute."""
    spent, woken = processor_s(root), wakes(root)
    time.sleep(seconds)
    spent_then, woken_then = processor_s(root), wakes(root)
    percent = {name: 100 * (spent_then[name] - spent.get(name, 0.0)) / seconds for name in spent_then}
    minute = {name: 60 * (woken_then[name] - woken.get(name, 0)) / seconds for name in woken_then}
    rows = {
        name: {"percent": round(percent[name], 2), "wakes": round(minute.get(name, 0.0))} for name in percent
    }
    return rows | {"all": {"percent": round(sum(percent.values()), 2), "wakes": round(sum(minute.values()))}}
