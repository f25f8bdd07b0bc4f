"""Reading and checking chunk files, and what changed since the last reading. Builds nothing,
publishes nothing.

Chunk files are the contract between whoever indexes and whoever serves (docs/CHUNKS.md).
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cortex.generation.contract import Folder, bytes_in, files_in, folder_of
from cortex.generation.current import FileRef
from cortex.generation.read import Rows
from cortex.publish.chunk_file_reader import ChunkFile, FiledChunk, read_chunk_file
from cortex.publish.served_chunks import Chunk, ServedChunks
from cortex.system.errors import Damaged

log = logging.getLogger(__name__)

#: bytes of chunk files that one change reads (parsed they take five times as much); a larger
#: backlog is published step by step, so that searching can begin. Where more is served it may be
#: that part of it, up to the second number: what each generation costs grows with what there is
BATCH_BYTES, BATCH_BYTES_MAX = 16 * 1024 * 1024, 48 * 1024 * 1024
BATCH_SHARE = 1 / 16
#: seconds that what has changed waits at most, while a long run goes on, until it is as much as
#: what is served, or as what is still to come
WAIT_S = 5.0
#: bytes that are worth a generation however little is to come
LEAST_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reading found: chunks to write as new rows, row keys to delete,
    and the files as they were read.
    """

    added: tuple[FiledChunk, ...]
    deleted: tuple[tuple[str, int], ...]  #: (chunk id, row key)
    files: dict[str, FileRef]
    loaded: dict[str, ChunkFile]
    sequence: int
    warnings: tuple[str, ...]
    #: chunk files that have changed and wait to be read
    backlog: int = 0


@dataclass
class ChunkManager:
    """Knows what is served and reads what has changed in `folders`. Used by one thread of the
    watcher.

    `read` returns a Reading; `accept` makes it the known state once it is published (so a failed
    build is read again).
    """

    folders: Sequence[Folder]
    dimensions: int
    wait_s: float = WAIT_S
    #: as `read_chunk_file` has it
    timeless: bool = False
    served: ServedChunks = field(default_factory=ServedChunks)
    files: dict[str, FileRef] = field(default_factory=dict)
    #: chunk file → ids in it that a newer chunk of another file hides
    hidden: dict[str, set[str]] = field(default_factory=dict)
    #: chunk files that could not be read, as they were, and the sentence that says why
    damaged: dict[str, tuple[FileRef, str]] = field(default_factory=dict)
    #: chunk file → `_metadata.generator`
    generators: dict[str, str] = field(default_factory=dict)
    #: files that the last look found
    file_count: int = 0
    #: since when (monotonic, seconds) changes wait that are too little; 0: none do
    _waiting: float = 0.0

    def start_from(self, rows: Rows, files: dict[str, FileRef]) -> None:
        """Take a published generation as what is known;
        nothing is read again that has not changed.
        """
        self.served = ServedChunks()
        self.served.add_rows(rows)
        self.files = dict(files)

    def read(self, batch_bytes: int = BATCH_BYTES, *, to_come: float = 0.0) -> Reading | None:
        """What has changed on disk, at most about `batch_bytes` of chunk files at once, or
        BATCH_SHARE of what is served; None when nothing has.

        `to_come`: the share of a long run's files that are not in chunk files yet. While there are
        some, also None until as much has changed as is served, or as is still to come, for WAIT_S
        at most. Each generation costs its readers, and rows that came in small portions are merged;
        what is left for the end of the run is what a user waits for.
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
        """Whether `read` has left something for later."""
        return self._waiting > 0

    def _is_too_little(
        self, changed: Iterable[str], present: Mapping[str, os.stat_result], enough: int, to_come: float
    ) -> bool:
        """Whether `changed` is not worth a generation yet."""
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
        """The change is published; `keys` are the row keys of `change.added`, in order."""
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
        self.served.take(chunks_by_file)
        for name, file in change.loaded.items():
            self.hidden.pop(name, None)
            if hidden := file.ids.difference(chunks_by_file[name]):
                self.hidden[name] = hidden
            self.generators[name] = file.generator
        self.files = dict(change.files)

    def readable_files(self) -> dict[str, FileRef]:
        """The files for CURRENT. One that hides chunks is left out,
        so that a restarted watcher reads it again.
        """
        return {name: ref for name, ref in self.files.items() if name not in self.hidden}

    def warnings(self) -> tuple[str, ...]:
        return tuple(sentence for _, sentence in self.damaged.values())

    def _scan(self) -> dict[str, os.stat_result]:
        present = files_in(self.folders)
        self.file_count = len(present)
        self.damaged = {name: fault for name, fault in self.damaged.items() if name in present}
        return present

    def _differs(self, name: str, stat: os.stat_result) -> bool:
        ref = self.damaged[name][0] if name in self.damaged else self.files.get(name)
        return ref is None or (ref.size, ref.mtime_ns) != (stat.st_size, stat.st_mtime_ns)

    def _load(self, names: Iterable[str]) -> dict[str, ChunkFile]:
        loaded: dict[str, ChunkFile] = {}
        for name in names:
            path = folder_of(self.folders, name).place(name)
            try:
                same = {chunk.digest: chunk_id for chunk_id, chunk in self.served.of(name).items()}
                loaded[name] = read_chunk_file(path, self.dimensions, same, name=name, timeless=self.timeless)
                self.damaged.pop(name, None)
            except FileNotFoundError:
                continue  # replaced or removed since the scan; the next look sees it
            except (Damaged, OSError) as error:
                log.warning("skipped chunk file %s", error)
                try:
                    stat = path.lstat()
                except OSError:
                    continue
                self.damaged[name] = (FileRef(stat.st_size, stat.st_mtime_ns, ""), str(error))
        return loaded

    def _load_contested(
        self, loaded: dict[str, ChunkFile], removed: set[str], present: dict[str, os.stat_result]
    ) -> dict[str, ChunkFile]:
        """Load also the unchanged files that hold an id which a loaded file claims, openly or
        hidden, or one that has become free.
        """
        while True:
            wanted: set[str] = set()
            claimed = {chunk_id for file in loaded.values() for chunk_id in file.ids}
            # What a file keeps is its own: only what is read may be another's.
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
                        f"chunk id {chunk.id!r} stands in {other.file} and {chunk.file}; the newest is used."
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
    """The first of `changed` that together have at most `limit` bytes unpacked, at least one."""
    total = 0
    for at, name in enumerate(changed):
        total += bytes_in(name, present[name].st_size)
        if total > limit and at:
            return changed[:at]
    return changed
