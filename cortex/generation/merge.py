"""Merging of row segments into one, without their deleted rows. Keys stay, texts are not decoded.

Large columns go from file to file in portions, and the pages that were read are released: a merge
holds in memory only the small columns and the tables of words and trigrams.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from cortex.generation.read import Rows
from cortex.generation.segments import postings, words
from cortex.generation.segments.segment import Blocks, Segment, number_names, write_segment
from cortex.system.arrays import Array

#: rows after which pages are released: some 6 MB of text
PORTION_ROWS = 4096


def merge_rows(path: Path, rows: Rows, which: Sequence[int]) -> tuple[int, int]:
    """Write the live rows of segments `which` as one segment, with their keys; return (rows, rows
    with a vector).
    """
    segments = [rows.segments[at] for at in which]
    live = [rows.live[rows.starts[at] : rows.starts[at + 1]] for at in which]
    keys = np.concatenate([s.arrays["keys"][keep] for s, keep in zip(segments, live, strict=True)])
    count = len(keys)
    if not count:
        return 0, 0
    by_key = np.argsort(keys)
    places = np.empty(count, np.int64)
    places[by_key] = np.arange(count)
    order = _Order(
        tuple(segments),
        np.repeat(np.arange(len(segments)), [int(keep.sum()) for keep in live])[by_key],
        np.concatenate([np.flatnonzero(keep) for keep in live])[by_key],
    )
    has_vector = order.small_column("has_vector")
    meta: dict[str, Any] = {"dimensions": rows.dimensions}
    lean = any("text_bytes" not in segment.arrays for segment in segments)
    sections: dict[str, Array | Blocks] = {
        "keys": keys[by_key],
        **({} if lean else {"vectors": order.large_column("vectors")}),
        "has_vector": has_vector,
        **{name: order.small_column(name) for name in ("digests", "start_line", "end_line")},
    }
    for column in ("path", "type", "language", "chunk_file", "model"):
        ordinals, meta[f"{column}_names"] = _merge_names(segments, live, column)
        sections[column] = ordinals[by_key]
    if not lean:
        sections["text_sizes"] = order.small_column("text_sizes")
    for what in ("id",) if lean else ("chunk", "text", "id"):
        sections |= order.ragged_column(f"{what}_offsets", f"{what}_bytes")
    tags, meta["tag_names"] = order.tags()
    sections |= tags | _merge_tables(segments, live, places, lean=lean)
    write_segment(path, sections, meta)
    return count, int(has_vector.sum())


@dataclass(frozen=True, slots=True)
class _Order:
    """Rows in the order of writing: `of` is the segment of each, `rows` its row there (i64)."""

    segments: tuple[Segment, ...]
    of: Array
    rows: Array

    def runs(self) -> Iterator[tuple[Segment, int, int]]:
        """Yield (segment, first row, end row) of runs of at most PORTION_ROWS consecutive rows."""
        breaks = (np.diff(self.of) != 0) | (np.diff(self.rows) != 1)
        for first, end in pairwise([0, *(np.flatnonzero(breaks) + 1).tolist(), len(self.rows)]):
            segment, row = self.segments[int(self.of[first])], int(self.rows[first])
            for start in range(0, end - first, PORTION_ROWS):
                yield segment, row + start, row + min(start + PORTION_ROWS, end - first)

    def small_column(self, name: str) -> Array:
        return np.concatenate([segment.arrays[name][first:end] for segment, first, end in self.runs()])

    def large_column(self, name: str) -> Blocks:
        like = self.segments[0].arrays[name]
        return Blocks(like.dtype.str, (len(self.rows), *like.shape[1:]), self._portions(name))

    def ragged_column(self, offsets: str, data: str) -> dict[str, Array | Blocks]:
        """Return offsets and bytes of a column whose rows differ in length."""
        ends = self._ends(offsets)
        return {offsets: ends, data: Blocks("|u1", (int(ends[-1]),), self._portions(data, offsets))}

    def tags(self) -> tuple[dict[str, Array], list[str]]:
        """Return the tags of each row, as ordinals in one table of tag names, and that table."""
        tables, names = number_names(segment.meta["tag_names"] for segment in self.segments)
        local = dict(zip(map(id, self.segments), tables, strict=True))
        parts = [
            local[id(segment)][_cut(segment, "tags", "tag_offsets", first, end)]
            for segment, first, end in self.runs()
        ]
        tags = np.concatenate(parts).astype("<u4")
        return {"tags": tags, "tag_offsets": self._ends("tag_offsets")}, names

    def _ends(self, offsets: str) -> Array:
        sizes = [np.diff(segment.arrays[offsets][first : end + 1]) for segment, first, end in self.runs()]
        return postings.ends_of(np.concatenate(sizes))

    def _portions(self, name: str, offsets: str = "") -> Iterator[Array]:
        """Yield a column in portions, and release the pages of the mapped files meanwhile."""
        read = 0
        for segment, first, end in self.runs():
            yield _cut(segment, name, offsets, first, end) if offsets else segment.arrays[name][first:end]
            read += end - first
            if read >= PORTION_ROWS:
                read = 0
                for mapped in self.segments:
                    mapped.let_go()


def _cut(segment: Segment, name: str, offsets: str, first: int, end: int) -> Array:
    begin, after = segment.arrays[offsets][[first, end]].tolist()
    return segment.arrays[name][begin:after]


def _merge_tables(
    segments: Sequence[Segment], live: Sequence[Array], places: Array, *, lean: bool
) -> dict[str, Array]:
    """Return the tables of words and trigrams for the live rows of all segments. `places` are the
    new rows of all live rows, segment after segment.
    """
    sources, first = [], 0
    for segment, keep in zip(segments, live, strict=True):
        rows = np.full(len(keep), -1, np.int64)
        live_count = int(keep.sum())
        rows[keep] = places[first : first + live_count]
        first += live_count
        sources.append((segment.arrays, rows))
    grams: dict[str, Array] = {}
    if not lean:
        grams = postings.merge("gram", [postings.MergeSource(*source) for source in sources], len(places))
    return grams | words.merge_sections(sources, len(places))


def _merge_names(segments: Sequence[Segment], live: Sequence[Array], column: str) -> tuple[Array, list[str]]:
    """Return one table of the names that are still in use, and each row's ordinal in it."""
    table: dict[str, int] = {}
    parts = []
    for segment, keep in zip(segments, live, strict=True):
        names, ordinals = segment.meta[f"{column}_names"], segment.arrays[column][keep]
        used, inverse = np.unique(ordinals, return_inverse=True)
        local = np.array([table.setdefault(names[at], len(table)) for at in used.tolist()], "<u4")
        parts.append(local[inverse] if len(local) else ordinals)
    return np.concatenate(parts).astype("<u4"), list(table)
