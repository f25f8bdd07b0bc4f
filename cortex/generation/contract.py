"""The folders of chunk files and graph files: Cortex's own in the user's cache, and the folders in
the project that other programs write to. Of a file's content only its generator mark is read here.

A project's folder may come with a clone: its files count after a person's consent alone. Cortex
reads it without following links, and never writes to it unless `server.chunks_dir` names it.
"""

import errno
import functools
import os
import re
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from cortex.settings.config import Config
from cortex.settings.consent.chunk_consent import Consent, consent_of
from cortex.settings.folders.home import PROJECT_FOLDER
from cortex.system import files, zstd
from cortex.system.errors import Misconfigured

#: `_metadata.generator` of files that Cortex wrote: it replaces and deletes only these
GENERATOR = "cortex"
#: endings of the names of chunk files and graph files. Files that Cortex writes in the user's cache
#: are zstd frames; elsewhere files are plain JSON that a person can read, and a clone may not bring
#: frames
PLAIN, PACKED = ".json", ".json.zst"
#: `_metadata.embeddings` of a chunk file by Cortex without vectors: the model computes each vector
#: from its chunk (terms/passages.py), which is faster than reading it
FROM_TEXT = "from text"
#: approximate ratio of plain to packed size of a chunk file without vectors; vectors do not shrink
PACKED_SHARE = 6
#: largest graph file, in bytes
GRAPH_BYTES_MAX = 512 * 1024 * 1024
#: bytes at the start of a file that must contain the generator mark
HEAD_BYTES = 600

_OURS = re.compile(rb'\s*\{\s*"_metadata"\s*:\s*\{[^{}]*"generator"\s*:\s*"cortex"')


def is_ours(path: Path) -> bool:
    """Return whether Cortex wrote a chunk or graph file; False for links and unreadable ones."""
    try:
        return _OURS.match(read_head(path)) is not None
    except (OSError, ValueError):
        return False


def read_head(path: Path) -> bytes:
    """Return the first HEAD_BYTES bytes of a file, unpacked. Raises OSError, and ValueError for a
    file that should be a zstd frame and is not.
    """
    with files.open_plain(path) as file:
        return zstd.head(file, HEAD_BYTES) if path.name.endswith(PACKED) else file.read(HEAD_BYTES)


def pack(name: str, raw: bytes) -> bytes:
    """Return `raw` in the form that a file of this name stores."""
    return zstd.pack(raw) if name.endswith(PACKED) else raw


def unpack(name: str, raw: bytes, bytes_max: int) -> bytes:
    """Return the content of a file of this name from its stored bytes. Raises ValueError when it
    cannot be unpacked, or has more than `bytes_max` bytes.
    """
    return zstd.unpack(raw, bytes_max) if name.endswith(PACKED) else raw


@functools.lru_cache(maxsize=4096)
def _is_ours_cached(path: Path, size: int, mtime_ns: int) -> bool:  # noqa: ARG001 - a changed file is another
    return is_ours(path)


def is_linked(folder: Path, root: Path) -> bool:
    """Return whether `folder`, or one up to the root, is a link; False outside of the project."""
    if not folder.is_relative_to(root):
        return False
    parts = folder.relative_to(root).parts
    return any(root.joinpath(*parts[: depth + 1]).is_symlink() for depth in range(len(parts)))


def bytes_in(name: str, size: int) -> int:
    """Estimate the bytes of JSON in a chunk file of this name and size."""
    return size * PACKED_SHARE if name.endswith(PACKED) else size


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of chunk files or graph files. CURRENT and messages name a file by `prefix` plus its
    name in the folder, so no two files of a generation share a name.
    """

    path: Path
    root: Path
    prefix: str = ""
    #: ignore files by Cortex: in this folder they belong to an index of an earlier version
    others: bool = False
    #: in the user's cache, where files are packed
    packed: bool = False
    #: the consent that each file needs
    consent: Consent | None = None

    def files(self) -> dict[str, os.stat_result]:
        """Return the files that may be read by name, sorted by name; none when the folder is
        missing, or is a link.

        Raises OSError when the folder cannot be listed.
        """
        stats = self._stats()
        if self.consent is None:
            return stats
        approved = self.consent.approved(stats)
        return {name: info for name, info in stats.items() if name in approved}

    def waiting(self) -> dict[str, os.stat_result]:
        """Return the files without consent, as `files` does."""
        if self.consent is None or self.consent.always:
            return {}
        stats = self._stats()
        approved = self.consent.approved(stats)
        return {name: info for name, info in stats.items() if name not in approved}

    def _stats(self) -> dict[str, os.stat_result]:
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
        """Open the file of this name without following a link. Raises OSError."""
        return files.open_plain(self.place(name))


def is_text(name: str) -> bool:
    """Return whether a file's name is UTF-8: no other name fits into JSON or messages."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def folder_of(folders: Sequence[Folder], name: str) -> Folder:
    """Return the folder among `folders` that holds files of this name."""
    return next(
        (folder for folder in folders if folder.prefix and name.startswith(folder.prefix)), folders[0]
    )


def files_in(folders: Sequence[Folder]) -> dict[str, os.stat_result]:
    """Return the files of all `folders` by name. Raises OSError as `Folder.files` does."""
    return {name: info for folder in folders for name, info in folder.files().items()}


def chunk_folders(config: Config) -> tuple[Folder, ...]:
    """Return the folders of chunk files, Cortex's own first, or the one of `server.chunks_dir`."""
    ours = Folder(config.chunks_dir, config.root, packed=chunk_ending(config) == PACKED)
    return (ours,) if config.server.chunks_dir else (ours, _project_folder(config, "chunks"))


def chunk_ending(config: Config) -> str:
    """Return the ending of the names of chunk files that Cortex writes."""
    return PLAIN if config.server.chunks_dir else PACKED


def graph_folders(config: Config) -> tuple[Folder, ...]:
    return Folder(config.graph_dir, config.root, packed=True), _project_folder(config, "graph")


def _project_folder(config: Config, kind: str) -> Folder:
    return _folder_of_others(config.root, kind, consent_of(config.root, always=config.trusts_chunks))


def _folder_of_others(root: Path, kind: str, consent: Consent | None) -> Folder:
    name = f"{PROJECT_FOLDER}/{kind}"
    return Folder(root / name, root, f"{name}/", others=True, consent=consent)


def project_files(root: Path) -> dict[str, os.stat_result]:
    """Return the files of other programs in a project by name, with or without consent. Raises
    Misconfigured when their folder cannot be listed.
    """
    try:
        return files_in([_folder_of_others(root, kind, None) for kind in ("chunks", "graph")])
    except OSError as error:
        raise Misconfigured(f"Cannot list {error.filename or root}: {error.strerror}.") from error


def waiting_files(config: Config) -> dict[str, os.stat_result]:
    """Return other programs' files that wait for consent, by name; none of unlisted folders."""
    folders = (*chunk_folders(config)[1:], *graph_folders(config)[1:])
    try:
        return {name: info for folder in folders for name, info in folder.waiting().items()}
    except OSError:
        return {}


def say_waiting(names: Collection[str]) -> str:
    """Return a sentence on the files that wait for consent; "" for none."""
    if not names:
        return ""
    graphs = sum(name.startswith(f"{PROJECT_FOLDER}/graph/") for name in names)
    counts = ((len(names) - graphs, "chunk"), (graphs, "graph"))
    parts = [f"{count} {kind} file{'s' * (count > 1)}" for count, kind in counts if count]
    verb = "waits" if len(names) == 1 else "wait"
    return f"{' and '.join(parts)} of another program {verb} for a person: `cortex trust` in a terminal."
