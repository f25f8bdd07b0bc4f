"""Dot products of one vector with many, by the fastest instructions of this machine's processor."""

import numpy as np
import simsimd

from cortex.system.arrays import Array

#: instruction sets with which simsimd would add float16 in float16: off by a thousandth, as much as
#: the scores of a hundred near rows differ
_ROUGH = ("sapphire", "sve_f16")

for _name in _ROUGH:
    simsimd.disable_capability(_name)


def products(query: Array, rows: Array) -> Array:
    """Return float32 [n]: the dot product of a vector [dimensions] with each of `rows` [n,
    dimensions]. Both are int8, or both float16.
    """
    if not len(rows):
        return np.zeros(0, np.float32)
    return np.asarray(simsimd.cdist(query[None], rows, metric="dot", out_dtype="float32")).ravel()
