"""Notes and edges that agents learned, the store that keeps them, and the search that finds them.

`table` lists all operations, `operations` runs them for the worker of `serving`, `library/` has
most of their functions. Long work is a generator with one slice for each step.

`store/` keeps the notes on disk, `find/` indexes and ranks them, `files/` reads and writes them as
files, `team/` shares them between machines and folders, `briefings/` prints what a session begins
with. `observations/` serves the forty observation tools from the same store. `transcripts/` reads
sessions with agents, one module for each format. `upkeep/` relates, merges and fades notes in
slices while the worker is idle. `code_places/` finds the notes about files. `migrations/` holds the
versions of the store. See docs/MEMORY.md.
"""

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """Let programs write `from cortex.memory import Cortex`. The class is in the package of fronts,
    above this one, so it is imported on first use.
    """
    if name == "Cortex":
        return importlib.import_module("cortex.front.programs.library").Cortex
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
