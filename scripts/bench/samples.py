"""Samples of a server's processes during a measurement: processor time, memory, descriptors."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import psutil
from product import processes_of_set

#: seconds between two samples
LOOK_S = 0.5


class Samples:
    """Samples of the process `pid` and the sets of `owners`, from entering the context to
    its end.
    """

    def __init__(self, pid: int, owners: Sequence[Any]) -> None:
        self._pid, self._owners = pid, owners
        self._processes: dict[str, psutil.Process] = {}
        #: (time, process → (processor seconds, resident bytes, descriptors))
        self._taken: list[tuple[float, dict[str, tuple[float, int, int]]]] = []
        self._memory: dict[str, float] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._find()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        self._find()  # memory's set starts with its first call
        self._take()
        for name, process in self._processes.items():
            with contextlib.suppress(psutil.Error):
                self._memory[name] = round(process.memory_full_info().pss / 1e6, 1)

    def names(self) -> list[str]:
        return list(self._processes)

    def memory(self) -> dict[str, float]:
        """Return process → MB at the end, proportional where processes share it."""
        return self._memory

    def used(self, first: float, last: float) -> dict[str, float]:
        """Return process → processor seconds between two times (of time.time)."""
        ends = [min(self._taken, key=lambda sample, at=at: abs(sample[0] - at))[1] for at in (first, last)]
        return {name: round(now[0] - ends[0].get(name, (0.0,))[0], 2) for name, now in ends[1].items()}

    def series(self, name: str) -> list[tuple[float, int, int]]:
        """Return (seconds from the first sample, resident bytes, descriptors) of a process."""
        return [(at - self._taken[0][0], *row[name][1:]) for at, row in self._taken if name in row]

    def _find(self) -> None:
        processes = {"server": psutil.Process(self._pid)}
        for owner in self._owners:
            for name, process in processes_of_set(owner).items():
                processes[f"{name} of memory" if name in processes else name] = process
        self._processes = processes

    def _look(self) -> None:
        while not self._end.wait(LOOK_S):
            if "memory" not in self._processes:
                self._find()
            self._take()

    def _take(self) -> None:
        row = {}
        for name, process in self._processes.items():
            with contextlib.suppress(psutil.Error), process.oneshot():
                row[name] = (sum(process.cpu_times()[:2]), process.memory_info().rss, process.num_fds())
        self._taken.append((time.time(), row))


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the slope of a straight line through (x, y), by least squares; 0 for fewer
    than two.
    """
    if len(points) < 2:
        return 0.0
    return float(np.polyfit(*zip(*points, strict=True), 1)[0])
