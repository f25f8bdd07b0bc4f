"""Upkeep of the segments of rows: when the small ones are made one, and which rows are deleted.
Publishes nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cortex.generation.current import Generation, SegmentRef
from cortex.generation.merge import merge_rows
from cortex.generation.read import open_rows
from cortex.generation.segment import open_segment, write_segment
from ipc.arrays import Array


@dataclass(frozen=True, slots=True)
class Limits:
    """When segments are merged."""

    #: segments of a generation; one more and the small ones are merged
    segments_max: int = 8
    #: the same while a long run of the indexer adds to them
    segments_under_way_max: int = 32
    #: a merge takes in every segment that is at most this many times as large as all smaller ones
    #: together
    merge_ratio: int = 4
    #: everything is merged when more than this share of the rows is deleted
    deleted_share_max: float = 0.3
    #: rows below which no share matters
    rows_min: int = 2_000


def merge(
    generation: Generation, index_dir: Path, limits: Limits, *, under_way: bool = False
) -> Generation | None:
    """The next generation, with the same rows in fewer segments; None when no merge is due.
    `under_way`: more rows will come soon.

    Raises as `open_rows` and `write_segment` do.
    """
    refs, segments = generation.segments, index_dir / "segments"
    total = sum(ref.rows for ref in refs)
    wasteful = total > limits.rows_min and generation.deleted_count > limits.deleted_share_max * total
    most = limits.segments_under_way_max if under_way else limits.segments_max
    if len(refs) <= most and not (wasteful and not under_way):
        return None
    chosen = list(refs) if wasteful else _small_ones(refs, limits.merge_ratio)
    kept = tuple(ref for ref in refs if ref not in chosen)
    # Those that stay are not even opened: a large one takes as long to check as the rest to merge.
    part = dataclasses.replace(
        generation, segments=tuple(ref for ref in refs if ref in chosen), references=""
    )
    rows = open_rows(part, index_dir)
    number = generation.number + 1
    name = f"rows-{number:08d}.seg"
    count, vectors = merge_rows(segments / name, rows, range(len(chosen)))
    still = np.setdiff1d(deleted_keys(segments, generation), rows.keys)
    deleted, deleted_count = write_deleted(segments, number, still)
    return dataclasses.replace(
        generation,
        number=number,
        segments=(*kept, SegmentRef(name, count, vectors)) if count else kept,
        deleted=deleted,
        deleted_count=deleted_count,
    )


def deleted_keys(segments: Path, generation: Generation) -> Array:
    """The deleted row keys of a generation, u64, ascending. Raises NotFound or Damaged."""
    if not generation.deleted:
        return np.zeros(0, "<u8")
    return open_segment(segments / generation.deleted).arrays["keys"]


def write_deleted(segments: Path, number: int, keys: Array, more: Sequence[int] = ()) -> tuple[str, int]:
    """Write `keys` and `more` as the deleted rows of generation `number`; returns the segment's
    name, "" when there are none, and how many there are.
    """
    every = np.union1d(keys, np.array(more, "<u8")).astype("<u8")
    if not len(every):
        return "", 0
    name = f"deleted-{number:08d}.seg"
    write_segment(segments / name, {"keys": every}, {})
    return name, len(every)


def _small_ones(refs: Sequence[SegmentRef], ratio: int) -> list[SegmentRef]:
    """The segments to merge: from the smallest up,
    while one is not far larger than all before it.
    """
    ordered = sorted(refs, key=lambda ref: ref.rows)
    total, chosen = 0, list[SegmentRef]()
    for ref in ordered:
        if len(chosen) >= 2 and ref.rows > ratio * total:
            break
        chosen.append(ref)
        total += ref.rows
    return chosen
