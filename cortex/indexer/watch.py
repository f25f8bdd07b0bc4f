"""The indexer's watch mode: it follows a source tree, updates its chunk files, and reports its
state in run/indexer.json.

Events are hints, the sweep of mtime and size is the truth: it runs at any doubt and by the clock. A
path is added to `dirty` before it is read, with the sequence that will contain it, and stays there
until that sequence is served: so an answer can list the saved files that it does not know yet.
"""

import contextlib
import functools
import gc
import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from cortex.embedders import open_embedder
from cortex.generation.current import read_current
from cortex.generation.manifest import Manifest
from cortex.indexer.folder_watch import Changes, watch_folders
from cortex.indexer.run import Indexer
from cortex.indexer.scan import IGNORE_FILES, Candidate, Scanner
from cortex.indexer.store.graph_shards import FACTS
from cortex.indexer.store.writer import claiming_files, writer_lock
from cortex.settings.config import Config
from cortex.settings.folders.home import NAMED, open_home, open_runtime
from cortex.system import files
from cortex.system.errors import ANEW, EXIT_OK, CortexError, NotFound, Occupied
from cortex.system.folders.mounts import FOREIGN, file_system
from cortex.system.process import allocator
from cortex.system.process.re_exec import Growth
from cortex.system.process.timers import paced
from cortex.terms.records import LONG_FILES, IndexerState
from ipc.locks import Lock, hold, namespace

log = logging.getLogger(__name__)

#: seconds between two sweeps when the system refused a watch
POLL_SWEEP_S = 5.0
#: seconds between two checks of the written files without events
BLIND_LOOK_S = 2.0
#: share of a core for sweeps where the system reports all changes: idle use is below two in 1 000
#: of a core; and then the longest seconds between two sweeps
REST_SHARE, SWEEP_MAX_S = 1 / 2000, 1800.0
#: the same for checks of the written files
LOOK_SHARE, LOOK_MAX_S = 1 / 2000, 60.0
#: seconds between two reads of CURRENT while paths wait to be served
SERVED_S = 0.5
#: seconds after which a path is no longer dirty even if its sequence is not served (no watcher
#: runs)
DIRTY_S = 30.0
#: longest delay of reading by a stream of events, in seconds
DEBOUNCE_MAX_S = 1.0
#: seconds between two progress reports of a long run
PROGRESS_S = 0.25
#: paths to check at their first event; more are a branch switch, and wait
ANNOUNCED_MAX = 200
#: most dirty paths
DIRTY_MAX = 5000


@dataclass(frozen=True, slots=True)
class Pace:
    """The intervals of watching."""

    #: seconds between two sweeps; longer where a sweep takes more than its share of that
    sweep_s: float = 30.0
    #: share of the time for sweeps where the system reports nothing (a network folder)
    sweep_share: float = 1 / 20
    #: seconds between two heartbeats in run/indexer.json, and between two checks of the written
    #: files by the clock
    heartbeat_s: float = 10.0
    #: seconds without a change after which memory for the next change is freed
    rest_s: float = 60.0


PACE = Pace()


def watch(config: Config, stop: threading.Event, pace: Pace = PACE, growth: Growth | None = None) -> int:
    """Run until `stop` is set; return the exit code. ANEW means that the process should start
    again, because it has grown too much by `growth` (only for a process that does nothing else).
    Raises Occupied when another indexer follows this project, and the errors of `index` for its
    configuration.
    """
    open_home(config)
    with _hold_place(config):
        follower = _Follower(config, stop, pace, growth)
        try:
            follower.run()
        finally:
            follower.close()
    return EXIT_OK if stop.is_set() else ANEW


def _hold_place(config: Config) -> Lock:
    return hold(
        open_runtime(config) / "indexer-watch.lock",
        lambda holder: Occupied(
            f"Another indexer (process {holder}) follows {config.root}; `cortex down` ends it with its set."
        ),
    )


class _Follower:
    def __init__(
        self, config: Config, stop: threading.Event, pace: Pace, growth: Growth | None = None
    ) -> None:
        self._config, self._stop, self._pace = config, stop, pace
        self._changes = Changes()
        self._folders = watch_folders(config.root, self._changes)
        self._indexer = Indexer(config, open_embedder(config), stop)
        self._manifest: Manifest | None = None
        self._manifest_stat: tuple[int, int, int] | None = None
        self._state_stat: tuple[int, int, int] | None = None
        #: whether the system reports changes to the written files
        self._is_notified = False
        self._is_foreign_root = file_system(config.root) in FOREIGN
        self._state_lock = threading.Lock()
        self._state = IndexerState("looking", 0, 0, 0, time.time(), os.getpid(), namespace=namespace())
        #: the scanner of the last sweep, and the files that git tracked then
        self._scanner: Scanner | None = None
        self._tracked: object = None
        #: whether the last walk had an end: a project that is refused as too large is not indexed
        #: file by file either
        self._has_walked = False
        self._dirty: dict[str, tuple[int, float]] = {}  # path → (sequence, time of writing; 0: not yet)
        self._sweep_at = 0.0
        #: seconds of processor time of the last check of the written files
        self._look_took_s = 0.0
        self._reported_at = 0.0
        #: time of the last change or of the start, because a sweep takes memory, too; 0: that
        #: memory is freed
        self._worked_at = time.monotonic()
        self._growth = growth
        #: whether this process should start again
        self._should_restart = False

    def run(self) -> None:
        threading.Thread(target=self._wake_on_stop, daemon=True).start()
        threading.Thread(target=self._beat, daemon=True).start()
        self._changes.add_all()
        while not (self._stop.is_set() or self._should_restart):
            self._changes.event.wait(self._patience())
            if self._stop.is_set():
                break
            self._changes.clear_touched()
            began_s = time.thread_time()
            if self._is_named_now():
                self._report(state="looking", message="")
                self._changes.add_all()
            elif not self._is_intact() or self._tracks_others():
                self._changes.add_all()
            self._look_took_s = time.thread_time() - began_s
            state = _stat(self._config.indexer_state)
            if state is None or state != self._state_stat:  # it may be removed while its writer checks it
                with contextlib.suppress(OSError):
                    self._write_state()
            self._debounce()
            paths, sweep = self._changes.take()
            if sweep or time.monotonic() >= self._sweep_at or any(_changes_rules(path) for path in paths):
                self._guard(self._sweep)
            elif paths and self._has_walked:
                self._guard(functools.partial(self._update, paths))
            self._forget_served()
            if self._worked_at and time.monotonic() - self._worked_at >= self._pace.rest_s:
                self._release_memory()

    def close(self) -> None:
        self._folders.close()
        if self._should_restart:  # the next process continues the work
            return
        with contextlib.suppress(OSError):
            self._report(state="stopped", message="")

    def _wake_on_stop(self) -> None:
        self._stop.wait()
        self._changes.event.set()

    def _beat(self) -> None:
        """Write heartbeats also while one shard takes long (a model server)."""
        while not self._stop.wait(self._pace.heartbeat_s):
            with contextlib.suppress(OSError):
                self._write_state()

    def _is_intact(self) -> bool:
        """Return whether the written files are unchanged; True before the first sweep."""
        if self._manifest is None:
            return True
        return _stat(self._config.manifest) == self._manifest_stat and self._indexer.is_intact(self._manifest)

    def _tracks_others(self) -> bool:
        """Return whether git tracks other files than before: ignore rules do not hold for them."""
        return self._scanner is not None and self._scanner.tracked_paths() != self._tracked

    def _is_named_now(self) -> bool:
        """Return whether a person has named the project since the last sweep: it may be large."""
        is_limited = self._scanner is not None and self._scanner.is_limited
        return is_limited and (self._config.home / NAMED).exists()

    def _note_work(self) -> None:
        self._worked_at = time.monotonic()
        if self._growth is not None:
            self._growth.work()

    def _release_memory(self) -> None:
        self._worked_at = 0.0
        self._indexer.forget()
        gc.collect()
        allocator.trim()
        # a sealed project's key may have come from the environment, which is cleared after reading
        if self._growth is not None and self._config.sealing is None:
            self._should_restart = self._growth.is_too_much()

    def _patience(self) -> float:
        self._is_notified = self._folders.watch_written(self._written_files())
        look_s = self._pace.heartbeat_s if self._is_notified else min(BLIND_LOOK_S, self._pace.heartbeat_s)
        if self._is_notified and not self._worked_at:
            look_s = paced(look_s, self._look_took_s, LOOK_SHARE, LOOK_MAX_S)
        look_s = SERVED_S if self._dirty else look_s
        return max(0.0, min(look_s, self._sweep_at - time.monotonic()))

    def _written_files(self) -> dict[Path, tuple[str, ...]]:
        """Return the folders that this program writes, and its files there; none for all."""
        config = self._config
        state_files = {
            config.home: (config.manifest.name, NAMED),
            config.run_dir: (config.indexer_state.name,),
        }
        return state_files | {config.chunks_dir: (), config.graph_dir: (), config.graph_dir / FACTS: ()}

    def _debounce(self) -> None:
        """Wait until no event has come for a while: one save of an editor causes several."""
        quiet_s = self._config.indexing.debounce_ms / 1000
        deadline = time.monotonic() + max(DEBOUNCE_MAX_S, quiet_s)
        while self._changes.event.is_set() and not self._stop.is_set() and time.monotonic() < deadline:
            self._changes.event.clear()
            with contextlib.suppress(CortexError, OSError):
                self._announce(self._changes.peek())
            self._changes.event.wait(quiet_s)

    def _announce(self, paths: Collection[str]) -> None:
        """Mark saved files as dirty at the first event of each, before any work."""
        manifest = self._manifest
        if manifest is None or self._state.state == "stopped" or len(paths) > ANNOUNCED_MAX:
            return
        scanner = Scanner(self._config)
        new = [path for path in paths if path not in self._dirty and self._differs(scanner, manifest, path)]
        if new:
            self._mark_dirty(new, manifest)
            self._report()

    def _differs(self, scanner: Scanner, manifest: Manifest, path: str) -> bool:
        """Return whether a file must be read or removed."""
        candidate, entry = _current_candidate(scanner, path), manifest.files.get(path)
        if entry is None or candidate is None:
            return entry is not None or candidate is not None
        return self._indexer.confirm(path, entry, candidate) is None

    def _guard(self, work: Callable[[], None]) -> None:
        """Do `work`; report any error, and let the next sweep try again."""
        try:
            self._check_root()
            work()
        except CortexError as error:
            self._report_failure(str(error))
        except Exception as error:  # one bad file must not end the indexer
            log.exception("indexing failed")
            self._report_failure(f"Indexing failed: {type(error).__name__}: {error}")

    def _check_root(self) -> None:
        """Raise NotFound for a moved or deleted project, which differs from an empty one."""
        if not self._config.root.is_dir():
            raise NotFound(f"The project {self._config.root} was moved or deleted.")

    def _report_failure(self, message: str) -> None:
        self._manifest = None
        self._sweep_at = min(self._sweep_at, time.monotonic() + self._pace.sweep_s)
        self._report(state="idle", message=message)

    def _sweep(self) -> None:
        started, began_s = time.monotonic(), time.thread_time()
        self._sweep_at = started + self._pace.sweep_s  # also when it fails
        self._scanner = Scanner(self._config)
        self._tracked = self._scanner.tracked_paths()
        self._has_walked = False
        scan = self._scanner.walk(self._folders.enter)
        self._has_walked = True
        self._check_root()  # moved meanwhile
        self._folders.follow(scan.folders)
        took, spent_s = time.monotonic() - started, time.thread_time() - began_s
        if self._manifest is None:  # a first run of another process may hold the lock for long
            self._report(files=len(scan.files))
        with self._locked_manifest() as manifest:
            if self._has_foreign_files(manifest):
                return
            changed = self._indexer.differences(manifest, scan.files)
            if self._unmark_dirty(self._dirty.keys() - changed.keys()) and not changed:
                self._report()
            self._mark_dirty(changed if manifest.files else (), manifest)
            if changed or not manifest.files:
                self._report(state="indexing", done=0, total=len(changed), files=len(scan.files), message="")
            self._indexer.run(scan, manifest, changed, on_progress=self._progress)
            self._settle(changed, manifest)
        if changed:
            self._note_work()
        pause = max(self._pace.sweep_s, took / self._pace.sweep_share)
        if self._folders.complete and not self._is_foreign_root:
            pause = paced(pause, spent_s, REST_SHARE, SWEEP_MAX_S)
        if not self._folders.complete:
            pause = POLL_SWEEP_S
        self._sweep_at = time.monotonic() + pause
        if changed or self._state.state != "idle" or self._state.message:
            self._report(state="idle", files=0, message="")  # from here on the manifest has the count

    def _update(self, paths: set[str]) -> None:
        scanner = Scanner(self._config)
        with self._locked_manifest() as manifest:
            if self._has_foreign_files(manifest):
                return
            candidates = {path: _current_candidate(scanner, path) for path in paths}
            changes = self._indexer.changes_among(manifest, candidates)
            if self._unmark_dirty(paths - changes.keys()) and not changes:
                self._report()
            if not changes:
                return
            self._mark_dirty(changes, manifest)
            self._report(state="indexing", done=0, total=len(changes), message="")
            self._indexer.update(manifest, changes, self._progress if len(changes) >= LONG_FILES else None)
            self._settle(changes, manifest)
        self._note_work()
        self._report(state="idle", message="")

    @contextlib.contextmanager
    def _locked_manifest(self) -> Iterator[Manifest]:
        """Hold the lock; yield the manifest on disk, which `cortex index` may have changed."""
        with writer_lock(self._config):
            if self._manifest is None or _stat(self._config.manifest) != self._manifest_stat:
                self._manifest = self._indexer.load()
            yield self._manifest
            self._manifest_stat = _stat(self._config.manifest)

    def _has_foreign_files(self, manifest: Manifest) -> bool:
        """Return whether another program writes chunk files: then this indexer stops."""
        names = claiming_files(self._config, manifest.chunk_files)
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            message = (
                f"{names[0]}{more} was written by another program, and answers come from it. Cortex does not index by "
                "itself here; `cortex index` does it once."
            )
            if message != self._state.message:
                self._report(state="stopped", done=0, total=0, message=message)
        return bool(names)

    def _mark_dirty(self, paths: Collection[str], manifest: Manifest) -> None:
        for path in list(paths)[: DIRTY_MAX - len(self._dirty)]:
            self._dirty[path] = (manifest.sequence + 1, 0.0)

    def _unmark_dirty(self, paths: Iterable[str]) -> bool:
        """Remove those of `paths` that turned out unchanged; return whether there were any."""
        waiting = [path for path in paths if self._dirty.get(path, (0, 1.0))[1] == 0]
        for path in waiting:
            del self._dirty[path]
        return bool(waiting)

    def _settle(self, paths: Collection[str], manifest: Manifest) -> None:
        """Record that paths are written: changed chunk files wait to be served, others are done."""
        now = time.monotonic()
        for path in paths:
            sequence, _ = self._dirty.get(path, (0, 0.0))
            if 0 < sequence <= manifest.sequence:
                self._dirty[path] = (sequence, now)
            else:
                self._dirty.pop(path, None)

    def _forget_served(self) -> None:
        if not self._dirty:
            return
        try:
            served = read_current(self._config.index_dir).sequence
        except (CortexError, OSError, ValueError):
            served = 0
        horizon = time.monotonic() - DIRTY_S
        done = [p for p, (sequence, at) in self._dirty.items() if at and (sequence <= served or at < horizon)]
        for path in done:
            del self._dirty[path]
        if done:
            self._report()

    def _progress(self, done: int, total: int, chunks: int) -> None:  # noqa: ARG002 - as Progress has it
        if done >= total or time.monotonic() - self._reported_at >= PROGRESS_S:
            self._report(state="indexing", done=done, total=total)

    def _report(self, **changes: Any) -> None:
        manifest = self._manifest
        dirty = {path: sequence for path, (sequence, _) in self._dirty.items()}
        sequence = manifest.sequence if manifest else self._state.sequence
        with self._state_lock:
            self._state = replace(self._state, **(changes | {"sequence": sequence, "dirty": dirty}))
        self._write_state()
        self._reported_at = time.monotonic()

    def _write_state(self) -> None:
        with self._state_lock:
            self._state = replace(self._state, heartbeat=time.time())
            files.replace(self._config.indexer_state, msgspec.json.encode(self._state))
            self._state_stat = _stat(self._config.indexer_state)


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns


def _changes_rules(path: str) -> bool:
    return path.rpartition("/")[2] in IGNORE_FILES


def _current_candidate(scanner: Scanner, path: str) -> Candidate | None:
    outcome = scanner.check_path(path)
    return outcome if isinstance(outcome, Candidate) else None
