"""Whether tantivy's files are as they were written. Each ends in a footer that says the checksum of
what is before it; tantivy itself reads on and blames whoever asks.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import orjson

from cortex.generation.damage import Seal, seal
from cortex.system import files
from ipc.errors import Damaged

#: the last four bytes of each file, little-endian (tantivy, src/directory/footer.rs)
_MAGIC = 1337
#: bytes of the footer's length and of the magic number
_TAIL_BYTES = 8
#: bytes; a footer is some 80
_FOOTER_BYTES_MAX = 4096
#: bytes that are read at once
_BLOCK_BYTES = 1 << 20

_SYSTEM = re.compile(r"\(os error ([0-9]+)\)")


class Whole:
    """Checks each file once: what was seen whole, and nobody has touched since, is."""

    def __init__(self) -> None:
        self._seen: dict[str, Seal] = {}

    def check(self, paths: tuple[Path, ...]) -> None:
        """Raises Damaged, naming the first file that is not as it was written; OSError for one that
        cannot be read.
        """
        seen: dict[str, Seal] = {}
        for path in paths:
            now = seal(path.lstat())
            if self._seen.get(path.name) != now:
                _check(path)
            seen[path.name] = now
        self._seen = seen


def _check(path: Path) -> None:
    with files.open_ours(path) as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _FOOTER_BYTES_MAX - _TAIL_BYTES))
        tail = file.read()
        length = int.from_bytes(tail[-_TAIL_BYTES:-4], "little")
        if int.from_bytes(tail[-4:], "little") != _MAGIC or length > len(tail) - _TAIL_BYTES:
            raise Damaged(f"{path} has no footer.")
        try:
            said = int(orjson.loads(tail[-_TAIL_BYTES - length : -_TAIL_BYTES])["crc"])
        except (ValueError, KeyError, TypeError) as error:
            raise Damaged(f"{path} has no footer that can be read.") from error
        left, found = size - length - _TAIL_BYTES, 0
        file.seek(0)
        while left > 0 and (block := file.read(min(left, _BLOCK_BYTES))):
            found, left = zlib.crc32(block, found), left - len(block)
    if left or found != said:
        raise Damaged(f"{path} fails its checksum.")


def explain(folder: Path, error: Exception) -> Exception:
    """Tantivy's error about the index in `folder` as one of ours: Damaged, unless the system said
    something else (no descriptor, no memory, no space), which is an OSError.
    """
    said = _SYSTEM.search(str(error))
    if said is not None:
        return OSError(int(said[1]), str(error), str(folder))
    return Damaged(f"The text index in {folder} cannot be read: {error}.")
