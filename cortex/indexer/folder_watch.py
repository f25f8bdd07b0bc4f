"""Watches on a set of folders, by the system's events: which paths below them change. Decides
nothing about the paths.

Each folder has a watch of its own: a recursive watch over an ignored folder (node_modules) takes
thousands of inotify watches. watchdog's documented way, an observer, starts a thread for each
watched folder, too much for 100 000 of them: so on Linux this uses the undocumented reader below
its observers. Where that is missing, and on other systems (FSEvents is recursive at no cost), one
recursive watch on the root is enough; tests/indexer/test_folder_watch.py notices when a new
watchdog arranges its reader differently.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

try:
    from watchdog.observers.inotify_c import CallbackId, InotifyConstants, InotifyEvent, InotifyFD, Mask
except (ImportError, OSError):  # not Linux, or a watchdog that is arranged differently
    InotifyFD = None  # type: ignore[assignment,misc]

#: waiting paths; for more than this (a branch switch) one sweep of the tree is cheaper
PATHS_MAX = 2000


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


class Folders:
    """Watches folders below `root` and reports to `changes`. `complete` is False when the system
    refused a watch.
    """

    def __init__(self, root: Path, changes: Changes) -> None:
        self.complete = True
        self._watch: _InotifyFolders | _RecursiveWatch = (
            _RecursiveWatch(root, changes) if InotifyFD is None else _InotifyFolders(root, changes)
        )

    def enter(self, folder: str) -> None:
        """Watch also `folder` (relative, "" is the root)."""
        self._watch.enter(folder)

    def follow(self, folders: Collection[str]) -> None:
        """Watch exactly `folders`."""
        self.complete = self._watch.follow(folders)

    def watch_written(self, written: Mapping[Path, Collection[str]]) -> bool:
        """Report by `touch` changes to files that this program writes: folder → names of files,
        none for all. Replacing a named file does not count, because this program does that itself.
        Returns whether the system reports all changes.
        """
        return self._watch.watch_written(written)

    def close(self) -> None:
        self._watch.close()


class _InotifyFolders:
    def __init__(self, root: Path, changes: Changes) -> None:
        self._root = os.fsencode(root)
        self._changes = changes
        self._reader = InotifyFD()
        self._reader.daemon = True
        self._reader.start()
        self._lock = threading.Lock()
        self._identities = itertools.count(1)
        self._by_folder: dict[str, tuple[Any, Any]] = {}  # folder → (watch descriptor, callback id)
        self._by_watch: dict[Any, str] = {}
        #: folders that this program writes: watch descriptor → (folder, names that count)
        self._written: dict[Any, tuple[Path, frozenset[str]]] = {}
        c = InotifyConstants
        # not each written block: the clock finds a file that is truncated in place
        self._mask_written = Mask(
            c.IN_CLOSE_WRITE | c.IN_DELETE | c.IN_MOVED_FROM | c.IN_MOVED_TO | c.IN_ATTRIB
            | c.IN_DELETE_SELF | c.IN_MOVE_SELF | c.IN_ONLYDIR | c.IN_DONT_FOLLOW
        )  # fmt: skip
        self._mask = Mask(
            c.IN_CLOSE_WRITE | c.IN_CREATE | c.IN_DELETE | c.IN_MOVED_FROM | c.IN_MOVED_TO | c.IN_ATTRIB
            | c.IN_DELETE_SELF | c.IN_MOVE_SELF | c.IN_ONLYDIR | c.IN_DONT_FOLLOW
        )  # fmt: skip

    def enter(self, folder: str) -> None:
        with self._lock:
            is_watched = folder in self._by_folder
        if not is_watched:
            self._add(folder)

    def follow(self, folders: Collection[str]) -> bool:
        wanted = set(folders)
        with self._lock:
            gone = [folder for folder in self._by_folder if folder not in wanted]
            new = [folder for folder in wanted if folder not in self._by_folder]
        for folder in gone:
            self._drop(folder)
        refused = [folder for folder in new if not self._add(folder)]
        return not refused

    def watch_written(self, written: Mapping[Path, Collection[str]]) -> bool:
        with self._lock:
            watched_folders = {folder for folder, _ in self._written.values()}
        for folder in written.keys() - watched_folders:
            identity = CallbackId(next(self._identities))
            try:
                watch = self._reader.add_callback(os.fsencode(folder), self._mask_written, self, identity)
            except OSError:  # the limit of watches; a missing folder, or no folder
                continue
            with self._lock:
                self._written[watch] = folder, frozenset(written[folder])
            self._changes.touch()  # earlier changes in it have no event
        with self._lock:
            return written.keys() == {folder for folder, _ in self._written.values()}

    def _add(self, folder: str) -> bool:
        identity = CallbackId(next(self._identities))
        path = os.path.join(self._root, os.fsencode(folder)) if folder else self._root
        try:
            watch = self._reader.add_callback(path, self._mask, self, identity)
        except FileNotFoundError:
            self._changes.add_all()  # removed between the walk and here
            return True
        except OSError:
            return False  # the limit of inotify watches
        with self._lock:
            self._by_folder[folder] = (watch, identity)
            self._by_watch[watch] = folder
        return True

    def _drop(self, folder: str) -> None:
        with self._lock:
            watch, identity = self._by_folder.pop(folder)
            if self._by_watch.get(watch) == folder:
                del self._by_watch[watch]
        self._reader.remove_callbacks([(watch, identity)])

    def close(self) -> None:
        self._reader.stop()
        self._reader.join(5.0)

    def on_event(self, event: InotifyEvent) -> None:
        with self._lock:
            folder = self._by_watch.get(event.wd)
            _, names = self._written.get(event.wd, ("", None))
        name = os.fsdecode(event.name)
        if names is not None:
            ours = names and event.is_moved_to and not event.is_directory
            if not name or (name in names and not ours) or not (names or name.startswith(".")):
                self._changes.touch()
        if folder is None:
            return
        if event.is_directory or event.is_move_self or event.is_delete_self:
            if not event.is_attrib:
                self._changes.add_all()
            return
        self._changes.add(f"{folder}/{name}" if folder else name)

    def on_watch_deleted(self, wd: Any) -> None:
        with self._lock:
            folder = self._by_watch.pop(wd, None)
            written = self._written.pop(wd, None)
            if folder is not None and self._by_folder.get(folder, (None,))[0] == wd:
                del self._by_folder[folder]
        if written is None:
            self._changes.add_all()
        else:
            self._changes.touch()

    def on_queue_overflow(self) -> None:
        self._changes.add_all()


class _RecursiveWatch(FileSystemEventHandler):
    def __init__(self, root: Path, changes: Changes) -> None:
        self._root = str(root)
        self._changes = changes
        self._folders: set[str] = set()
        self._observer = Observer()
        self._observer.daemon = True
        self._observer.schedule(self, self._root, recursive=True)
        self._observer.start()

    def enter(self, folder: str) -> None:
        self._folders.add(folder)

    def follow(self, folders: Collection[str]) -> bool:
        self._folders = set(folders)
        return self._observer.is_alive()

    def watch_written(self, written: Mapping[Path, Collection[str]]) -> bool:  # noqa: ARG002 - it watches the root only
        return False

    def close(self) -> None:
        self._observer.stop()
        self._observer.join(5.0)

    def on_any_event(self, event: FileSystemEvent) -> None:
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
