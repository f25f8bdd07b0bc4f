"""Integrity checks of tantivy's files. Each file ends in a footer with the checksum of its content,
and a generation's folder has a file with all checksums: an intact file under another's name is
damage, too. Tantivy itself reads on, panics, or blames the caller.
"""

import contextlib
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
import orjson

from cortex.generation.damage import Seal, is_panic, seal
from cortex.system import files
from cortex.system.errors import Damaged, NotFound

#: tantivy's list of its segments
META = "meta.json"
#: most bytes of it: some 400 for each segment, of which a few hundred exist at most
META_BYTES_MAX = 16 << 20
#: the file of a generation with the checksums of the others, by name
SUMS = "sums.json"
#: most bytes of it: some 50 for each file, seven files to a segment
_SUMS_BYTES_MAX = 1 << 20
#: the last four bytes of each file, little-endian (tantivy, src/directory/footer.rs)
_MAGIC = 1337
#: bytes of the footer's length and of the magic number
_TAIL_BYTES = 8
#: most bytes of a footer, which has some 80
_FOOTER_BYTES_MAX = 4096
#: bytes per read
_BLOCK_BYTES = 1 << 20

_SYSTEM = re.compile(r"\(os error ([0-9]+)\)")


def documents_in(folder: Path) -> int | None:
    """The number of documents in the index in `folder`, deleted but unmerged ones included; None
    without an index. Raises Damaged.
    """
    try:
        meta = files.read_ours(folder / META, META_BYTES_MAX)
        return sum(int(segment["max_doc"]) for segment in orjson.loads(meta)["segments"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{folder / META} cannot be read: {error}.") from error


class IntegrityChecker:
    """Checks each file once, and again only after its seal changed."""

    def __init__(self) -> None:
        self._seals: dict[str, Seal] = {}

    def check(self, folder: Path) -> dict[str, int]:
        """Check all files of a generation and return their checksums.

        Raises Damaged or NotFound with the name of the first faulty file, OSError for an unreadable
        one.
        """
        sums = _read_sums(folder)
        try:
            meta = files.read_ours(folder / META, META_BYTES_MAX)
        except FileNotFoundError:
            raise NotFound(f"{folder / META} does not exist.") from None
        if zlib.crc32(meta) != sums.get(META):
            raise Damaged(f"{folder / META} is not the file that was written.")
        seals: dict[str, Seal] = {}
        for name in sums.keys() - {META}:
            path = folder / name
            try:
                now = seal(path.lstat())
            except FileNotFoundError:
                raise NotFound(f"{path} does not exist.") from None
            if self._seals.get(name) != now and _checksum(path) != sums[name]:
                raise Damaged(f"{path} is not the file that was written.")
            seals[name] = now
        self._seals = seals
        return sums


def write_sums(
    folder: Path, meta: bytes, names: Iterable[str], known_sums: Mapping[str, int]
) -> dict[str, int]:
    """Write the checksums of the files of a generation, and return them: of `meta`, its meta.json;
    those in `known_sums`; of other files those in their footers. Raises Damaged, OSError.
    """
    sums = {name: known_sums[name] if name in known_sums else _footer(folder / name)[0] for name in names}
    sums[META] = zlib.crc32(meta)
    files.replace(folder / SUMS, orjson.dumps(sums))
    return sums


def _read_sums(folder: Path) -> dict[str, int]:
    try:
        return msgspec.json.decode(files.read_ours(folder / SUMS, _SUMS_BYTES_MAX), type=dict[str, int])
    except FileNotFoundError:
        raise NotFound(f"{folder / SUMS} does not exist.") from None
    except ValueError as error:
        raise Damaged(f"{folder / SUMS} cannot be read: {error}.") from error


def _checksum(path: Path) -> int:
    """The checksum in the footer, once compared with the file. Raises Damaged, OSError."""
    expected, left = _footer(path)
    checksum = 0
    with files.open_ours(path) as file:
        while left > 0 and (block := file.read(min(left, _BLOCK_BYTES))):
            checksum, left = zlib.crc32(block, checksum), left - len(block)
    if left or checksum != expected:
        raise Damaged(f"{path} fails its checksum.")
    return expected


def _footer(path: Path) -> tuple[int, int]:
    """(the checksum in the footer, the number of bytes before the footer, which it covers)."""
    with files.open_ours(path) as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _FOOTER_BYTES_MAX - _TAIL_BYTES))
        tail = file.read()
    length = int.from_bytes(tail[-_TAIL_BYTES:-4], "little")
    if int.from_bytes(tail[-4:], "little") != _MAGIC or length > len(tail) - _TAIL_BYTES:
        raise Damaged(f"{path} has no footer.")
    try:
        checksum = int(orjson.loads(tail[-_TAIL_BYTES - length : -_TAIL_BYTES])["crc"])
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{path} has no footer that can be read.") from error
    return checksum, size - length - _TAIL_BYTES


@contextlib.contextmanager
def raising_damaged(folder: Path) -> Iterator[None]:
    """Raise tantivy's errors about the index in `folder`, panics included, as Damaged; errors of
    the system (no descriptor, no memory, no space) as OSError.
    """
    try:
        yield
    except BaseException as error:
        if not (isinstance(error, ValueError | OSError) or is_panic(error)):
            raise
        if (system_error := _SYSTEM.search(str(error))) is not None:
            raise OSError(int(system_error[1]), str(error), str(folder)) from error
        raise Damaged(f"The text index in {folder} cannot be read: {error}.") from error
