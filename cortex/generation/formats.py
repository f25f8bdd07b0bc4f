"""Indexes of other formats beside ours: each is in a folder of its own,
so versions of Cortex do not disturb each other.

A new format is built in `index/<format>/` while processes of the version before go on serving
theirs. What nobody has used for a while goes. Up to format 5 the files stood in `index/` itself.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from cortex.generation.current import CURRENT
from cortex.system import files
from ipc.locks import holder_of

#: the lock of the one writer of a format
LOCK = "writer.lock"
#: seconds without a change after which an index of another format goes: a week to go back to the
#: old version
UNUSED_S = 7 * 86_400
#: what stood in `index/` itself up to format 5; CURRENT goes first, so that nothing half removed is
#: served
_UNNUMBERED = (CURRENT, "segments", "text", "vectors", "graph", LOCK)


def has_other(index_dir: Path) -> bool:
    """Whether an index of another format than that of `index_dir`, `.cortex/index/<format>`,
    was published.
    """
    # Not Path.is_file: that one raises for a folder that only another user may read.
    return any(os.path.isfile(folder / CURRENT) for folder, _ in _others(index_dir))


def prune_others(index_dir: Path, unused_s: float = UNUSED_S) -> list[str]:
    """Remove the indexes of other formats whose files are older than that and that no process
    writes.

    Returns what was removed, by its path in `.cortex/index`. What cannot be removed is tried again
    next time.
    """
    removed: list[str] = []
    for folder, paths in _others(index_dir):
        if _last_change(folder, paths) > time.time() - unused_s or holder_of(folder / LOCK) is not None:
            continue
        for path in paths:
            with contextlib.suppress(OSError):
                files.remove_tree(path)
                removed.append(path.name)
    return removed


def _others(index_dir: Path) -> Iterator[tuple[Path, list[Path]]]:
    """(folder, what belongs to the index in it) of each other format."""
    base = index_dir.parent
    with contextlib.suppress(OSError):
        for name in sorted(files.names(base)):
            if name.isdigit() and name != index_dir.name:
                yield base / name, [base / name]
    if unnumbered := [base / name for name in _UNNUMBERED if os.path.lexists(base / name)]:
        yield base, unnumbered


def _last_change(folder: Path, paths: list[Path]) -> float:
    """When a file of the index was written last, seconds since the epoch:
    each one is a new entry of its folder.
    """
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = files.names(folder) if paths[0] == folder else []
    times = [0.0]
    for path in (*paths, *(folder / name for name in names)):
        with contextlib.suppress(OSError):
            times.append(path.lstat().st_mtime)
    return max(times)
