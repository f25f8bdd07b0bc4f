"""The watcher: notices changed chunk files, publishes generations, announces them.

The only writer of an index.
"""

import contextlib
import faulthandler
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import zmq

from cortex import __version__
from cortex.generation.contract import chunk_folders
from cortex.generation.current import PRUNE_AFTER_S
from cortex.publish.builder import Builder
from cortex.publish.folder_events import BLIND_LOOK_S, LOOK_MAX_S, LOOK_SHARE, FolderEvents
from cortex.settings.config import Config
from cortex.system.errors import CortexError
from cortex.system.process.re_exec import Growth
from cortex.system.process.timers import paced
from ipc.events import Announcer
from ipc.messages import Message, Reload, Status
from ipc.service import Identity

log = logging.getLogger(__name__)

#: debounce times after which a burst without pause is published
BURST_MAX = 4
#: share of the debounce time after which changes are built in advance, to be published at its end;
#: and most such builds in a burst, whose later events wait for its end
PREPARED_SHARE, PREPARED_MAX = 0.1, 3
#: while changes of a long run are collected: the share of all files that must change before the
#: next scan, and the seconds after which it is done in any case. So all scans of a run together
#: read each file a bounded number of times, not once for each burst of events
WORTH_SHARE, WORTH_S = 1 / 32, 3.0
#: seconds in which events are collected meanwhile
GATHER_S = 0.1
#: seconds after a publish in which readers open it before upkeep begins, and how often in a row
#: upkeep is postponed if changes come meanwhile
REST_S, RESTS_MAX = 0.1, 8
#: seconds without a new generation after which memory for building is released, and after which all
#: unused files are removed: the last ones written are old enough then
QUIET_S, SETTLED_S = 9.0, PRUNE_AFTER_S + 5.0
#: seconds until a failed publish is tried again, doubled each time, and their maximum
RETRY_S, RETRY_MAX_S = 1.0, 30.0
#: seconds of one step after which log and status report it: a small publish takes tenths, a first
#: one of many files or a merge some seconds
SLOW_S = 20.0
#: seconds of one step after which this process ends, and the supervisor starts another: the longest
#: one, a new text index of a million chunks, takes minutes
HUNG_S = 1800.0
#: descriptor of the log: a worker's standard error
_LOG = 2


class WatcherWorker:
    """The worker. A thread publishes; the serving thread answers GetStatus meanwhile."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._identity = Identity("watcher", __version__, config.hash())
        self.builder = Builder(config)
        self.folder_events = FolderEvents(config)
        self._stop = threading.Event()
        self._fault = ""
        #: time of the last publish (monotonic), or of the start, for the process before may have
        #: left unused files; 0: nothing to release since
        self.published_at = time.monotonic()
        #: whether memory was released since
        self._has_released = False
        self._growth = Growth()
        #: whether so much memory cannot be released that this process restarts
        self._should_restart = False
        #: processor seconds of the last round: when idle, of a scan
        self._round_s = 0.0
        #: start of the current step (monotonic); 0: none
        self._began_at = 0.0
        #: whether a published generation is not sealed yet, and the reason of the last failure
        self._unsealed, self._seal_fault = False, ""
        #: how often in a row upkeep was postponed
        self._rests = 0
        self._thread = threading.Thread(target=self._work, name="publish")
        self.handlers: dict[type, Callable[[Any], Message]] = {}

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stop after the current publish."""
        self._stop.set()
        self.folder_events.stop()
        self._thread.join()
        self.folder_events.close()
        self.builder.close()

    def reload(self) -> bool:
        return False

    def is_over(self) -> bool:
        return self._should_restart

    def status(self) -> Status:
        generation = self.builder.current
        info = generation.status() | {
            "watching": "events" if self.folder_events.by_events else "polling",
            "warnings": list(self.builder.warnings),
            "foreign_files": self._foreign_files(),
            "set_aside": self.builder.set_aside,
            "fault": self._fault or self._seal_fault or self._slowness(),
        }
        return self._identity.status(generation.number, info)

    def _slowness(self) -> str:
        """Return a message about a slow current step; "" if it is not slow."""
        began_at = self._began_at
        took_s = time.monotonic() - began_at if began_at else 0.0
        if took_s < SLOW_S:
            return ""
        return f"Publishing has taken {took_s:.0f} s so far; watcher.log has a trace. The old generation is served."

    @contextlib.contextmanager
    def _timed_work(self) -> Iterator[None]:
        """Run the `with` as a step with a time limit; if it is slow, the log gets a trace."""
        slow = threading.Timer(SLOW_S, self._dump_trace)
        slow.daemon = True
        self._began_at = time.monotonic()
        slow.start()
        faulthandler.dump_traceback_later(HUNG_S, exit=True, file=_LOG)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            slow.cancel()
            self._began_at = 0.0

    def _dump_trace(self) -> None:
        log.warning("%s", self._slowness())
        faulthandler.dump_traceback(file=_LOG)

    def _foreign_files(self) -> list[str]:
        """List other programs' chunk files, also those that were not read."""
        prefixes = tuple(folder.prefix for folder in chunk_folders(self._config) if folder.others)
        served = (name for name in self.builder.current.files if name.startswith(prefixes))
        read = (name for name, maker in self.builder.generators.items() if maker != "cortex")
        return sorted({*served, *read})

    def _work(self) -> None:
        context: zmq.Context[Any] = zmq.Context()
        announcer = Announcer(context, self._config.runtime_dir)
        retry_s = RETRY_S
        try:
            while not self._stop.is_set():
                began_s = time.thread_time()
                try:
                    self.step(announcer)
                    self._fault, retry_s = "", RETRY_S
                    self._round_s = time.thread_time() - began_s
                    self._wait_for_change()
                except (OSError, ValueError, CortexError) as error:
                    self._fault = f"Publishing failed: {error}; the old generation is served."
                    log.warning("%s", self._fault)
                    self._stop.wait(retry_s)
                    retry_s = min(2 * retry_s, RETRY_MAX_S)
        finally:
            announcer.close()
            context.term()

    def step(self, announcer: Announcer) -> None:
        """Watch the present folders, publish what has changed, and release memory: one round of the
        thread, without its wait. Raises OSError, ValueError and CortexError of files.
        """
        self.follow()  # first, for publishing does not end while changes follow each other
        self.publish_all(announcer)
        self._seal()
        self.release_memory(time.monotonic())

    def publish_all(self, announcer: Announcer) -> None:
        """Refresh until nothing is left, or changes come; announce each new generation at once."""
        while not self._stop.is_set():
            number = self.builder.current.number
            started = time.monotonic()
            with self._timed_work():
                generation = self.builder.refresh()
            if generation is None:
                return
            self.published_at, self._has_released = time.monotonic(), False
            self._unsealed = True
            self._growth.work()
            if generation.number != number:
                announcer.announce(Reload(generation.number))
                log.info(
                    "published generation %d: %d rows in %d segments, %.0f ms",
                    generation.number,
                    generation.rows,
                    len(generation.segments),
                    1000 * (time.monotonic() - started),
                )
            with self._timed_work():
                self.builder.tidy()
                self._seal()
            if not generation.backlog and self._rests < RESTS_MAX and self._changes_within(REST_S):
                self._rests += 1
                return
            self._rests = 0

    def _seal(self) -> None:
        """Seal the published generation; after a failure it is tried again in each round."""
        if self._config.sealing is None or not self._unsealed:
            return
        from cortex.sealing.plain_folder import reseal

        try:
            reseal(self._config.sealing.base)
        except (OSError, ValueError, CortexError) as error:
            self._seal_fault = (
                f"The served generation is not sealed yet ({error}). Mend that; sealing is tried again, "
                "and the index is built again if it cannot be sealed."
            )
            log.warning("%s", self._seal_fault)
        else:
            self._unsealed, self._seal_fault = False, ""

    def release_memory(self, now: float) -> None:
        """Release memory after some time without a publish; much of it at once while the indexer
        resolves names, when other processes need it most. Later remove unused files. Memory that
        cannot be released otherwise is released by a restart.
        """
        if not self.published_at:
            return
        quiet_s = now - self.published_at
        if not self._has_released and (
            quiet_s >= QUIET_S or (self._growth.is_large() and self.builder.awaits_graph())
        ):
            self._has_released = True
            with self._timed_work():
                self.builder.release()
            self._should_restart = (
                self._may_begin_anew and not self.builder.has_begun() and self._growth.is_large()
            )
        if quiet_s >= SETTLED_S and not self.builder.is_busy():
            self.published_at = 0.0
            with self._timed_work():
                self.builder.release(settled=True)
            self._should_restart = self._may_begin_anew and self._growth.is_too_much()

    @property
    def _may_begin_anew(self) -> bool:
        """Whether it may restart: a key in the environment is read once, and would be lost."""
        return self._config.sealing is None

    def _changes_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not (self.folder_events.changed or self._stop.is_set()) and time.monotonic() < until:
            self.folder_events.wait(until - time.monotonic())
        return self.folder_events.changed

    def follow(self) -> None:
        self.folder_events.published_changed = False
        self.folder_events.follow(self.builder.folders)

    def _wait_for_change(self) -> None:
        """Return after a burst of events and `debounce_ms` of silence, or when the next scan is
        due.

        Changes are built before the silence is over, so that only publishing remains.
        """
        if self.builder.is_waiting():
            self._wait_for_more()
            return
        if not self._has_changed_files():
            return
        following = self.folder_events
        debounce_s = self._config.server.debounce_ms / 1000
        first = time.monotonic()
        prepared, prepared_for = 0, 0.0
        while not self._stop.is_set():
            following.wait(0.0)
            now, last = time.monotonic(), following.changed_at
            if now - last >= debounce_s or now - first >= BURST_MAX * debounce_s:
                break
            left_s = debounce_s - (now - last)
            if prepared < PREPARED_MAX and last != prepared_for:
                left_s -= (1 - PREPARED_SHARE) * debounce_s
                if left_s <= 0:
                    with self._timed_work():
                        built = self.builder.prepare()
                    if self.builder.is_waiting():
                        self._wait_for_more()
                        return
                    prepared += 1
                    prepared_for = 0.0 if built is not None and built.backlog else last
                    continue
            self._stop.wait(min(left_s, 0.1) or 0.001)
        following.changed = False

    def _wait_for_more(self) -> None:
        """Return when a scan of all files is worth it: enough of them have changed since the last
        one, the run is at a point without waiting changes, or the time is over.
        """
        following = self.folder_events
        following.change_count = 0.0
        enough, until = max(1.0, self.builder.file_count * WORTH_SHARE), time.monotonic() + WORTH_S
        while following.change_count < enough and time.monotonic() < until and not following.has_marks:
            if following.indexer_reported or not following.by_events:
                following.indexer_reported = False
                if not self.builder.is_patient():
                    break
            if self._stop.wait(GATHER_S):
                break
            following.wait(0.0)
        following.changed = following.has_marks = False

    def _has_changed_files(self) -> bool:
        """Whether chunk files have changed; False if a scan is due, or another event needs one."""
        following = self.folder_events
        until = time.monotonic() + self._look_s()
        while not following.changed:
            left_s = until - time.monotonic()
            if left_s <= 0 or self._stop.is_set() or self.is_to_be_looked_at():
                return False
            following.wait(left_s)
        return True

    def _look_s(self) -> float:
        """Return the seconds until the next scan by the clock: longer for more files, but only when
        idle, and only if the system reports all changes.
        """
        if self.builder.is_busy():
            return BLIND_LOOK_S
        look_s = self.folder_events.look_s
        if self.published_at or not self.folder_events.by_events:
            return look_s
        return paced(look_s, self._round_s, LOOK_SHARE, LOOK_MAX_S)

    def is_to_be_looked_at(self) -> bool:
        """Whether to scan: after damage, the indexer's advance, or another process's writing."""
        following = self.folder_events
        if following.has_marks:
            following.has_marks = False
            return True
        if following.indexer_reported:
            following.indexer_reported = False
            if self.builder.is_behind():
                return True
        if following.published_changed:  # mostly by this process
            self.follow()
            return self.builder.was_changed()
        return False


def make(config: Config) -> Any:
    """Return the publisher, or for an index in a store the worker that mirrors it here."""
    return config.store.mirror(config) if config.store else WatcherWorker(config)
