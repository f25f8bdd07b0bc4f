"""The watcher: sees chunk files change, publishes generations, announces them.

The only writer of an index.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import zmq

from cortex import __version__
from cortex.generation.contract import chunk_folders
from cortex.generation.current import PRUNE_AFTER_S
from cortex.publish.builder import Builder
from cortex.publish.folder_events import BLIND_LOOK_S, LOOK_MAX_S, LOOK_SHARE, FolderEvents
from cortex.settings.config import Config
from cortex.system.errors import CortexError
from cortex.system.re_exec import Growth
from cortex.system.timers import paced
from ipc.events import Announcer
from ipc.messages import Message, Reload, Status
from ipc.service import Identity, serve

if TYPE_CHECKING:
    from cortex.publish.milvus_mirror import MirrorWorker

log = logging.getLogger(__name__)

#: a burst that never pauses is published after this many debounce times
BURST_MAX = 4
#: share of the quiet time after which what has changed is built already, to be published at its
#: end; how often at most in one burst, whose later events then wait for its end
PREPARED_SHARE, PREPARED_MAX = 0.1, 3
#: while what has changed waits for more of a long run: the share of the files that a look goes over
#: of which events tell before the next look, and the seconds after which it is taken anyway. So all
#: looks of a run together go over each file so many times, and not once for each burst of events
WORTH_SHARE, WORTH_S = 1 / 32, 3.0
#: seconds in which events are left to come together meanwhile
GATHER_S = 0.1
#: seconds after a publish in which readers take it up before upkeep begins, and how often in a row
#: upkeep waits longer when changes come meanwhile
REST_S, RESTS_MAX = 0.1, 8
#: seconds without a new generation after which the memory that only building needs is given back,
#: and after which all that is served no more is removed: what was written last is old enough then
QUIET_S, SETTLED_S = 9.0, PRUNE_AFTER_S + 5.0
#: seconds until a failed publish is tried again, doubled each time up to the second number
RETRY_S, RETRY_MAX_S = 1.0, 30.0
#: seconds of one piece of work after which the log and the status say so: a small publish takes
#: tenths, a first one of many files or a merge some seconds
SLOW_S = 20.0
#: seconds after which this process ends, and the supervisor starts another: the longest piece of
#: work, the text of a million chunks indexed again, takes minutes
HUNG_S = 1800.0
#: the descriptor of the log, which is what a worker says on standard error
_LOG = 2


class WatcherWorker:
    """Publishes in a thread of its own; the serving thread answers GetStatus meanwhile."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._identity = Identity("watcher", __version__, config.hash())
        self._builder = Builder(config)
        self._following = FolderEvents(config)
        self._stop = threading.Event()
        self._fault = ""
        #: when a generation was published last (monotonic), or this began: who ended may have
        #: left what nobody is served; 0: nothing is to be given back since
        self._published_at = time.monotonic()
        #: whether memory has been given back since
        self._has_released = False
        self._growth = Growth()
        #: whether so much memory cannot be given back that this process begins anew
        self._should_restart = False
        #: seconds of processor time that the last round took: at rest, a look at what is there
        self._round_s = 0.0
        #: when the piece of work that is under way began (monotonic); 0: none is
        self._began_at = 0.0
        #: whether something is published that is not sealed yet, and why it could not be
        self._unsealed, self._seal_fault = False, ""
        #: how often in a row upkeep was left for later
        self._rests = 0
        self._thread = threading.Thread(target=self._work, name="publish")
        self.handlers: dict[type, Callable[[Any], Message]] = {}

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the publish that is under way."""
        self._stop.set()
        self._following.stop()
        self._thread.join()
        self._following.close()
        self._builder.close()

    def reload(self) -> bool:
        return False

    def is_over(self) -> bool:
        return self._should_restart

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
            "watching": "events" if self._following.by_events else "polling",
            "warnings": list(self._builder.warnings),
            "foreign_files": self._foreign_files(),
            "fault": self._fault or self._seal_fault or self._slowness(),
        }
        return self._identity.status(generation.number, info)

    def _slowness(self) -> str:
        """What is to be said of the piece of work that is under way; "" for nothing."""
        began_at = self._began_at
        took_s = time.monotonic() - began_at if began_at else 0.0
        if took_s < SLOW_S:
            return ""
        return f"Publishing has gone on for {took_s:.0f} s; watcher.log says where it is, the old generation is served."

    @contextlib.contextmanager
    def _timed_work(self) -> Iterator[None]:
        """For a piece of work: the log says where it is when it takes long, and it has an end."""
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
        """What others wrote, also of files that this process had no reason to read."""
        prefixes = tuple(folder.prefix for folder in chunk_folders(self._config) if folder.others)
        served = (name for name in self._builder.current.files if name.startswith(prefixes))
        read = (name for name, maker in self._builder.generators.items() if maker != "cortex")
        return sorted({*served, *read})

    def _work(self) -> None:
        context: zmq.Context[Any] = zmq.Context()
        announcer = Announcer(context, self._config.runtime_dir)
        retry_s = RETRY_S
        try:
            while not self._stop.is_set():
                began_s = time.thread_time()
                try:
                    self._follow()  # first: while changes follow each other, publishing goes on and on
                    self._publish_all(announcer)
                    self._seal()
                    self._fault, retry_s = "", RETRY_S
                    self._release_memory(time.monotonic())
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

    def _publish_all(self, announcer: Announcer) -> None:
        """Refresh until nothing is left, or changes come; each new generation is announced at
        once.
        """
        while not self._stop.is_set():
            number = self._builder.current.number
            started = time.monotonic()
            with self._timed_work():
                generation = self._builder.refresh()
            if generation is None:
                return
            self._published_at, self._has_released = time.monotonic(), False
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
                self._builder.tidy()
                self._seal()
            if not generation.backlog and self._rests < RESTS_MAX and self._changes_within(REST_S):
                self._rests += 1
                return
            self._rests = 0

    def _seal(self) -> None:
        """Seal what was published; when that fails, it is tried again at each look."""
        if self._config.sealing is None or not self._unsealed:
            return
        from cortex.sealing.plain_folder import reseal

        try:
            reseal(self._config.sealing.base)
        except (OSError, ValueError, CortexError) as error:
            self._seal_fault = (
                f"The generation that is served is not sealed yet ({error}): without a set it is made anew; mend "
                "that, it is tried again."
            )
            log.warning("%s", self._seal_fault)
        else:
            self._unsealed, self._seal_fault = False, ""

    def _release_memory(self, now: float) -> None:
        """Give memory back once nothing has been published for a while, also while the indexer
        resolves or an index is built: then most is needed elsewhere. And space after that. What
        cannot be given back otherwise is by beginning anew.
        """
        if not self._published_at:
            return
        quiet_s = now - self._published_at
        if quiet_s >= QUIET_S and not self._has_released:
            self._has_released = True
            with self._timed_work():
                self._builder.release()
            self._should_restart = (
                self._may_begin_anew and not self._builder.has_begun() and self._growth.is_large()
            )
        if quiet_s >= SETTLED_S and not self._builder.is_busy():
            self._published_at = 0.0
            with self._timed_work():
                self._builder.release(settled=True)
            self._should_restart = self._may_begin_anew and self._growth.is_too_much()

    @property
    def _may_begin_anew(self) -> bool:
        """The key of a sealed project may have been taken from the environment: once."""
        return self._config.sealing is None

    def _changes_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not (self._following.changed or self._stop.is_set()) and time.monotonic() < until:
            self._following.wait(until - time.monotonic())
        return self._following.changed

    def _follow(self) -> None:
        self._following.published_changed = False
        self._following.follow(self._builder.folders)

    def _wait_for_change(self) -> None:
        """Return after a burst of events and `debounce_ms` of quiet, or when the clock says so.

        What has changed is built before the quiet time is over: then there is only to publish it.
        """
        if self._builder.is_waiting():
            self._wait_for_more()
            return
        if not self._has_changed_files():
            return
        following = self._following
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
                        built = self._builder.prepare()
                    if self._builder.is_waiting():
                        self._wait_for_more()
                        return
                    prepared += 1
                    prepared_for = 0.0 if built is not None and built.backlog else last
                    continue
            self._stop.wait(min(left_s, 0.1) or 0.001)
        following.changed = False

    def _wait_for_more(self) -> None:
        """Return when a look at all files is worth it: enough of them have changed since the last
        one, the run has come to where nothing waits, or the clock says so.
        """
        following = self._following
        following.change_count = 0.0
        enough, until = max(1.0, self._builder.file_count * WORTH_SHARE), time.monotonic() + WORTH_S
        while following.change_count < enough and time.monotonic() < until and not following.has_marks:
            if following.indexer_reported or not following.by_events:
                following.indexer_reported = False
                if not self._builder.is_patient():
                    break
            if self._stop.wait(GATHER_S):
                break
            following.wait(0.0)
        following.changed = following.has_marks = False

    def _has_changed_files(self) -> bool:
        """Whether chunk files have changed; False when the clock says to look, or when something
        else has happened that is to be looked at.
        """
        following = self._following
        until = time.monotonic() + self._look_s()
        while not following.changed:
            left_s = until - time.monotonic()
            if left_s <= 0 or self._stop.is_set() or self._is_to_be_looked_at():
                return False
            following.wait(left_s)
        return True

    def _look_s(self) -> float:
        """Seconds until the next look by the clock: longer, the larger what is looked at, but only
        at rest, and where the system tells of all that happens.
        """
        if self._builder.is_busy():
            return BLIND_LOOK_S
        look_s = self._following.look_s
        if self._published_at or not self._following.by_events:
            return look_s
        return paced(look_s, self._round_s, LOOK_SHARE, LOOK_MAX_S)

    def _is_to_be_looked_at(self) -> bool:
        """Whether a reader calls something damaged, the indexer has come further, or what is
        published was touched by somebody else.
        """
        following = self._following
        if following.has_marks:
            following.has_marks = False
            return True
        if following.indexer_reported:
            following.indexer_reported = False
            if self._builder.is_behind():
                return True
        if following.published_changed:  # by this process, mostly
            self._follow()
            return self._builder.was_changed()
        return False


def make(config: Config) -> WatcherWorker | MirrorWorker:
    """Who publishes, or who brings here what is published to Milvus."""
    if not config.remote:
        return WatcherWorker(config)
    from cortex.publish.milvus_mirror import MirrorWorker

    return MirrorWorker(config)


def run(config: Config, *, replica: int = 0, bind: str = "") -> int:
    worker = make(config)
    worker.start()
    try:
        return serve("watcher", worker, config.runtime_dir, replica=replica, bind=bind)
    finally:
        worker.stop()
