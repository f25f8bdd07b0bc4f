"""The builder: from chunk files to a published generation, by diff, segments, engines, CURRENT.
Only the watcher uses it.

One change costs work in proportion to its size: a new segment with the new rows, the list of
deleted keys, and the engines' files for them. Small segments are merged now and then. A crash at
any point leaves the old generation current, and the next start removes unfinished files.
"""

import contextlib
import dataclasses
import gc
import logging
import re
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType

from cortex.engines import makers, open_engine
from cortex.engines.protocol import Change, Engine
from cortex.generation import current as generations
from cortex.generation.contract import chunk_folders, graph_folders
from cortex.generation.current import EMPTY, FileRef, Generation, SegmentRef, number_file
from cortex.generation.damage import is_damage
from cortex.generation.formats import prune_others
from cortex.generation.read import Published, Rows, open_rows
from cortex.generation.references import References
from cortex.generation.write import Row, write_rows
from cortex.publish.chunk_files import ChunkManager, Reading
from cortex.publish.graph_files import GraphFiles
from cortex.publish.indexer_progress import completed, read_state
from cortex.publish.integrity import IntegrityMonitor, rows_of, without_damaged
from cortex.publish.merging import Limits, deleted_keys, is_crowded, merge, write_deleted
from cortex.publish.others_text import OthersText
from cortex.publish.source_files import SourceReader, sources_of
from cortex.publish.vectors import VectorMaker
from cortex.publish.writer_lock import take_lock
from cortex.settings.config import Config
from cortex.system import files
from cortex.system.errors import CortexError, Damaged, NotFound
from cortex.system.process import allocator
from cortex.terms.records import IndexerState

log = logging.getLogger(__name__)

#: files in `segments/` that carry the number of the generation that wrote them
_NUMBERED = re.compile(r"(?:rows|deleted|references|number)-([0-9]+)(?:\.seg)?")


class Builder:
    """The only writer of an index. Used by one thread; `close` when done."""

    def __init__(
        self,
        config: Config,
        *,
        engines: Mapping[str, Engine] | None = None,
        limits: Limits | None = None,
        lean: bool = False,
    ) -> None:
        """Take the writer's lock and load the published generation. `engines` replace the local
        ones. `lean`: segments hold no texts and vectors, because an engine stores them.

        Raises Occupied when another writer has the lock, Misconfigured when the index folder cannot
        be written.
        """
        self._config = config
        self._dir = config.index_dir
        self._limits, self._lean = limits or Limits(), lean
        self._lock = take_lock(config)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="rows")
        self._engines = engines or {
            name: open_engine(maker, config) for name, maker in makers(config).items()
        }
        self._manager = self._new_manager()
        self._graph = self._new_graph()
        self._references = References(self._segments)
        self._vectors = VectorMaker(config)
        self._sources = SourceReader(self._segments)
        self._previous = EMPTY
        #: the published generation
        self.current = EMPTY
        #: the base of the next generation: `current`, or a later one from `prepare`
        self._built = EMPTY
        self._integrity = IntegrityMonitor(self._dir, config.run_dir, self._engines)
        #: whether `current`, the engines and the chunk manager match the published generation
        self._taken_up = False
        #: whether a repair is not yet in any published generation
        self._mended = False
        #: whether `tidy` has still to run for `current`
        self._untidy = False
        try:
            self._start()
            prune_others(self._dir)
            for folder in (self._dir, config.graph_dir, config.graph_dir / ".facts"):
                files.sweep(folder)
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        try:
            self._load_published()
        except OSError as error:  # no descriptor, no space: `refresh` tries again
            log.warning("the published index is not loaded yet, to be tried again: %s", error)

    def _new_manager(self) -> ChunkManager:
        config = self._config
        return ChunkManager(
            chunk_folders(config),
            config.embedding.dimensions,
            timeless=self._lean,
            others_text=OthersText(config.root, compares=not config.store),
        )

    def _new_graph(self) -> GraphFiles:
        return GraphFiles(graph_folders(self._config), self._segments)

    @property
    def _segments(self) -> Path:
        return self._dir / "segments"

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self._manager.warnings(), *self._graph.warnings())

    @property
    def folders(self) -> frozenset[Path]:
        """The folders with files of the published generation."""
        return self._integrity.folders

    @property
    def set_aside(self) -> dict[str, tuple[int, int]]:
        """Files that were read and are not listed in CURRENT, or in an older state: name → (size,
        time of the last change in nanoseconds).
        """
        refs = self._manager.set_aside | self._graph.set_aside
        return {name: (ref.size, ref.mtime_ns) for name, ref in refs.items()}

    def was_changed(self) -> bool:
        """Return whether another program changed the published files. Raises OSError that proves
        nothing about a file.
        """
        return self._lock.lost or bool(self._integrity.changed())

    def is_behind(self) -> bool:
        """Return whether the indexer has completed more than the published generation contains."""
        return completed(read_state(self._config)) > self.current.sequence

    def is_busy(self) -> bool:
        """Return whether work ends soon without an event: an engine's unfinished index, a pause
        after a repair, or a long run whose end a merge or a small change awaits.
        """
        if self.has_begun() or is_crowded(self.current, self._limits):
            return True
        return self._integrity.pauses

    def has_begun(self) -> bool:
        """Return whether work has begun that a new process would have to start again."""
        return self.is_waiting() or any(
            getattr(engine, "building", False) for engine in self._engines.values()
        )

    def is_waiting(self) -> bool:
        """Return whether a change waits for more of a long run."""
        return self._manager.waits or self._graph.waits

    def is_patient(self) -> bool:
        """Return whether waiting changes may wait longer: the long run has not come far enough."""
        indexer = read_state(self._config)
        if indexer is None:
            return False
        return indexer.remaining_share > 0 if self._manager.waits else indexer.is_long

    def awaits_graph(self) -> bool:
        """Return whether a long run has only names left to resolve: its chunks are published."""
        indexer = read_state(self._config)
        is_read = indexer is not None and indexer.is_long and not indexer.remaining_share
        return is_read and not (self.is_waiting() or self.current.backlog)

    @property
    def file_count(self) -> int:
        """Files that the last scan of the folders covered."""
        return self._manager.file_count + self._graph.file_count

    @property
    def generators(self) -> dict[str, str]:
        return dict(self._manager.generators)

    def refresh(self) -> Generation | None:
        """Publish the changes on disk, or do one piece of upkeep; return None when there is nothing
        to do.

        `current.backlog` counts the chunk files that still wait. Raises OSError or Damaged (disk
        full, read-only) with the old generation still current; the next call reads the changes
        again.
        """
        return self._run_on_published(self._refresh)

    def prepare(self) -> Generation | None:
        """Build the changes on disk; the next `refresh` publishes them, with later changes. Returns
        None when nothing has changed. A crash loses the work. Raises as `refresh` does.
        """
        return self._run_on_published(lambda: self._advance(read_state(self._config)))

    def _run_on_published(self, work: Callable[[], Generation | None]) -> Generation | None:
        try:
            # Each chunk is some thirty objects: the collector would scan all of them again and
            # again.
            with allocator.no_collector():
                self.tidy()
                self._check_folder()
                self._load_published()
                return work()
        except (OSError, ValueError, CortexError):
            self._taken_up = False  # loading the published generation drops the unfinished one
            raise

    def _refresh(self) -> Generation | None:
        indexer = read_state(self._config)
        served = completed(indexer)
        new_rows = self._built.next_key - self.current.next_key
        if self._built is not self.current and (self._built.backlog or new_rows > self._limits.rows_min):
            return self._publish(self._built)  # searching can begin; later changes go into the next one
        self._advance(indexer)
        if self._manager.waits:
            served = 0  # waiting files may be of any sequence
        if self._built is self.current:
            return self._upkeep(served, under_way=indexer is not None and indexer.is_long)
        sequence = self._built.sequence if self._built.backlog else max(self._built.sequence, served)
        return self._publish(dataclasses.replace(self._built, sequence=sequence))

    def _advance(self, indexer: IndexerState | None) -> Generation | None:
        """Build on the latest build; return None when too little has changed since."""
        base, served = self._built, completed(indexer)
        reading = self._manager.read(to_come=indexer.remaining_share if indexer is not None else 0.0)
        graph_files = self._graph.read(base.graph_files, patient=indexer is not None and indexer.is_long)
        if self._mended and graph_files is None:
            graph_files = base.graph_files
        if reading is not None:
            self._built = self._build_files(base, reading, graph_files, served)
        elif graph_files is not None and base.number:
            self._built = self._build(base, graph_files)
        if self._built is base:
            return None
        self._mended = False
        return self._built

    def _build_files(
        self, base: Generation, reading: Reading, graph_files: dict[str, FileRef] | None, served: int
    ) -> Generation:
        """Return `base` with the chunk files of `reading`."""
        sequence = base.sequence
        if not reading.backlog:
            sequence = max(sequence, served or reading.sequence)
        state = dataclasses.replace(
            base, sequence=sequence, backlog=reading.backlog, warnings=reading.warnings
        )
        if reading.added or reading.deleted or not base.number:
            return self._build_rows(state, reading, graph_files)
        self._manager.accept(reading, ())
        if graph_files is not None:
            state = self._build(state, graph_files)
        return dataclasses.replace(
            state, files=self._manager.readable_files(), others=dict(self._manager.others)
        )

    def _build_rows(
        self, state: Generation, reading: Reading, graph_files: dict[str, FileRef] | None
    ) -> Generation:
        keys = range(state.next_key, state.next_key + len(reading.added))
        rows = self._vectors.rows(reading, keys)
        models = [row.model for row in rows if row.model]
        state = dataclasses.replace(
            state,
            model=models[-1] if models else state.model,
            dimensions=self._config.embedding.dimensions,
            next_key=keys.stop,
        )
        state = self._build(state, graph_files, rows, [key for _, key in reading.deleted])
        # Accepted before publishing, because CURRENT lists the files; if publishing fails, all
        # files are read again.
        self._manager.accept(reading, keys)
        files, sources = self._manager.readable_files(), len(self._manager.served.sources)
        if len(rows) > self._limits.rows_min:
            allocator.trim()
        return dataclasses.replace(state, files=files, sources=sources, others=dict(self._manager.others))

    def _build(
        self,
        state: Generation,
        graph_files: dict[str, FileRef] | None,
        rows: Sequence[Row] = (),
        gone: Sequence[int] = (),
    ) -> Generation:
        """Return `state` as the next generation, with all its files written. `graph_files` None:
        the same graph.
        """
        number = state.number + 1
        if graph_files is not None:
            state = dataclasses.replace(state, graph_files=graph_files)
            state = dataclasses.replace(state, references=self._count(number, state.graph))
        name = f"rows-{number:08d}.seg"
        written: Future[int] | None = None
        if rows:  # In parallel with the text index: each releases the GIL half of its time.
            written = self._pool.submit(
                write_rows, self._segments / name, rows, state.dimensions, lean=self._lean
            )
        if gone:
            deleted, count = write_deleted(self._segments, number, deleted_keys(self._segments, state), gone)
            state = dataclasses.replace(state, deleted=deleted, deleted_count=count)
        sources = {} if self._lean else self._sources.read(state, rows, gone)
        change = Change(number, rows, gone, state.graph, sources)
        tokens = {engine: instance.build(change) for engine, instance in self._engines.items()}
        if written is not None:
            segment = SegmentRef(name, len(rows), written.result())
            state = dataclasses.replace(state, segments=(*state.segments, segment))
        return dataclasses.replace(state, number=number, tokens=tokens)

    def _count(self, number: int, graph: Mapping[str, str]) -> str:
        """Write the reference counts of generation `number`; return their segment, "" for none."""
        if not graph:
            return ""
        name = f"references-{number:08d}.seg"
        try:
            self._references.write(name, sorted(set(graph.values())))
        except (NotFound, Damaged) as error:
            # The graph worker reports it, too; only a ranking signal is lost.
            log.warning("references are not counted: %s", error)
            return ""
        return name

    def _publish(self, generation: Generation) -> Generation:
        generation = dataclasses.replace(generation, published_at=time.time())
        files.replace(self._segments / number_file(generation.number), b"")
        generations.publish(self._dir, generation)
        if generation.number != self.current.number:
            self._previous = self.current
        self.current = self._built = generation
        self._mended, self._untidy = False, True
        return generation

    def tidy(self) -> None:
        """Clean up after a generation was published. The caller announces the generation first,
        because no reader waits for this; `refresh` does it when the caller has not.
        """
        if not self._untidy:
            return
        self._untidy = False
        self._integrity.take_in(self.current)
        self._prune()

    def release(self, *, settled: bool = False) -> None:
        """Free what only building needs; with `settled` also the previous generation's files."""
        for engine in self._engines.values():
            engine.release()
        self._vectors.release()
        self._sources.release()
        gc.collect()
        allocator.trim()
        if settled:
            # Not earlier: merges of tantivy unmap files, and other memory takes their place.
            allocator.release_mapped_files(self._dir)
            self._previous = self.current
            self._prune()

    def _prune(self) -> None:
        retained = (self.current, self._previous)
        generations.prune(self._dir, retained)
        for name, engine in self._engines.items():
            engine.prune({generation.tokens.get(name, "") for generation in retained})
        prune_others(self._dir)

    def _upkeep(self, served: int, *, under_way: bool) -> Generation | None:
        """Do work that is no change: publish a sequence that a client waits for, a merge, or an
        engine's upkeep. `under_way`: as in `merge`; an engine's index over all rows, an HNSW index
        of minutes, would soon be out of date.
        """
        if served > self.current.sequence:
            return self._publish(dataclasses.replace(self.current, sequence=served))
        merged = merge(self.current, self._dir, self._limits, under_way=under_way)
        if merged is not None:
            allocator.trim()
            return self._publish(merged)
        if under_way:
            return None
        published = Published(self.current, self._dir)
        tokens = {name: engine.upkeep(published) for name, engine in self._engines.items()}
        if tokens == self.current.tokens:
            return None
        return self._publish(dataclasses.replace(self.current, number=self.current.number + 1, tokens=tokens))

    def _load_published(self) -> None:
        """Load the published generation, unless it is loaded and unchanged."""
        changed, marked = self._integrity.changed(), self._integrity.read_marks(self.current)
        if not (changed or marked) and self._taken_up:
            return
        for path in changed:
            log.warning("%s was changed by another program", path)
        self._taken_up = False
        self._reopen(marked)
        self._built = self.current
        self._taken_up = True

    def _reopen(self, marked: Mapping[str, str] = MappingProxyType({})) -> None:
        """Load the published generation and rebuild its damaged files: everything when its rows are
        damaged. `marked`: engines that a reader reports as damaged.

        Raises OSError that proves nothing about a file (no descriptor, no space): tried again
        later.
        """
        self._manager, self._graph = self._new_manager(), self._new_graph()
        for path in (self._segments, *(self._dir / name for name in self._engines)):
            if path.is_file():  # in the place of a folder of the index
                files.remove(path)
        published = self.current = self._read_current()
        if not published.number or not self._fits_config(published):
            self._begin_anew(wipe=True)
            return
        self._integrity.take_in(published)
        try:
            self.current = without_damaged(published, self._segments)
            self._mended |= self.current != published
            rows = open_rows(self.current, self._dir)
            for name, engine in self._engines.items():
                self._resume(name, engine, rows, marked.get(name, ""))
            self._manager.start_from(rows, self.current)
        except (CortexError, OSError, ValueError) as error:
            if not is_damage(error):
                raise
            log.warning("the index is built anew: %s", error)
            self._begin_anew()

    def _read_current(self) -> Generation:
        """Return CURRENT; where that is damaged, the generation that this process last wrote."""
        try:
            if (read := generations.read_current(self._dir)).number:
                return read
        except (CortexError, OSError, ValueError) as error:
            if not is_damage(error):
                raise
            log.warning("%s", error)
        self._mended = self.current.number > 0
        return self.current

    def _fits_config(self, published: Generation) -> bool:
        """Return whether the published generation fits configuration and engines; log why not."""
        wanted = self._config.embedding.dimensions
        new = [name for name in self._engines if name not in published.tokens]
        if published.dimensions not in (0, wanted):
            log.warning("built anew for %d dimensions, not %d", wanted, published.dimensions)
        elif new:
            log.warning("built anew: the index has no data of %s", ", ".join(new))
        else:
            return True
        return False

    def _resume(self, name: str, engine: Engine, rows: Rows, fault: str) -> None:
        """Load an engine's build; rebuild it from the rows when it is damaged."""
        try:
            if fault:
                raise Damaged(fault)
            engine.resume(self.current.tokens[name])
        except (CortexError, OSError, ValueError) as error:
            if not is_damage(error) or self._lean:  # only the engine stores the rows
                raise
            log.warning("%s is built again: %s", name, error)
            engine.resume("")
            for at in range(len(rows.segments)):
                number, added = self.current.number + 1, rows_of(rows, at)
                engine.build(Change(number, added, (), self.current.graph, sources_of(rows, at)))
            self._mended = True

    def _begin_anew(self, *, wipe: bool = False) -> None:
        """Start an empty index whose numbers and keys continue to rise, so that no reader takes new
        rows for old ones. The published files are served until the next generation, unless `wipe`
        removes them at once.
        """
        last = self.current.number
        with contextlib.suppress(OSError):
            for name in files.names(self._segments):
                if numbered := _NUMBERED.fullmatch(name):
                    last = max(last, int(numbered[1]))
        if wipe:
            self._wipe()
        files.make_folder(self._segments)
        if last:
            files.replace(self._segments / number_file(last), b"")
        # The clock, not 1: row keys are never reused, not even after an index was lost. The clock
        # may have been set back, so the previous key counts as well.
        next_key = max(self.current.next_key, time.time_ns() >> 16)
        tokens = dict.fromkeys(self._engines, "")
        self.current = dataclasses.replace(EMPTY, number=last, next_key=next_key, tokens=tokens)
        self._built, self._previous, self._untidy = self.current, EMPTY, False
        self._mended |= last > 0
        for engine in self._engines.values():
            engine.resume("")
        self._manager, self._graph = self._new_manager(), self._new_graph()
        self._integrity.take_in(EMPTY)

    def _wipe(self) -> None:
        files.remove_tree(self._dir / generations.CURRENT)
        for name, info in files.entries(self._dir).items():
            if not stat.S_ISREG(info.st_mode):
                with contextlib.suppress(OSError):
                    files.remove_tree(self._dir / name)

    def _check_folder(self) -> None:
        """Begin anew, with a new lock, when the cache folder was removed under the watcher."""
        if not self._lock.lost:
            return
        log.warning("%s was removed; the index is built anew", self._dir)
        self._lock.release()
        self._lock = take_lock(self._config)
        self._begin_anew()

    def close(self) -> None:
        """Release everything; safe to call twice."""
        for engine in self._engines.values():
            engine.close()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._lock.release()
