"""What a worker serves: the newest generation, and for a moment the one before it.

They are swapped atomically and never changed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from cortex.generation.current import EMPTY, Generation, read_current
from cortex.generation.read import Published
from ipc.errors import CortexError, NotFound, NotReady

log = logging.getLogger(__name__)

S = TypeVar("S")

#: seconds that the generation before the current one stays open, for questions that are under way
KEEP_S = 2.0
#: readings of CURRENT before a generation that vanishes under us is given up until the next look
TRIES = 3


class Snapshots(Generic[S]):
    """Holds the opened snapshots of one engine; `open_snapshot` opens one."""

    def __init__(self, index_dir: Path, open_snapshot: Callable[[Published], S]) -> None:
        self._dir = index_dir
        self._open = open_snapshot
        self._opened: dict[int, tuple[Published, S]] = {}
        self._swapped_at = 0.0
        self.generation = EMPTY
        #: why the published generation is not served, in one sentence; "" when it is
        self.fault = ""

    def reload(self) -> bool:
        """Look at CURRENT and swap when it names another generation.

        A damaged one is logged and left alone.
        """
        self._close_old()
        try:
            for _ in range(TRIES):
                published = read_current(self._dir)
                if published.number == self.generation.number:
                    self.generation = published
                    return False
                try:
                    self._swap(published)
                except (NotFound, FileNotFoundError):
                    continue  # pruned between reading CURRENT and opening: read it again
                self.fault = ""
                return True
        except (CortexError, OSError, ValueError) as error:
            if self.fault != str(error):
                log.warning("generation %d stays: %s", self.generation.number, error)
            self.fault = str(error)
        return False

    def _swap(self, generation: Generation) -> None:
        number, before = generation.number, self.generation.number
        shared = self._opened[before][0].opened if before in self._opened else None
        published = Published(generation, self._dir, shared)
        opened = {number: (published, self._open(published))}
        self._opened = opened | ({before: self._opened[before]} if before in self._opened else {})
        self.generation = generation
        self._swapped_at = time.monotonic()

    def _close_old(self) -> None:
        if len(self._opened) > 1 and time.monotonic() - self._swapped_at > KEEP_S:
            current = self.generation.number
            self._opened = {current: self._opened[current]}

    def get(self, number: int = 0) -> S:
        """The snapshot of generation `number`, 0 for the newest.

        Raises NotReady when it is not open.
        """
        if number not in self._opened and number != self.generation.number:
            self.reload()  # the asker may have seen a newer CURRENT than we have
        number = number or self.generation.number
        if not number:
            raise NotReady(self.fault or "Nothing is indexed yet; the index is being built.")
        if number not in self._opened:
            raise NotReady(
                f"Generation {number} is not open here; the newest is {self.generation.number}. Ask again."
            )
        return self._opened[number][1]
