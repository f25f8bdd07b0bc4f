"""The writer of chunk files: it puts built shards in place, keeps the manifest consistent with
them, and has the lock.

The order makes it safe to kill a run anywhere: first chunk files are renamed into place, then the
manifest, which records size and mtime of each. The next run builds a chunk file again when it
differs from the manifest.
"""

import contextlib
import re
from collections.abc import Container, Iterable, Sequence
from pathlib import Path

from cortex.generation.contract import (
    PACKED,
    PLAIN,
    chunk_ending,
    chunk_folders,
    is_linked,
    is_ours,
    read_head,
)
from cortex.generation.manifest import Manifest
from cortex.indexer.store import manifest as manifests
from cortex.indexer.store.shards import STEMS, Built, other_form, shard_name
from cortex.settings.config import Config
from cortex.settings.folders.home import open_runtime
from cortex.system import files, git
from cortex.system.errors import Misconfigured, Unavailable
from ipc.locks import Lock, hold

#: seconds to wait for another run of the same project to end
LOCK_S = 120.0

_NAME = re.compile(rf"(?:{'|'.join(STEMS.values())})(?:\.(\d{{3,}}))?\.json(?:\.zst)?$")
_SEQUENCE = re.compile(rb'"sequence":(\d+)')


def writer_lock(config: Config, wait_s: float = LOCK_S) -> Lock:
    """Return the lock for writing chunk files; use it with `with`.

    Raises Unavailable when another process holds it for longer than `wait_s` seconds.
    """
    return hold(
        open_runtime(config) / "indexer.lock",
        lambda holder: Unavailable(
            f"Another indexer (process {holder}) is at work on {config.root}; try again when it has ended."
        ),
        wait_s=wait_s,
    )


def foreign_files(config: Config, known_names: Container[str] = ()) -> list[str]:
    """Return others' chunk files by their names in CURRENT; `known_names` are surely ours."""
    return [
        name
        for folder in chunk_folders(config)
        for name in folder.files()
        if folder.others or not (name in known_names or is_written_here(config, folder.place(name)))
    ]


def is_written_here(config: Config, path: Path) -> bool:
    """Return whether Cortex may replace or delete a chunk file. In the user's cache the name is
    enough, even if the file is damaged, because other programs write only into the project.
    """
    return (not config.server.chunks_dir and _NAME.match(path.name) is not None) or is_ours(path)


def claiming_files(config: Config, known_names: Container[str] = ()) -> list[str]:
    """Return the foreign files that stop this indexer: another program writes them here. Files that
    git tracks came with a clone, and are served as well.
    """
    foreign = foreign_files(config, known_names)
    folder = config.chunks_dir
    prefix = f"{folder.relative_to(config.root).as_posix()}/" if folder.is_relative_to(config.root) else ""
    paths = {name: name if "/" in name else f"{prefix}{name}" for name in foreign}
    tracked = git.tracked(config.root, paths.values()) if foreign else ()
    return [name for name in foreign if paths[name] not in tracked]


def _json_files(folder: Path) -> list[str]:
    try:
        return sorted(name for name in files.names(folder) if name.endswith((PLAIN, PACKED)))
    except OSError:
        return []


class Writer:
    """The chunks folder and the manifest of one run. The caller holds the writer lock."""

    def __init__(self, config: Config, manifest: Manifest) -> None:
        self.manifest, self._config = manifest, config
        self._folder = config.chunks_dir
        self._temporary = config.chunks_dir / ".tmp"
        self._ending = chunk_ending(config)

    def open(self) -> None:
        """Create the folders; remove an interrupted run's files. Raises Misconfigured."""
        if is_linked(self._temporary, self._config.root):
            raise Misconfigured(
                f"{self._temporary} or a folder above it is a link; put a real folder in its place, or set "
                "CORTEX_CHUNKS_DIR to another one."
            )
        try:
            if self._folder.is_file() and not self._config.server.chunks_dir:
                files.remove(self._folder)  # in the place of the folder
            files.make_folder(self._temporary)
            for name in files.names(self._temporary):
                files.remove_tree(self._temporary / name)
        except OSError as error:
            raise Misconfigured(
                f"Cannot write {self._folder}: {error.strerror}; make it writable or set CORTEX_CHUNKS_DIR."
            ) from error

    def stale(self) -> set[int]:
        """Return shards whose files differ from the manifest, after a kill or others' writing."""
        chunk_files = self.manifest.chunk_files
        present = set(_json_files(self._folder))
        wrong = [
            name
            for name, stat in chunk_files.items()
            if name not in present or not self._is_formed(name) or _stat(self._folder / name) != stat
        ]
        wrong += [name for name in present - chunk_files.keys() if _NAME.match(name) and self._is_ours(name)]
        numbers = {int(match[1] or 0) for name in wrong if (match := _NAME.match(name))}
        return {number for number in numbers if number < self.manifest.shards}

    def refuse_foreign(self, names: Sequence[str]) -> None:
        """Raise Misconfigured when one of `names`, to be written next, is another program's."""
        for name in names:
            path = self._folder / name
            if path.exists() and not self._is_ours(name):
                raise Misconfigured(
                    f"{path} was written by another program and would have to be replaced; move it away, or set "
                    "CORTEX_CHUNKS_DIR to another folder."
                )

    def last_sequence(self) -> int:
        """Return the highest sequence in the chunk files: a lost manifest continues from it."""
        highest = self.manifest.sequence
        for name in _json_files(self._folder):
            with contextlib.suppress(OSError, ValueError):
                match = _SEQUENCE.search(read_head(self._folder / name))
                highest = max(highest, int(match[1]) if match else 0)
        return highest

    def place(self, built: Sequence[Built], gone: dict[int, list[str]], sequence: int) -> None:
        """Rename finished shards into place, then the manifest."""
        manifest = self.manifest
        try:
            for shard in built:
                self.refuse_foreign(tuple(shard.written))
                for name, temporary in shard.written.items():
                    manifest.chunk_files[name] = _stat(Path(temporary)) or (0, 0)
                    files.move(temporary, self._folder / name)
                    self._delete_other_form(other_form(name))
                    manifest.sequence = sequence
                for name in shard.same:
                    manifest.chunk_files[name] = _stat(self._folder / name) or (0, 0)
                for name in filter(self._is_ours, shard.deleted):
                    self._delete(name)
                    manifest.sequence = sequence
                for name in self._names((shard.number,), manifest.shards):
                    if name not in shard.written and name not in shard.same:
                        manifest.chunk_files.pop(name, None)  # another program deleted it
                for path in gone.get(shard.number, ()):
                    manifest.files.pop(path, None)
                manifest.files.update(shard.entries)
            manifests.save(self._config.manifest, manifest)
        except OSError as error:
            raise Misconfigured(
                f"Cannot write {error.filename or self._folder}: {error.strerror}; make it writable or free some space."
            ) from error

    def drop_others(self, shards: int) -> None:
        """Delete Cortex's files that do not belong to a layout of `shards`."""
        wanted = set(self._names(range(shards), shards))
        others = [name for name in _json_files(self._folder) if name not in wanted and _NAME.match(name)]
        ours = [name for name in others if self._is_ours(name)]
        lost = self.manifest.chunk_files.keys() - wanted
        for name in {*ours, *lost}:
            self._delete(name)
        if ours or lost:
            manifests.save(self._config.manifest, self.manifest)

    def _names(self, numbers: Iterable[int], shards: int) -> list[str]:
        return [shard_name(kind, number, shards, self._ending) for kind in STEMS for number in numbers]

    def _is_formed(self, name: str) -> bool:
        """Return whether a chunk file is packed, or plain, as configured."""
        return name.endswith(PACKED) == (self._ending == PACKED)

    def _delete_other_form(self, name: str) -> None:
        """Delete the file under the name that an earlier version used for a file written now."""
        if self._ending == PACKED and (self._folder / name).exists() and self._is_ours(name):
            self._delete(name)

    def _is_ours(self, name: str) -> bool:
        return name in self.manifest.chunk_files or is_written_here(self._config, self._folder / name)

    def _delete(self, name: str) -> None:
        files.remove(self._folder / name)
        self.manifest.chunk_files.pop(name, None)


def _stat(path: Path) -> tuple[int, int] | None:
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_size, info.st_mtime_ns
