"""Notes and edges that agents learned, the store that keeps them, and the search that finds them.

`store` writes in transactions, each a list of `records`; `bulk_import` writes many notes at once.
`driver` opens the database, plain or by SQLCipher; `postgresql` keeps the same tables for a team.
`operations` is the one list of all operations, `serving` the worker that answers them. Words and
vectors index the notes; an index that is behind reads the log of changes. Long work is a generator
with one slice for each step.

`observations/` serves the forty observation tools from the same store. `transcripts/` reads
sessions with agents, one module for each format. `upkeep/` relates, merges and fades notes in
slices while the worker is idle. `code_places/` finds the notes about files. `migrations/` holds the
versions of the store. See docs/MEMORY.md.
"""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    """Let programs write `from cortex.memory import Cortex`. The class is in the package of fronts,
    above this one, so it is imported on first use.
    """
    if name == "Cortex":
        return importlib.import_module("cortex.front.library").Cortex
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
