"""How texts and the JSON of chunks and of nodes lie in segments: each a zstd frame by the
dictionary `json.dict`, which scripts/train/dictionary.py made. Another dictionary is another
INDEX_FORMAT. A dictionary for texts alone would save 2 % more of them.

Each is read alone, in some 4 µs. A frame for several would be smaller by a third, but what a
question looks at lies scattered: it would unpack eight for each that it reads.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path

import numpy as np

from cortex.system.zstd import Dictionary
from ipc.arrays import Array
from ipc.errors import Damaged


def pack(bodies: Sequence[bytes]) -> list[bytes]:
    """Each of `bodies` as it lies in a segment."""
    return _dictionary().pack(bodies)


def unpack(path: Path, frames: Iterable[bytes | memoryview]) -> list[bytes]:
    """What `frames` of the segment at `path` hold. Raises Damaged: they were whole when it was
    opened.
    """
    try:
        return _dictionary().unpack(frames)
    except ValueError as error:
        raise Damaged(f"{path}: {error}") from error


def join(path: Path, data: memoryview, begins: Array, ends: Array, sizes: Array) -> bytes:
    """What the frames `data[begins[i]:ends[i]]` of the segment at `path` hold, `sizes[i]` bytes
    each (all [n], of integers), side by side. Raises Damaged.
    """
    places = np.stack([begins, ends - begins], axis=1).astype("=u8")
    try:
        return _dictionary().join(data, places.tobytes(), sizes.astype("=u8").tobytes())
    except ValueError as error:
        raise Damaged(f"{path}: {error}") from error


@functools.cache
def _dictionary() -> Dictionary:
    return Dictionary(resources.files("cortex.generation").joinpath("json.dict").read_bytes())
