"""The rows of one generation: opened segments, a mask of the live rows, one table over them.
docs/SEGMENT.md.

A row is one version of one chunk. Its key is a u64 that is never used again; the engines and the
file of deleted keys identify rows by key.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import orjson

from cortex.generation.current import Generation, segment_files
from cortex.generation.filters import Masks, rows_with_tags
from cortex.generation.references import COUNTS, count_rows
from cortex.generation.segments import packing
from cortex.generation.segments.segment import Segment, join_column, number_names, open_segment
from cortex.system.arrays import Array
from cortex.terms.records import GENERATED, VENDORED, covers
from ipc.messages import Filters, Hit

#: columns that the engines add to each hit's signals: its reference counts (references.py), and
#: whether its tags mark it as generated or vendored
EXTRA_SIGNALS = (*COUNTS, "foreign")


@dataclass(frozen=True)
class Rows:
    """All rows of one generation, addressed by ordinal 0 … n-1 over its segments in order."""

    generation: int
    model: str
    dimensions: int
    segments: tuple[Segment, ...]
    starts: Array  #: i64 [segments + 1]: ordinal of each segment's first row
    keys: Array  #: u64 [n]
    live: Array  #: bool [n]
    path_names: list[str]
    #: path, type, language, model: ordinals; start_line, end_line: lines; and EXTRA_SIGNALS
    columns: dict[str, Array]
    names: dict[str, list[str]]  #: type, language, model, tag

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def live_count(self) -> int:
        return int(self.live.sum())

    @cached_property
    def _by_key(self) -> tuple[Array, Array]:
        """Return (u64 [n]: keys, ascending; i64 [n]: ordinals). Keys come nearly sorted."""
        order = np.argsort(self.keys, kind="stable")
        return self.keys[order], order

    @cached_property
    def masks(self) -> Masks:
        return Masks(self.segments, self.starts, self.live, self.path_names, self.columns, self.names)

    @property
    def hit_paths(self) -> list[str]:
        """The paths as hits contain them."""
        return self.path_names

    @cached_property
    def files_by_name(self) -> dict[str, list[int]]:
        """File name in lower case → the ordinals of the paths that end with it."""
        files: dict[str, list[int]] = {}
        for file, path in enumerate(self.path_names):
            files.setdefault(path.rpartition("/")[2].lower(), []).append(file)
        return files

    def locate(self, keys: Array) -> Array:
        """u64 [m] row keys → i64 [m] ordinals, -1 where a key is absent or deleted."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        sorted_keys, order = self._by_key
        at = np.searchsorted(sorted_keys, keys)
        at[at == len(self.keys)] = 0
        ordinals = order[at]
        matches = (sorted_keys[at] == keys) & self.live[ordinals]
        return np.where(matches, ordinals, -1)

    def hit(self, ordinal: int) -> Hit:
        return self.hits(np.array([ordinal]))[0]

    def hits(self, ordinals: Array) -> tuple[Hit, ...]:
        """Return the rows at `ordinals` (i64 [m]) as hits: columns are read once for all."""
        table, types, paths = self.columns, self.names["type"], self.hit_paths
        return tuple(
            Hit(key, name, types[kind], paths[path], start, end)
            for key, name, kind, path, start, end in zip(
                self.keys[ordinals].tolist(),
                self.ids(ordinals),
                *(table[name][ordinals].tolist() for name in ("type", "path", "start_line", "end_line")),
                strict=True,
            )
        )

    def extra_signals(self, ordinals: Array) -> Array:
        """Return float32 [len(EXTRA_SIGNALS), m]: signals at `ordinals`, equal for all queries."""
        return np.array([self.columns[name][ordinals] for name in EXTRA_SIGNALS], np.float32)

    def ids(self, ordinals: Array) -> list[str]:
        """Return the chunk ids of the rows at `ordinals`, in their order."""
        return [raw.decode() for raw in self.cuts("id", ordinals)]

    def chunk(self, ordinal: int, text: str | None = None) -> bytes:
        """Return the JSON of the chunk without its embedding; `text` is read unless passed."""
        text = self.text(ordinal) if text is None else text
        return join_chunk(self._read_packed(ordinal, "chunk"), text)

    def text(self, ordinal: int) -> str:
        return self.raw_text(ordinal)[:-1].decode()

    def raw_text(self, ordinal: int) -> bytes:
        """Return the text of the chunk as stored: UTF-8, and a line feed."""
        return self._read_packed(ordinal, "text")

    def cuts(self, what: Literal["chunk", "id", "text"], ordinals: Array) -> list[bytes]:
        """Return for many rows, in order: `raw_text`, the id, or the chunk's JSON without text."""
        out = [b""] * len(ordinals)
        of_row = np.searchsorted(self.starts, ordinals, side="right") - 1
        for at in set(of_row.tolist()):
            positions = np.flatnonzero(of_row == at)
            bodies = cut_rows(self.segments[at], what, ordinals[positions] - self.starts[at])
            for place, body in zip(positions.tolist(), bodies, strict=True):
                out[place] = body
        return out

    def _read_packed(self, ordinal: int, what: str) -> bytes:
        """Return the unpacked `what` of a row."""
        at = int(np.searchsorted(self.starts, ordinal, side="right")) - 1
        segment = self.segments[at]
        row = ordinal - int(self.starts[at])
        begin, end = segment.arrays[f"{what}_offsets"][row : row + 2].tolist()
        (body,) = packing.unpack(segment.path, [segment.bytes_of(f"{what}_bytes")[begin:end]])
        return body

    def lines_of(self, file: int) -> Array:
        """Return i64: the live rows that together cover each line of a file once, in the order of
        lines. `file` is the file's ordinal among the paths.
        """
        order, starts = self._file_rows
        return order[starts[file] : starts[file + 1]]

    @cached_property
    def _file_rows(self) -> tuple[Array, Array]:
        """Return (the rows of `lines_of` by file; each file's start); 10 ms for 100 000 rows."""
        kinds = [at for at, name in enumerate(self.names["type"]) if covers(name)]
        covering = np.flatnonzero(self.live & np.isin(self.columns["type"], kinds))
        paths = self.columns["path"][covering]
        order = np.lexsort((self.columns["start_line"][covering], paths))
        return covering[order], np.searchsorted(paths[order], np.arange(len(self.path_names) + 1))

    def column(self, name: str) -> Array:
        """Return column `name` of all rows, concatenated over the segments."""
        return join_column(self.segments, name, "<u8")

    def vectors(self, ordinals: Array) -> Array:
        """Return float16 [m, dimensions] of the rows at `ordinals` (in any order)."""
        out = np.zeros((len(ordinals), self.dimensions), np.float16)
        at = np.searchsorted(self.starts, ordinals, side="right") - 1
        for index in set(at.tolist()):
            positions = np.flatnonzero(at == index)
            out[positions] = self.segments[index].arrays["vectors"][ordinals[positions] - self.starts[index]]
        return out

    def mask(self, filters: Filters) -> Array:
        """Return bool [n]: live rows that match `filters`. Raises BadRequest for a bad glob."""
        return self.masks.mask(filters)


def cut_rows(segment: Segment, what: Literal["chunk", "id", "text"], rows: Array) -> list[bytes]:
    """As `Rows.cuts`, for the rows with these numbers (i64 [m]) in one segment."""
    data = segment.bytes_of(f"{what}_bytes")
    edges = (segment.arrays[f"{what}_offsets"][rows + after].tolist() for after in (0, 1))
    parts = [data[begin:end] for begin, end in zip(*edges, strict=True)]
    return list(map(bytes, parts)) if what == "id" else packing.unpack(segment.path, parts)


def join_chunk(head: bytes, text: str) -> bytes:
    """Return the JSON object of a chunk, from the object without its text and the text."""
    return b'%b,"text":%b}' % (head[:-1], orjson.dumps(text))


class _Metadata(msgspec.Struct):
    definitions: Any = None
    headings: Any = None


class _Chunk(msgspec.Struct):
    metadata: _Metadata | None = None


_read_chunk = msgspec.json.Decoder(_Chunk).decode


def read_definitions(chunk: bytes) -> tuple[Sequence[Any], Sequence[Any]]:
    """Return `definitions` and `headings` of a chunk's JSON, three times as fast as all of it."""
    metadata = _read_chunk(chunk).metadata or _Metadata()
    return metadata.definitions or (), metadata.headings or ()


def open_rows(generation: Generation, index_dir: Path, reuse: Rows | None = None) -> Rows:
    """Open the segments of `generation`. Segments that `reuse` has open are shared, unless the file
    has changed since.

    Raises NotFound or Damaged.
    """
    before = reuse.segments if reuse else ()
    opened = {segment.path.name: segment for segment in before if segment.is_there()}
    folder = index_dir / "segments"
    segments = tuple(opened.get(ref.name) or open_segment(folder / ref.name) for ref in generation.segments)
    deleted = np.zeros(0, "<u8")
    if generation.deleted:
        deleted = open_segment(folder / generation.deleted).arrays["keys"]
    rows = assemble(generation.number, generation.model, generation.dimensions, segments, deleted)
    if generation.references:
        counts = open_segment(folder / generation.references)
        rows.columns.update(count_rows(counts, rows.path_names, rows.columns))
    return rows


class Published:
    """A published generation as an engine opens it. Its rows are opened on first use: an engine
    that never reads them spends no memory on them.
    """

    def __init__(self, generation: Generation, index_dir: Path, reuse: Rows | None = None) -> None:
        """`reuse`: rows of another generation, whose opened segments are shared."""
        self.generation = generation
        self._dir = index_dir
        self._reuse = reuse
        #: the rows, once something has read them
        self.opened: Rows | None = None

    def files(self) -> list[Path]:
        """Return the files of the generation that publishing wrote, without CURRENT."""
        return [self._dir / "segments" / name for name in segment_files(self.generation)]

    @property
    def rows(self) -> Rows:
        """The rows. Raises NotFound or Damaged when a segment is missing or was changed."""
        if self.opened is None:
            self.opened = open_rows(self.generation, self._dir, self._reuse)
            self._reuse = None
        return self.opened


def assemble(number: int, model: str, dimensions: int, segments: tuple[Segment, ...], deleted: Array) -> Rows:
    """Return Rows over opened segments. Names that segments share get one ordinal."""
    counts = [len(segment.arrays["keys"]) for segment in segments]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    keys = join_column(segments, "keys", "<u8")
    live = ~np.isin(keys, deleted) if len(deleted) else np.ones(len(keys), bool)
    live.flags.writeable = False
    columns: dict[str, Array] = {}
    names: dict[str, list[str]] = {}
    for column in ("path", "type", "language", "model"):
        tables, names[column] = number_names(segment.meta[f"{column}_names"] for segment in segments)
        parts = [np.zeros(0, "<u4")]
        for table, segment in zip(tables, segments, strict=True):
            ordinals = segment.arrays[column]
            parts.append(table[ordinals] if len(ordinals) else ordinals)
        columns[column] = np.concatenate(parts)
    for column in ("start_line", "end_line"):
        columns[column] = join_column(segments, column, "<u4")
    columns |= {name: np.zeros(len(keys), "<u4") for name in COUNTS}
    columns["foreign"] = rows_with_tags(segments, starts, (GENERATED, VENDORED))
    names["tag"] = sorted({tag for segment in segments for tag in segment.meta["tag_names"]})
    path_names = names.pop("path")
    return Rows(
        generation=number,
        model=model,
        dimensions=dimensions,
        segments=segments,
        starts=starts,
        keys=keys,
        live=live,
        path_names=path_names,
        columns=columns,
        names=names,
    )
