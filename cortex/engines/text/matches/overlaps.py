"""Folding of overlapping hits, and their rows by key. Pure over the columns of Rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cortex.generation.read import Rows
from cortex.system.arrays import Array
from cortex.terms.records import covers

#: the lines of a file are the low bits of a (path, line) number
_LINE_BITS = 32
#: entries of the table of keys for each row; with more gaps, a search is better
_TABLE_SPARSE = 8


@dataclass(frozen=True, slots=True)
class ScoredRows:
    """Matching rows: `ordinals` i64 [n], `scores` float32 [n]."""

    ordinals: Array
    scores: Array

    def __len__(self) -> int:
        return len(self.ordinals)

    def take(self, which: Array) -> ScoredRows:
        return ScoredRows(self.ordinals[which], self.scores[which])


class Folds:
    """Tables for folding over all rows, computed once (10 ms for 60 000 rows)."""

    def __init__(self, rows: Rows) -> None:
        wanted = [at for at, name in enumerate(rows.names["type"]) if covers(name)]
        columns = rows.columns
        self._base = columns["path"].astype(np.int64) << _LINE_BITS
        self._start = columns["start_line"].astype(np.int64)
        self._end = columns["end_line"].astype(np.int64)
        covering = np.isin(columns["type"], wanted)
        self._views = np.flatnonzero(~covering & (self._end > 0))
        tiles = np.flatnonzero(covering & (self._end > 0) & rows.live)
        #: bool [all rows]: views of files without other chunks; they represent those files
        self.alone = (
            ~covering & rows.live & ~_in_files(rows, np.unique(columns["path"][covering & rows.live]))
        )
        #: bool [all rows]: rows for substring and regular expression search
        self.searched = (covering & rows.live) | self.alone
        first = self._base[tiles] + self._start[tiles]
        order = np.argsort(first, kind="stable")
        self._tiles = len(tiles)
        #: the covering rows in the order of files and lines
        self._order = tiles[order]
        #: for each row the places of the covering rows that overlap it: low … high - 1
        last = np.maximum.accumulate(self._base[tiles[order]] + self._end[tiles[order]])
        self._low = np.searchsorted(last, self._base + self._start, side="left")
        self._high = np.searchsorted(first[order], self._base + self._end, side="right")

    def fold(self, hits: Array) -> Array:
        """Assign each line of a file to one hit: bool [all rows] → bool [all rows].

        Code and documentation chunks tile their files, so they all stay. A chunk of another kind (a
        view of the same lines) stays if neither a hit of those nor a smaller view overlaps it.
        Chunks without lines stay.
        """
        views = self._views[hits[self._views]]
        if not len(views):
            return hits
        before = np.zeros(self._tiles + 2, np.int32)
        np.cumsum(hits[self._order], out=before[1:-1])
        before[-1] = before[-2]
        high, low = self._high[views], self._low[views]
        drop = before[np.maximum(high, low)] > before[low]
        remaining = hits.copy()
        remaining[views[drop]] = False
        remaining[self._larger(views[~drop])] = False
        return remaining

    def _larger(self, rows: Array) -> Array:
        """The views of `rows` that overlap a smaller one."""
        files = np.sort(self._base[rows])
        crowded = files[1:][files[1:] == files[:-1]]
        if not len(crowded):  # files with one view, the usual case
            return np.zeros(0, np.int64)
        rows = rows[np.isin(self._base[rows], crowded)]
        place = (self._base[rows], self._end[rows] - self._start[rows], self._start[rows])
        order = np.lexsort(place[::-1])
        smaller: list[tuple[int, int]] = []
        out: list[int] = []
        before = -1
        files, sizes, starts = (column[order].tolist() for column in place)
        for row, file, size, first in zip(rows[order].tolist(), files, sizes, starts, strict=True):
            if file != before:
                smaller, before = [], file
            last = first + size
            for other_first, other_last in smaller:
                if first <= other_last and other_first <= last:
                    out.append(row)
                    break
            else:
                smaller.append((first, last))
        return np.array(out, np.int64)


def _in_files(rows: Rows, files: Array) -> Array:
    """Bool [all rows]: the rows of `files` (ordinals of paths), none for the empty path."""
    with_path = [at for at in files.tolist() if rows.path_names[at]]
    return np.isin(rows.columns["path"], with_path)


class KeyIndex:
    """Row keys to ordinals, as Rows.locate but by a table: keys are consecutive."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._low = int(rows.keys.min()) if len(rows) else 0
        span = int(rows.keys.max()) - self._low + 1 if len(rows) else 0
        self._table: Array | None = None
        #: i64 [all rows]: each row's key as an offset from the lowest key; None when the table
        #: would have too many gaps
        self._offsets: Array | None = None
        if span <= _TABLE_SPARSE * len(rows):
            self._offsets = (rows.keys - np.uint64(self._low)).astype(np.int64)
            self._table = np.full(span, -1, np.int64)
            self._table[self._offsets[rows.live]] = np.flatnonzero(rows.live)

    def locate(self, keys: Array) -> Array:
        """u64 [m] keys → i64 [m] ordinals, -1 where absent or deleted."""
        if self._table is None:
            return self._rows.locate(keys)
        at = (keys - np.uint64(self._low)).astype(
            np.int64
        )  # a smaller key wraps round to one that is too large
        inside = (at >= 0) & (at < len(self._table))
        return np.where(inside, self._table[np.where(inside, at, 0)], -1) if len(self._table) else at * 0 - 1

    def mask(self, keys: Array) -> Array:
        """Bool [all rows]: the live rows with one of `keys` (u64 [m])."""
        out = np.zeros(len(self._rows), bool)
        ordinals = self.locate(keys)
        out[ordinals[ordinals >= 0]] = True
        return out

    def mask_of_bits(self, slots: Array, bits: Array) -> Array:
        """As `mask`, for keys `slots[i] * width + j` with `bits[i, j]`: u64 [m], u8 [m, width]."""
        width = bits.shape[1]
        if self._offsets is None:
            at, bit = np.nonzero(bits)
            return self.mask(slots[at] * np.uint64(width) + bit.astype(np.uint64))
        first = self._low // width
        places = (slots - np.uint64(first)).astype(np.int64)
        table = np.zeros((int(places.max(initial=0)) + 1, width), np.uint8)
        table[places] = bits
        flat = np.zeros(len(self._offsets) and int(self._offsets.max()) + 1 + self._low % width, np.uint8)
        size = min(len(flat), table.size)
        flat[:size] = table.reshape(-1)[:size]
        hits: Array = flat[self._offsets + self._low % width] > 0
        return hits & self._rows.live
