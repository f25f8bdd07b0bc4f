"""Products of one vector with many, by what this machine's processor has for it. What they mean is
known elsewhere.
"""

from __future__ import annotations

import numpy as np
import simsimd

from cortex.system.arrays import Array

#: what simsimd knows of processors and would add up float16 in float16 with, which is off by a
#: thousandth: as much as what a hundred near rows differ by
_ROUGH = ("sapphire", "sve_f16")

for _name in _ROUGH:
    simsimd.disable_capability(_name)


def products(query: Array, rows: Array) -> Array:
    """float32 [n] of a vector [dimensions] with each of `rows` [n, dimensions], int8 or float16
    both.
    """
    if not len(rows):
        return np.zeros(0, np.float32)
    return np.asarray(simsimd.cdist(query[None], rows, metric="dot", out_dtype="float32")).ravel()
