"""The shape of `.cortex/manifest.json`: what each file was when it was indexed, and each chunk file
that was written.

The indexer writes it and reads all of it; others read of each file only what they need, which is
quicker. No I/O here.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

#: raised when this file's or the chunk files' shape changes; a manifest of another number is
#: forgotten
MANIFEST_VERSION = 2

E = TypeVar("E")


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One source file. `skipped` says why it has no chunks, "" if it has been indexed; `remarks`
    what is unusual.

    `ids` stands for the ids of its `chunks` (see name_of): the manifest is written and read at
    every save.
    """

    sha256: str
    size: int
    mtime_ns: int
    chunks: int = 0
    ids: str = ""
    skipped: str = ""
    remarks: tuple[str, ...] = ()


class FileState(msgspec.Struct, frozen=True):
    """Of an Entry, what tells whether the file is still as it was indexed, and whether there is
    anything of it to be searched.
    """

    size: int
    mtime_ns: int
    chunks: int = 0


class FileRemarks(msgspec.Struct, frozen=True):
    """Of an Entry, what was said about the file, and whether there is anything of it."""

    chunks: int = 0
    skipped: str = ""
    remarks: tuple[str, ...] = ()


class Listing(msgspec.Struct, Generic[E]):
    """The manifest with as much of each file as `E` holds.

    `recipe` names everything that the chunks depend on beside the sources; another one means: all
    anew. `left_out` counts the files that were not even read, by the reason.
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
    """All of it. `chunk_files` holds (size, mtime_ns) of each chunk file as it was written: one
    that differs is built again.
    """

    chunk_files: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict)
