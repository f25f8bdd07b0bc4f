"""A small memory whose clock runs: a day passes with ten questions of the time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cortex.embedders.sentences import Sentences
from cortex.embedders.static import open_static
from cortex.memory.find.recall import Memory
from cortex.memory.library import Library

DAY_MS = 86_400_000
BEGIN = 1_772_000_000_000
OTHERS = (
    "The staging host is called blue",
    "Images are resized in the browser before they are uploaded",
    "The nightly backup starts at two in the morning",
    "Invoices are numbered per year",
    "Whiteflies appear first in the north corner",
)


@contextmanager
def open_small(data: Path) -> Iterator[Library]:
    """Open a memory with the notes OTHERS and the default model."""
    ticks = itertools.count()

    def now() -> int:
        return BEGIN + next(ticks) * DAY_MS // 10

    with Library(Memory(data, open_static(), now, model=Sentences), project="here") as opened:
        for title in OTHERS:
            opened.store(title)
        yield opened
