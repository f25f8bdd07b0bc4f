"""The rows of one generation: opened segments, what of them is live, and how rows are written. docs/SEGMENT.md.

A row is one version of one chunk. Its key is a u64 that is never used again; the text index, the HNSW index and the
deleted-keys file all speak of rows by key. `Rows` is frozen once opened; its caches hold derived values only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from pathspec import GitIgnoreSpec

from cortex.generation import postings, trigrams, words
from cortex.generation.current import Generation
from cortex.generation.references import COUNTS, count_rows
from cortex.generation.segment import Segment, open_segment, write_segment
from cortex.terms.records import COVERING_TYPES
from ipc.arrays import Array
from ipc.errors import BadRequest
from ipc.messages import Filters, Hit

#: filters whose masks one snapshot remembers; an agent repeats few
MASKS_MAX = 64
#: bytes of a row's digest (BLAKE2b over every field and the vector)
DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it is written. `vector` is float32 [dimensions] of unit length or None; `chunk` has no embedding."""

    key: int
    chunk: dict[str, Any]
    chunk_file: str
    digest: bytes
    vector: Array | None
    model: str


def write_rows(path: Path, rows: Sequence[Row], dimensions: int) -> int:
    """Write rows, ascending by key, as a segment; returns how many have a vector."""
    table = _Tables()
    vectors = np.zeros((len(rows), dimensions), "<f2")
    has_vector = np.zeros(len(rows), "|u1")
    bodies: list[bytes] = []
    texts: list[bytes] = []
    for at, row in enumerate(rows):
        if row.vector is not None and len(row.vector) == dimensions:
            vectors[at] = row.vector
            has_vector[at] = 1
        table.add(row)
        bodies.append(orjson.dumps({name: value for name, value in row.chunk.items() if name != "text"}))
        texts.append(f"{row.chunk.get('text') or ''}\n".encode())
    ids = [str(row.chunk["id"]).encode() for row in rows]
    arrays = {
        "keys": np.array([row.key for row in rows], "<u8"),
        "vectors": vectors,
        "has_vector": has_vector,
        "digests": np.frombuffer(b"".join(row.digest for row in rows), "|u1").reshape(
            len(rows), DIGEST_BYTES
        ),
        "chunk_offsets": _offsets(bodies, "<u8"),
        "chunk_bytes": np.frombuffer(b"".join(bodies), "|u1"),
        "text_offsets": _offsets(texts, "<u8"),
        "text_bytes": np.frombuffer(b"".join(texts), "|u1"),
        "id_offsets": _offsets(ids, "<u8"),
        "id_bytes": np.frombuffer(b"".join(ids), "|u1"),
        **table.arrays(),
    }
    meta = {"dimensions": dimensions, **table.names()}
    write_segment(path, arrays | _tables(arrays, meta), meta)
    return int(has_vector.sum())


def _tables(arrays: dict[str, Array], meta: dict[str, Any]) -> dict[str, Array]:
    """The words of all rows, and the trigrams of those rows that hold each line of a file once."""
    covering = [at for at, name in enumerate(meta["type_names"]) if name in COVERING_TYPES]
    data = arrays["text_bytes"].data
    texts = [bytes(data[begin:end]) for begin, end in pairwise(arrays["text_offsets"].tolist())]
    wanted = np.isin(arrays["type"], covering).tolist()
    grams = trigrams.make_sections([text if want else None for text, want in zip(texts, wanted, strict=True)])
    return grams | words.make_sections(text.decode() for text in texts)


def _offsets(parts: Sequence[bytes], dtype: str) -> Array:
    offsets = np.zeros(len(parts) + 1, dtype)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return offsets


class _Tables:
    """Collects the columns whose values repeat: each as a table of names and an ordinal for each row."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, int]] = {
            column: {} for column in ("path", "type", "language", "chunk_file", "model", "tag")
        }
        self._columns: dict[str, list[int]] = {
            c: [] for c in ("path", "type", "language", "chunk_file", "model")
        }
        self._lines: list[tuple[int, int]] = []
        self._tags: list[int] = []
        self._tag_offsets: list[int] = [0]

    def add(self, row: Row) -> None:
        metadata = row.chunk.get("metadata") or {}
        values = {
            "path": str(metadata.get("file_path") or ""),
            "type": str(row.chunk.get("chunk_type") or ""),
            "language": str(metadata.get("language") or "").lower(),
            "chunk_file": row.chunk_file,
            "model": row.model,
        }
        for column, value in values.items():
            self._columns[column].append(self._ordinal(column, value))
        self._lines.append((_line(metadata.get("start_line")), _line(metadata.get("end_line"))))
        self._tags.extend(self._ordinal("tag", str(tag).lower()) for tag in row.chunk.get("tags") or ())
        self._tag_offsets.append(len(self._tags))

    def _ordinal(self, column: str, value: str) -> int:
        names = self._names[column]
        return names.setdefault(value, len(names))

    def arrays(self) -> dict[str, Array]:
        lines = np.array(self._lines, "<u4").reshape(-1, 2)
        columns = {column: np.array(values, "<u4") for column, values in self._columns.items()}
        return columns | {
            "start_line": lines[:, 0],
            "end_line": lines[:, 1],
            "tags": np.array(self._tags, "<u4"),
            "tag_offsets": np.array(self._tag_offsets, "<u8"),
        }

    def names(self) -> dict[str, list[str]]:
        return {f"{column}_names": list(names) for column, names in self._names.items()}


def _line(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 1 << 32 else 0


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
    #: path, type, language, model: ordinals; start_line, end_line: lines; references, file_references: references.py
    columns: dict[str, Array]
    names: dict[str, list[str]]  #: type, language, model, tag
    _by_key: Array
    _sorted_keys: Array
    _masks: dict[Filters, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def live_count(self) -> int:
        return int(self.live.sum())

    def locate(self, keys: Array) -> Array:
        """u64 [m] row keys → i64 [m] ordinals, -1 where a key is absent or deleted."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        at = np.searchsorted(self._sorted_keys, keys)
        at[at == len(self.keys)] = 0
        ordinals = self._by_key[at]
        found = (self._sorted_keys[at] == keys) & self.live[ordinals]
        return np.where(found, ordinals, -1)

    def hit(self, ordinal: int) -> Hit:
        return Hit(
            key=int(self.keys[ordinal]),
            id=self.id(ordinal),
            chunk_type=self.names["type"][self.columns["type"][ordinal]],
            path=self.path_names[self.columns["path"][ordinal]],
            start_line=int(self.columns["start_line"][ordinal]),
            end_line=int(self.columns["end_line"][ordinal]),
        )

    def hits(self, ordinals: Array) -> tuple[Hit, ...]:
        """`hit` for each of `ordinals` (i64 [m]), at a fifth of the cost: columns are read once for all."""
        table, types = self.columns, self.names["type"]
        return tuple(
            Hit(key, name, types[kind], self.path_names[path], start, end)
            for key, name, kind, path, start, end in zip(
                self.keys[ordinals].tolist(),
                self.ids(ordinals),
                *(table[name][ordinals].tolist() for name in ("type", "path", "start_line", "end_line")),
                strict=True,
            )
        )

    def counts(self, ordinals: Array) -> Array:
        """float32 [len(COUNTS), m]: who refers to the rows at `ordinals`."""
        return np.array([self.columns[name][ordinals] for name in COUNTS], np.float32)

    def ids(self, ordinals: Array) -> list[str]:
        """The chunk ids of the rows at `ordinals`, in their order."""
        out = [""] * len(ordinals)
        segments = np.searchsorted(self.starts, ordinals, side="right") - 1
        for at in np.unique(segments).tolist():
            arrays = self.segments[at].arrays
            here = np.flatnonzero(segments == at)
            rows = ordinals[here] - self.starts[at]
            data = memoryview(arrays["id_bytes"])
            spans = zip(
                here.tolist(),
                arrays["id_offsets"][rows].tolist(),
                arrays["id_offsets"][rows + 1].tolist(),
                strict=True,
            )
            for place, begin, end in spans:
                out[place] = bytes(data[begin:end]).decode()
        return out

    def id(self, ordinal: int) -> str:
        return self._cut(ordinal, "id").decode()

    def chunk(self, ordinal: int, text: str | None = None) -> bytes:
        """The JSON object of the chunk, without its embedding. Its `text` is looked up if it is not given."""
        text = self.text(ordinal) if text is None else text
        return b'%b,"text":%b}' % (self._cut(ordinal, "chunk")[:-1], orjson.dumps(text))

    def text(self, ordinal: int) -> str:
        """The text of the chunk."""
        return self.raw_text(ordinal)[:-1].decode()

    def raw_text(self, ordinal: int) -> bytes:
        """The text of the chunk as it is stored: UTF-8, and a line feed."""
        return self._cut(ordinal, "text")

    def _cut(self, ordinal: int, what: str) -> bytes:
        at = int(np.searchsorted(self.starts, ordinal, side="right")) - 1
        arrays = self.segments[at].arrays
        row = ordinal - int(self.starts[at])
        begin, end = arrays[f"{what}_offsets"][row : row + 2]
        return arrays[f"{what}_bytes"][begin:end].tobytes()

    def column(self, name: str) -> Array:
        """Column `name` of all rows, concatenated over the segments."""
        if not self.segments:
            return np.zeros(0, "<u8")
        return np.concatenate([segment.arrays[name] for segment in self.segments])

    def vectors(self, ordinals: Array) -> Array:
        """float32 [m, dimensions] of the rows at `ordinals` (ascending or not)."""
        out = np.zeros((len(ordinals), self.dimensions), np.float32)
        at = np.searchsorted(self.starts, ordinals, side="right") - 1
        for index, segment in enumerate(self.segments):
            here = np.flatnonzero(at == index)
            if len(here):
                out[here] = segment.arrays["vectors"][ordinals[here] - self.starts[index]]
        return out

    def mask(self, filters: Filters) -> Array:
        """Bool [n]: rows that are live and match `filters`. Raises BadRequest for a glob that cannot be read."""
        known = self._masks.get(filters)
        if known is None:
            known = self._make_mask(filters)
            known.flags.writeable = False
            if len(self._masks) >= MASKS_MAX:
                self._masks.clear()
            self._masks[filters] = known
        return known

    def _make_mask(self, filters: Filters) -> Array:
        mask = self.live.copy()
        if filters.chunk_types:
            mask &= self._in(filters.chunk_types, "type")
        if filters.language:
            mask &= self._in((filters.language.lower(),), "language")
        for tag in self._split_tags(filters)[0]:
            mask &= self._tagged(tag)
        paths = self.paths(filters)
        if paths is not None:
            wanted = set(paths)
            table = np.array([name in wanted for name in self.path_names], bool)
            mask &= table[self.columns["path"]] if len(table) else False
        return mask

    def _in(self, values: Iterable[str], column: str) -> Array:
        names = self.names[column]
        wanted = [names.index(value) for value in values if value in names]
        return np.isin(self.columns[column], wanted)

    def _tagged(self, tag: str) -> Array:
        out = np.zeros(len(self), bool)
        for start, segment in zip(self.starts, self.segments, strict=False):
            names = segment.meta["tag_names"]
            if tag in names:
                uses = np.flatnonzero(segment.arrays["tags"] == names.index(tag))
                rows = np.searchsorted(segment.arrays["tag_offsets"], uses, side="right") - 1
                out[rows + start] = True
        return out

    def paths(self, filters: Filters) -> list[str] | None:
        """The files that the path filters keep (globs as in .gitignore), or None when no path filter is set.

        A tag that equals a file's path acts as a path.
        """
        exact = self._split_tags(filters)[1]
        if not (filters.paths or filters.exclude_paths or exact):
            return None
        kept = [path for path in self.path_names if not exact or path in exact]
        if filters.paths:
            spec = _spec(filters.paths)
            kept = [path for path in kept if spec.match_file(path)]
        if filters.exclude_paths:
            spec = _spec(filters.exclude_paths)
            kept = [path for path in kept if not spec.match_file(path)]
        return kept

    def _split_tags(self, filters: Filters) -> tuple[list[str], set[str]]:
        """(real tags, lower-cased; tags that are file paths)"""
        if not filters.tags:
            return [], set()
        files = {tag for tag in filters.tags if ("/" in tag or "." in tag) and tag in self._path_set()}
        return [tag.lower() for tag in filters.tags if tag not in files], files

    def _path_set(self) -> frozenset[str]:
        return frozenset(self.path_names)


def _spec(globs: Sequence[str]) -> GitIgnoreSpec:
    try:
        return GitIgnoreSpec.from_lines([glob.removeprefix("./") for glob in globs])
    except ValueError as error:
        raise BadRequest(f"A path glob cannot be read: {error}; write it as in .gitignore.") from error


def open_rows(generation: Generation, index_dir: Path, reuse: Rows | None = None) -> Rows:
    """Open the segments of `generation`; those that `reuse` has open are shared. Raises NotFound or Damaged."""
    opened = {segment.path.name: segment for segment in reuse.segments} if reuse else {}
    folder = index_dir / "segments"
    segments = tuple(opened.get(ref.name) or open_segment(folder / ref.name) for ref in generation.segments)
    deleted = np.zeros(0, "<u8")
    if generation.deleted:
        deleted = open_segment(folder / generation.deleted).arrays["keys"]
    rows = assemble(generation.number, generation.model, generation.dimensions, segments, deleted)
    if generation.references:
        counts = open_segment(index_dir / "graph" / generation.references)
        rows.columns.update(count_rows(counts, rows.path_names, rows.columns))
    return rows


def assemble(number: int, model: str, dimensions: int, segments: tuple[Segment, ...], deleted: Array) -> Rows:
    """Rows over opened segments. Names that segments share get one ordinal."""
    counts = [len(segment.arrays["keys"]) for segment in segments]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    keys = np.concatenate([s.arrays["keys"] for s in segments]) if segments else np.zeros(0, "<u8")
    by_key = np.argsort(keys, kind="stable")
    live = ~np.isin(keys, deleted) if len(deleted) else np.ones(len(keys), bool)
    live.flags.writeable = False
    columns: dict[str, Array] = {}
    names: dict[str, list[str]] = {}
    for column in ("path", "type", "language", "model"):
        table: dict[str, int] = {}
        parts: list[Array] = []
        for segment in segments:
            local = np.array(
                [table.setdefault(n, len(table)) for n in segment.meta[f"{column}_names"]], "<u4"
            )
            ordinals = segment.arrays[column]
            parts.append(local[ordinals] if len(ordinals) else ordinals)
        columns[column] = np.concatenate(parts) if parts else np.zeros(0, "<u4")
        names[column] = list(table)
    for column in ("start_line", "end_line"):
        columns[column] = (
            np.concatenate([s.arrays[column] for s in segments]) if segments else np.zeros(0, "<u4")
        )
    columns |= {name: np.zeros(len(keys), "<u4") for name in COUNTS}
    names["tag"] = sorted({tag for segment in segments for tag in segment.meta["tag_names"]})
    return Rows(
        generation=number,
        model=model,
        dimensions=dimensions,
        segments=segments,
        starts=starts,
        keys=keys,
        live=live,
        path_names=names.pop("path"),
        columns=columns,
        names=names,
        _by_key=by_key,
        _sorted_keys=keys[by_key],
    )


def merge_rows(path: Path, rows: Rows, which: Sequence[int]) -> tuple[int, int]:
    """Write the live rows of segments `which` as one segment, keys kept; returns (rows, rows with a vector)."""
    segments = [rows.segments[at] for at in which]
    live = [rows.live[rows.starts[at] : rows.starts[at + 1]] for at in which]
    arrays: dict[str, Array] = {}
    for name in ("keys", "vectors", "has_vector", "digests", "start_line", "end_line"):
        arrays[name] = np.concatenate([s.arrays[name][keep] for s, keep in zip(segments, live, strict=True)])
    meta: dict[str, Any] = {"dimensions": rows.dimensions}
    for column in ("path", "type", "language", "chunk_file", "model"):
        arrays[column], meta[f"{column}_names"] = _merge_names(segments, live, column)
    for what in ("chunk", "text", "id"):
        offsets, data = f"{what}_offsets", f"{what}_bytes"
        arrays[offsets], arrays[data] = _merge_ragged(segments, live, offsets, data)
    table: dict[str, int] = {}
    local = [
        np.array([table.setdefault(n, len(table)) for n in s.meta["tag_names"]], "<u4") for s in segments
    ]
    parts = [
        _merge_ragged([s], [keep], "tag_offsets", "tags") for s, keep in zip(segments, live, strict=True)
    ]
    arrays["tags"] = np.concatenate([names[tags] for names, (_, tags) in zip(local, parts, strict=True)])
    sizes = np.concatenate([np.diff(offsets) for offsets, _ in parts])
    arrays["tag_offsets"] = np.concatenate([np.zeros(1, "<u8"), np.cumsum(sizes)]).astype("<u8")
    meta["tag_names"] = list(table)
    count = len(arrays["keys"])
    places = np.empty(count, np.int64)
    places[np.argsort(arrays["keys"])] = np.arange(count)
    _sort_by_key(arrays)
    if count:
        write_segment(path, arrays | _merge_tables(segments, live, places), meta)
    return count, int(arrays["has_vector"].sum())


def _merge_tables(segments: Sequence[Segment], live: Sequence[Array], places: Array) -> dict[str, Array]:
    """The words and trigrams of the live rows of all segments, which go to `places` one after the other."""
    sources, first = [], 0
    for segment, keep in zip(segments, live, strict=True):
        rows = np.full(len(keep), -1, np.int64)
        kept = int(keep.sum())
        rows[keep] = places[first : first + kept]
        first += kept
        sources.append((segment.arrays, rows))
    grams = postings.merge("gram", [postings.Source(*source) for source in sources], len(places))
    return grams | words.merge_sections(sources, len(places))


def _merge_names(segments: Sequence[Segment], live: Sequence[Array], column: str) -> tuple[Array, list[str]]:
    """One table of the names that are still used, and each row's ordinal in it."""
    table: dict[str, int] = {}
    parts = []
    for segment, keep in zip(segments, live, strict=True):
        names, ordinals = segment.meta[f"{column}_names"], segment.arrays[column][keep]
        used, inverse = np.unique(ordinals, return_inverse=True)
        local = np.array([table.setdefault(names[at], len(table)) for at in used.tolist()], "<u4")
        parts.append(local[inverse] if len(local) else ordinals)
    return np.concatenate(parts).astype("<u4"), list(table)


def _merge_ragged(
    segments: Sequence[Segment], live: Sequence[Array], offsets: str, data: str
) -> tuple[Array, Array]:
    """Offsets and data of the live rows of a column whose rows differ in length."""
    sizes, parts = [], []
    for segment, keep in zip(segments, live, strict=True):
        lengths = np.diff(segment.arrays[offsets]).astype(np.int64)
        sizes.append(lengths[keep])
        parts.append(segment.arrays[data][np.repeat(keep, lengths)])
    merged = np.concatenate([np.zeros(1, "<u8"), np.cumsum(np.concatenate(sizes))]).astype("<u8")
    return merged, np.concatenate(parts)


def _sort_by_key(arrays: dict[str, Array]) -> None:
    """Put all columns in the order of the keys, in place; mostly they are already."""
    keys = arrays["keys"]
    if np.all(keys[:-1] < keys[1:]):
        return
    order = np.argsort(keys)
    ragged = {f"{what}_offsets": f"{what}_bytes" for what in ("chunk", "text", "id")} | {
        "tag_offsets": "tags"
    }
    for offsets, data in ragged.items():
        wide = arrays[offsets].astype(np.int64)
        starts, lengths = wide[:-1][order], np.diff(wide)[order]
        ends = np.cumsum(lengths)
        at = np.repeat(starts - (ends - lengths), lengths) + np.arange(int(ends[-1]) if len(ends) else 0)
        arrays[data] = arrays[data][at]
        arrays[offsets] = np.concatenate([np.zeros(1, "<u8"), ends]).astype("<u8")
    for name in set(arrays) - set(ragged) - set(ragged.values()):
        arrays[name] = arrays[name][order]
