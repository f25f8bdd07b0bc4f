"""The watcher: sees chunk files change, publishes generations, announces them.

The only writer of an index.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zmq
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from cortex import __version__
from cortex.generation.contract import chunk_folders, graph_folders, is_linked
from cortex.publish.builder import Builder
from cortex.settings.config import Config
from ipc.errors import CortexError
from ipc.events import Announcer
from ipc.messages import Message, Reload, Status
from ipc.service import Identity, serve

log = logging.getLogger(__name__)
# watchdog calls it an error when a watch ends while an event of it is being read.
logging.getLogger("watchdog.observers.inotify").addFilter(
    lambda record: "called when the thread is inactive" not in record.getMessage()
)

#: seconds between two looks at the disk by the clock, for events that were lost or never come
#: (network folders)
LOOK_S = 1.0
#: a burst that never pauses is published after this many debounce times
BURST_MAX = 4
#: share of the quiet time after which what has changed is built already, to be published at its
#: end; how often at most in one burst, whose later events then wait for its end
PREPARED_SHARE, PREPARED_MAX = 0.1, 3
#: seconds after a publish in which readers take it up before upkeep begins, and how often in a row
#: upkeep waits longer when changes come meanwhile
REST_S, RESTS_MAX = 0.1, 8
#: seconds until a failed publish is tried again, doubled each time up to the second number
RETRY_S, RETRY_MAX_S = 1.0, 30.0


class WatcherWorker(FileSystemEventHandler):
    """Publishes in a thread of its own; the serving thread answers GetStatus meanwhile."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._identity = Identity("watcher", __version__, config.hash())
        self._builder = Builder(config)
        self._seen = threading.Event()
        self._last_event = 0.0
        self._stop = threading.Event()
        self._observer: Any = None
        #: watched folder → its device and inode, and watchdog's handle of the watch
        self._watched: dict[Path, tuple[tuple[int, int], Any]] = {}
        #: folders that were removed
        self._ended: set[Path] = set()
        #: the folders that the system refused to watch, as they were
        self._refused: dict[Path, tuple[int, int]] = {}
        self._fault = ""
        #: how often in a row upkeep was left for later
        self._rests = 0
        self._thread = threading.Thread(target=self._work, name="publish")
        self.handlers: dict[type, Callable[[Any], Message]] = {}

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the publish that is under way."""
        self._stop.set()
        self._seen.set()
        self._thread.join()
        self._unwatch()
        self._builder.close()

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by watchdog's thread. Reading is no change."""
        if event.event_type in ("opened", "closed_no_write"):
            return
        if event.is_directory and event.event_type == "deleted":
            self._ended.add(Path(os.fsdecode(event.src_path)))
        if any(str(path).endswith(".json") for path in (event.src_path, event.dest_path)):
            self._last_event = time.monotonic()
            self._seen.set()

    def reload(self) -> bool:
        return False

    def status(self) -> Status:
        generation = self._builder.current
        info = {
            "rows": generation.rows,
            "segments": len(generation.segments),
            "deleted": generation.deleted_count,
            "vectors": sum(segment.vectors for segment in generation.segments),
            "chunk_files": len(generation.files),
            "sequence": generation.sequence,
            "model": generation.model,
            "watching": "events" if self._observer is not None else "polling",
            "warnings": list(self._builder.warnings),
            "foreign_files": self._foreign_files(),
            "fault": self._fault,
        }
        return self._identity.status(generation.number, info)

    def _foreign_files(self) -> list[str]:
        """What others wrote, also of files that this process had no reason to read."""
        prefixes = tuple(one.prefix for one in chunk_folders(self._config) if one.others)
        served = (name for name in self._builder.current.files if name.startswith(prefixes))
        read = (name for name, maker in self._builder.generators.items() if maker != "cortex")
        return sorted({*served, *read})

    def _work(self) -> None:
        context: zmq.Context[Any] = zmq.Context()
        announcer = Announcer(context, self._config.runtime_dir)
        retry_s = RETRY_S
        try:
            while not self._stop.is_set():
                try:
                    self._watch()  # first: while changes follow each other, publishing goes on and on
                    self._publish_all(announcer)
                    self._fault, retry_s = "", RETRY_S
                    self._wait_for_change()
                except (OSError, ValueError, CortexError) as error:
                    self._fault = f"Publishing failed: {error}; the old generation is served."
                    log.warning("%s", self._fault)
                    self._stop.wait(retry_s)
                    retry_s = min(2 * retry_s, RETRY_MAX_S)
        finally:
            announcer.close()
            context.term()

    def _publish_all(self, announcer: Announcer) -> None:
        """Refresh until nothing is left, or changes come; each new generation is announced at
        once.
        """
        while not self._stop.is_set():
            number = self._builder.current.number
            started = time.monotonic()
            generation = self._builder.refresh()
            if generation is None:
                return
            if generation.number != number:
                announcer.announce(Reload(generation.number))
                log.info(
                    "published generation %d: %d rows in %d segments, %.0f ms",
                    generation.number,
                    generation.rows,
                    len(generation.segments),
                    1000 * (time.monotonic() - started),
                )
            self._builder.tidy()
            if not generation.backlog and self._rests < RESTS_MAX and self._seen.wait(REST_S):
                self._rests += 1
                return
            self._rests = 0

    def _wait_for_change(self) -> None:
        """Return after a burst of events and `debounce_ms` of quiet, or when the clock says so.

        What has changed is built before the quiet time is over: then there is only to publish it.
        """
        if not self._seen.wait(LOOK_S):
            return
        debounce_s = self._config.server.debounce_ms / 1000
        first = time.monotonic()
        prepared, prepared_for = 0, 0.0
        while not self._stop.is_set():
            now, last = time.monotonic(), self._last_event
            if now - last >= debounce_s or now - first >= BURST_MAX * debounce_s:
                break
            left_s = debounce_s - (now - last)
            if prepared < PREPARED_MAX and last != prepared_for:
                left_s -= (1 - PREPARED_SHARE) * debounce_s
                if left_s <= 0:
                    built = self._builder.prepare()
                    prepared += 1
                    prepared_for = 0.0 if built is not None and built.backlog else last
                    continue
            self._stop.wait(min(left_s, 0.1) or 0.001)
        self._seen.clear()

    def _watch(self) -> None:
        """Watch the folders of the chunk files and the graph files by events; again when they are
        other folders than before; by the clock while there are none.
        """
        folders: dict[Path, tuple[int, int]] = {}
        for one in (*chunk_folders(self._config), *graph_folders(self._config)):
            with contextlib.suppress(OSError):
                info = one.path.stat()
                if not is_linked(one.path, one.root):
                    folders[one.path] = (info.st_dev, info.st_ino)
        if folders and folders == self._refused:
            return
        ended = self._watched.keys() & self._ended  # one made anew may have the inode of the old
        self._ended -= ended
        ended |= {path for path, (at, _) in self._watched.items() if folders.get(path) != at}
        for path in ended:
            self._observer.unschedule(self._watched.pop(path)[1])
        try:
            for path, at in folders.items():
                if path not in self._watched:
                    self._watched[path] = at, self._follow(path)
                    self._seen.set()  # what happened in it before is told by no event
            self._refused = {}
        except OSError as error:  # inotify limits, network file systems
            log.warning("cannot watch %s by events (%s); looking by the clock", path, error)
            self._refused = folders
            self._unwatch()

    def _follow(self, folder: Path) -> Any:
        if self._observer is None:
            self._observer = Observer()
            self._observer.start()
        return self._observer.schedule(self, os.fspath(folder), recursive=False)

    def _unwatch(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join(5)
        self._observer, self._watched = None, {}


def run(config: Config, *, replica: int = 0, bind: str = "") -> int:
    worker = WatcherWorker(config)
    worker.start()
    try:
        return serve("watcher", worker, config.runtime_dir, replica=replica, bind=bind)
    finally:
        worker.stop()
