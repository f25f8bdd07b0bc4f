"""The signals of candidate rows, as workers send them. Pure functions over Rows."""

from itertools import pairwise

import numpy as np

from cortex.generation.read import EXTRA_SIGNALS, Rows
from cortex.system.arrays import Array
from ipc.messages import Signals
from ipc.messages.signals import END, FILE, ID_END, KIND, START


def make_signals(
    rows: Rows, ordinals: Array, names: tuple[str, ...], values: Array, stats: dict[str, float]
) -> Signals:
    """Return signals `names` (`values` [names, m]) and EXTRA_SIGNALS of `ordinals` (i64 [m])."""
    columns = rows.columns
    files, file = np.unique(columns["path"][ordinals], return_inverse=True)
    ids, ends = _concatenate_ids(rows, ordinals)
    row_table = np.empty((5, len(ordinals)), "<u4")
    row_table[FILE], row_table[KIND] = file, columns["type"][ordinals]
    row_table[START], row_table[END] = columns["start_line"][ordinals], columns["end_line"][ordinals]
    row_table[ID_END] = ends
    return Signals(
        generation=rows.generation,
        names=(*names, *EXTRA_SIGNALS),
        values=np.vstack((values, rows.extra_signals(ordinals)), dtype=np.float32, casting="same_kind"),
        keys=rows.keys[ordinals],
        rows=row_table,
        ids=np.frombuffer(ids, np.uint8),
        paths=tuple(map(rows.hit_paths.__getitem__, files.tolist())),
        kinds=tuple(rows.names["type"]),
        stats=stats,
    )


def _concatenate_ids(rows: Rows, ordinals: Array) -> tuple[bytes, Array]:
    """Return (the concatenated ids of the rows, the end offset of each id)."""
    if not (ordinals[1:] > ordinals[:-1]).all():
        ids = rows.cuts("id", ordinals)
        return b"".join(ids), np.cumsum([len(chunk_id) for chunk_id in ids])
    parts: list[memoryview] = []
    begins: list[int] = []
    ends: list[int] = []
    edges = np.searchsorted(ordinals, rows.starts)
    for at, (begin, end) in enumerate(pairwise(edges.tolist())):
        if begin < end:
            segment, segment_rows = rows.segments[at], ordinals[begin:end] - rows.starts[at]
            offsets = segment.arrays["id_offsets"]
            first, last = offsets[segment_rows].tolist(), offsets[segment_rows + 1].tolist()
            parts += map(segment.bytes_of("id_bytes").__getitem__, map(slice, first, last))
            begins += first
            ends += last
    return b"".join(parts), np.cumsum(np.subtract(ends, begins))
