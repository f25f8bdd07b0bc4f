"""The covering chunks of the files that a change touches, for engines that index whole files.

A change holds new rows and deleted keys alone. The unchanged chunks of the same files are read from
the segments of rows, on demand.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from cortex.generation.current import Generation
from cortex.generation.read import Rows, cut_rows, join_chunk
from cortex.generation.segments.segment import Segment, open_segment
from cortex.generation.write import Row
from cortex.publish.merging import deleted_keys
from cortex.system.arrays import Array
from cortex.terms.records import covers

#: the JSON object of a chunk
Chunk = dict[str, Any]


class _Sources(Mapping[str, Sequence[Chunk]]):
    """Source file → its covering chunks, by first line; read anew for each access."""

    def __init__(self, paths: Mapping[str, object], read: Callable[[str], list[Chunk]]) -> None:
        self._paths, self._read = paths, read

    def __getitem__(self, path: str) -> list[Chunk]:
        if path not in self._paths:
            raise KeyError(path)
        return sorted(self._read(path), key=_first_line)

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


class SourceReader:
    """Reads the chunks of touched files. Used by one thread."""

    def __init__(self, folder: Path) -> None:
        """`folder`: the folder of the segments."""
        self._folder = folder
        #: opened segments by name: the check of a segment reads all of it
        self._opened: dict[str, Segment] = {}

    def read(
        self, state: Generation, rows: Sequence[Row], gone: Sequence[int]
    ) -> Mapping[str, Sequence[Chunk]]:
        """Return `Change.sources` of the change that adds `rows` to the segments of `state`, whose
        deleted rows include `gone`.

        Raises NotFound or Damaged.
        """
        added: dict[str, list[Chunk]] = {}
        for row in rows:
            if covers(str(row.chunk.get("chunk_type") or "")) and (path := _path_of(row.chunk)):
                added.setdefault(path, []).append(row.chunk)
        names = [ref.name for ref in state.segments]
        opened = {name: segment for name, segment in self._opened.items() if segment.is_there()}
        self._opened = {name: opened.get(name) or open_segment(self._folder / name) for name in names}
        segments = list(self._opened.values())
        lost = np.sort(np.array(gone, np.uint64))
        touched = dict.fromkeys(
            (*added, *(path for segment in segments for path in _paths_of_keys(segment, lost)))
        )
        dead = deleted_keys(self._folder, state)
        old: dict[str, list[tuple[Segment, Array]]] = {}
        for segment in segments:
            for path, numbers in _rows_of_paths(segment, touched, dead):
                old.setdefault(path, []).append((segment, numbers))

        def read(path: str) -> list[Chunk]:
            unchanged = (chunk for segment, numbers in old.get(path, ()) for chunk in _cut(segment, numbers))
            return [*unchanged, *added.get(path, ())]

        return _Sources(touched, read)

    def release(self) -> None:
        """Close the segments."""
        self._opened = {}


def sources_of(rows: Rows, at: int) -> Mapping[str, Sequence[Chunk]]:
    """Return `Change.sources` for an engine that is built anew from the segments of `rows`, one
    after another: the files with rows in segment `at`.
    """
    begin, end = rows.starts[at : at + 2].tolist()
    files = {name: number for number, name in enumerate(rows.path_names) if name}
    inside = set(np.unique(rows.columns["path"][begin:end]).tolist())
    wanted = {name: number for name, number in files.items() if number in inside}

    def read(path: str) -> list[Chunk]:
        return [orjson.loads(rows.chunk(ordinal)) for ordinal in rows.lines_of(files[path]).tolist()]

    return _Sources(wanted, read)


def _paths_of_keys(segment: Segment, keys: Array) -> list[str]:
    """Return the files of the covering rows with these keys, which ascend."""
    if not len(keys):
        return []
    rows = np.flatnonzero(np.isin(segment.arrays["keys"], keys) & _covering(segment))
    names = segment.meta["path_names"]
    return [names[number] for number in np.unique(segment.arrays["path"][rows]).tolist() if names[number]]


def _rows_of_paths(segment: Segment, paths: Mapping[str, object], dead: Array) -> Iterator[tuple[str, Array]]:
    """Yield (file, numbers of its covering live rows) for those of `paths` in the segment."""
    wanted = [number for number, name in enumerate(segment.meta["path_names"]) if name in paths]
    if not wanted:
        return
    of, arrays = segment.arrays["path"], segment.arrays
    rows = np.flatnonzero(np.isin(of, wanted) & _covering(segment))
    rows = rows[~np.isin(arrays["keys"][rows], dead)]
    rows = rows[np.argsort(of[rows], kind="stable")]
    bounds = np.searchsorted(of[rows], [[number, number + 1] for number in wanted]).tolist()
    for number, (begin, end) in zip(wanted, bounds, strict=True):
        if begin < end:
            yield segment.meta["path_names"][number], rows[begin:end]


def _covering(segment: Segment) -> Array:
    kinds = [number for number, name in enumerate(segment.meta["type_names"]) if covers(name)]
    return np.isin(segment.arrays["type"], kinds)


def _cut(segment: Segment, rows: Array) -> Iterator[Chunk]:
    for head, text in zip(cut_rows(segment, "chunk", rows), cut_rows(segment, "text", rows), strict=True):
        yield orjson.loads(join_chunk(head, text[:-1].decode()))


def _path_of(chunk: Chunk) -> str:
    return str((chunk.get("metadata") or {}).get("file_path") or "")


def _first_line(chunk: Chunk) -> int:
    line = (chunk.get("metadata") or {}).get("start_line")
    return line if isinstance(line, int) else 0
