"""From chunk files to a published generation: diff, segment, text index, CURRENT. The watcher's work, and only its.

One change costs work in proportion to itself: a new segment with the new rows, the list of deleted keys, and one
commit of the text index. Small segments are merged now and then. A crash at any point leaves the old generation
current, and the next start repairs what was left behind.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import msgspec
import numpy as np

from cortex.engines.text.snapshot import TextWriter
from cortex.engines.vector.usearch import SCAN_ROWS_MAX, build_vectors
from cortex.generation import current as generations
from cortex.generation.current import EMPTY, Generation, SegmentRef
from cortex.generation.merge import merge_rows
from cortex.generation.read import open_rows
from cortex.generation.segment import open_segment, write_segment
from cortex.generation.write import Row, write_rows
from cortex.publish.chunk_files import Change, ChunkManager
from cortex.publish.graph_files import GraphFiles
from cortex.settings.config import Config, open_home
from cortex.system import allocator
from cortex.terms.records import IndexerState
from ipc.arrays import Array
from ipc.errors import CortexError, Damaged, Misconfigured
from ipc.locks import Lock, hold

log = logging.getLogger(__name__)

#: segments of a generation; one more and the small ones are merged
SEGMENTS_MAX = 8
#: a merge takes in every segment that is at most this many times as large as all smaller ones together
MERGE_RATIO = 4
#: everything is merged when more than this share of the rows is deleted
DELETED_SHARE_MAX = 0.3
#: rows below which no share matters
ROWS_MIN = 2_000
#: a new HNSW index is built when this share of the rows is not in the last one
UNCOVERED_SHARE_MAX = 0.2


class Builder:
    """The one writer of an index. Used by one thread; `close` when done."""

    def __init__(self, config: Config) -> None:
        """Take the writer's lock and the published generation. Raises Misconfigured when another writer has it or the
        index folder cannot be written.
        """
        self._config = config
        self._dir = config.index_dir
        self._lock = _take_lock(config)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="hnsw")
        self._rows_pool = ThreadPoolExecutor(1, thread_name_prefix="rows")
        self._hnsw: Future[str] | None = None
        self._manager = ChunkManager(config.chunks_dir, config.embedding.dimensions)
        self._graph = GraphFiles(config.graph_dir, config.index_dir / "graph")
        self._previous = EMPTY
        self.current = EMPTY
        self._text: TextWriter | None = None
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self._manager.warnings(), *self._graph.warnings())

    @property
    def generators(self) -> dict[str, str]:
        return dict(self._manager.generators)

    def refresh(self) -> Generation | None:
        """Publish what has changed on disk, or do one piece of upkeep; None when there is nothing to do.

        `current.backlog` tells whether more waits. Raises OSError or Damaged (disk full, read-only) with the old generation
        still current; what was read is then read again.
        """
        try:
            self._check_folder()
            return self._refresh()
        except (OSError, ValueError, CortexError):
            self._reopen()
            raise

    def _refresh(self) -> Generation | None:
        served = _indexer_sequence(self._config)
        change = self._manager.read()
        graph = self._graph.read(self.current)
        if change is None:
            return self._publish(graph) if graph is not None and self.current.number else self._upkeep(served)
        sequence = (
            self.current.sequence if change.backlog else max(self.current.sequence, served or change.sequence)
        )
        if not change.added and not change.deleted and self.current.number:
            self._manager.accept(change, ())
            generation = dataclasses.replace(
                graph or self.current,
                sequence=sequence,
                backlog=change.backlog,
                files=self._manager.readable_files(),
                warnings=change.warnings,
            )
            return self._publish(generation)
        return self._build(change, sequence, graph or self.current)

    def _build(self, change: Change, sequence: int, graph: Generation) -> Generation:
        number = self.current.number + 1
        keys = range(self.current.next_key, self.current.next_key + len(change.added))
        segments = self.current.segments
        if change.added:
            rows = [
                Row(key, chunk.body, chunk.file, chunk.digest, chunk.vector, chunk.model)
                for key, chunk in zip(keys, change.added, strict=True)
            ]
            name = f"rows-{number:08d}.seg"
            # Beside the text index: half of either lets other threads run.
            written = self._rows_pool.submit(
                write_rows, self._dir / "segments" / name, rows, self._config.embedding.dimensions
            )
        gone = np.array([key for _, key in change.deleted], "<u8")
        deleted, count = self._write_deleted(number, self._deleted_keys(), gone)
        assert self._text is not None
        text = self._text.build(
            number, ((key, chunk.body) for key, chunk in zip(keys, change.added, strict=True)), gone.tolist()
        )
        if change.added:
            segments = (*segments, SegmentRef(name, len(rows), written.result()))
        generation = Generation(
            number=number,
            segments=segments,
            deleted=deleted,
            deleted_count=count,
            text=text,
            vectors=self.current.vectors,
            sequence=sequence,
            backlog=change.backlog,
            model=next((chunk.model for chunk in reversed(change.added) if chunk.model), self.current.model),
            dimensions=self._config.embedding.dimensions,
            next_key=keys.stop,
            files={},
            graph=graph.graph,
            graph_files=graph.graph_files,
            references=graph.references,
            warnings=change.warnings,
        )
        # Accepted before it is published, because CURRENT lists the files; if publishing fails all is read again.
        self._manager.accept(change, keys)
        published = self._publish(dataclasses.replace(generation, files=self._manager.readable_files()))
        if len(change.added) > ROWS_MIN:
            allocator.trim()
        return published

    def _publish(self, generation: Generation) -> Generation:
        generation = dataclasses.replace(generation, published_at=time.time())
        generations.publish(self._dir, generation)
        if generation.number != self.current.number:
            self._previous = self.current
        self.current = generation
        generations.prune(self._dir, [self.current, self._previous])
        return generation

    def _upkeep(self, served: int) -> Generation | None:
        """Work that is no change: a new sequence, a merge, the next HNSW index. None when there is none."""
        merged = self._merge()
        if merged is not None:
            return merged
        vectors = self._next_vectors()
        if vectors is not None:
            return self._publish(
                dataclasses.replace(self.current, number=self.current.number + 1, vectors=vectors)
            )
        if served > self.current.sequence:
            return self._publish(dataclasses.replace(self.current, sequence=served))
        return None

    def _merge(self) -> Generation | None:
        refs = self.current.segments
        total = sum(ref.rows for ref in refs)
        wasteful = total > ROWS_MIN and self.current.deleted_count > DELETED_SHARE_MAX * total
        if len(refs) <= SEGMENTS_MAX and not wasteful:
            return None
        chosen = list(refs) if wasteful else _small_ones(refs)
        rows = open_rows(self.current, self._dir)
        number = self.current.number + 1
        name = f"rows-{number:08d}.seg"
        at = [index for index, ref in enumerate(refs) if ref in chosen]
        count, vectors = merge_rows(self._dir / "segments" / name, rows, at)
        kept = tuple(ref for ref in refs if ref not in chosen)
        segments = (*kept, SegmentRef(name, count, vectors)) if count else kept
        left = np.concatenate(
            [rows.segments[i].arrays["keys"] for i in range(len(refs)) if i not in at] or [rows.keys[:0]]
        )
        deleted, deleted_count = self._write_deleted(
            number, np.intersect1d(self._deleted_keys(), left), left[:0]
        )
        return self._publish(
            dataclasses.replace(
                self.current, number=number, segments=segments, deleted=deleted, deleted_count=deleted_count
            )
        )

    def _next_vectors(self) -> str | None:
        """The name of an HNSW index that has become ready; starts to build one when it is due."""
        if self._hnsw is not None:
            if not self._hnsw.done():
                return None
            done, self._hnsw = self._hnsw, None
            try:
                return done.result()
            except Exception:  # the scan goes on answering; tried again with the next change
                log.exception("building the HNSW index failed")
                return None
        if self.current.rows <= SCAN_ROWS_MAX or not self.current.number:
            return None
        watermark = int(self.current.vectors.rsplit("-", 1)[1].split(".")[0]) if self.current.vectors else 0
        rows = open_rows(self.current, self._dir)
        uncovered = int((rows.live & (rows.keys > watermark)).sum())
        if uncovered > UNCOVERED_SHARE_MAX * rows.live_count:
            self._hnsw = self._pool.submit(build_vectors, rows, self._dir / "vectors")
        return None

    def _deleted_keys(self) -> Array:
        if not self.current.deleted:
            return np.zeros(0, "<u8")
        return open_segment(self._dir / "segments" / self.current.deleted).arrays["keys"]

    def _write_deleted(self, number: int, old: Array, new: Array) -> tuple[str, int]:
        keys = np.union1d(old, new).astype("<u8")
        if not len(keys):
            return "", 0
        name = f"deleted-{number:08d}.seg"
        write_segment(self._dir / "segments" / name, {"keys": keys}, {})
        return name, len(keys)

    def _start(self) -> None:
        """Take up the published generation, or begin anew when it is missing or damaged."""
        (self._dir / "segments").mkdir(parents=True, exist_ok=True)
        self._reopen()

    def _reopen(self) -> None:
        if self._text is not None:
            self._text.close()
            self._text = None
        self._manager = ChunkManager(self._config.chunks_dir, self._config.embedding.dimensions)
        try:
            self.current = generations.read_current(self._dir)
            if not self.current.number:
                self._begin_anew()
                return
            rows = open_rows(self.current, self._dir)
            if self.current.dimensions not in (0, self._config.embedding.dimensions):
                raise Damaged(
                    f"the index has {self.current.dimensions} dimensions, "
                    f"the embedder {self._config.embedding.dimensions}"
                )
            self._text = TextWriter(self._dir / "text", self.current.text)
            self._manager.start_from(rows, self.current.files)
        except (CortexError, OSError, ValueError) as error:
            log.warning("the index is built anew: %s", error)
            self._begin_anew()

    def _begin_anew(self) -> None:
        """An empty index whose numbers and keys go on rising, so that no reader takes new for old."""
        last = self.current.number
        for name in os.listdir(self._dir / "segments") if (self._dir / "segments").is_dir() else ():
            with contextlib.suppress(ValueError, IndexError):
                last = max(last, int(name.split("-")[1].split(".")[0]))
        (self._dir / generations.CURRENT).unlink(missing_ok=True)
        for folder in ("segments", "text", "vectors", "graph"):
            shutil.rmtree(self._dir / folder, ignore_errors=True)
        (self._dir / "segments").mkdir(parents=True, exist_ok=True)
        # A clock, not 1: row keys are never used twice, not even over a lost index.
        self.current = dataclasses.replace(EMPTY, number=last, next_key=time.time_ns() >> 16)
        self._previous = EMPTY
        self._text = TextWriter(self._dir / "text", "")
        self._manager = ChunkManager(self._config.chunks_dir, self._config.embedding.dimensions)

    def _check_folder(self) -> None:
        """`rm -rf .cortex` under a running watcher: begin anew in a new folder, with a lock on it."""
        if not self._lock.lost:
            return
        log.warning("%s was removed; the index is built anew", self._dir)
        self._lock.release()
        self._lock = _take_lock(self._config)
        self._begin_anew()

    def close(self) -> None:
        """Let go of everything; safe to call twice."""
        if self._text is not None:
            self._text.close()
            self._text = None
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._rows_pool.shutdown(wait=True, cancel_futures=True)
        self._lock.release()


def _take_lock(config: Config) -> Lock:
    """The lock `index/writer.lock`: one writer for an index, whatever its runtime folder."""
    open_home(config)
    try:
        config.index_dir.mkdir(exist_ok=True)
        return hold(
            config.index_dir / "writer.lock",
            lambda _holder: Misconfigured(
                f"Another watcher writes {config.index_dir}; stop it with `cortex down` (or its own terminal) first."
            ),
        )
    except OSError as error:
        raise Misconfigured(f"Cannot write {config.index_dir}: {error.strerror}.") from error


def _small_ones(refs: Sequence[SegmentRef]) -> list[SegmentRef]:
    """The segments to merge: from the smallest up, while one is not far larger than all before it."""
    ordered = sorted(refs, key=lambda ref: ref.rows)
    total, chosen = 0, list[SegmentRef]()
    for ref in ordered:
        if len(chosen) >= 2 and ref.rows > MERGE_RATIO * total:
            break
        chosen.append(ref)
        total += ref.rows
    return chosen


def _indexer_sequence(config: Config) -> int:
    """The last sequence that a running indexer has completed; 0 when it is in the middle of one, or none runs.

    Read before the chunk files are: all of that sequence is then on disk. Without it their own highest one counts.
    """
    try:
        state = msgspec.json.decode(config.indexer_state.read_bytes(), type=IndexerState)
    except (OSError, msgspec.DecodeError):
        return 0
    return state.sequence if state.state != "stopped" else 0
