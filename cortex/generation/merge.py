"""Several segments of rows → one, without their deleted rows. Keys are kept, texts are not read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cortex.generation import postings, words
from cortex.generation.read import Rows
from cortex.generation.segment import Segment, write_segment
from ipc.arrays import Array


def merge_rows(path: Path, rows: Rows, which: Sequence[int]) -> tuple[int, int]:
    """Write the live rows of segments `which` as one segment, keys kept;
    returns (rows, rows with a vector).
    """
    segments = [rows.segments[at] for at in which]
    live = [rows.live[rows.starts[at] : rows.starts[at + 1]] for at in which]
    arrays: dict[str, Array] = {}
    for name in ("keys", "vectors", "has_vector", "digests", "start_line", "end_line"):
        parts = [_kept(s.arrays[name], keep) for s, keep in zip(segments, live, strict=True)]
        arrays[name] = np.concatenate(parts)
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
    lists = [
        _merge_ragged([s], [keep], "tag_offsets", "tags") for s, keep in zip(segments, live, strict=True)
    ]
    arrays["tags"] = np.concatenate([names[tags] for names, (_, tags) in zip(local, lists, strict=True)])
    sizes = np.concatenate([np.diff(offsets) for offsets, _ in lists])
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
    """The words and trigrams of the live rows of all segments,
    which go to `places` one after the other.
    """
    sources, first = [], 0
    for segment, keep in zip(segments, live, strict=True):
        rows = np.full(len(keep), -1, np.int64)
        kept = int(keep.sum())
        rows[keep] = places[first : first + kept]
        first += kept
        sources.append((segment.arrays, rows))
    grams = postings.merge("gram", [postings.Source(*source) for source in sources], len(places))
    return grams | words.merge_sections(sources, len(places))


def _kept(column: Array, keep: Array) -> Array:
    """The live rows of a column; without a copy where all are."""
    return column if keep.all() else column[keep]


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
        whole = segment.arrays[data]
        parts.append(whole if keep.all() else whole[np.repeat(keep, lengths)])
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
        # Row by row: a place for each byte takes sixteen times as much memory as the bytes.
        column, wide = arrays[data], arrays[offsets].astype(np.int64)
        edges = (wide * column.itemsize).tolist()
        view = column.data.cast("B") if column.size else memoryview(b"")
        raw = b"".join([view[edges[row] : edges[row + 1]] for row in order.tolist()])
        arrays[data] = np.frombuffer(raw, column.dtype)
        arrays[offsets] = np.concatenate([np.zeros(1, "<u8"), np.cumsum(np.diff(wide)[order])]).astype("<u8")
    for name in set(arrays) - set(ragged) - set(ragged.values()):
        arrays[name] = arrays[name][order]
