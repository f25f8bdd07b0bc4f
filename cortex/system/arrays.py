"""The type of all numpy arrays in interfaces, of any dtype and shape; arrays ⇄ bytes. numpy is
imported with the first array: that takes a tenth of a second, and many queries need none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NewType

from cortex.system.process import allocator

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]
else:
    Array = NewType("Array", Any)

_DTYPES = frozenset({"|u1", "|i1", "<u4", "<u8", "<i4", "<i8", "<f2", "<f4", "<f8"})


def to_frame(name: str, array: Array) -> tuple[tuple[str, list[int]], bytes | memoryview]:
    """Return ((dtype, shape), bytes) of array `name`. Raises TypeError for a dtype with no wire
    form.
    """
    import numpy as np

    array = np.ascontiguousarray(array)
    dtype = array.dtype.str
    if dtype not in _DTYPES:
        raise TypeError(f"{name} has dtype {array.dtype}, which does not travel")
    return (dtype, list(array.shape)), array.data.cast("B") if array.size else b""


def from_frame(name: str, dtype: Any, shape: Sequence[Any], data: memoryview) -> tuple[Array, int]:
    """Return (the array of `to_frame`, read-only; its bytes), read from the start of `data`. Raises
    ValueError if it is none.
    """
    import numpy as np

    if dtype not in _DTYPES or not all(isinstance(extent, int) and extent >= 0 for extent in shape):
        raise ValueError(f"{name} has dtype {dtype!r} and shape {shape!r}")
    size = math.prod(shape) * int(dtype[2:])
    if size > len(data):
        raise ValueError(f"{name} has {len(data)} bytes where {size} are announced")
    return np.frombuffer(data[:size], dtype=dtype).reshape(shape), size


def set_aside(folder: Path, array: Array) -> Array:
    """Return `array` with its numbers where `allocator.put_aside` places them: in a file in
    `folder`, if they are many.
    """
    import numpy as np

    aside = allocator.put_aside(folder, array.reshape(-1).view(np.uint8).data)
    return np.frombuffer(aside, array.dtype).reshape(array.shape)
