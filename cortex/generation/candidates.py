"""Rows of a generation as what the workers tell of their candidates. Pure over Rows."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from cortex.generation.read import ABOUT, Rows
from ipc.arrays import Array
from ipc.messages import Signals
from ipc.messages.signals import END, FILE, ID_END, KIND, START


def tell(
    rows: Rows, ordinals: Array, names: tuple[str, ...], values: Array, stats: dict[str, float]
) -> Signals:
    """The signals `names` (`values` [names, m]) of the rows at `ordinals` (i64 [m]), and those of
    ABOUT.
    """
    columns = rows.columns
    files, file = np.unique(columns["path"][ordinals], return_inverse=True)
    ids = rows.cuts("id", ordinals)
    told = np.empty((5, len(ordinals)), "<u4")
    told[FILE], told[KIND] = file, columns["type"][ordinals]
    told[START], told[END] = columns["start_line"][ordinals], columns["end_line"][ordinals]
    told[ID_END] = list(accumulate(map(len, ids)))
    return Signals(
        generation=rows.generation,
        names=(*names, *ABOUT),
        values=np.vstack((values, rows.about(ordinals)), dtype=np.float32, casting="same_kind"),
        keys=rows.keys[ordinals],
        rows=told,
        ids=np.frombuffer(b"".join(ids), np.uint8),
        paths=tuple(rows.path_names[at] for at in files.tolist()),
        kinds=tuple(rows.names["type"]),
        stats=stats,
    )
