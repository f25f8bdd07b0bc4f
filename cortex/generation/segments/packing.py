"""The packing of texts and of the JSON of chunks and nodes in segments: zstd frames with the
dictionary `json.dict`, made by scripts/train/dictionary.py. A new dictionary needs a new
INDEX_FORMAT. A separate dictionary for texts would save only 2 % more of them.

Each chunk has a frame of its own, read in some 4 µs. A frame of several chunks would be smaller by
a third, but the chunks of one query are scattered: it would unpack eight for each chunk that it
reads. Of the graph, where few nodes are read, several share a frame.
"""

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np

from cortex.system.arrays import Array
from cortex.system.errors import Damaged
from cortex.system.zstd import Dictionary


def pack(bodies: Sequence[bytes]) -> list[bytes]:
    """Return the frame of each of `bodies`."""
    return _dictionary().pack(bodies)


def unpack(path: Path, frames: Iterable[bytes | memoryview]) -> list[bytes]:
    """Return each frame's content. Raises Damaged: they were sound at the opening."""
    try:
        return _dictionary().unpack(frames)
    except ValueError as error:
        raise Damaged(f"{path}: {error}") from error


def join(path: Path, data: memoryview, begins: Array, ends: Array, sizes: Array) -> bytes:
    """Return the contents of the frames `data[begins[i]:ends[i]]` of the segment at `path`,
    `sizes[i]` bytes each (all [n], of integers), concatenated. Raises Damaged.
    """
    places = np.stack([begins, ends - begins], axis=1).astype("=u8")
    try:
        return _dictionary().join(data, places.tobytes(), sizes.astype("=u8").tobytes())
    except ValueError as error:
        raise Damaged(f"{path}: {error}") from error


@dataclass(frozen=True, slots=True)
class Frames:
    """Byte strings with several in one frame, because neighbours resemble each other: for strings
    whose neighbours are read together, or that are rarely read.
    """

    path: Path
    data: memoryview
    frames: Array  #: u32 [blocks]: where each frame ends in `data`
    ends: Array  #: u32 [n]: where each string ends among all, unpacked
    size: int  #: strings in a frame

    def read_row(self, row: int) -> bytes:
        """Return the string at `row`. Raises Damaged."""
        block = row // self.size
        first = block * self.size
        begin, end = (int(self.frames[block - 1]) if block else 0), int(self.frames[block])
        (unpacked,) = unpack(self.path, (self.data[begin:end],))
        start = int(self.ends[first - 1]) if first else 0
        return unpacked[(int(self.ends[row - 1]) if row else 0) - start : int(self.ends[row]) - start]

    def read_rows(self, rows: Array) -> list[bytes]:
        """Return the strings at `rows` (i64 [m]), in order; each frame once. Raises Damaged."""
        blocks, places = np.unique(rows // self.size, return_inverse=True)
        begins = np.where(blocks > 0, self.frames[blocks - 1], 0).tolist()
        frames = map(self.data.__getitem__, map(slice, begins, self.frames[blocks].tolist()))
        unpacked = unpack(self.path, frames)
        firsts = blocks * self.size
        starts = np.where(firsts > 0, self.ends[firsts - 1], 0)[places]
        cuts = (np.where(rows > 0, self.ends[rows - 1], 0) - starts).tolist()
        ends = (self.ends[rows] - starts).tolist()
        return [unpacked[block][a:b] for block, a, b in zip(places.tolist(), cuts, ends, strict=True)]


def pack_frames(parts: Sequence[bytes], size: int) -> tuple[Array, Array, Array]:
    """Pack `parts` for `Frames`: (u8: frames, each of `size` parts; u32: end of each frame; u32:
    end of each part in the unpacked concatenation).
    """
    frames = pack([b"".join(parts[at : at + size]) for at in range(0, len(parts), size)])
    return np.frombuffer(b"".join(frames), np.uint8), _ends(frames), _ends(parts)


def _ends(parts: Sequence[bytes]) -> Array:
    return np.cumsum([0, *map(len, parts)])[1:].astype("<u4")


@functools.cache
def _dictionary() -> Dictionary:
    return Dictionary(resources.files("cortex.generation").joinpath("json.dict").read_bytes())
