"""Reading of chunk files, and their changes since the last reading. Builds and publishes nothing.

Chunk files are the contract between indexing and serving programs (docs/CHUNKS.md).
"""

import logging
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cortex.generation.contract import GENERATOR, Folder, bytes_in, files_in, folder_of
from cortex.generation.current import FileRef, Generation
from cortex.generation.others import OthersSource
from cortex.generation.read import Rows
from cortex.publish.chunk_file_reader import ChunkFile, FiledChunk, read_chunk_file
from cortex.publish.others_text import OthersText
from cortex.publish.served_chunks import Chunk, ServedChunks
from cortex.system.errors import Damaged

log = logging.getLogger(__name__)

#: bytes of chunk files that one change reads (parsed they take five times as much). A larger
#: backlog is published step by step, so that searching can begin. In a large index a step may be
#: BATCH_SHARE of the served bytes, up to the second number: each generation costs in proportion to
#: the index
BATCH_BYTES, BATCH_BYTES_MAX = 16 * 1024 * 1024, 48 * 1024 * 1024
BATCH_SHARE = 1 / 16
#: seconds that changes wait at most during a long run, until they are as many bytes as are served,
#: or as are still to come
WAIT_S = 5.0
#: bytes that justify a generation, however little is still to come
LEAST_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of a reading: chunks for new rows, row keys to delete, the files as read."""

    added: tuple[FiledChunk, ...]
    deleted: tuple[tuple[str, int], ...]  #: (chunk id, row key)
    files: dict[str, FileRef]
    loaded: dict[str, ChunkFile]
    sequence: int
    warnings: tuple[str, ...]
    #: changed chunk files that wait to be read
    backlog: int = 0


@dataclass
class ChunkManager:
    """Tracks the served chunks and reads the changes in `folders`. Used by one thread of the
    watcher.

    `read` returns a Reading; `accept` records it once it is published (so a failed build is read
    again).
    """

    folders: Sequence[Folder]
    dimensions: int
    wait_s: float = WAIT_S
    #: as in `read_chunk_file`
    timeless: bool = False
    #: compares chunks of other programs with their sources; None: they are taken as they are
    others_text: OthersText | None = None
    #: chunk file of another program → the sources that its chunks name
    others: dict[str, dict[str, OthersSource]] = field(default_factory=dict)
    served: ServedChunks = field(default_factory=ServedChunks)
    files: dict[str, FileRef] = field(default_factory=dict)
    #: chunk file → ids in it that a newer chunk of another file hides
    hidden: dict[str, set[str]] = field(default_factory=dict)
    #: unreadable chunk files: their state then, and the reason as a sentence
    damaged: dict[str, tuple[FileRef, str]] = field(default_factory=dict)
    #: chunk file → `_metadata.generator`
    generators: dict[str, str] = field(default_factory=dict)
    #: files that the last scan found
    file_count: int = 0
    #: start (monotonic, seconds) of the wait of changes that are too small; 0: none wait
    _waiting: float = 0.0

    def start_from(self, rows: Rows, published: Generation) -> None:
        """Start from a published generation: only changed files are read again."""
        self.served = ServedChunks()
        self.served.add_rows(rows)
        self.files, self.others = dict(published.files), dict(published.others)

    def read(self, batch_bytes: int = BATCH_BYTES, *, to_come: float = 0.0) -> Reading | None:
        """Return the changes on disk, in one call at most about `batch_bytes` of chunk files, or
        BATCH_SHARE of the served bytes; None when there are none.

        `to_come`: the share of a long run's files that are not in chunk files yet. While it is not
        0, the result is None, for at most WAIT_S, until the changes are as large as the served
        files or as the files to come. Each generation costs its readers time, and rows in small
        portions are merged later; but the user waits for whatever is left at the end of the run.
        """
        present = self._scan()
        removed = [name for name in {*self.served.files, *self.files} if name not in present]
        changed = [name for name, stat in present.items() if self._differs(name, stat)]
        if not changed and not removed:
            self._waiting = 0.0
            return None
        if to_come and not removed and self._is_too_little(changed, present, batch_bytes, to_come):
            return None
        self._waiting = 0.0
        share = min(BATCH_BYTES_MAX, int(BATCH_SHARE * self._served_bytes()))
        batch = _take_batch(changed, present, max(batch_bytes, share))
        loaded = self._load(batch)
        loaded = self._load_contested(loaded, set(removed), present)
        return self._diff(loaded, removed, len(changed) - len(batch))

    @property
    def waits(self) -> bool:
        """Whether `read` has left changes for later."""
        return self._waiting > 0

    def _is_too_little(
        self, changed: Iterable[str], present: Mapping[str, os.stat_result], enough: int, to_come: float
    ) -> bool:
        """Return whether `changed` is not worth a generation yet."""
        now = time.monotonic()
        self._waiting = self._waiting or now
        served = self._served_bytes()
        size = sum(bytes_in(name, present[name].st_size) for name in changed)
        if to_come < 1:
            enough = min(enough, max(LEAST_BYTES, int((served + size) * to_come / (1 - to_come))))
        return size < min(served, enough) and now - self._waiting < self.wait_s

    def _served_bytes(self) -> int:
        return sum(bytes_in(name, ref.size) for name, ref in self.files.items())

    def accept(self, change: Reading, keys: Iterable[int]) -> None:
        """Record a published change; `keys` are the row keys of `change.added`, in order."""
        gone = dict(change.deleted)
        chunks_by_file = {
            name: {
                i: served_chunk
                for i, served_chunk in self.served.of(name).items()
                if gone.get(i) != served_chunk.key
            }
            for name in {*change.loaded, *self.served.owners(gone).values()}
        }
        for chunk, key in zip(change.added, keys, strict=True):
            chunks_by_file[chunk.file][chunk.id] = Chunk(key, chunk.digest, chunk.source)
        dropped = [
            name for name in self.served.files if name not in change.files and name not in self.damaged
        ]
        for name in dropped:
            chunks_by_file[name] = {}
            self.hidden.pop(name, None)
            self.generators.pop(name, None)
            self.others.pop(name, None)
        self.served.take(chunks_by_file)
        for name, file in change.loaded.items():
            self.hidden.pop(name, None)
            if hidden := file.ids.difference(chunks_by_file[name]):
                self.hidden[name] = hidden
            self.generators[name] = file.generator
            self.others.pop(name, None)
            if file.sources is not None:
                self.others[name] = dict(file.sources)
        self.files = dict(change.files)

    def readable_files(self) -> dict[str, FileRef]:
        """Return the files for CURRENT, but those with hidden chunks, to be read again."""
        return {name: ref for name, ref in self.files.items() if name not in self.hidden}

    @property
    def set_aside(self) -> dict[str, FileRef]:
        """Files that were read and are not in CURRENT: damaged, or with hidden chunks."""
        hidden = {name: self.files[name] for name in list(self.hidden) if name in self.files}
        return hidden | {name: ref for name, (ref, _) in list(self.damaged.items())}

    def warnings(self) -> tuple[str, ...]:
        return tuple(sentence for _, sentence in self.damaged.values())

    def _scan(self) -> dict[str, os.stat_result]:
        present = files_in(self.folders)
        self.file_count = len(present)
        self.damaged = {name: fault for name, fault in self.damaged.items() if name in present}
        return present

    def _differs(self, name: str, stat: os.stat_result) -> bool:
        is_damaged = name in self.damaged
        ref = self.damaged[name][0] if is_damaged else self.files.get(name)
        if ref is None or (ref.size, ref.mtime_ns) != (stat.st_size, stat.st_mtime_ns):
            return True
        return not is_damaged and self.others_text is not None and self._has_changed_sources(name)

    def _has_changed_sources(self, name: str) -> bool:
        """Return whether the chunks of another program have to be compared again."""
        sources = self.others.get(name)
        if sources is None:
            return folder_of(self.folders, name).others  # published by an earlier version
        return self.others_text is not None and not self.others_text.is_unchanged(sources)

    def _load(self, names: Iterable[str]) -> dict[str, ChunkFile]:
        loaded: dict[str, ChunkFile] = {}
        for name in names:
            path = folder_of(self.folders, name).place(name)
            try:
                loaded[name] = self._read_file(name, path)
                self.damaged.pop(name, None)
            except FileNotFoundError:
                continue  # replaced or removed since the scan; the next scan sees it
            except (Damaged, OSError) as error:
                log.warning("skipped chunk file %s", error)
                try:
                    stat = path.lstat()
                except OSError:
                    continue
                self.damaged[name] = (FileRef(stat.st_size, stat.st_mtime_ns, ""), str(error))
        return loaded

    def _read_file(self, name: str, path: Path) -> ChunkFile:
        """Read one chunk file. Raises Damaged, OSError."""
        folder = folder_of(self.folders, name)
        if self.others_text is None or not folder.others:
            same = {chunk.digest: chunk_id for chunk_id, chunk in self.served.of(name).items()}
            file = read_chunk_file(path, self.dimensions, same, name=name, timeless=self.timeless)
            if self.others_text is None or folder.packed or file.generator == GENERATOR:
                return file
        # each chunk is compared with its source again, so each is parsed
        return self.others_text.check(
            read_chunk_file(path, self.dimensions, name=name, timeless=self.timeless)
        )

    def _load_contested(
        self, loaded: dict[str, ChunkFile], removed: set[str], present: dict[str, os.stat_result]
    ) -> dict[str, ChunkFile]:
        """Load also the unchanged files with an id, served or hidden, that a loaded file claims, or
        with a hidden id that has become free.
        """
        while True:
            wanted: set[str] = set()
            claimed = {chunk_id for file in loaded.values() for chunk_id in file.ids}
            # Unchanged chunks belong to their file: only parsed chunks can take an id from another
            # file.
            wanted.update(self.served.owners(i for file in loaded.values() for i in file.chunks).values())
            freed = {i for name in {*loaded, *removed} for i in self.served.ids(name)} - claimed
            wanted |= {name for name, ids in self.hidden.items() if ids & (freed | claimed)}
            wanted = {
                name for name in wanted if name in present and name not in loaded and name not in self.damaged
            }
            more = self._load(wanted)
            if not more:
                return loaded
            loaded |= more

    def _diff(self, loaded: dict[str, ChunkFile], removed: list[str], backlog: int) -> Reading:
        warnings = [warning for file in loaded.values() for warning in file.warnings]
        loaded_ids, twice = set[str](), set[str]()
        for file in loaded.values():
            twice |= loaded_ids & file.ids
            loaded_ids |= file.ids
        winners: dict[str, FiledChunk] = {}
        for file in loaded.values():
            reread = (
                file.read_unchanged(chunk_id, self.dimensions)
                for chunk_id in twice.intersection(file.unchanged)
            )
            for chunk in (*file.chunks.values(), *reread):
                other = winners.get(chunk.id)
                if other is not None:
                    warnings.append(
                        f"chunk id {chunk.id!r} is in both {other.file} and {chunk.file}; the newest is used."
                    )
                if other is None or (chunk.updated_at, chunk.file) > (other.updated_at, other.file):
                    winners[chunk.id] = chunk
        added: list[FiledChunk] = []
        deleted: list[tuple[str, int]] = []
        owners = self.served.owners(winners)
        chunks_by_file = {name: self.served.of(name) for name in {*loaded, *removed, *owners.values()}}
        for chunk_id, chunk in winners.items():
            owner = owners.get(chunk_id, "")
            before = chunks_by_file[owner][chunk_id] if owner else None
            if before is None or (before.digest, owner) != (chunk.digest, chunk.file):
                added.append(chunk)
                deleted.extend([(chunk_id, before.key)] if before else [])
        for name in {*loaded, *removed}:
            deleted.extend(
                (i, served_chunk.key)
                for i, served_chunk in chunks_by_file[name].items()
                if i not in loaded_ids
            )
        for warning in warnings:
            log.warning("%s", warning)
        files = {name: ref for name, ref in self.files.items() if name not in removed}
        files |= {name: file.ref for name, file in loaded.items()}
        return Reading(
            added=tuple(added),
            deleted=tuple(deleted),
            files=files,
            loaded=loaded,
            sequence=max((file.sequence for file in loaded.values()), default=0),
            warnings=(*warnings, *self.warnings()),
            backlog=backlog,
        )


def _take_batch(changed: list[str], present: dict[str, os.stat_result], limit: int) -> list[str]:
    """Return the first of `changed` with at most `limit` bytes unpacked, at least one."""
    total = 0
    for at, name in enumerate(changed):
        total += bytes_in(name, present[name].st_size)
        if total > limit and at:
            return changed[:at]
    return changed
