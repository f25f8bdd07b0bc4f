"""Watches on a set of folders, by the system's events: which paths below them change. Decides
nothing about the paths.

Each folder has a watch of its own: a recursive watch over an ignored folder (node_modules) takes
thousands of inotify watches. Where there is no inotify (FSEvents is recursive at no cost), one
recursive watch of watchdog on the root is enough.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from socket import socketpair
from typing import TYPE_CHECKING

from cortex.system.folders.inotify import (
    ATTRIBUTES,
    CREATED,
    DELETED,
    DELETED_SELF,
    IS_FOLDER,
    ITSELF,
    MOVED_FROM,
    MOVED_SELF,
    MOVED_TO,
    ONLY_FOLDER,
    WRITTEN,
    Notice,
    Notices,
)

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent

#: waiting paths; for more than this (a branch switch) one sweep of the tree is cheaper
PATHS_MAX = 2000
#: events of a folder that this program writes: not each written block, because the clock finds a
#: file that is truncated in place
_WRITTEN_BITS = ITSELF | WRITTEN | DELETED | MOVED_FROM | MOVED_TO | ONLY_FOLDER
#: events of a folder of the project
_BITS = _WRITTEN_BITS | CREATED


class Changes:
    """The changes since the last `take`: paths relative to the root, or everything (`sweep`)."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        self._sweep = False
        self._touched = False

    def touch(self) -> None:
        """Record a change to a file that this program writes."""
        with self._lock:
            self._touched = True
        self.event.set()

    def clear_touched(self) -> None:
        """Forget the changes recorded by `touch`, which the caller now checks."""
        with self._lock:
            self._touched = False

    def add(self, path: str) -> None:
        with self._lock:
            self._paths.add(path)
            self._sweep = self._sweep or len(self._paths) > PATHS_MAX
        self.event.set()

    def add_all(self) -> None:
        with self._lock:
            self._sweep = True
        self.event.set()

    def peek(self) -> set[str]:
        """Return the paths of the next `take`; none if it will ask for a sweep."""
        with self._lock:
            return set() if self._sweep else set(self._paths)

    def take(self) -> tuple[set[str], bool]:
        """Return (paths, whether to sweep) and forget both."""
        with self._lock:
            self.event.clear()
            if self._touched:  # since the last check
                self.event.set()
            paths, sweep = self._paths, self._sweep
            self._paths, self._sweep = set(), False
        return paths, sweep


def watch_folders(root: Path, changes: Changes) -> FolderWatch:
    """Return watches of folders below `root`, which report to `changes`."""
    try:
        return InotifyFolders(root, changes)
    except OSError:
        return RecursiveWatch(root, changes)


class InotifyFolders:
    """A watch for each folder. `complete` is False when the system refused one."""

    def __init__(self, root: Path, changes: Changes) -> None:
        """Raises OSError where the system has no inotify, or no more instances."""
        self.complete = True
        self._root, self._changes = os.path.join(root, ""), changes
        self._notices = Notices()
        #: for the notices and the next two
        self._lock = threading.Lock()
        self._folders: set[str] = set()
        #: path of a folder that this program writes → names that count
        self._written: dict[str, frozenset[str]] = {}
        self._stop_reader, self._stop_writer = socketpair()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def enter(self, folder: str) -> None:
        """Watch also `folder` (relative, "" is the root)."""
        with self._lock:
            if folder not in self._folders:
                self._add(folder)

    def follow(self, folders: Collection[str]) -> None:
        """Watch exactly `folders`."""
        wanted = set(folders)
        with self._lock:
            for folder in self._folders - wanted:
                self._folders.remove(folder)
                if self._path_of(folder) not in self._written:
                    self._notices.unwatch(self._path_of(folder))
            new = wanted - self._folders
        refused = False
        for folder in new:
            with self._lock:
                refused |= not self._add(folder)
        self.complete = not refused

    def watch_written(self, written: Mapping[Path, Collection[str]]) -> bool:
        """Report by `touch` changes to files that this program writes: folder → names of files,
        none for all. Replacing a named file does not count, because this program does that itself.
        Returns whether the system reports all changes.
        """
        paths = {os.fspath(folder): frozenset(names) for folder, names in written.items()}
        with self._lock:
            for path in paths.keys() - self._written.keys():
                # the limit of watches; a missing folder, or no folder
                with contextlib.suppress(OSError):
                    self._notices.watch(path, _BITS if self._is_followed(path) else _WRITTEN_BITS)
                    self._written[path] = paths[path]
                    self._changes.touch()  # earlier changes in it have no event
            return paths.keys() == self._written.keys()

    def _path_of(self, folder: str) -> str:
        return self._root + folder if folder else self._root.rstrip(os.sep) or os.sep

    def _is_followed(self, path: str) -> bool:
        return path[len(self._root) :] in self._folders and f"{path}/".startswith(self._root)

    def _add(self, folder: str) -> bool:
        try:
            self._notices.watch(self._path_of(folder), _BITS)
        except FileNotFoundError:
            self._changes.add_all()  # removed between the walk and here
            return True
        except OSError:
            return False  # the limit of inotify watches
        self._folders.add(folder)
        return True

    def close(self) -> None:
        with self._stop_writer:
            self._stop_writer.send(b"x")
            self._thread.join(5.0)

    def _read(self) -> None:
        with self._stop_reader, contextlib.closing(self._notices), selectors.DefaultSelector() as selector:
            selector.register(self._stop_reader, selectors.EVENT_READ)
            selector.register(self._notices, selectors.EVENT_READ)
            while self._stop_reader not in [key.fileobj for key, _ in selector.select()]:
                with self._lock:
                    for notice in self._notices.take():
                        self._handle(notice)

    def _handle(self, notice: Notice) -> None:
        path, name, bits = notice.path, notice.name, notice.bits
        if not path:  # the system's queue overflowed
            self._changes.add_all()
            return
        folder, names = path[len(self._root) :], self._written.get(path)
        is_followed = self._is_followed(path)
        if notice.gone:
            if is_followed:
                self._folders.remove(folder)
            if self._written.pop(path, None) is None:
                self._changes.add_all()
            else:
                self._changes.touch()
            return
        if names is not None:
            ours = names and bits & MOVED_TO and not bits & IS_FOLDER
            if not name or (name in names and not ours) or not (names or name.startswith(".")):
                self._changes.touch()
        if not is_followed:
            return
        if bits & (IS_FOLDER | MOVED_SELF | DELETED_SELF):
            if not bits & ATTRIBUTES:
                self._changes.add_all()
            return
        self._changes.add(f"{folder}/{name}" if folder else name)


class RecursiveWatch:
    """As InotifyFolders, by one watch of watchdog on the root."""

    def __init__(self, root: Path, changes: Changes) -> None:
        from watchdog.observers import Observer  # it calls only `dispatch`

        self.complete = True
        self._root = str(root)
        self._changes = changes
        self._folders: set[str] = set()
        self._observer = Observer()
        self._observer.daemon = True
        self._observer.schedule(self, self._root, recursive=True)  # type: ignore[arg-type]
        self._observer.start()

    def enter(self, folder: str) -> None:
        self._folders.add(folder)

    def follow(self, folders: Collection[str]) -> None:
        self._folders = set(folders)
        self.complete = self._observer.is_alive()

    def watch_written(self, written: Mapping[Path, Collection[str]]) -> bool:  # noqa: ARG002 - it watches the root only
        return False

    def close(self) -> None:
        self._observer.stop()
        self._observer.join(5.0)

    def dispatch(self, event: FileSystemEvent) -> None:
        """Record an event, in watchdog's thread."""
        if event.event_type in ("opened", "closed_no_write"):
            return
        for full in (os.fsdecode(event.src_path), os.fsdecode(event.dest_path or "")):
            path = os.path.relpath(full, self._root).replace(os.sep, "/") if full else "."
            folder = path.rpartition("/")[0]
            if path != "." and folder in self._folders:
                if event.is_directory and event.event_type != "modified":
                    self._changes.add_all()
                elif not event.is_directory:
                    self._changes.add(path)


FolderWatch = InotifyFolders | RecursiveWatch
