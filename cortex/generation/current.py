"""The file CURRENT, which names the current generation and is replaced by one rename; and the
pruning of files that no reader needs.

All files that CURRENT names are complete before the rename. Only the watcher publishes and prunes.
"""

import contextlib
import hashlib
import os
import time
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import orjson

from cortex.generation.damage import UNREADABLE
from cortex.generation.others import OthersSource
from cortex.sealing.places import is_plain
from cortex.settings.config import INDEX_FORMAT
from cortex.settings.folders.home import cache_base
from cortex.system import files
from cortex.system.errors import Damaged

CURRENT = "CURRENT"

#: seconds; a reader that has just read an older CURRENT gets this long to open the files that it
#: names
PRUNE_AFTER_S = 60.0
#: bytes of the key that proves that this user made an index on this machine
KEY_BYTES = 32
#: largest CURRENT, in bytes: it names each chunk file and segment, some 200 bytes for each
CURRENT_BYTES_MAX = 64 << 20


@dataclass(frozen=True, slots=True)
class SegmentRef:
    """A segment of rows: its file in `segments/`, the counts of rows and of those with a vector."""

    name: str
    rows: int
    vectors: int


@dataclass(frozen=True, slots=True)
class FileRef:
    """A chunk file or graph file as this generation read it; `sha256` only for a graph file."""

    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Generation:
    """A published state: the segments that publishing wrote, and the token of each engine.

    `deleted` names a segment of deleted row keys, `references` the segment of reference counts (""
    for none); both are in `segments/`, as are the segments of the graph. `tokens` maps each engine
    to the token of its build: only the engine knows the token's meaning. `sequence` is the highest
    indexer sequence that this generation contains. `others` holds for each chunk file of another
    program the sources that its chunks name. `backlog` counts chunk files on disk that wait
    for the next generation. `sources` counts the source files of the rows, 0 when they were not
    counted.
    """

    number: int
    segments: tuple[SegmentRef, ...] = ()
    deleted: str = ""
    deleted_count: int = 0
    references: str = ""
    tokens: dict[str, str] = field(default_factory=dict)
    sequence: int = 0
    backlog: int = 0
    sources: int = 0
    model: str = ""
    dimensions: int = 0
    next_key: int = 1
    published_at: float = 0.0
    files: dict[str, FileRef] = field(default_factory=dict)
    graph_files: dict[str, FileRef] = field(default_factory=dict)
    others: dict[str, dict[str, OthersSource]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return sum(segment.rows for segment in self.segments) - self.deleted_count

    def status(self) -> dict[str, Any]:
        """Return the counts that a watcher reports."""
        return {
            "rows": self.rows,
            "segments": len(self.segments),
            "deleted": self.deleted_count,
            "vectors": sum(segment.vectors for segment in self.segments),
            "chunk_files": len(self.files),
            "sequence": self.sequence,
            "model": self.model,
        }

    @property
    def graph(self) -> dict[str, str]:
        """Graph file → its segment in `segments/`, sorted by file name."""
        return {name: graph_segment(ref.sha256) for name, ref in sorted(self.graph_files.items())}


def graph_segment(sha256: str) -> str:
    """Return the segment name of a graph file with this content: equal files share a segment."""
    return f"graph-{sha256[:24]}.seg"


EMPTY = Generation(number=0)


def read_current(index_dir: Path) -> Generation:
    """Return the published generation. EMPTY when there is none, or when CURRENT has another
    format, or comes from a clone or copy: a copied index is not trusted, and the watcher deletes
    it.

    Raises Damaged when CURRENT fails its checksum, OSError when it cannot be read.
    """
    path = index_dir / CURRENT
    try:
        raw = files.read_ours(path, CURRENT_BYTES_MAX)
    except (FileNotFoundError, NotADirectoryError):
        return EMPTY
    head, _, body = raw.partition(b"\n")
    parts = head.split()
    if len(parts) != 4 or parts[0] != b"cortex-index":
        raise Damaged(f"{path} is not an index file.")
    if parts[1] != b"%d" % INDEX_FORMAT or parts[3].decode("ascii", "replace") != origin(index_dir):
        return EMPTY
    if parts[2] != b"%08x" % zlib.crc32(body):
        raise Damaged(f"{path} fails its checksum.")
    try:
        return msgspec.json.decode(body, type=Generation)
    except UNREADABLE as error:
        raise Damaged(f"{path} cannot be read: {error}.") from error


def origin(index_dir: Path) -> str:
    """Return 16 hex digits that only this user can compute for exactly this folder: a keyed hash of
    its device and inode. The plain folder of a sealed index is created anew each time, so there the
    hash is over a constant: only this user could have sealed the content.
    """
    info = index_dir.stat()
    place = b"sealed" if is_plain(index_dir) else f"{info.st_dev}:{info.st_ino}".encode()
    return hashlib.blake2b(place, key=user_key(), digest_size=8).hexdigest()


def user_key() -> bytes:
    """Return 32 random bytes from the user's cache folder, created on first use; b"" when that
    folder cannot be written. Never cached: a process that used a deleted key would publish
    generations that other processes reject.
    """
    path = cache_base() / "origin.key"
    try:
        files.make_folder(path.parent, anywhere=True)
        if not (key := _key_in(path)):
            exists = os.path.lexists(path)
            temporary = files.write_new(path.parent, path.name, os.urandom(KEY_BYTES))
            if exists:  # exists, but is no key: a folder moves aside, a file is replaced
                files.move(temporary, path)
            else:
                with contextlib.suppress(FileExistsError):
                    files.link(temporary, path)  # the first of several processes wins
                files.remove(temporary)
            key = _key_in(path)
    except OSError:
        return b""
    return key


def _key_in(path: Path) -> bytes:
    """Return the key in the file `path`; b"" when the file is missing or damaged."""
    try:
        key = files.read_ours(path, KEY_BYTES)
    except OSError:
        return b""
    return key if len(key) == KEY_BYTES else b""


def publish(index_dir: Path, generation: Generation) -> None:
    """Make `generation` current by one rename. Raises OSError; the old one then stays current."""
    body = orjson.dumps(generation)
    head = f"cortex-index {INDEX_FORMAT} {zlib.crc32(body):08x} {origin(index_dir)}\n".encode()
    files.replace(index_dir / CURRENT, head + body, sync=True)


def number_file(number: int) -> str:
    """Return the name of an empty file in `segments/` that marks this number as used. The mark
    survives all damage to the content of files, so no number is used twice.
    """
    return f"number-{number:08d}"


def prune(index_dir: Path, keep: Iterable[Generation], *, older_than_s: float = PRUNE_AFTER_S) -> list[str]:
    """Remove the segments that no generation in `keep` names, as `prune_folder` does."""
    names = {
        name for generation in keep for name in (*segment_files(generation), number_file(generation.number))
    }
    return prune_folder(index_dir / "segments", names, older_than_s)


def prune_folder(folder: Path, keep: Collection[str], older_than_s: float = PRUNE_AFTER_S) -> list[str]:
    """Remove the files and folders in `folder` that are not in `keep` and are older than
    `older_than_s`.

    Returns the removed names. A file that cannot be removed is tried again next time.
    """
    removed: list[str] = []
    limit = time.time() - older_than_s
    with contextlib.suppress(OSError):
        for name, info in files.entries(folder).items():
            if name in keep or info.st_mtime >= limit:
                continue
            with contextlib.suppress(OSError):
                files.remove_tree(folder / name)
                removed.append(name)
    return removed


def segment_files(generation: Generation) -> list[str]:
    """Return the names in `segments/` of the files that publishing wrote for `generation`."""
    rows = (segment.name for segment in generation.segments)
    others = (generation.deleted, generation.references)
    return [*rows, *generation.graph.values(), *(name for name in others if name)]
