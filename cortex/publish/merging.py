"""Upkeep of row segments: when to merge the small ones, and the list of deleted rows. Publishes
nothing.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cortex.generation.current import Generation, SegmentRef
from cortex.generation.merge import merge_rows
from cortex.generation.read import open_rows
from cortex.generation.segments.segment import open_segment, write_segment
from cortex.system.arrays import Array


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits at which segments are merged."""

    #: small segments of a generation; with one more they are merged
    segments_max: int = 8
    #: the same during a long run of the indexer
    segments_under_way_max: int = 32
    #: largest merged segment, in rows: a merge takes memory in proportion (some 300 MB). A segment
    #: of half as many rows is not merged
    rows_max: int = 50_000
    #: a merge includes every segment that is at most this many times as large as all smaller ones
    #: together
    merge_ratio: int = 4
    #: all segments are merged when more than this share of the rows is deleted
    deleted_share_max: float = 0.3
    #: rows below which the share of deleted rows does not matter
    rows_min: int = 2_000


def merge(
    generation: Generation, index_dir: Path, limits: Limits, *, under_way: bool = False
) -> Generation | None:
    """Return the next generation, with the same rows in fewer segments; None when no merge is due.
    `under_way`: more rows will come soon.

    Raises as `open_rows` and `write_segment` do.
    """
    groups = _due(generation, limits, under_way=under_way)
    if not groups:
        return None
    segments, number = index_dir / "segments", generation.number
    refs, deleted = list(generation.segments), deleted_keys(segments, generation)
    for group in groups:
        number += 1
        # The other segments are not even opened: checking a large one takes as long as merging the
        # rest.
        selection = dataclasses.replace(generation, segments=tuple(group), references="")
        rows = open_rows(selection, index_dir)
        name = f"rows-{number:08d}.seg"
        count, vectors = merge_rows(segments / name, rows, range(len(group)))
        refs = [ref for ref in refs if ref not in group]
        refs += [SegmentRef(name, count, vectors)] if count else []
        deleted = np.setdiff1d(deleted, rows.keys)
    written, deleted_count = write_deleted(segments, number, deleted)
    return dataclasses.replace(
        generation, number=number, segments=tuple(refs), deleted=written, deleted_count=deleted_count
    )


def is_crowded(generation: Generation, limits: Limits) -> bool:
    """Return whether a generation has more small segments than the limit."""
    return len(_small(generation.segments, limits)) > limits.segments_max


def _small(refs: Sequence[SegmentRef], limits: Limits) -> list[SegmentRef]:
    return [ref for ref in refs if ref.rows < limits.rows_max // 2]


def _due(generation: Generation, limits: Limits, *, under_way: bool) -> list[list[SegmentRef]]:
    """Return the segments to merge, group by group."""
    refs, rows = generation.segments, generation.deleted_count
    total = sum(ref.rows for ref in refs)
    if total > limits.rows_min and rows > limits.deleted_share_max * total and not under_way:
        return _portions(refs, limits.rows_max)
    small = _small(refs, limits)
    if len(small) <= (limits.segments_under_way_max if under_way else limits.segments_max):
        return []
    return [_choose_small(small, limits)]


def _portions(refs: Sequence[SegmentRef], rows_max: int) -> list[list[SegmentRef]]:
    """Return all of `refs`, in groups of at most `rows_max` rows, or of one segment."""
    out: list[list[SegmentRef]] = []
    total = 0
    for ref in refs:
        total += ref.rows
        if not out or total > rows_max:
            out.append([])
            total = ref.rows
        out[-1].append(ref)
    return out


def deleted_keys(segments: Path, generation: Generation) -> Array:
    """Return the deleted row keys of a generation, u64, ascending. Raises NotFound or Damaged."""
    if not generation.deleted:
        return np.zeros(0, "<u8")
    return open_segment(segments / generation.deleted).arrays["keys"]


def write_deleted(segments: Path, number: int, keys: Array, more: Sequence[int] = ()) -> tuple[str, int]:
    """Write `keys` and `more` as the deleted rows of generation `number`; return the segment's
    name, "" if there are none, and their count.
    """
    every = np.union1d(keys, np.array(more, "<u8")).astype("<u8")
    if not len(every):
        return "", 0
    name = f"deleted-{number:08d}.seg"
    write_segment(segments / name, {"keys": every}, {})
    return name, len(every)


def _choose_small(refs: Sequence[SegmentRef], limits: Limits) -> list[SegmentRef]:
    """Return the segments to merge, in their order: from the smallest up, until one is far larger
    than all smaller ones together.
    """
    total, selected = 0, list[SegmentRef]()
    for ref in sorted(refs, key=lambda ref: ref.rows):
        large = ref.rows > limits.merge_ratio * total or total + ref.rows > limits.rows_max
        if len(selected) >= 2 and large:
            break
        selected.append(ref)
        total += ref.rows
    return [ref for ref in refs if ref in selected]
