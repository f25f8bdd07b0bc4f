"""The file format of segments: a write-once, checksummed, memory-mapped file of named sections,
which are arrays and byte strings. docs/SEGMENT.md.

Layout (little-endian):

    0   magic      8 bytes  b"CTXSEG01"
    8   length     u32      of the header JSON
    12  checksum   u32      CRC-32 of the header JSON
    16  header     JSON     {"name": the file's own, "size": file size, "meta": {…},
                             "sections": {name: [offset, bytes, crc32, dtype, shape, packed]}}
    …   sections, each at a multiple of 64 bytes (a cache line, and enough for any SIMD load);
        gaps are zero

The file is written under a temporary name, synced and renamed. It is never changed in place,
because a mapped file that shrinks kills its readers with SIGBUS. A segment under another segment's
name is damage: the name in its header reveals it.
"""

import math
import mmap
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import orjson

from cortex.generation.damage import Seal, read_seals, seal
from cortex.system import files, zstd
from cortex.system.arrays import Array
from cortex.system.errors import Damaged, NotFound

MAGIC = b"CTXSEG01"
#: bytes; start of each section
ALIGNMENT = 64
_PREFIX = len(MAGIC) + 8
#: the checksum with the most digits: it reserves space in the header until the checksums are
#: computed
_LARGEST = 0xFFFFFFFF
#: dtypes that a section may have; anything else is refused
_DTYPES = frozenset({"|u1", "|i1", "<u2", "<u4", "<u8", "<i4", "<i8", "<f2", "<f4", "<f8"})


@dataclass(frozen=True, slots=True)
class Segment:
    """An opened segment; hold it as long as `arrays`, which are read-only views of its mapping."""

    path: Path
    meta: dict[str, Any]
    arrays: dict[str, Array]
    #: packed sections: the bytes of each, its dtype and its shape
    _packed: dict[str, tuple[memoryview, str, list[int]]]
    _map: mmap.mmap
    _opened: Seal

    @property
    def names(self) -> set[str]:
        """The names of all sections."""
        return {*self.arrays, *self._packed}

    def is_there(self) -> bool:
        """Return whether the file at `path` is still the opened one, unchanged."""
        return read_seals([self.path])[self.path] == self._opened

    def let_go(self) -> None:
        """Release the pages that were read, so that they no longer count as this process's memory.
        They stay in the system's cache: an answer that needs them gets them back in microseconds.
        """
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def unpacked(self, name: str) -> Array:
        """Unpack a packed section, anew for each call. Raises Damaged."""
        data, dtype, shape = self._packed[name]
        try:
            raw = zstd.unpack(data, math.prod(shape) * np.dtype(dtype).itemsize)
            return np.frombuffer(raw, dtype).reshape(shape)
        except ValueError as error:
            raise Damaged(f"{self.path}: section {name!r} cannot be unpacked: {error}.") from error

    def bytes_of(self, name: str) -> memoryview:
        """Return section `name` as bytes, without a copy."""
        return self.arrays[name].data.cast("B") if self.arrays[name].size else memoryview(b"")


@dataclass(frozen=True, slots=True)
class Packed:
    """A section that is stored packed, because it is rarely read, and then as a whole."""

    array: Array

    def frame(self) -> Array:
        """Return u8: the bytes to store."""
        return np.frombuffer(zstd.pack(np.ascontiguousarray(self.array).tobytes()), np.uint8)


@dataclass(frozen=True, slots=True)
class Blocks:
    """A section never in memory as a whole: `parts` make the array of `dtype` and `shape`."""

    dtype: str
    shape: tuple[int, ...]
    parts: Iterable[Array]

    @property
    def nbytes(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def join_column(segments: Sequence[Segment], name: str, dtype: str) -> Array:
    """Return a section of all segments, one after the other; of `dtype` without any."""
    return np.concatenate([segment.arrays[name] for segment in segments] or [np.zeros(0, dtype)])


def number_names(lists: Iterable[Sequence[str]]) -> tuple[list[Array], list[str]]:
    """Return (for each list the ordinal of each name in one table, u32; the names of the table)."""
    table: dict[str, int] = {}
    ordinals = [np.array([table.setdefault(name, len(table)) for name in names], "<u4") for names in lists]
    return ordinals, list(table)


def write_segment(path: Path, arrays: Mapping[str, Array | Blocks | Packed], meta: Mapping[str, Any]) -> None:
    """Write a segment, synced, in one rename. Raises OSError with `path` unchanged."""
    sections = dict[str, Blocks]()
    layout = dict[str, list[Any]]()
    for name, array in arrays.items():
        is_packed = isinstance(array, Packed)
        plain = _blocks(name, array.array if isinstance(array, Packed) else array)
        sections[name] = _blocks(name, array.frame()) if isinstance(array, Packed) else plain
        layout[name] = [0, sections[name].nbytes, _LARGEST, plain.dtype, list(plain.shape), is_packed]
    length = len(_place_sections(path.name, layout, meta))
    with files.replacing(path, sync=True) as file:
        file.write(b"\0" * (_PREFIX + length))
        for name, section in sections.items():
            file.write(b"\0" * (layout[name][0] - file.tell()))
            layout[name][2] = _write_section(file, section)
            if file.tell() != layout[name][0] + section.nbytes:
                raise ValueError(f"section {name!r} does not have the size of its shape")
        header = _header(path.name, layout, meta, file.tell()).ljust(length)
        file.seek(0)
        file.write(MAGIC + length.to_bytes(4, "little") + zlib.crc32(header).to_bytes(4, "little") + header)


def _blocks(name: str, array: Array | Blocks) -> Blocks:
    if not isinstance(array, Blocks):
        array = np.ascontiguousarray(array)
        array = Blocks(array.dtype.str, array.shape, (array,))
    if array.dtype not in _DTYPES:
        raise TypeError(f"section {name!r} has dtype {array.dtype}, which segments do not hold")
    return array


def _write_section(file: BinaryIO, section: Blocks) -> int:
    """Write a section; return its checksum."""
    checksum = 0
    for array in section.parts:
        if array.size:
            data = np.ascontiguousarray(array, section.dtype).data
            checksum = zlib.crc32(data, checksum)
            file.write(data)
    return checksum


def _place_sections(name: str, layout: dict[str, list[Any]], meta: Mapping[str, Any]) -> bytes:
    """Fill in the offsets and return the header.

    The header's length moves the sections, so they are placed again until it is long enough.
    """
    length = 0
    while True:
        offset = _PREFIX + length
        for entry in layout.values():
            offset = -(-offset // ALIGNMENT) * ALIGNMENT
            entry[0] = offset
            offset += entry[1]
        header = _header(name, layout, meta, offset)
        if len(header) <= length:
            return header.ljust(length)
        length = len(header) + ALIGNMENT


def _header(name: str, layout: dict[str, list[Any]], meta: Mapping[str, Any], size: int) -> bytes:
    return orjson.dumps({"name": name, "size": size, "meta": dict(meta), "sections": layout})


def open_segment(path: Path) -> Segment:
    """Map a segment with every byte checked. Raises NotFound or Damaged with the fault."""
    try:
        with files.open_ours(path) as file:
            info = os.fstat(file.fileno())
            size = info.st_size
            if size < _PREFIX:
                raise Damaged(f"{path}: {size} bytes are no segment.")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise NotFound(f"{path} does not exist.") from None
    header = _read_header(path, mapped, size)
    arrays: dict[str, Array] = {}
    packed: dict[str, tuple[memoryview, str, list[int]]] = {}
    end = _PREFIX + int.from_bytes(mapped[8:12], "little")
    for name, entry in header["sections"].items():
        offset, length, checksum, dtype, shape, is_packed = _check_entry(path, name, entry)
        if offset < end or offset + length > size or any(mapped[end:offset]):
            raise Damaged(f"{path}: section {name!r} lies outside the file or behind stray bytes.")
        data = memoryview(mapped)[offset : offset + length]
        if zlib.crc32(data) != checksum:
            raise Damaged(f"{path}: section {name!r} fails its checksum.")
        if is_packed:
            packed[name] = data, dtype, shape
        else:
            arrays[name] = np.frombuffer(data, dtype=dtype).reshape(shape)
        end = offset + length
    if end != size:
        raise Damaged(f"{path}: {size - end} stray bytes at the end.")
    opened = Segment(
        path=path, meta=header["meta"], arrays=arrays, _packed=packed, _map=mapped, _opened=seal(info)
    )
    opened.let_go()  # the check has read all pages
    return opened


def _read_header(path: Path, mapped: mmap.mmap, size: int) -> dict[str, Any]:
    length = int.from_bytes(mapped[8:12], "little")
    if mapped[:8] != MAGIC or _PREFIX + length > size:
        raise Damaged(f"{path}: no segment header.")
    raw = mapped[_PREFIX : _PREFIX + length]
    if zlib.crc32(raw) != int.from_bytes(mapped[12:16], "little"):
        raise Damaged(f"{path}: the header fails its checksum.")
    header: dict[str, Any] = orjson.loads(raw)
    if header["name"] != path.name:
        raise Damaged(f"{path}: this is the segment {header['name']}.")
    if header["size"] != size:
        raise Damaged(f"{path}: {size} bytes where the header says {header['size']}.")
    return header


def _check_entry(path: Path, name: str, entry: list[Any]) -> tuple[int, int, int, str, list[int], bool]:
    offset, length, checksum, dtype, shape, packed = entry
    if dtype not in _DTYPES or not (packed or math.prod(shape) * np.dtype(dtype).itemsize == length):
        raise Damaged(f"{path}: section {name!r} does not have the size of its shape.")
    return offset, length, checksum, dtype, shape, packed
