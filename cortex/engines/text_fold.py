"""Folds overlapping hits, and orders what is left. Pure over the columns of Rows; arrays in, arrays out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cortex.records import COVERING_TYPES
from cortex.rows import Rows
from ipc.messages import Array

#: the lines of a file are the low bits of a (path, line) number
_LINE_BITS = 32


@dataclass(frozen=True, slots=True)
class Found:
    """Matching rows: `ordinals` i64 [n], `scores` float32 [n]."""

    ordinals: Array
    scores: Array

    def __len__(self) -> int:
        return len(self.ordinals)

    def take(self, which: Array) -> Found:
        return Found(self.ordinals[which], self.scores[which])


def fold(rows: Rows, found: Found) -> Found:
    """Leave each line of a file to one hit.

    Code and documentation chunks tile their files, so they all stay; a chunk of another kind (a view of the same
    lines) stays where no hit of those overlaps it and no smaller view does. Chunks without lines stay.
    """
    wanted = [at for at, name in enumerate(rows.names["type"]) if name in COVERING_TYPES]
    covering = np.isin(rows.columns["type"][found.ordinals], wanted)
    start = rows.columns["start_line"][found.ordinals].astype(np.int64)
    end = rows.columns["end_line"][found.ordinals].astype(np.int64)
    base = rows.columns["path"][found.ordinals].astype(np.int64) << _LINE_BITS
    views = np.flatnonzero(~covering & (end > 0))
    if not len(views):
        return found
    drop = np.zeros(len(found), bool)
    tiles = np.flatnonzero(covering & (end > 0))
    if len(tiles):
        tiles = tiles[np.argsort(base[tiles] + start[tiles], kind="stable")]
        at = np.searchsorted(base[tiles] + start[tiles], base[views] + end[views], side="right") - 1
        near = tiles[np.maximum(at, 0)]
        drop[views] = (at >= 0) & (base[near] == base[views]) & (end[near] >= start[views])
        views = views[~drop[views]]
    _fold_views(views, base, start, end, drop)
    return found.take(~drop)


def _fold_views(views: Array, base: Array, start: Array, end: Array, drop: Array) -> None:
    """Mark in `drop` the views that overlap a smaller one. Files with one view, the usual case, cost nothing."""
    _, inverse, counts = np.unique(base[views], return_inverse=True, return_counts=True)
    crowded = views[counts[inverse] > 1]
    order = crowded[np.lexsort((start[crowded], end[crowded] - start[crowded], base[crowded]))]
    kept: list[tuple[int, int]] = []
    last = -1
    for at in order.tolist():
        if base[at] != last:
            kept, last = [], int(base[at])
        first, final = int(start[at]), int(end[at])
        if any(first <= other_final and other_first <= final for other_first, other_final in kept):
            drop[at] = True
        else:
            kept.append((first, final))


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
