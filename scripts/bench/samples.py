"""Samples of a server's processes during a measurement: processor time and memory."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from typing import Any, Self

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
        #: (time, process → processor seconds)
        self._taken: list[tuple[float, dict[str, float]]] = []
        #: process → MB at the end, proportional where processes share it
        self.memory: dict[str, float] = {}
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
                self.memory[name] = round(process.memory_full_info().pss / 1e6, 1)

    def used(self, first: float, last: float) -> dict[str, float]:
        """Return process → processor seconds between two times (of time.time)."""
        ends = [min(self._taken, key=lambda sample, at=at: abs(sample[0] - at))[1] for at in (first, last)]
        return {name: round(now - ends[0].get(name, 0.0), 2) for name, now in ends[1].items()}

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
            with contextlib.suppress(psutil.Error):
                row[name] = sum(process.cpu_times()[:2])
        self._taken.append((time.time(), row))
