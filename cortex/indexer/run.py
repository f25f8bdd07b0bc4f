"""One run of the indexer: compare the tree with the manifest, build the changed shards, put them in
place.
"""

import contextlib
import datetime as dt
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from cortex.embedders import Embedder, copies_max, open_embedder
from cortex.generation.contract import chunk_ending
from cortex.generation.manifest import Entry, Manifest, is_unchanged, stamp
from cortex.indexer.inline_builds import mark_building, may_build_inline, remove_note
from cortex.indexer.pool import Pool, count_children, count_run_children
from cortex.indexer.priority import group_by_priority
from cortex.indexer.scan import Candidate, Scan, Scanner
from cortex.indexer.store import manifest as manifests
from cortex.indexer.store.embeddings import cache_folder
from cortex.indexer.store.graph_shards import FreshFacts
from cortex.indexer.store.graph_store import GraphStore
from cortex.indexer.store.graph_tasks import GraphTask
from cortex.indexer.store.limits import LIMITS, Limits
from cortex.indexer.store.shards import (
    Built,
    Settings,
    Task,
    build,
    read_source,
    shard_count,
    shard_of,
)
from cortex.indexer.store.writer import Writer, writer_lock
from cortex.indexer.syntax.repair import REPAIRED
from cortex.indexer.syntax.source import BINARY, digest
from cortex.settings.config import Config
from cortex.settings.encodings import ENCODING_FILES
from cortex.settings.folders.home import open_home
from cortex.system.errors import Misconfigured
from cortex.system.process import allocator
from cortex.terms.languages import language_of
from cortex.terms.records import Skipped
from cortex.terms.selection.ignores import NO_GLOB

log = logging.getLogger(__name__)

#: remarks without a reason, of versions that read fewer encodings and repaired no syntax
OLD_ENCODING, OLD_ERRORS = "not UTF-8: read as Latin-1", "syntax errors"

#: called with (files done, files to do, chunks so far)
Progress = Callable[[int, int, int], None]


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run. `files` are in the chunk files now, with `chunks` in all: this run read
    `indexed` of them, the others are `unchanged`. `empty` files hold no text, `skipped` were left
    out, `unread` of those before they were read; together they are all files of the project.
    `bytes` of source were read; `sequence` is the last one in chunk files. `remarks` are
    peculiarities of indexed files.
    """

    files: int
    indexed: int
    unchanged: int
    removed: int
    chunks: int
    empty: int
    skipped: tuple[Skipped, ...]
    unread: int
    remarks: tuple[Skipped, ...]
    seconds: float
    bytes: int
    sequence: int


@dataclass(slots=True)
class Plan:
    """The work of a run: no tasks when nothing changed. `moves`: all files change shards."""

    shards: int
    moves: bool
    sequence: int
    tasks: dict[int, Task] = field(default_factory=dict)
    gone: dict[int, list[str]] = field(default_factory=dict)
    indexed: int = 0
    removed: int = 0
    bytes: int = 0
    #: groups of files in reading order; none: all at once
    groups: list[set[str]] = field(default_factory=list)

    def steps(self, entries: Mapping[str, Entry]) -> Iterator[list[Task]]:
        """Yield the tasks, one group of files after another. `entries`: the files placed so far,
        which each later step takes over from their shards.
        """
        if not self.groups:
            yield list(self.tasks.values())
        for group in self.groups:
            step = []
            for task in self.tasks.values():
                fresh = {path: stat for path, stat in task.fresh.items() if path in group}
                placed_entries = {path: entries[path] for path in task.fresh if path in entries}
                if fresh:
                    step.append(msgspec.structs.replace(task, fresh=fresh, kept=placed_entries))
            yield step


def index(
    config: Config, *, force: bool = False, on_progress: Progress | None = None, limits: Limits = LIMITS
) -> Report:
    """Bring the chunk files up to date with the source tree. `force` reads and embeds every file
    again.

    Raises Misconfigured (read-only project, another program's chunk files under the same names, too
    many files, wrong dimensions) or Unavailable (embedding server, another run that does not end).
    """
    open_home(config)
    indexer = Indexer(config, open_embedder(config), limits=limits)
    with writer_lock(config):
        return indexer.run(force=force, on_progress=on_progress)


class Indexer:
    """Runs over one project. The caller holds the writer lock during `run` and `update`."""

    def __init__(
        self, config: Config, embedder: Embedder, stop: threading.Event | None = None, limits: Limits = LIMITS
    ) -> None:
        self.config, self.embedder = config, embedder
        self.settings = Settings(
            str(config.root),
            str(config.chunks_dir),
            config.indexing.chunk_tokens,
            config.indexing.max_file_kb * 1024,
            _embeddings(config),
            chunk_ending(config),
        )
        self._stop = stop or threading.Event()
        self._limits = limits
        #: the processes of the current run, from their first use to its end
        self._pool: Pool | None = None
        self._graph = self._open_graph()

    def run(
        self,
        scan: Scan | None = None,
        manifest: Manifest | None = None,
        changes: dict[str, Candidate | None] | None = None,
        *,
        force: bool = False,
        on_progress: Progress | None = None,
    ) -> Report:
        """Do a complete run: walk the tree, find the `differences` unless passed, index."""
        started = time.monotonic()
        scan = scan or Scanner(self.config).walk()
        manifest = manifest or self.load()
        changes = self.differences(manifest, scan.files) if changes is None else changes
        fresh, gone = scan.files if force else _present(changes), _absent(changes)
        plan = self._run(manifest, fresh, gone, force=force, on_progress=on_progress)
        self._record_left_out(manifest, scan.skipped)
        left_out = [Skipped(path, entry.skipped) for path, entry in manifest.files.items() if entry.skipped]
        files = sum(_has_chunks(manifest, path) for path in manifest.files)
        indexed = sum(_has_chunks(manifest, path) for task in plan.tasks.values() for path in task.fresh)
        return Report(
            files=files,
            indexed=indexed,
            unchanged=files - indexed,
            removed=plan.removed,
            chunks=sum(entry.chunks for entry in manifest.files.values()),
            empty=len(manifest.files) - files - len(left_out),
            skipped=tuple(sorted([*scan.skipped, *left_out], key=lambda skipped: skipped.path)),
            unread=len(scan.skipped),
            remarks=tuple(
                Skipped(path, remark) for path, entry in manifest.files.items() for remark in entry.remarks
            ),
            seconds=time.monotonic() - started,
            bytes=plan.bytes,
            sequence=manifest.sequence,
        )

    def _record_left_out(self, manifest: Manifest, skipped: list[Skipped]) -> None:
        """Save the counts of files that the walk left out, for `cortex status`."""
        counts = dict(sorted(Counter(skip.reason.partition(":")[0] for skip in skipped).items()))
        if counts != manifest.left_out:
            for reason in counts.keys() - manifest.left_out.keys():
                if reason.startswith(NO_GLOB):
                    log.warning("left out: %s", reason)
            manifest.left_out = counts
            with contextlib.suppress(OSError):  # an unwritable folder was reported before
                manifests.save(self.config.manifest, manifest)

    def load(self) -> Manifest:
        """Return the manifest, without files when its recipe is another."""
        manifest = manifests.load(self.config.manifest)
        wanted = manifests.recipe(self.config, self.embedder.identity)
        if manifest.recipe != wanted:
            manifest = Manifest(recipe=wanted, sequence=manifest.sequence)
        for path in [path for path, entry in manifest.files.items() if _is_outdated(path, entry)]:
            del manifest.files[path]
        manifest.model, manifest.dimensions = self.embedder.identity, self.embedder.dimensions
        return manifest

    def update(
        self, manifest: Manifest, changes: dict[str, Candidate | None], on_progress: Progress | None = None
    ) -> Plan:
        """Run for these `changes_among` some files only. Updates `manifest`."""
        return self._run(manifest, _present(changes), _absent(changes), force=False, on_progress=on_progress)

    def differences(self, manifest: Manifest, files: Mapping[str, Candidate]) -> dict[str, Candidate | None]:
        """As `changes_among`, for all files of a walk: the others were removed."""
        changes = self.changes_among(manifest, files)
        return changes | dict.fromkeys(path for path in manifest.files if path not in files)

    def changes_among(
        self, manifest: Manifest, files: Mapping[str, Candidate | None]
    ) -> dict[str, Candidate | None]:
        """Return those of `files` that are new, changed or removed (None).

        A file whose stat leaves it open is hashed. If its content is the same, `manifest` gets its
        new stat, and is saved unless the changes will be written to it anyway.
        """
        changes: dict[str, Candidate | None] = {}
        confirmed: dict[str, Entry] = {}
        for path, candidate in files.items():
            entry = manifest.files.get(path)
            if entry is None or candidate is None:
                if entry is not None or candidate is not None:
                    changes[path] = candidate
            elif (entry.stat != candidate or entry.racy_ns) and not self._stop.is_set():
                confirmed_entry = self.confirm(path, entry, candidate)
                if confirmed_entry is None:
                    changes[path] = candidate
                elif confirmed_entry != entry:
                    confirmed[path] = confirmed_entry
        manifest.files.update(confirmed)
        if confirmed and not changes:
            with contextlib.suppress(OSError):  # an unwritable folder was reported before
                manifests.save(self.config.manifest, manifest)
        return changes

    def confirm(self, path: str, entry: Entry, candidate: Candidate) -> Entry | None:
        """Return the entry of a file, with its present stat if that had to be confirmed by its
        content; None if the file was changed.
        """
        is_settled = not (entry.racy_ns and entry.sha256)
        by_stat = is_unchanged(entry, candidate)
        if by_stat and is_settled:
            return entry
        if by_stat is False or not entry.sha256:
            return None
        read_ns = time.time_ns()
        raw = read_source(path, self.settings)
        is_same = isinstance(raw, bytes) and digest(raw) == entry.sha256
        return stamp(entry, candidate, read_ns) if is_same else None

    def _run(
        self,
        manifest: Manifest,
        fresh: dict[str, Candidate],
        gone: Sequence[str],
        *,
        force: bool,
        on_progress: Progress | None,
    ) -> Plan:
        writer = Writer(self.config, manifest)
        first = not manifest.files and not manifest.chunk_files
        if first:
            manifest.sequence = writer.last_sequence()
            manifest.shards = shard_count(len(fresh), self._limits.shard_files)
        shard_files = self._limits.shard_files
        otherwise = _read_otherwise(manifest, fresh, gone)
        plan = make_plan(
            manifest, otherwise | fresh, gone, shard_files, stale=writer.stale(), force=force, anew=otherwise
        )
        if first and len(fresh) >= 2 * self._limits.first_files:
            plan.groups = group_by_priority(self.config.root, fresh, self._limits.first_files)
        if not plan.tasks and not first:
            self._write_graph(manifest, FreshFacts(self.config.graph_dir))
            return plan
        writer.open()
        for task in plan.tasks.values():
            writer.refuse_foreign(task.names(self.settings.ending))
        self._carry_out(plan, writer, on_progress)
        return plan

    def _carry_out(self, plan: Plan, writer: Writer, on_progress: Progress | None) -> None:
        """Build and place; where every file moves all is built first, from the old shards."""
        facts = FreshFacts(self.config.graph_dir)
        done = 0
        chunks: dict[int, int] = {}  # shard → count of its chunks

        def report(built: Built, read: int) -> None:
            nonlocal done
            facts.add(built.facts)
            done += read
            chunks[built.number] = built.chunks
            if on_progress is not None:
                on_progress(done, plan.indexed, sum(chunks.values()))

        try:
            for tasks in plan.steps(writer.manifest.files):
                stopped = done and self._stop.is_set()
                if stopped or not self._take_step(plan, tasks, writer, report):
                    return
            writer.drop_others(plan.shards)
            self._write_graph(writer.manifest, facts)
        finally:
            self._close_pool()

    def _take_step(
        self, plan: Plan, tasks: Sequence[Task], writer: Writer, report: Callable[[Built, int], None]
    ) -> bool:
        """Build and place `tasks`; return whether all of them were built."""
        ready: list[Built] = []
        limits = self._limits
        flush_at = time.monotonic() + limits.flush_s
        reads = {task.number: len(task.fresh) for task in tasks}
        finished = 0
        for built in self._build(plan, tasks):
            ready.append(built)
            finished += 1
            report(built, reads[built.number])
            if not plan.moves and (now := time.monotonic()) >= flush_at:
                writer.place(ready, plan.gone, plan.sequence)
                ready.clear()
                took = time.monotonic() - now
                flush_at = time.monotonic() + max(limits.flush_s, took / limits.flush_share)
        if finished < len(tasks) and plan.moves:
            return False  # stopped: the old layout stays
        writer.manifest.shards = plan.shards
        writer.place(ready, plan.gone, plan.sequence)
        return finished == len(tasks)

    def _write_graph(self, manifest: Manifest, facts: FreshFacts) -> None:
        if self._pool is not None:
            self._pool.end_children()
        try:
            with allocator.no_collector():
                self._graph.update(manifest.files, facts.take())
        except OSError as error:
            raise Misconfigured(
                f"Cannot write {error.filename or self.config.graph_dir}: {error.strerror}."
            ) from error
        except Exception:  # the chunks are in place; a fault of the graph must not undo that
            log.exception("cannot update the graph files; the next run builds them again")
            self._graph = self._open_graph()

    def _open_graph(self) -> GraphStore:
        return GraphStore(
            self.config, self._resolve if count_children(2, self._limits) else None, self._limits
        )

    def _resolve(self, rounds: Sequence[Sequence[GraphTask]]) -> int:
        pool = self._open_pool(max(1, *(count_children(len(tasks), self._limits) for tasks in rounds)))
        try:
            return pool.resolve(rounds)
        finally:
            self._close_pool()

    def _open_pool(self, count: int) -> Pool:
        """Return the run's pool, with at least `count` children."""
        if self._pool is None or self._pool.count < count:
            self._close_pool()
            self._pool = Pool(self.settings, self.config, count)
        return self._pool

    def _close_pool(self) -> None:
        if self._pool is not None:
            self._pool.close()
        self._pool = None

    def is_intact(self, manifest: Manifest) -> bool:
        """Return whether the chunk files and graph files are as they were written."""
        return not Writer(self.config, manifest).stale() and self._graph.is_intact()

    def forget(self) -> None:
        """Free the memory that only the next change needs."""
        self._graph.forget()

    def _build(self, plan: Plan, tasks: Sequence[Task]) -> Iterator[Built]:
        """Yield the results as they come; fewer than there are tasks when the run was stopped."""
        count = count_run_children(tasks, plan.indexed, plan.bytes, self._limits)
        count = min(count, copies_max(self.config) or count)
        run_dir = self.config.run_dir
        try:
            if count == 0 and may_build_inline(run_dir, tasks):
                with mark_building(run_dir) as reading:
                    results = (build(task, self.settings, self.embedder, reading) for task in tasks)
                    yield from self._until_stopped(results)
                return
            yield from self._until_stopped(self._open_pool(max(1, count)).run(tasks))
            remove_note(run_dir)
        except OSError as error:
            raise Misconfigured(
                f"Cannot write {error.filename or self.config.chunks_dir}: {error.strerror}."
            ) from error

    def _until_stopped(self, results: Iterable[Built]) -> Iterator[Built]:
        for built in results:
            yield built
            if self._stop.is_set():
                return


def _present(changes: Mapping[str, Candidate | None]) -> dict[str, Candidate]:
    return {path: candidate for path, candidate in changes.items() if candidate is not None}


def _absent(changes: Mapping[str, Candidate | None]) -> list[str]:
    return [path for path, candidate in changes.items() if candidate is None]


def _is_outdated(path: str, entry: Entry) -> bool:
    """Return whether a version of Cortex that read fewer encodings, or repaired no syntax, has read
    the file: its remark then has no reason.
    """
    if not entry.remarks:
        return False
    return OLD_ENCODING in entry.remarks or (
        OLD_ERRORS in entry.remarks and language_of(path).name in REPAIRED
    )


def _read_otherwise(
    manifest: Manifest, fresh: Collection[str], gone: Collection[str]
) -> dict[str, Candidate]:
    """Return unchanged files that are not UTF-8, after a change of a file that names encodings."""
    if not any(path.rpartition("/")[2] in ENCODING_FILES for path in (*fresh, *gone)):
        return {}
    changed = {*fresh, *gone}
    return {
        path: Candidate(*entry.stat)
        for path, entry in manifest.files.items()
        if (entry.encoding or entry.skipped == BINARY) and path not in changed
    }


def _has_chunks(manifest: Manifest, path: str) -> bool:
    entry = manifest.files.get(path)
    return entry is not None and bool(entry.chunks)


def make_plan(
    manifest: Manifest,
    fresh: dict[str, Candidate],
    gone: Collection[str],
    shard_files: int,
    *,
    stale: set[int],
    force: bool,
    anew: Collection[str] = (),
) -> Plan:
    """Return the work after which the chunk files hold the manifest's files with `fresh` and
    without `gone`. `stale` shards have chunk files that are not as they were written: their files
    are read again. `force`: ignore the entries of `fresh`; `anew`: of these files.
    """
    entries, old_shards = manifest.files, manifest.shards
    total = len(entries) - len(gone) + sum(path not in entries for path in fresh)
    shards = shard_count(total, shard_files)
    plan = Plan(shards=shards, moves=shards != old_shards, sequence=manifest.sequence + 1)
    lost = {path for path in entries if shard_of(path, old_shards) in stale} if stale else set()
    fresh = {path: Candidate(*entries[path].stat) for path in lost.difference(gone)} | fresh
    plan.indexed, plan.removed = len(fresh), len(gone)
    plan.bytes = sum(candidate.size for candidate in fresh.values())
    for path in gone:
        plan.gone.setdefault(shard_of(path, shards), []).append(path)
    touched = {shard_of(path, shards) for path in fresh} | plan.gone.keys() | stale
    if plan.moves or force:
        touched = set(range(shards))
    now = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    plan.tasks = {
        number: Task(number, shards, old_shards, plan.sequence, now, {}, {}, {}, anew=force)
        for number in sorted(touched)
    }
    leaving = set(gone)
    for path, entry in entries.items():
        task = plan.tasks.get(shard_of(path, shards))
        if task is not None and path not in fresh and path not in leaving:
            task.kept[path] = entry
    for path, candidate in fresh.items():
        task = plan.tasks[shard_of(path, shards)]
        task.fresh[path] = candidate
        if path in entries and path not in lost and path not in anew and not force:
            task.known[path] = entries[path]
    return plan


def _embeddings(config: Config) -> str:
    """Return the folder of the embedding cache, "" for none. Vectors in a project's folder may have
    come with a clone: other projects must not use them. A sealed project's cache is in memory.
    """
    if not config.chunks_dir.is_relative_to(config.home):
        return ""
    return os.fspath(config.home / "embeddings") if config.sealing else cache_folder()
