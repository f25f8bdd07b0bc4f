"""What is kept of each project in the user's cache: how much, whose, since when nobody uses it; and
its removal. A project's own files are never touched, but for a clone's: it was fetched into the
cache.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from cortex.processes.leftovers import remove_unheld
from cortex.sealing.places import plain_of, sealed_base
from cortex.settings.home import USAGE, cache_base, runtime_base
from cortex.settings.projects import is_clone
from cortex.system import files
from cortex.system.errors import CortexError, Unavailable
from ipc.locks import holder_of

#: bytes of the note that says whose a folder is: one path
NOTE_BYTES_MAX = 16_384
#: digits that a folder's name ends with: those of its project
ID_CHARS = 16
#: bytes of a block, as the system counts them whatever the disk has
BLOCK_BYTES = 512


@dataclass(frozen=True, slots=True)
class Kept:
    """One project's folder in the cache. `root` is None where nothing says whose it is; `used` is
    when it was asked last, in seconds since 1970; where no question is noted, when something of it
    was written last: an index, or its workers' start.
    """

    home: Path
    root: Path | None
    bytes: int
    used: float
    #: whether a process works on it, or serves it
    served: bool
    #: whether it lies sealed, so that nothing says whose it is while nobody uses it
    sealed: bool = False

    @property
    def orphan(self) -> bool:
        """Whether there is no such folder any more."""
        return not self.sealed and (self.root is None or not self.root.is_dir())

    @property
    def idle_s(self) -> float:
        return max(0.0, time.time() - self.used)


def kept_projects() -> list[Kept]:
    """All of them, the one that was used last first."""
    found: list[Kept] = []
    for base, look in ((cache_base() / "projects", _look), (sealed_base(cache_base()), _look_at_sealed)):
        with contextlib.suppress(OSError):
            folders = [name for name, info in files.entries(base).items() if stat.S_ISDIR(info.st_mode)]
            found += [look(base / name) for name in folders]
    return sorted(found, key=lambda one: -one.used)


def remove(kept: Kept) -> None:
    """Remove what is kept of it. Raises Unavailable when it is served by now, or it cannot be
    removed.
    """
    if _is_served(kept.home):
        raise Unavailable(
            f"What is kept of {kept.root or kept.home} is in use; `cortex down` ends its workers."
        )
    try:
        if kept.root is not None and is_clone(kept.root):
            files.remove_tree(kept.root)
        files.remove_tree(kept.home)
    except OSError as error:
        raise Unavailable(f"Cannot remove {kept.home}: {error.strerror or error}.") from error
    for folder in _runtime_folders(kept.home):
        remove_unheld(folder)


def _look(home: Path) -> Kept:
    root = _root_of(home)
    size, newest, asked = _measure(home)
    if root is not None and is_clone(root):
        size += _measure(root)[0]
    return Kept(home, root, size, asked or newest, _is_served(home))


def _look_at_sealed(store: Path) -> Kept:
    """Whose it is, is plain in memory while somebody uses it."""
    size, newest, _ = _measure(store)
    with contextlib.suppress(CortexError):
        return Kept(store, _root_of(plain_of(store) / "home"), size, newest, _is_served(store), sealed=True)
    return Kept(store, None, size, newest, served=False, sealed=True)


def _root_of(home: Path) -> Path | None:
    try:
        root = orjson.loads(files.read_ours(home / "project.json", NOTE_BYTES_MAX))["root"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Path(root) if isinstance(root, str) and os.path.isabs(root) else None


def _measure(home: Path) -> tuple[int, float, float]:
    """(bytes on disk, when something was written last, when a question was noted last: 0 for
    never). What goes away meanwhile counts for nothing, and a file of several names once.
    """
    size, newest, asked = 0, 0.0, 0.0
    seen: set[tuple[int, int]] = set()
    waiting = [home]
    while waiting:
        folder = waiting.pop()
        with contextlib.suppress(OSError):
            for name, info in files.entries(folder).items():
                newest = max(newest, info.st_mtime)
                if name.startswith(USAGE):
                    asked = max(asked, info.st_mtime)
                if (info.st_dev, info.st_ino) not in seen:
                    seen.add((info.st_dev, info.st_ino))
                    size += info.st_blocks * BLOCK_BYTES
                if stat.S_ISDIR(info.st_mode):
                    waiting.append(folder / name)
    return size, newest, asked


def _is_served(home: Path) -> bool:
    """Whether a process holds one of its places: a set, an indexer, or the writer of an index."""
    return any(holder_of(path) is not None for path in _locks(home))


def _locks(home: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for name in files.names(home / "index"):
            yield home / "index" / name / "writer.lock"
    for folder in _runtime_folders(home):
        with contextlib.suppress(OSError):
            yield from (folder / name for name in files.names(folder) if name.endswith(".lock"))


def _runtime_folders(home: Path) -> list[Path]:
    """Those of its sockets and locks, one for each protocol that ever ran."""
    mark = f"{home.name[-ID_CHARS:]}-p"
    with contextlib.suppress(OSError, CortexError):
        base = runtime_base()
        return [base / name for name in files.names(base) if name.startswith(mark)]
    return []
