"""zstd: whole files as one frame, and short byte strings that resemble one another by a dictionary.
What is compressed is known elsewhere.

A frame is not believed: what it says of its size is compared with a maximum before anything is
unpacked. The library is imported late, as most processes read few frames or none.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    import zstandard

#: level for files: 300 MB/s; level 3 takes twice the time for 3 % less
FILE_LEVEL = 1
#: bytes that one short string has at most: the JSON of a chunk without its text is bounded by what
#: a chunk file may have
SHORT_BYTES_MAX = 512 * 1024 * 1024
#: level for short strings: 10 µs for 1.5 kB; level 1 takes 8 and leaves 4 % more
SHORT_LEVEL = 3


def pack(raw: bytes) -> bytes:
    """A whole file as one frame, which `zstdcat` reads."""
    import zstandard

    frame = zstandard.ZstdCompressor(level=FILE_LEVEL, write_checksum=True).compress(raw)
    # A copy: what the library returns keeps the memory of what it might have become, more than raw.
    return bytes(memoryview(frame))


def unpack(frame: bytes | memoryview, bytes_max: int) -> bytes:
    """What was packed. Raises ValueError for what is not one whole frame, or does not say that it
    has at most `bytes_max` bytes.
    """
    import zstandard

    try:
        size = zstandard.get_frame_parameters(frame).content_size
        if size > bytes_max:  # also when it does not say
            raise ValueError(f"a zstd frame of {size} bytes, where {bytes_max} are allowed")
        return zstandard.ZstdDecompressor().decompress(frame, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise ValueError(f"not one whole zstd frame ({error})") from error


def head(file: BinaryIO, size: int) -> bytes:
    """The first `size` bytes at most of what was packed in a file. Raises OSError, and ValueError
    for what is no frame.
    """
    import zstandard

    try:
        with zstandard.ZstdDecompressor().stream_reader(file, closefd=False) as reader:
            return reader.read(size)
    except zstandard.ZstdError as error:
        raise ValueError(f"no zstd frame ({error})") from error


class Dictionary:
    """Packs short byte strings, each a frame of its own: any of them is read without the others.

    To be used by any number of threads.
    """

    def __init__(self, raw: bytes) -> None:
        """`raw`: a dictionary as zstd trains it."""
        self._raw = raw
        self._local = threading.local()

    def pack(self, parts: Sequence[bytes]) -> list[bytes]:
        """Each of `parts` as a frame."""
        if not any(parts):  # which the library refuses
            return [self._tools()[0].compress(short) for short in parts]
        # At once: one by one each would let go of the interpreter, and wait for it behind a thread
        # that computes, for 5 ms.
        frames = self._tools()[0].multi_compress_to_buffer(list(parts))
        return [frames[at].tobytes() for at in range(len(frames))]

    def unpack(self, frames: Iterable[bytes | memoryview]) -> list[bytes]:
        """What was packed. Raises ValueError for what is no frame of this dictionary."""
        import zstandard

        size_of, unpack = zstandard.frame_content_size, self._tools()[1].decompress
        strings = []
        try:
            for frame in frames:
                if not 0 <= (size := size_of(frame)) <= SHORT_BYTES_MAX:
                    raise ValueError(f"A zstd frame that says it has {size} bytes.")
                strings.append(unpack(frame))
        except zstandard.ZstdError as error:
            raise ValueError(f"No whole zstd frame ({error}).") from error
        return strings

    def join(self, data: memoryview, places: bytes, sizes: bytes) -> bytes:
        """What was packed as some frames in `data`, one behind the other: all in one call, some
        2 µs for a kilobyte. `places` are offset and size of each, `sizes` what each unpacks to, as
        the machine's own u64. Raises ValueError for what is no such frame.
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
        """Of this thread: neither is to be used by two at once."""
        tools: tuple[zstandard.ZstdCompressor, zstandard.ZstdDecompressor] | None
        if (tools := getattr(self._local, "tools", None)) is None:
            import zstandard

            words = zstandard.ZstdCompressionDict(self._raw)
            packer = zstandard.ZstdCompressor(
                level=SHORT_LEVEL, dict_data=words, write_checksum=False, write_dict_id=False
            )
            tools = self._local.tools = packer, zstandard.ZstdDecompressor(dict_data=words)
        return tools
