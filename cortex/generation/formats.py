"""The indexes of other formats: each is in a folder of its own, so versions of Cortex do not
disturb each other.

A new format is built in `index/<format>/` while processes of the previous version still serve
theirs. An index that is unused for a week is removed. Up to format 5 the files were in `index/`
itself.
"""

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
#: seconds without a change after which an index of another format is removed: within a week the
#: user can go back to the old version
UNUSED_S = 7 * 86_400
#: the files in `index/` itself up to format 5; CURRENT is removed first, so that no process serves
#: a half removed index
_UNNUMBERED = (CURRENT, "segments", "text", "vectors", "graph", LOCK)


def has_other(index_dir: Path) -> bool:
    """Return whether an index of another format than that of `index_dir` was published."""
    # Not Path.is_file: it raises for a folder that only another user may read.
    return any(os.path.isfile(folder / CURRENT) for folder, _ in _others(index_dir))


def prune_others(index_dir: Path, unused_s: float = UNUSED_S) -> list[str]:
    """Remove the indexes of other formats whose files are older than `unused_s` and that no process
    writes.

    Returns the removed paths, relative to `.cortex/index`. A path that cannot be removed is tried
    again next time.
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
    """Yield (folder, paths of the index in it) for each other format."""
    base = index_dir.parent
    with contextlib.suppress(OSError):
        for name in sorted(files.names(base)):
            if name.isdigit() and name != index_dir.name:
                yield base / name, [base / name]
    if unnumbered := [base / name for name in _UNNUMBERED if os.path.lexists(base / name)]:
        yield base, unnumbered


def _last_change(folder: Path, paths: list[Path]) -> float:
    """Return when the last file was written, s since the epoch: each is new in its folder."""
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = files.names(folder) if paths[0] == folder else []
    times = [0.0]
    for path in (*paths, *(folder / name for name in names)):
        with contextlib.suppress(OSError):
            times.append(path.lstat().st_mtime)
    return max(times)
