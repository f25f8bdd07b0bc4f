"""Events of the folders that the watcher reads and writes: chunk files and graph files, published
files, and marks of readers. Reads no file and decides nothing.
"""

import contextlib
import logging
import math
import os
import selectors
import time
from collections.abc import Iterable
from pathlib import Path
from socket import socketpair

from cortex.generation.contract import PACKED, PLAIN, chunk_folders, graph_folders, is_linked
from cortex.generation.damage import MARK
from cortex.settings.config import Config
from cortex.settings.consent.chunk_consent import chunk_note_of
from cortex.system.folders.inotify import CREATED, INSIDE, ITSELF, MOVED_TO, Notice, Notices
from cortex.system.folders.mounts import FOREIGN, file_system

log = logging.getLogger(__name__)

#: seconds between two scans of the disk by the clock, for changes without an event (a write to a
#: mapped file, another name of a file); and where there are no events, or not all of them
LOOK_S, BLIND_LOOK_S = 10.0, 1.0
#: largest share of a core for scans by the clock, and then the longest seconds between two of them:
#: a scan of 367 000 chunks takes 40 ms
LOOK_SHARE, LOOK_MAX_S = 1 / 2000, 60.0
#: events to watch in a folder in which another one will appear, and in the folder of marks
APPEARS = CREATED | MOVED_TO | ITSELF


class FolderEvents:
    """Flags of changes in the watched folders, for one thread; any may call `stop`."""

    def __init__(self, config: Config) -> None:
        self._config = config
        #: whether chunk files or graph files changed, and the time of the last change (monotonic)
        self.changed, self.changed_at = False, 0.0
        #: changes of chunk files or graph files since the user of this object set it to 0
        self.change_count = 0.0
        #: whether a published file changed
        self.published_changed = False
        #: whether a reader reported damage
        self.has_marks = False
        #: whether the indexer reported its progress
        self.indexer_reported = False
        self._notices: Notices | None = None
        #: watched folder → its device and inode, and the bits of its events
        self._watched: dict[Path, tuple[int, int, int]] = {}
        self._sources: frozenset[Path] = frozenset()
        self._published: frozenset[Path] = frozenset()
        #: missing folders, and their missing parents
        self._awaited: set[Path] = set()
        #: the watches that the system last refused
        self._refused: dict[Path, tuple[int, int, int]] = {}
        self._foreign = False
        self._stop_reader, self._stop_writer = socketpair()

    @property
    def by_events(self) -> bool:
        """Whether the system reports all changes."""
        return self._notices is not None and not self._foreign

    @property
    def look_s(self) -> float:
        """Seconds between two scans by the clock."""
        return LOOK_S if self.by_events else BLIND_LOOK_S

    def follow(self, published: Iterable[Path]) -> None:
        """Watch the folders as they are now, and the folders `published`. A newly watched folder
        counts as changed, because it may have changed before.
        """
        sources = [*chunk_folders(self._config), *graph_folders(self._config)]
        self._sources = frozenset(
            folder.path for folder in sources if not is_linked(folder.path, folder.root)
        )
        self._sources |= {chunk_note_of(self._config.root).parent}  # consent changes which files count
        self._published, self._awaited = frozenset(published), set()
        wanted: dict[Path, int] = {}
        for path in (*self._sources, *self._published, self._config.run_dir):
            self._plan_watch(wanted, path)
        watches: dict[Path, tuple[int, int, int]] = {}
        for path, bits in wanted.items():
            with contextlib.suppress(OSError):
                info = path.stat()
                watches[path] = info.st_dev, info.st_ino, bits
        if watches == self._refused:
            return
        try:
            self._watch(watches)
            self._refused = {}
        except OSError as error:
            log.warning("cannot watch the folders by events (%s); looking by the clock", error)
            self._refused = watches
            self.close()

    def _plan_watch(self, wanted: dict[Path, int], path: Path) -> None:
        """Add a watch for `path`; where it is missing, for the folder in which it will appear."""
        bits = INSIDE if path != self._config.run_dir else APPEARS
        while not os.path.isdir(path) and path != path.parent:
            self._awaited.add(path)
            path, bits = path.parent, APPEARS
        wanted[path] = wanted.get(path, 0) | bits

    def _watch(self, watches: dict[Path, tuple[int, int, int]]) -> None:
        self._notices = notices = self._notices or Notices()
        for path, watch in list(self._watched.items()):
            if watches.get(path, ())[:2] != watch[:2] or os.fspath(path) not in notices.paths:
                del self._watched[path]
                notices.unwatch(path)
        for path, watch in watches.items():
            before = self._watched.get(path)
            if before == watch:
                continue
            try:
                notices.watch(path, watch[2])
            except (FileNotFoundError, NotADirectoryError):
                self.published_changed = True  # removed meanwhile
                continue
            self._watched[path] = watch
            if before is None:
                self._foreign = self._foreign or file_system(path) in FOREIGN
                self.published_changed = True
                if path in self._sources:
                    self.changed, self.changed_at = True, time.monotonic()

    def wait(self, seconds: float) -> None:
        """Wait at most `seconds` for events, and record them; return at the first."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._stop_reader, selectors.EVENT_READ)
            if self._notices is not None:
                selector.register(self._notices, selectors.EVENT_READ)
            selector.select(max(0.0, seconds))
        for notice in self._notices.take() if self._notices is not None else ():
            self._handle_notice(notice)

    def _handle_notice(self, notice: Notice) -> None:
        path = Path(notice.path)
        if not notice.path:  # the system's queue overflowed
            self.changed, self.changed_at = True, time.monotonic()
            self.change_count = math.inf
            self.published_changed = self.has_marks = self.indexer_reported = True
        elif path == self._config.run_dir and notice.name:
            self.has_marks = self.has_marks or MARK.fullmatch(notice.name) is not None
            self.indexer_reported = self.indexer_reported or notice.name == self._config.indexer_state.name
        elif path in self._sources and notice.name:
            if notice.name.endswith((PLAIN, PACKED)) and not notice.name.startswith("."):
                self.changed, self.changed_at = True, time.monotonic() - _age(path, notice.name)
                self.change_count += 1
        elif not notice.name or path in self._published or path / notice.name in self._awaited:
            self.published_changed = True

    def stop(self) -> None:
        """End a `wait`, also the next one."""
        self._stop_writer.send(b"x")

    def close(self) -> None:
        """Stop watching; safe to call twice."""
        if self._notices is not None:
            self._notices.close()
        self._notices, self._watched = None, {}


def _age(folder: Path, name: str) -> float:
    """Return the seconds since a file in a folder changed: its event may have waited."""
    newest = 0.0
    with contextlib.suppress(OSError):
        newest = folder.stat().st_mtime
        newest = max(newest, (folder / name).lstat().st_ctime)
    return max(0.0, time.time() - newest)
