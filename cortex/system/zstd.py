"""zstd compression: whole files as one frame, and short similar byte strings with a dictionary.

The size that a frame declares is compared with a maximum before anything is unpacked. The library
is imported late, as most processes read few frames or none.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import zstandard

#: level for files: 300 MB/s; level 3 takes twice the time for 3 % less
FILE_LEVEL = 1
#: largest short string, in bytes: the JSON of a chunk without its text is bounded by the size of a
#: chunk file
SHORT_BYTES_MAX = 512 * 1024 * 1024
#: level for short strings: 10 µs for 1.5 kB; level 1 takes 8 and leaves 4 % more
SHORT_LEVEL = 3


#: `unpacker`: this thread's decompressor; a new one costs more than a short frame
_local = threading.local()


def pack(raw: bytes) -> bytes:
    """Compress a whole file into one frame, readable by `zstdcat`."""
    import zstandard

    frame = zstandard.ZstdCompressor(level=FILE_LEVEL, write_checksum=True).compress(raw)
    # A copy: the library's own buffer keeps memory for the worst case, more than raw.
    return bytes(memoryview(frame))


def unpack(frame: bytes | memoryview, bytes_max: int) -> bytes:
    """Decompress one whole frame. Raises ValueError for anything else, and for a frame that does
    not declare at most `bytes_max` bytes.
    """
    import zstandard

    try:
        size = zstandard.get_frame_parameters(frame).content_size
        if size > bytes_max:  # also if it declares none
            raise ValueError(f"a zstd frame of {size} bytes, where {bytes_max} are allowed")
        if (unpacker := getattr(_local, "unpacker", None)) is None:
            unpacker = _local.unpacker = zstandard.ZstdDecompressor()
        raw: bytes = unpacker.decompress(frame, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise ValueError(f"not one whole zstd frame ({error})") from error
    return raw


def head(file: BinaryIO, size: int) -> bytes:
    """Return at most the first `size` bytes, unpacked. Raises OSError, ValueError for no frame."""
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(file, closefd=False) as reader:
            return reader.read(size)
    except zstandard.ZstdError as error:
        raise ValueError(f"no zstd frame ({error})") from error


class Dictionary:
    """Compress short byte strings, a frame each, readable without the others; in any threads."""

    def __init__(self, raw: bytes) -> None:
        """`raw` is a dictionary as zstd trains it."""
        self._raw = raw
        self._local = threading.local()

    def pack(self, parts: Sequence[bytes]) -> list[bytes]:
        """Compress each of `parts` into a frame."""
        if not any(parts):  # the library refuses a batch of empty strings
            return [self._tools()[0].compress(short) for short in parts]
        # In one call: each single call would release the interpreter lock, and wait 5 ms for it
        # behind a thread that computes.
        frames = self._tools()[0].multi_compress_to_buffer(list(parts))
        return [frames[at].tobytes() for at in range(len(frames))]

    def unpack(self, frames: Iterable[bytes | memoryview]) -> list[bytes]:
        """Decompress frames of this dictionary. Raises ValueError for any other bytes."""
        import zstandard

        size_of, unpack = zstandard.frame_content_size, self._tools()[1].decompress
        strings = []
        try:
            for frame in frames:
                if not 0 <= (size := size_of(frame)) <= SHORT_BYTES_MAX:
                    raise ValueError(f"A zstd frame declares {size} bytes.")
                strings.append(unpack(frame))
        except zstandard.ZstdError as error:
            raise ValueError(f"No whole zstd frame ({error}).") from error
        return strings

    def join(self, data: memoryview, places: bytes, sizes: bytes) -> bytes:
        """Decompress frames in `data` and return them joined, in one call: some 2 µs for a
        kilobyte.

        `places` holds offset and size of each frame, `sizes` the unpacked size of each, as u64 in
        the machine's byte order. Raises ValueError if one is no such frame.
        """
        import zstandard

        if not sizes:
            return b""
        frames = zstandard.BufferWithSegments(data, places)
        try:
            segments = self._tools()[1].multi_decompress_to_buffer(frames, sizes)
        except zstandard.ZstdError as error:
            raise ValueError(f"No whole zstd frame ({error}).") from error
        return b"".join([segments[at].tobytes() for at in range(len(segments))])

    def _tools(self) -> tuple[zstandard.ZstdCompressor, zstandard.ZstdDecompressor]:
        """Return this thread's compressor and decompressor: two threads may not share them."""
        tools: tuple[zstandard.ZstdCompressor, zstandard.ZstdDecompressor] | None
        if (tools := getattr(self._local, "tools", None)) is None:
            import zstandard

            words = zstandard.ZstdCompressionDict(self._raw)
            packer = zstandard.ZstdCompressor(
                level=SHORT_LEVEL, dict_data=words, write_checksum=False, write_dict_id=False
            )
            tools = self._local.tools = packer, zstandard.ZstdDecompressor(dict_data=words)
        return tools
