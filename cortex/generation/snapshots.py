"""The generations that a worker serves: the newest, and for a moment the one before it.

They are swapped atomically and never changed.
"""

import logging
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from cortex.generation.current import CURRENT, EMPTY, Generation, read_current
from cortex.generation.damage import Seal, is_damage, read_seals
from cortex.generation.read import Published
from cortex.system.errors import CortexError, NotFound, NotReady

log = logging.getLogger(__name__)

S = TypeVar("S")

#: seconds that the previous generation stays open, for queries in progress
KEEP_S = 2.0
#: seconds after which opening a failed generation is tried again, and after which a query for the
#: newest generation checks CURRENT again
AGAIN_S = 1.0
#: attempts to open a generation that is pruned meanwhile, before the next `reload` has to try
TRIES = 3


class Snapshots(Generic[S]):
    """Holds the opened snapshots of one engine; `open_snapshot` opens one."""

    def __init__(
        self,
        index_dir: Path,
        open_snapshot: Callable[[Published], S],
        on_damage: Callable[[int, str], None] = lambda _number, _why: None,
    ) -> None:
        """`on_damage` is called with the number of each generation that cannot be opened because a
        file of it is damaged, and the reason.
        """
        self._dir = index_dir
        self._open = open_snapshot
        self._on_damage = on_damage
        self._opened: dict[int, tuple[Published, S]] = {}
        #: the state of CURRENT when it was last read; None: read it again
        self._read_seal: Seal | None = None
        self._swapped_at = self._looked_at = 0.0
        self.generation = EMPTY
        #: the reason why the published generation is not served, in one sentence; "" when it is
        #: served
        self.fault = ""

    def reload(self) -> bool:
        """Check CURRENT, and swap when it names another generation; return whether it did.

        A damaged generation is logged and not opened.
        """
        self._close_old()
        self._looked_at = time.monotonic()
        # CURRENT is only ever replaced, so its inode shows a change; reading it takes 3 ms in a
        # large project.
        (now,) = read_seals([self._dir / CURRENT]).values()
        if now is not None and now == self._read_seal:
            return False
        self._read_seal, number = None, 0
        try:
            for left in reversed(range(TRIES)):
                published = read_current(self._dir)
                if _has_same_content(published, self.generation):
                    self.generation, self.fault, self._read_seal = published, "", now
                    return False
                number = published.number
                try:
                    self._swap(published)
                except (NotFound, FileNotFoundError):
                    if left:
                        continue  # pruned between reading CURRENT and opening: read it again
                    raise
                self.fault, self._read_seal = "", now
                return True
        except (CortexError, OSError, ValueError) as error:
            damaged = number and is_damage(error)
            fault = f"{error} The index is being rebuilt." if damaged else str(error)
            if self.fault != fault:
                log.warning("generation %d stays: %s", self.generation.number, fault)
            self.fault = fault
            if damaged:
                self._on_damage(number, str(error))
        return False

    def _swap(self, generation: Generation) -> None:
        number, before = generation.number, self.generation.number
        shared = self._opened[before][0].opened if before in self._opened else None
        published = Published(generation, self._dir, shared)
        opened = {number: (published, self._open(published))}
        previous = {before: self._opened[before]} if before in self._opened else {}
        self._opened = previous | opened
        self.generation = generation
        self._swapped_at = time.monotonic()

    def _close_old(self) -> None:
        if len(self._opened) > 1 and time.monotonic() - self._swapped_at > KEEP_S:
            current = self.generation.number
            self._opened = {current: self._opened[current]}

    @property
    def patience(self) -> float:
        """Seconds that may pass until `reload` is called again."""
        if self.fault:
            return AGAIN_S
        return KEEP_S if len(self._opened) > 1 else math.inf

    def has(self, number: int) -> bool:
        return number in self._opened

    def get(self, number: int = 0) -> tuple[int, S]:
        """Return (number, snapshot) of `number`, 0: the newest. Raises NotReady if not open."""
        newest = not number and time.monotonic() - self._looked_at >= AGAIN_S
        if newest or (number not in self._opened and number != self.generation.number):
            self.reload()  # the client may have seen a newer CURRENT than this worker
        number = number or self.generation.number
        if not number:
            raise NotReady(self.fault or "Nothing is indexed yet; the index is being built.")
        if number not in self._opened:
            raise NotReady(
                self.fault
                or f"Generation {number} is not open here; the newest is {self.generation.number}. Ask again."
            )
        return number, self._opened[number][1]


def _has_same_content(generation: Generation, other: Generation) -> bool:
    """Return whether one's reader can serve the other: they differ in counts and times alone."""
    return (
        generation.number,
        generation.segments,
        generation.deleted,
        generation.references,
        generation.tokens,
        generation.graph_files,
    ) == ((other.number, other.segments, other.deleted, other.references, other.tokens, other.graph_files))
