"""Which generation is current: the file CURRENT, replaced by one rename; pruning what no reader needs.

Everything that CURRENT names is complete before the rename. Only the watcher calls `publish` and `prune`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import orjson

from cortex.settings.config import INDEX_FORMAT
from cortex.system import files
from ipc.errors import Damaged

CURRENT = "CURRENT"

#: seconds; a reader that has just read an older CURRENT gets this long to open what it names
PRUNE_AFTER_S = 60.0


@dataclass(frozen=True, slots=True)
class SegmentRef:
    """A segment of this generation: file name in index/segments, its rows, and how many of them have a vector."""

    name: str
    rows: int
    vectors: int


@dataclass(frozen=True, slots=True)
class FileRef:
    """A chunk file as it was read into this generation."""

    size: int
    mtime_ns: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Generation:
    """A published state. `deleted` names a file of deleted row keys ("" for none), `text` the text index's folder,
    `vectors` the HNSW file ("" for none); `sequence` is the highest indexer sequence that it holds; `backlog` counts
    chunk files that were on disk and are left to the next generation.
    """

    number: int
    segments: tuple[SegmentRef, ...] = ()
    deleted: str = ""
    deleted_count: int = 0
    text: str = ""
    vectors: str = ""
    sequence: int = 0
    backlog: int = 0
    model: str = ""
    dimensions: int = 0
    next_key: int = 1
    published_at: float = 0.0
    files: dict[str, FileRef] = field(default_factory=dict)
    #: graph file → its segment in index/graph
    graph: dict[str, str] = field(default_factory=dict)
    graph_files: dict[str, FileRef] = field(default_factory=dict)
    #: the segment in index/graph that counts who refers to what; "" without a graph
    references: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return sum(segment.rows for segment in self.segments) - self.deleted_count


EMPTY = Generation(number=0)


def read_current(index_dir: Path) -> Generation:
    """The published generation; EMPTY when nothing is published yet, or not by us: another format, or an index that
    came with a clone or a copy (it is not trusted, and the watcher throws it away).

    Raises Damaged when CURRENT fails its checksum.
    """
    path = index_dir / CURRENT
    try:
        raw = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return EMPTY
    head, _, body = raw.partition(b"\n")
    parts = head.split()
    if len(parts) != 4 or parts[0] != b"cortex-index":
        raise Damaged(f"{path} is not an index file; delete {index_dir} and it will be built again.")
    if parts[1] != b"%d" % INDEX_FORMAT or parts[3].decode("ascii", "replace") != origin(index_dir):
        return EMPTY
    if int(parts[2], 16) != zlib.crc32(body):
        raise Damaged(f"{path} fails its checksum; delete {index_dir} and it will be built again.")
    try:
        return msgspec.json.decode(body, type=Generation)
    except msgspec.DecodeError as error:
        raise Damaged(f"{path} cannot be read: {error}.") from error


def origin(index_dir: Path) -> str:
    """16 hex digits that only this user can make for this very folder: a keyed hash of its device and inode."""
    info = index_dir.stat()
    place = f"{info.st_dev}:{info.st_ino}".encode()
    return hashlib.blake2b(place, key=_user_key(), digest_size=8).hexdigest()


@functools.cache
def _user_key() -> bytes:
    """32 random bytes in the user's cache folder, made on first use; no key where no such folder can be written."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = Path(base) / "cortex" / "origin.key"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_name(f".origin.{os.getpid()}")
        if not path.exists():
            temporary.write_bytes(os.urandom(32))
            temporary.chmod(0o600)
            with contextlib.suppress(FileExistsError):
                os.link(temporary, path)  # the first of several processes wins
            temporary.unlink()
        return path.read_bytes()[:64]
    except OSError:
        return b""


def publish(index_dir: Path, generation: Generation) -> None:
    """Make `generation` the current one by one rename. Raises OSError; the old one stays current then."""
    body = orjson.dumps(generation)
    head = f"cortex-index {INDEX_FORMAT} {zlib.crc32(body):08x} {origin(index_dir)}\n".encode()
    files.replace(index_dir / CURRENT, head + body, sync=True)


def prune(index_dir: Path, keep: list[Generation], *, older_than_s: float = PRUNE_AFTER_S) -> list[str]:
    """Remove segments, deleted-key files, text folders and HNSW files that none of `keep` names and that are older
    than `older_than_s`. Returns the names removed. A file that cannot be removed is tried again next time.
    """
    named = {name for generation in keep for name in _names(generation)}
    removed: list[str] = []
    limit = time.time() - older_than_s
    for folder in ("segments", "text", "vectors", "graph"):
        with contextlib.suppress(FileNotFoundError):
            for entry in list(os.scandir(index_dir / folder)):
                name = f"{folder}/{entry.name}"
                if name in named or name == "text/writer":
                    continue
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < limit:
                        shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.unlink(
                            entry.path
                        )
                        removed.append(name)
    return removed


def _names(generation: Generation) -> list[str]:
    names = [f"segments/{segment.name}" for segment in generation.segments]
    names += [f"segments/{generation.deleted}"] if generation.deleted else []
    names += [f"text/{generation.text}"] if generation.text else []
    names += [f"vectors/{generation.vectors}"] if generation.vectors else []
    names += [f"graph/{name}" for name in generation.graph.values()]
    names += [f"graph/{generation.references}"] if generation.references else []
    return names
