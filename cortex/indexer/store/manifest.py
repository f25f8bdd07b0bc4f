"""The indexer's memory, `.cortex/manifest.json`: what each file was when it was indexed, and each chunk file it wrote."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import msgspec

from cortex import __version__
from cortex.indexer.chunkers import CHUNKERS_VERSION
from cortex.settings.config import Config
from cortex.system import files

#: raised when this file's or the chunk files' shape changes; a manifest of another number is forgotten
MANIFEST_VERSION = 2


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One source file. `skipped` says why it has no chunks, "" if it has been indexed; `remarks` what is unusual.

    `ids` stands for the ids of its `chunks` (see name_of): the manifest is written and read at every save.
    """

    sha256: str
    size: int
    mtime_ns: int
    chunks: int = 0
    ids: str = ""
    skipped: str = ""
    remarks: tuple[str, ...] = ()


class Manifest(msgspec.Struct):
    """`recipe` names everything that the chunks depend on beside the sources; another one means: all anew.

    `left_out` counts the files that were not even read, by the reason. `chunk_files` holds (size, mtime_ns) of each
    chunk file as it was written: one that differs is built again.
    """

    version: int = MANIFEST_VERSION
    generator: str = ""
    recipe: str = ""
    model: str = ""
    dimensions: int = 0
    shards: int = 1
    sequence: int = 0
    files: dict[str, Entry] = msgspec.field(default_factory=dict)
    left_out: dict[str, int] = msgspec.field(default_factory=dict)
    chunk_files: dict[str, tuple[int, int]] = msgspec.field(default_factory=dict)


def name_of(ids: Iterable[str]) -> str:
    """A short name for the ids of a file's chunks, in their order."""
    return hashlib.blake2b("\n".join(ids).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def recipe(config: Config, model: str) -> str:
    return f"{MANIFEST_VERSION}.{CHUNKERS_VERSION} {config.indexing.chunk_tokens} {model} {config.chunks_dir}"


def load(path: Path) -> Manifest:
    """The manifest, an empty one when it is missing, damaged or of another version: then everything is read again."""
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError):
        return Manifest()
    return manifest if manifest.version == MANIFEST_VERSION else Manifest()


def save(path: Path, manifest: Manifest) -> None:
    """By one rename, so that a reader sees the old or the new one."""
    manifest.generator = f"cortex {__version__}"
    files.replace(path, msgspec.json.encode(manifest))
