"""The schema of `.cortex/manifest.json`: the state of each source file when it was indexed, and of
each written chunk file.

The indexer writes it and reads all of it; other readers decode only the fields that they need,
which is faster. No I/O here.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

#: increased when the schema of this file or of chunk files changes; a manifest with another number
#: is ignored
MANIFEST_VERSION = 2

E = TypeVar("E")


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


class FileState(msgspec.Struct, frozen=True):
    """The fields of an Entry that show whether the file is unchanged since it was indexed, whether
    it has chunks, and its remarks.
    """

    size: int
    mtime_ns: int
    chunks: int = 0
    remarks: tuple[str, ...] = ()


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
