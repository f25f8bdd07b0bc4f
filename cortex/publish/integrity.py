"""Integrity of the published files: which have changed since they were written, and which to
rebuild.

Nothing is written here. The builder publishes the repaired state as a generation of its own, so no
generation names a damaged file for longer than one scan by the clock takes.
"""

import dataclasses
import logging
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import orjson

from cortex.engines.protocol import Engine
from cortex.generation.current import CURRENT, Generation, graph_segment, read_current, segment_files
from cortex.generation.damage import Seal, is_damage, read_seals, take_marks
from cortex.generation.read import Rows
from cortex.generation.segments.segment import open_segment
from cortex.generation.write import DIGEST_BYTES, Row
from cortex.system.errors import CortexError

log = logging.getLogger(__name__)

#: seconds after a repair during which marks of readers are ignored: at first, and at most. The
#: pause doubles while marks continue (a disk that returns other bytes than were written)
PAUSE_S, PAUSE_MAX_S = 1.0, 60.0


class IntegrityMonitor:
    """Remembers the state of the current generation's files, checked before each scan."""

    def __init__(
        self, index_dir: Path, run_dir: Path, engines: Mapping[str, Engine], pause_s: float = PAUSE_S
    ) -> None:
        self._dir = index_dir
        self._run_dir, self._engines = run_dir, engines
        self._seals: dict[Path, Seal | None] = {}
        #: the folders of the files that must not change
        self.folders = frozenset((index_dir,))
        self._current: Generation | None = None
        self._usual_pause_s = self._pause_s = pause_s
        self._quiet_until = 0.0

    def take_in(self, generation: Generation) -> None:
        """Remember the files of `generation`, with CURRENT, as they are now: from here on they must
        not change. No files for EMPTY.
        """
        self._seals = read_seals(self._files(generation))
        self.folders = frozenset((self._dir, *(path.parent for path in self._seals)))
        self._current = generation if generation.number else None

    def _files(self, generation: Generation) -> Iterator[Path]:
        yield from (self._dir / "segments" / name for name in segment_files(generation))
        for name, engine in self._engines.items():
            yield from engine.files(generation.tokens.get(name, ""))

    def changed(self) -> list[Path]:
        """Return the files that have changed. Raises OSError when CURRENT cannot be read for a
        reason that proves nothing about it.
        """
        now = read_seals(self._seals)
        paths = [path for path, seal in self._seals.items() if now[path] != seal]
        return paths if self._is_current() else [self._dir / CURRENT, *paths]

    def _is_current(self) -> bool:
        try:
            return self._current is None or read_current(self._dir) == self._current
        except (CortexError, OSError, ValueError) as error:
            if not is_damage(error):
                raise
            return False

    @property
    def pauses(self) -> bool:
        """Whether marks are ignored now; they are read soon afterwards."""
        return time.monotonic() < self._quiet_until + self._usual_pause_s

    def read_marks(self, generation: Generation) -> dict[str, str]:
        """Return engine → the reason why a reader cannot read its files of `generation`."""
        now = time.monotonic()
        if now < self._quiet_until:
            return {}
        marks = take_marks(self._run_dir, self._engines)
        faults = {name: mark.why for name, mark in marks.items() if mark.generation == generation.number}
        if faults:
            is_repeated = now - self._quiet_until < PAUSE_MAX_S
            self._pause_s = min(2 * self._pause_s, PAUSE_MAX_S) if is_repeated else self._usual_pause_s
            self._quiet_until = now + self._pause_s
        return faults


def without_damaged(generation: Generation, segments: Path) -> Generation:
    """Return `generation` without the graph files and reference counts that have an unreadable
    segment; itself when all are readable. Raises OSError that proves nothing about a file.
    """
    graph = {
        name: ref
        for name, ref in generation.graph_files.items()
        if _is_readable(segments / graph_segment(ref.sha256))
    }
    references = generation.references
    if references and not _is_readable(segments / references):
        references = ""
    if references == generation.references and len(graph) == len(generation.graph_files):
        return generation
    return dataclasses.replace(generation, graph_files=graph, references=references)


def _is_readable(segment: Path) -> bool:
    try:
        open_segment(segment)
    except Exception as error:
        if not is_damage(error):
            raise
        log.warning("damaged, to be built again: %s", error)
        return False
    return True


def rows_of(rows: Rows, at: int) -> list[Row]:
    """Return the live rows of segment `at` as they were written."""
    segment, start = rows.segments[at], int(rows.starts[at])
    arrays, names = segment.arrays, segment.meta["chunk_file_names"]
    digests, models = segment.bytes_of("digests"), segment.meta["model_names"]
    out = []
    for row in np.flatnonzero(rows.live[start : start + len(arrays["keys"])]).tolist():
        vector = arrays["vectors"][row].astype(np.float32) if arrays["has_vector"][row] else None
        out.append(
            Row(
                key=int(arrays["keys"][row]),
                chunk=orjson.loads(rows.chunk(start + row)),
                chunk_file=names[arrays["chunk_file"][row]],
                digest=bytes(digests[row * DIGEST_BYTES : (row + 1) * DIGEST_BYTES]),
                vector=vector,
                model=models[arrays["model"][row]],
            )
        )
    return out
