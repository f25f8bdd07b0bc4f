"""The schema of `.cortex/manifest.json`: the state of each source file when it was indexed, and of
each written chunk file.

The indexer writes it and reads all of it; other readers decode only the fields that they need,
which is faster. No I/O here.
"""

from typing import Generic, TypeVar

import msgspec

#: increased when the schema of this file or of chunk files changes; a manifest with another number
#: is ignored
MANIFEST_VERSION = 2

#: nanoseconds, longer than a tick of a file system's clock: two saves within a tick have the same
#: times
TICK_NS = 2_000_000_000

E = TypeVar("E")
#: the values of stat that show a change: size, mtime_ns, ctime_ns, inode (0: not to be compared)
Stat = tuple[int, int, int, int]


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One source file. `skipped` gives the reason why it has no chunks, "" when it is indexed;
    `remarks` list its peculiarities; `encoding` is the codec of a text that is not UTF-8.

    `ids` is a digest of the ids of its `chunks` (indexer/store/manifest.py, `name_of`): the
    manifest is written and read at every save.
    """

    sha256: str
    size: int
    mtime_ns: int
    chunks: int = 0
    ids: str = ""
    skipped: str = ""
    remarks: tuple[str, ...] = ()
    encoding: str = ""
    #: 0 in a manifest of an earlier version, and for an inode that does not name a file for long
    ctime_ns: int = 0
    inode: int = 0
    #: when the file was read first with these times, if that was less than TICK_NS after them: a
    #: later save may have the same ones; else 0
    racy_ns: int = 0

    @property
    def stat(self) -> Stat:
        return self.size, self.mtime_ns, self.ctime_ns, self.inode


class FileState(msgspec.Struct, frozen=True):
    """An Entry's fields for: whether the file is unchanged, whether it has chunks, its remarks."""

    size: int
    mtime_ns: int
    chunks: int = 0
    remarks: tuple[str, ...] = ()
    ctime_ns: int = 0
    inode: int = 0


class FileDigest(msgspec.Struct, frozen=True):
    """The digest of an Entry alone."""

    sha256: str


class FileRemarks(msgspec.Struct, frozen=True):
    """The fields of an Entry with remarks about the file, and whether it has chunks."""

    chunks: int = 0
    skipped: str = ""
    remarks: tuple[str, ...] = ()


class Listing(msgspec.Struct, Generic[E]):
    """The manifest, with as many fields of each file as `E` holds.

    `recipe` names everything that the chunks depend on besides the sources; a changed recipe means
    a full rebuild. `left_out` counts the unread files by reason.
    """

    version: int = MANIFEST_VERSION
    generator: str = ""
    recipe: str = ""
    model: str = ""
    dimensions: int = 0
    shards: int = 1
    sequence: int = 0
    files: dict[str, E] = msgspec.field(default_factory=dict)
    left_out: dict[str, int] = msgspec.field(default_factory=dict)


class Manifest(Listing[Entry]):
    """The complete manifest. `chunk_files` holds (size, mtime_ns) of each chunk file as written: a
    chunk file that differs is built again.
    """

    chunk_files: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict)


def is_unchanged(record: Entry | FileState, stat: Stat) -> bool | None:
    """Return whether a file is as it was recorded; None if only its content can tell: its times or
    its inode are others, or the record has no ctime.
    """
    size, mtime_ns, ctime_ns, inode = stat
    if record.size != size:
        return False
    is_same = record.mtime_ns == mtime_ns and record.ctime_ns == ctime_ns
    return True if is_same and (record.inode == inode or not (record.inode and inode)) else None


def stamp(entry: Entry, stat: Stat, read_ns: int) -> Entry:
    """Return the entry of a file that had this stat before it was read at `read_ns`."""
    racy_ns = 0
    if max(stat[1], stat[2]) > read_ns - TICK_NS:
        is_known = entry.racy_ns and entry.stat == stat and entry.racy_ns <= read_ns
        racy_ns = entry.racy_ns if is_known else read_ns
        if read_ns - racy_ns >= TICK_NS:  # times in the future: no clock stood still for so long
            racy_ns = 0
    size, mtime_ns, ctime_ns, inode = stat
    return msgspec.structs.replace(
        entry, size=size, mtime_ns=mtime_ns, ctime_ns=ctime_ns, inode=inode, racy_ns=racy_ns
    )
