"""The stored data of each project in the user's cache: its size, its project, its last use and its
removal. Removal never touches the project's own files, except a clone in the cache.
"""

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from cortex.processes.leftovers import remove_unlocked
from cortex.sealing.places import plain_of, sealed_base
from cortex.settings.folders.home import USAGE, cache_base, runtime_base, runtime_id
from cortex.settings.folders.projects import is_clone
from cortex.system import files
from cortex.system.errors import CortexError, Unavailable
from ipc.locks import holder_of

#: bytes of the note in a folder that names its project: one path
NOTE_BYTES_MAX = 16_384
#: characters at the end of a folder's name: its project's id
ID_CHARS = 16
#: bytes of a block in `st_blocks`, independent of the disk's block size
BLOCK_BYTES = 512


@dataclass(frozen=True, slots=True)
class StoredProject:
    """One project's folder in the cache.

    `root`: the project's folder, None if unknown. `used`: the time of the last query, in seconds
    since 1970; without a noted query, the time of the last write: an index, or its workers' start.
    """

    home: Path
    root: Path | None
    bytes: int
    used: float
    #: whether a process serves the project, or writes its index
    served: bool
    #: whether the folder is sealed: then its project is unknown while no process uses it
    sealed: bool = False

    @property
    def orphan(self) -> bool:
        """Whether the project's folder is gone or unknown; always False for a sealed folder."""
        return not self.sealed and (self.root is None or not self.root.is_dir())

    @property
    def idle_s(self) -> float:
        return max(0.0, time.time() - self.used)


def list_stored_projects() -> list[StoredProject]:
    """Return all stored projects, the last used first."""
    projects: list[StoredProject] = []
    for base, look in ((cache_base() / "projects", _read_project), (sealed_base(cache_base()), _read_sealed)):
        with contextlib.suppress(OSError):
            folders = [name for name, info in files.entries(base).items() if stat.S_ISDIR(info.st_mode)]
            projects += [look(base / name) for name in folders]
    return sorted(projects, key=lambda project: -project.used)


def remove(project: StoredProject) -> None:
    """Remove a project's stored data. Raises Unavailable if it is served, or cannot be removed."""
    if _is_served(project.home):
        raise Unavailable(
            f"What is kept of {project.root or project.home} is in use; `cortex down` ends its workers."
        )
    try:
        if project.root is not None and is_clone(project.root):
            files.remove_tree(project.root)
        files.remove_tree(project.home)
    except OSError as error:
        raise Unavailable(f"Cannot remove {project.home}: {error.strerror or error}.") from error
    for folder in _runtime_folders(project.home):
        remove_unlocked(folder)


def _read_project(home: Path) -> StoredProject:
    root = root_of(home)
    size, newest, last_question = measure(home)
    if root is not None and is_clone(root):
        size += measure(root)[0]
    return StoredProject(home, root, size, last_question or newest, _is_served(home))


def _read_sealed(store: Path) -> StoredProject:
    """Return a sealed project; its root is known only while a process uses it."""
    size, newest, _ = measure(store)
    with contextlib.suppress(CortexError):
        return StoredProject(
            store, root_of(plain_of(store) / "home"), size, newest, _is_served(store), sealed=True
        )
    return StoredProject(store, None, size, newest, served=False, sealed=True)


def root_of(home: Path) -> Path | None:
    """Return the project of a cache folder; None if its note is missing or unreadable."""
    try:
        root = orjson.loads(files.read_ours(home / "project.json", NOTE_BYTES_MAX))["root"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Path(root) if isinstance(root, str) and os.path.isabs(root) else None


def measure(home: Path) -> tuple[int, float, float]:
    """Return (bytes on disk, time of the last write, time of the last noted query; 0 for never).

    Files that vanish meanwhile are not counted; a file with several names is counted once.
    """
    size, newest, last_question = 0, 0.0, 0.0
    counted_files: set[tuple[int, int]] = set()
    waiting = [home]
    while waiting:
        folder = waiting.pop()
        with contextlib.suppress(OSError):
            for name, info in files.entries(folder).items():
                newest = max(newest, info.st_mtime)
                if name.startswith(USAGE):
                    last_question = max(last_question, info.st_mtime)
                if (info.st_dev, info.st_ino) not in counted_files:
                    counted_files.add((info.st_dev, info.st_ino))
                    size += info.st_blocks * BLOCK_BYTES
                if stat.S_ISDIR(info.st_mode):
                    waiting.append(folder / name)
    return size, newest, last_question


def _is_served(home: Path) -> bool:
    """Return whether a process holds a lock of the project: a set, an indexer or a writer."""
    return any(holder_of(path) is not None for path in _locks(home))


def _locks(home: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for name in files.names(home / "index"):
            yield home / "index" / name / "writer.lock"
    for folder in _runtime_folders(home):
        with contextlib.suppress(OSError):
            yield from (folder / name for name in files.names(folder) if name.endswith(".lock"))


def _runtime_folders(home: Path) -> list[Path]:
    """Return the folders of its sockets and locks, one for each protocol that ever ran."""
    marks = {f"{home.name[-ID_CHARS:]}-p"}
    with contextlib.suppress(OSError, CortexError):
        if (root := root_of(home)) is not None:
            marks.add(f"{runtime_id(root)}-p")
        base = runtime_base()
        return [base / name for name in files.names(base) if name.startswith(tuple(marks))]
    return []
