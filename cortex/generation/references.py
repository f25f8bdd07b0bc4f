"""Reference counts: the number of files that refer to a chunk's definitions. The builder counts
them over a generation's graph; readers get them as columns of rows.

A call in one file changes the counts of another file, so they are not in the chunk files but in a
segment of their own, written with each new graph. The segment holds keys (cortex/terms/ids.py) and
numbers only: `files` u64 with `file_counts`, and for each definition with references the key of its
file, its first line and its count, sorted in that order.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cortex.generation.graph import EDGE_TYPES, texts_of
from cortex.generation.segments.segment import Segment, open_segment, write_segment
from cortex.system.arrays import Array
from cortex.terms.ids import keys_of
from cortex.terms.kinds import WHOLE_KINDS

#: functions as values and routes are not counted: the weight of a count was measured without them
_MENTIONED = tuple(EDGE_TYPES.index(kind) for kind in ("references", "routes_to", "requests"))
#: the columns of counts
COUNTS = ("references", "file_references")


@dataclass(frozen=True, slots=True)
class _FileReferences:
    """The input of counting from one graph file. `definitions`: keys of id and file; `pairs`:
    distinct pairs of keys, a file and an id that it refers to.
    """

    definitions: Array
    lines: Array
    is_whole: Array
    pairs: Array


class References:
    """Counts a generation's references; caches segments' content, which never changes."""

    def __init__(self, folder: Path) -> None:
        """`folder`: the folder of the segments."""
        self._folder = folder
        self._parts: dict[str, _FileReferences] = {}

    def write(self, name: str, segments: Collection[str]) -> None:
        """Count over the graph `segments`; write `name`. Raises NotFound, Damaged, OSError."""
        self._parts = {
            segment: self._parts.get(segment) or _read_references(open_segment(self._folder / segment))
            for segment in segments
        }
        write_segment(self._folder / name, _count_references(list(self._parts.values())), {})


def _read_references(segment: Segment) -> _FileReferences:
    keys, nodes, edges = segment.arrays["string_keys"], segment.unpacked("nodes"), segment.unpacked("edges")
    sure = edges[(edges[:, 7] == 0) & ~np.isin(edges[:, 2], _MENTIONED)]
    pairs = _distinct(sure[:, 4], sure[:, 1])
    kinds = np.unique(nodes[:, 1])
    whole_kinds = kinds[[kind in WHOLE_KINDS for kind in texts_of(segment, kinds)]]
    return _FileReferences(
        definitions=keys[nodes[:, (0, 2)]],
        lines=nodes[:, 3].copy(),
        is_whole=np.isin(nodes[:, 1], whole_kinds),
        pairs=keys[pairs],
    )


def _distinct(first: Array, other: Array) -> Array:
    """Return the distinct pairs of two columns of numbers, i64 [m, 2]."""
    width = int(other.max(initial=0)) + 1
    return np.column_stack(np.divmod(np.unique(first.astype("<i8") * width + other), width))


def _count_references(parts: Sequence[_FileReferences]) -> dict[str, Array]:
    definitions = np.concatenate([np.zeros((0, 2), "<u8"), *(table.definitions for table in parts)])
    lines = np.concatenate([np.zeros(0, "<i4"), *(table.lines for table in parts)])
    is_whole = np.concatenate([np.zeros(0, bool), *(table.is_whole for table in parts)])
    pairs = np.concatenate([np.zeros((0, 2), "<u8"), *(table.pairs for table in parts)])
    ids, first = np.unique(definitions[:, 0], return_index=True)
    if not len(ids):
        pairs = pairs[:0]
    at = np.minimum(np.searchsorted(ids, pairs[:, 1]), max(len(ids) - 1, 0))
    is_defined = ids[at] == pairs[:, 1] if len(ids) else np.zeros(0, bool)
    referring, target = pairs[is_defined, 0], first[at[is_defined]]
    other = referring != definitions[target, 1]
    referring, target = referring[other], target[other]
    file_keys, numbers = np.unique(np.concatenate((referring, definitions[target, 1])), return_inverse=True)
    between = _distinct(*np.split(numbers.ravel(), 2))
    files, file_counts = np.unique(file_keys[between[:, 1]], return_counts=True)
    target = target[~is_whole[target]]
    symbols, counts = np.unique(target, return_counts=True)
    order = np.lexsort((lines[symbols], definitions[symbols, 1]))
    return {
        "files": files,
        "file_counts": file_counts.astype("<u4"),
        "symbol_files": definitions[symbols, 1][order],
        "symbol_lines": lines[symbols][order],
        "symbol_counts": counts[order].astype("<u4"),
    }


def count_rows(segment: Segment, paths: Sequence[str], columns: Mapping[str, Array]) -> dict[str, Array]:
    """Return the columns COUNTS, u32 [n], for n rows: the number of other files that refer to a
    definition that begins in the row's lines (the maximum of several definitions), and to its file
    at all. `columns` are the rows' path (ordinals into `paths`), start_line and end_line.
    """
    path = columns["path"]
    arrays = segment.arrays
    keys = keys_of(paths) if paths else np.zeros(0, "<u8")
    # The place of a row's file among the files with references, -1 for none.
    file_places = find_places(arrays["files"], keys)[path]
    by_file = np.where(file_places >= 0, arrays["file_counts"][file_places] if len(arrays["files"]) else 0, 0)
    file_keys, starts = np.unique(arrays["symbol_files"], return_index=True)
    place = find_places(file_keys, keys)[path]
    # One ascending number for each definition: its file's place, then its line.
    ranks = np.repeat(np.arange(len(file_keys)), np.diff([*starts, len(arrays["symbol_files"])]))
    at = (ranks << 32) + arrays["symbol_lines"]
    begin = np.searchsorted(at, (place << 32) + columns["start_line"])
    end = np.searchsorted(at, (place << 32) + columns["end_line"], side="right")
    some = np.flatnonzero((place >= 0) & (end > begin))
    by_row = np.zeros(len(path), "<u4")
    if len(some):
        padded = np.append(arrays["symbol_counts"], 0)
        spans = np.column_stack((begin[some], end[some])).ravel()
        by_row[some] = np.maximum.reduceat(padded, spans)[::2]
    return dict(zip(COUNTS, (by_row, by_file.astype("<u4")), strict=True))


def find_places(keys: Array, wanted: Array) -> Array:
    """Return the place of each of `wanted` in the ascending `keys`; -1 for absent keys."""
    if not len(keys):
        return np.full(len(wanted), -1)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, at, -1)
