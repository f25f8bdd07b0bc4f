"""A small memory whose clock runs: a day passes with ten questions of the time."""

from __future__ import annotations

import functools
import itertools
import shutil
import tempfile
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


@functools.cache
def _template() -> tuple[tempfile.TemporaryDirectory[str], int]:
    """Return a folder with the notes OTHERS, which lives as long as this process, and the ticks of
    the clock that they took.
    """
    folder, ticks = tempfile.TemporaryDirectory(), itertools.count()
    with _open(Path(folder.name), ticks) as library:
        for title in OTHERS:
            library.store(title)
    return folder, next(ticks)


def _open(data: Path, ticks: Iterator[int]) -> Library:
    memory = Memory(data, open_static(), lambda: BEGIN + next(ticks) * DAY_MS // 10, model=Sentences)
    return Library(memory, project="here")


@contextmanager
def open_small(data: Path, *, is_new: bool = True) -> Iterator[Library]:
    """Open a memory with the default model; a new one has the notes OTHERS and no other."""
    folder, ticks = _template()
    if is_new:
        shutil.copytree(folder.name, data, dirs_exist_ok=True)
    with _open(data, itertools.count(ticks)) as library:
        yield library
