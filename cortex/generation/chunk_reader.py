"""The chunks that a front shows, read by their keys from the files of the segments: the process
that ranks a question last also cuts the text, without another message to a worker.

The files are open, not mapped, because damage to them must not end a front. A removed generation
stays readable. Of all rows, only the keys are in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from cortex.generation.chunk_cuts import fetch
from cortex.generation.current import EMPTY, Generation
from cortex.generation.segments import packing
from cortex.generation.segments.segment import SegmentFile, open_segment_file
from cortex.system.arrays import Array
from cortex.system.errors import Damaged, NotFound, NotReady
from ipc.messages import Chunks, Fetch

#: bits of a row's number in an ordinal; the segment's number is above them
_ROW_BITS = 32


@dataclass(frozen=True, slots=True)
class _OpenSegment:
    """An open segment; `keys` (u64 [n]) are ascending, `rows` (i64 [n]) their rows."""

    file: SegmentFile
    keys: Array
    rows: Array | None

    @classmethod
    def at(cls, path: Path) -> _OpenSegment:
        file = open_segment_file(path)
        keys = file.read("keys")
        if (keys[1:] > keys[:-1]).all():
            return cls(file, keys, None)
        order = np.argsort(keys, kind="stable")
        return cls(file, keys[order], order)

    def locate(self, keys: Array) -> Array:
        """u64 [m] → i64 [m]: their rows, -1 for keys of other segments."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        rows = at if self.rows is None else self.rows[at]
        return np.where(self.keys[at] == keys, rows, -1)

    def read(self, what: str, row: int) -> bytes:
        begin, end = self.file.read(f"{what}_offsets", row, row + 2).tolist()
        return self.file.read(f"{what}_bytes", begin, end).tobytes()


@dataclass(frozen=True, slots=True)
class _OpenGeneration:
    """The segments of one generation; see `ChunkTexts`."""

    generation: int
    segments: Sequence[_OpenSegment] = ()

    def locate(self, keys: Array) -> Array:
        ordinals = np.full(len(keys), -1, np.int64)
        for number, segment in enumerate(self.segments):
            rows = segment.locate(keys)
            ordinals = np.where(rows >= 0, rows | number << _ROW_BITS, ordinals)
        return ordinals

    def cuts(self, what: Literal["chunk", "id", "text"], ordinals: Array) -> list[bytes]:
        bodies = []
        for ordinal in ordinals.tolist():
            segment = self.segments[ordinal >> _ROW_BITS]
            bodies.append(segment.read(what, ordinal & (1 << _ROW_BITS) - 1))
        return bodies if what == "id" else packing.unpack(Path("segments"), bodies)


class ChunkReader:
    """Reads the chunks of the newest generations of one index; for one thread."""

    def __init__(self, index_dir: Path) -> None:
        self._folder = index_dir / "segments"
        self._opened, self._segments = _OpenGeneration(EMPTY.number), dict[str, _OpenSegment]()

    def fetch(self, generation: Generation, request: Fetch) -> Chunks:
        """Return the chunks with the keys of `request`, which workers found in `generation`. Raises
        NotReady when its files are gone or were changed: a newer generation follows.
        """
        try:
            if generation.number != self._opened.generation:
                self._open(generation)
            chunks = fetch(self._opened, request)
        except (NotFound, Damaged) as error:
            self._opened = _OpenGeneration(EMPTY.number)
            raise NotReady(f"{error} The index is being rebuilt; ask again in a second.") from error
        if not all(segment.file.is_unchanged() for segment in self._opened.segments):
            self._opened, self._segments = _OpenGeneration(EMPTY.number), {}
            raise NotReady("The index was damaged and is being rebuilt; ask again in a second.")
        return chunks

    def _open(self, generation: Generation) -> None:
        """Open the segments that the last generation did not have."""
        segments = {
            ref.name: self._segments.get(ref.name) or _OpenSegment.at(self._folder / ref.name)
            for ref in generation.segments
        }
        self._segments, self._opened = segments, _OpenGeneration(generation.number, [*segments.values()])
