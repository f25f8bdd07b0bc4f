"""Folds overlapping hits, and orders what is left. Pure over the columns of Rows; arrays in, arrays out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cortex.records import COVERING_TYPES
from cortex.rows import Rows
from ipc.messages import Array

#: the lines of a file are the low bits of a (path, line) number
_LINE_BITS = 32
#: entries of the table of keys for each row; with more gaps than that, searching is better
_TABLE_SPARSE = 8


@dataclass(frozen=True, slots=True)
class Found:
    """Matching rows: `ordinals` i64 [n], `scores` float32 [n]."""

    ordinals: Array
    scores: Array

    def __len__(self) -> int:
        return len(self.ordinals)

    def take(self, which: Array) -> Found:
        return Found(self.ordinals[which], self.scores[which])


class Folds:
    """What folding needs to know of all rows of a generation, worked out once (10 ms for 60 000 rows)."""

    def __init__(self, rows: Rows) -> None:
        wanted = [at for at, name in enumerate(rows.names["type"]) if name in COVERING_TYPES]
        columns = rows.columns
        self._base = columns["path"].astype(np.int64) << _LINE_BITS
        self._start = columns["start_line"].astype(np.int64)
        self._end = columns["end_line"].astype(np.int64)
        covering = np.isin(columns["type"], wanted)
        self._view = ~covering & (self._end > 0)
        tiles = np.flatnonzero(covering & (self._end > 0) & rows.live)
        #: bool [all rows]: those that substring and regular expression search look at
        self.covering = covering & rows.live
        first = self._base[tiles] + self._start[tiles]
        order = np.argsort(first, kind="stable")
        self._tiles = len(tiles)
        #: the place of each covering row in the order of files and lines; the last place for the others
        self._place = np.full(len(rows), self._tiles, np.int64)
        self._place[tiles[order]] = np.arange(self._tiles)
        #: for each row the places of the covering rows that overlap it: low … high - 1
        last = np.maximum.accumulate(self._base[tiles[order]] + self._end[tiles[order]])
        self._low = np.searchsorted(last, self._base + self._start, side="left")
        self._high = np.searchsorted(first[order], self._base + self._end, side="right")

    def fold(self, found: Found) -> Found:
        """Leave each line of a file to one hit.

        Code and documentation chunks tile their files, so they all stay; a chunk of another kind (a view of the same
        lines) stays where no hit of those overlaps it and no smaller view does. Chunks without lines stay.
        """
        views = np.flatnonzero(self._view[found.ordinals])
        if not len(views):
            return found
        hit = np.zeros(self._tiles + 2, np.int64)
        hit[self._place[found.ordinals] + 1] = 1
        hit[self._tiles + 1] = 0  # the place of everything that is no tile
        before = np.cumsum(hit)
        at = found.ordinals[views]
        drop = np.zeros(len(found), bool)
        drop[views] = before[np.maximum(self._high[at], self._low[at])] > before[self._low[at]]
        self._fold_views(found.ordinals, views[~drop[views]], drop)
        return found.take(~drop)

    def _fold_views(self, ordinals: Array, views: Array, drop: Array) -> None:
        """Mark in `drop` the views that overlap a smaller one. Files with one view, the usual case, cost nothing."""
        rows = ordinals[views]
        _, inverse, counts = np.unique(self._base[rows], return_inverse=True, return_counts=True)
        crowded = counts[inverse] > 1
        views, rows = views[crowded], rows[crowded]
        order = np.lexsort((self._start[rows], self._end[rows] - self._start[rows], self._base[rows]))
        kept: list[tuple[int, int]] = []
        file = -1
        for at in order.tolist():
            row = rows[at]
            if self._base[row] != file:
                kept, file = [], int(self._base[row])
            first, last = int(self._start[row]), int(self._end[row])
            if any(first <= other_last and other_first <= last for other_first, other_last in kept):
                drop[views[at]] = True
            else:
                kept.append((first, last))


class Places:
    """Row keys to ordinals, as Rows.locate but by a table: keys are handed out one after the other."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._low = int(rows.keys.min()) if len(rows) else 0
        span = int(rows.keys.max()) - self._low + 1 if len(rows) else 0
        self._table: Array | None = None
        if span <= _TABLE_SPARSE * len(rows):
            self._table = np.full(span, -1, np.int64)
            self._table[(rows.keys[rows.live] - np.uint64(self._low)).astype(np.int64)] = np.flatnonzero(
                rows.live
            )

    def locate(self, keys: Array) -> Array:
        """u64 [m] keys → i64 [m] ordinals, -1 where absent or deleted."""
        if self._table is None:
            return self._rows.locate(keys)
        at = (keys - np.uint64(self._low)).astype(
            np.int64
        )  # a smaller key wraps round to one that is too large
        inside = (at >= 0) & (at < len(self._table))
        return np.where(inside, self._table[np.where(inside, at, 0)], -1) if len(self._table) else at * 0 - 1


def page(found: Found, ranks: Array, offset: int, limit: int) -> Found:
    """Hits `offset` … of the order: score descending, then `ranks` (i64 [all rows], by chunk id) ascending."""
    count = min(offset + limit, len(found))
    if count <= offset:
        return found.take(np.zeros(0, np.int64))
    # Everything at least as good as the last one of the page, so that ties at the cut are ordered, too.
    cut = np.partition(found.scores, len(found) - count)[len(found) - count]
    best = np.flatnonzero(found.scores >= cut)
    order = np.lexsort((ranks[found.ordinals[best]], -found.scores[best]))
    return found.take(best[order][offset:count])
