"""The folders of chunk files and graph files: ours in the user's cache, and those in the project
that other programs write to. What is in a file is not looked at, but for who wrote it.

A project's folder is data like the sources beside it: it may come with a clone. It is read without
following a link, and never written, unless `server.chunks_dir` names it.
"""

from __future__ import annotations

import errno
import functools
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from cortex.settings.config import Config
from cortex.settings.home import PROJECT_FOLDER
from cortex.system import files, zstd

#: `_metadata.generator` of our files: only such files are ever replaced or deleted
GENERATOR = "cortex"
#: how the names of chunk files and graph files end. Those that Cortex writes in the user's cache
#: are zstd frames; elsewhere are files that a person can read, and a clone has no frames to offer
PLAIN, PACKED = ".json", ".json.zst"
#: what `_metadata.embeddings` says of a chunk file of ours without vectors: each is what the model
#: makes of its chunk (terms/passages.py), which takes less than to read it
FROM_TEXT = "from text"
#: a packed chunk file without vectors has about one of so many bytes; vectors stay as they are
PACKED_SHARE = 6
#: bytes of one graph file
GRAPH_BYTES_MAX = 512 * 1024 * 1024
#: bytes at the front of a file within which our generator mark stands
HEAD_BYTES = 600

_OURS = re.compile(rb'\s*\{\s*"_metadata"\s*:\s*\{[^{}]*"generator"\s*:\s*"cortex"')


def is_ours(path: Path) -> bool:
    """Whether Cortex wrote a chunk file or graph file. One that cannot be read, or is a link, is
    somebody else's.
    """
    try:
        return _OURS.match(read_head(path)) is not None
    except (OSError, ValueError):
        return False


def read_head(path: Path) -> bytes:
    """The first HEAD_BYTES bytes of a file, unpacked. Raises OSError, and ValueError for one that
    is no frame.
    """
    with files.open_plain(path) as file:
        return zstd.head(file, HEAD_BYTES) if path.name.endswith(PACKED) else file.read(HEAD_BYTES)


def pack(name: str, raw: bytes) -> bytes:
    """`raw` as it lies in a file of this name."""
    return zstd.pack(raw) if name.endswith(PACKED) else raw


def unpack(name: str, raw: bytes, bytes_max: int) -> bytes:
    """What the bytes of a file of this name hold. Raises ValueError when that cannot be read, or
    has more than `bytes_max` bytes.
    """
    return zstd.unpack(raw, bytes_max) if name.endswith(PACKED) else raw


@functools.lru_cache(maxsize=4096)
def _is_ours_cached(path: Path, size: int, mtime_ns: int) -> bool:  # noqa: ARG001 - a changed file is another
    return is_ours(path)


def is_linked(folder: Path, root: Path) -> bool:
    """Whether there is a link on the way from the project's root to `folder`, itself included;
    False for a folder that is not in the project.
    """
    if not folder.is_relative_to(root):
        return False
    parts = folder.relative_to(root).parts
    return any(root.joinpath(*parts[: depth + 1]).is_symlink() for depth in range(len(parts)))


def bytes_in(name: str, size: int) -> int:
    """How many bytes of JSON a chunk file of this name and size holds, about."""
    return size * PACKED_SHARE if name.endswith(PACKED) else size


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of chunk files or graph files. In CURRENT and in messages a file's name is
    `prefix` and what the folder calls it: no two files of a generation share a name.
    """

    path: Path
    root: Path
    prefix: str = ""
    #: only what we did not write counts: what we wrote there is an index of an earlier version
    others: bool = False
    #: in the user's cache, where files are packed
    packed: bool = False

    def files(self) -> dict[str, os.stat_result]:
        """The files by name, in its order; none when there is no such folder, or only a link.

        Raises OSError when it cannot be listed.
        """
        stats: dict[str, os.stat_result] = {}
        try:
            present = files.entries(self.path)
        except OSError as error:
            if isinstance(error, FileNotFoundError | NotADirectoryError) or error.errno == errno.ELOOP:
                return {}
            raise
        for name, info in present.items():
            if not name.endswith(self._endings()) or name.startswith(".") or not stat.S_ISREG(info.st_mode):
                continue
            if not is_text(name):
                continue  # CURRENT could not name it
            if not (self.others and self._wrote(name, info)):
                stats[self.prefix + name] = info
        return dict(sorted(stats.items()))

    def _endings(self) -> tuple[str, ...]:
        return (PLAIN, PACKED) if self.packed else (PLAIN,)

    def _wrote(self, name: str, info: os.stat_result) -> bool:
        return _is_ours_cached(self.path / name, info.st_size, info.st_mtime_ns)

    def place(self, name: str) -> Path:
        return self.path / name.removeprefix(self.prefix)

    def open(self, name: str) -> BinaryIO:
        """The file of this name, opened without following a link. Raises OSError."""
        return files.open_plain(self.place(name))


def is_text(name: str) -> bool:
    """Whether a file's name is UTF-8: others cannot be written down, nor told to anybody."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def folder_of(folders: Sequence[Folder], name: str) -> Folder:
    """The one of `folders` that a file of this name is in."""
    return next(
        (folder for folder in folders if folder.prefix and name.startswith(folder.prefix)), folders[0]
    )


def files_in(folders: Sequence[Folder]) -> dict[str, os.stat_result]:
    """The files of all `folders` by name. Raises OSError as `Folder.files` does."""
    return {name: info for folder in folders for name, info in folder.files().items()}


def chunk_folders(config: Config) -> tuple[Folder, ...]:
    """Ours first. A folder that `server.chunks_dir` names is the only one."""
    ours = Folder(config.chunks_dir, config.root, packed=chunk_ending(config) == PACKED)
    return (ours,) if config.server.chunks_dir else (ours, _project_folder(config, "chunks"))


def chunk_ending(config: Config) -> str:
    """How the names of our chunk files end."""
    return PLAIN if config.server.chunks_dir else PACKED


def graph_folders(config: Config) -> tuple[Folder, ...]:
    return Folder(config.graph_dir, config.root, packed=True), _project_folder(config, "graph")


def _project_folder(config: Config, kind: str) -> Folder:
    path = config.root / PROJECT_FOLDER / kind
    return Folder(path, config.root, f"{PROJECT_FOLDER}/{kind}/", others=True)
