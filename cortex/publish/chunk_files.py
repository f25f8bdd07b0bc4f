"""Reading and checking chunk files, and what changed since the last reading. Builds nothing,
publishes nothing.

Chunk files are the contract between whoever indexes and whoever serves (docs/ARCHITECTURE.md,
"Chunk files").
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np
import orjson

from cortex.generation.contract import Folder, bytes_in, files_in, folder_of, unpack
from cortex.generation.current import FileRef
from cortex.generation.read import Rows
from cortex.generation.write import DIGEST_BYTES
from cortex.system import files
from ipc.arrays import Array
from ipc.errors import Damaged

log = logging.getLogger(__name__)

#: bytes of chunk files that one change reads (parsed they take five times as much); a larger
#: backlog is published step by step, so that searching can begin
BATCH_BYTES = 16 * 1024 * 1024
#: seconds that what has changed waits at most, while a long run goes on, until it is as much as
#: what is served
WAIT_S = 5.0
#: bytes of one chunk file: 50 000 chunks with vectors as numbers. Shards of the indexer stay far
#: below; a clone may bring one of zeros
FILE_BYTES_MAX = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FiledChunk:
    """A chunk as it stands in a chunk file. `body` has no embedding; `vector` is float32 of unit
    length or None.
    """

    id: str
    body: dict[str, Any]
    vector: Array | None
    model: str
    file: str
    digest: bytes

    @property
    def updated_at(self) -> str:
        return str(self.body.get("updated_at") or "")

    @property
    def source(self) -> str:
        """The source file that it is of; "" for none."""
        return str((self.body.get("metadata") or {}).get("file_path") or "")


@dataclass(frozen=True, slots=True)
class ChunkFile:
    """A chunk file as it was read. `kept` holds its chunks that stand unchanged, unread, by id:
    they are rarely needed again.
    """

    name: str
    ref: FileRef
    chunks: dict[str, FiledChunk]
    sequence: int
    generator: str
    model: str = ""
    warnings: tuple[str, ...] = ()
    kept: dict[str, msgspec.Raw] = field(default_factory=dict)

    @property
    def ids(self) -> set[str]:
        return {*self.chunks, *self.kept}

    def read_kept(self, chunk_id: str, dimensions: int) -> FiledChunk:
        """One of `kept`, read after all."""
        return _check_chunk(self.name, 0, self.kept[chunk_id], self.model, dimensions)


class _Parts(msgspec.Struct):
    """A chunk file whose chunks are not read yet: of many files most chunks are as they were."""

    chunks: list[msgspec.Raw]
    metadata: Any = msgspec.field(name="_metadata", default=None)


@dataclass(frozen=True, slots=True)
class Known:
    """A chunk that is served: its row key, what it was made of, the chunk file that it stands in,
    and the source file that it is of.
    """

    key: int
    digest: bytes
    file: str
    source: str = ""


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


def read_chunk_file(
    path: Path, dimensions: int, known: Mapping[bytes, str] = MappingProxyType({}), *, name: str = ""
) -> ChunkFile:
    """Read and check one chunk file: an object with `_metadata` and `chunks`, or a bare array of
    chunks. It is called `name`, that of its path when that is not given.

    `known`: digest → id of the chunks that are served of it; those that are in it unchanged were
    checked when they were read first, and are not read. Raises Damaged naming file, chunk and
    field; OSError when the file cannot be read.
    """
    name = name or path.name
    with files.open_plain(path) as file:
        info = os.fstat(file.fileno())
        if info.st_size > FILE_BYTES_MAX:
            raise Damaged(
                f"{name}: {info.st_size} bytes are more than a chunk file may have ({FILE_BYTES_MAX})."
            )
        try:
            raw = unpack(path.name, file.read(FILE_BYTES_MAX), FILE_BYTES_MAX)
        except ValueError as error:
            raise Damaged(f"{name}: {error}.") from error
    metadata, chunks = _split(name, raw)
    declared = metadata.get("dimensions")
    if declared is not None and declared != dimensions:
        raise Damaged(f"{name}: its vectors have {declared} dimensions, the embedder has {dimensions}.")
    model = str(metadata.get("model") or "")
    person = _person(model)
    out, kept = dict[str, FiledChunk](), dict[str, msgspec.Raw]()
    warnings: list[str] = []
    for at, chunk in enumerate(chunks):
        digest = hashlib.blake2b(chunk, digest_size=DIGEST_BYTES, person=person).digest()
        same = known.get(digest)
        if same is not None and same not in out and same not in kept:
            kept[same] = chunk
            continue
        filed = _check_chunk(name, at, chunk, model, dimensions)
        if filed.id in kept:
            out[filed.id] = _check_chunk(name, at, kept.pop(filed.id), model, dimensions)
        if filed.id in out:
            warnings.append(f"{name}: chunk id {filed.id!r} stands twice; the newest is used.")
            if out[filed.id].updated_at > filed.updated_at:
                continue
        out[filed.id] = filed
    sequence = metadata.get("sequence")
    return ChunkFile(
        name=name,
        ref=FileRef(size=info.st_size, mtime_ns=info.st_mtime_ns, sha256=""),
        chunks=out,
        sequence=sequence if isinstance(sequence, int) else 0,
        generator=str(metadata.get("generator") or ""),
        model=model,
        warnings=tuple(warnings),
        kept=kept,
    )


def _split(name: str, raw: bytes) -> tuple[dict[str, Any], list[msgspec.Raw]]:
    """(metadata, chunks) of a chunk file. Raises Damaged."""
    try:
        if raw.lstrip()[:1] == b"[":
            return {}, msgspec.json.decode(raw, type=list[msgspec.Raw])
        parts = msgspec.json.decode(raw, type=_Parts)
    except (ValueError, RecursionError):  # of another form, or no JSON
        parts = _read_whole(name, raw)
    return (parts.metadata if isinstance(parts.metadata, dict) else {}), parts.chunks


def _read_whole(name: str, raw: bytes) -> _Parts:
    """As `_split`, by the parser that says what is wrong."""
    try:
        data = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise Damaged(f"{name}: not valid JSON ({error}).") from error
    metadata, chunks = (None, data) if isinstance(data, list) else (None, None)
    if isinstance(data, dict):
        metadata, chunks = data.get("_metadata"), data.get("chunks")
    if not isinstance(chunks, list):
        raise Damaged(f"{name}: must be an array of chunks, or an object whose field 'chunks' is one.")
    return _Parts([msgspec.Raw(orjson.dumps(chunk)) for chunk in chunks], metadata)


def _person(model: str) -> bytes:
    """What makes digests of two models differ."""
    return model.encode()[-16:]


def _check_chunk(name: str, at: int, raw: msgspec.Raw, model: str, dimensions: int) -> FiledChunk:
    try:
        chunk = orjson.loads(memoryview(raw))
    except orjson.JSONDecodeError as error:
        raise Damaged(f"{name}: chunk {at} is not valid JSON ({error}).") from error
    if not isinstance(chunk, dict):
        raise Damaged(f"{name}: chunk {at} is a {type(chunk).__name__}, not an object.")
    where = f"{name}: chunk {chunk.get('id') or at!r}"
    if chunk.get("chunk_type") in (None, ""):  # it may be left out
        chunk["chunk_type"] = "code"
    for key in ("id", "chunk_type", "text"):
        if not isinstance(chunk.get(key), str) or (key == "id" and not chunk[key]):
            raise Damaged(f"{where} has no field {key!r}, or it is not a string.")
    tags, metadata = chunk.get("tags"), chunk.get("metadata")
    if tags is not None and not (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)):
        raise Damaged(f"{where}: field 'tags' must be an array of strings.")
    if metadata is not None and not isinstance(metadata, dict):
        raise Damaged(f"{where}: field 'metadata' must be an object.")
    digest = hashlib.blake2b(raw, digest_size=DIGEST_BYTES, person=_person(model)).digest()
    embedding = chunk.pop("embedding", None)
    chunk.setdefault("title", chunk["id"])
    vector = _vector(f"{name}: chunk {chunk['id']!r}", embedding, dimensions)
    return FiledChunk(chunk["id"], chunk, vector, model, name, digest)


def _vector(where: str, embedding: Any, dimensions: int) -> Array | None:
    """float32 [dimensions] of unit length from an array of numbers or base64 of float16 or float32;
    None without.
    """
    if embedding is None or embedding in ("", []):
        return None
    if isinstance(embedding, str):
        try:
            raw = base64.b64decode(embedding, validate=True)
        except binascii.Error as error:
            raise Damaged(f"{where}: field 'embedding' is not base64 ({error}).") from error
        if len(raw) not in (2 * dimensions, 4 * dimensions):
            raise Damaged(
                f"{where}: its embedding has {len(raw)} bytes, {dimensions} dimensions need 2 or 4 each."
            )
        vector = np.frombuffer(raw, "<f2" if len(raw) == 2 * dimensions else "<f4").astype(np.float32)
    else:
        try:
            vector = np.array(embedding, np.float32)
        except (TypeError, ValueError) as error:
            raise Damaged(
                f"{where}: field 'embedding' must be an array of numbers or a base64 string."
            ) from error
        if vector.shape != (dimensions,):
            raise Damaged(
                f"{where}: its embedding has {vector.size} dimensions, the embedder has {dimensions}."
            )
    norm = float(np.linalg.norm(vector))
    if not np.isfinite(norm):
        raise Damaged(f"{where}: its embedding holds a number that is not finite.")
    return vector / norm if norm > 0 else None


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
    known: dict[str, Known] = field(default_factory=dict)
    files: dict[str, FileRef] = field(default_factory=dict)
    #: chunk file → ids in it that a newer chunk of another file hides
    hidden: dict[str, set[str]] = field(default_factory=dict)
    #: chunk files that could not be read, as they were, and the sentence that says why
    damaged: dict[str, tuple[FileRef, str]] = field(default_factory=dict)
    #: chunk file → `_metadata.generator`
    generators: dict[str, str] = field(default_factory=dict)
    #: source file → how many known chunks are of it
    sources: Counter[str] = field(default_factory=Counter)
    #: since when (monotonic, seconds) changes wait that are too little; 0: none do
    _waiting: float = 0.0
    #: chunk file → digest → id of the known chunks in it
    _ids: dict[str, dict[bytes, str]] = field(default_factory=dict)

    def start_from(self, rows: Rows, files: dict[str, FileRef]) -> None:
        """Take a published generation as what is known;
        nothing is read again that has not changed.
        """
        self.known.clear()
        self.sources.clear()
        self._ids.clear()
        self.files = dict(files)
        for start, segment in zip(rows.starts, rows.segments, strict=False):
            ids, offsets = segment.bytes_of("id_bytes"), segment.arrays["id_offsets"].tolist()
            names, ordinals = segment.meta["chunk_file_names"], segment.arrays["chunk_file"]
            keys, digests = segment.arrays["keys"], segment.bytes_of("digests")
            paths, of = segment.meta["path_names"], segment.arrays["path"]
            for row in np.flatnonzero(rows.live[start : start + len(keys)]).tolist():
                chunk_id = bytes(ids[offsets[row] : offsets[row + 1]]).decode()
                digest = bytes(digests[row * DIGEST_BYTES : (row + 1) * DIGEST_BYTES])
                file = names[ordinals[row]]
                self._know(chunk_id, Known(int(keys[row]), digest, file, paths[of[row]]))
                self._ids.setdefault(file, {})[digest] = chunk_id

    def read(self, batch_bytes: int = BATCH_BYTES, *, patient: bool = False) -> Reading | None:
        """What has changed on disk, at most about `batch_bytes` of chunk files at once;
        None when nothing has.

        `patient`: also None while less has changed than is served, for WAIT_S at most. Each
        generation costs its readers, and rows that came in small portions are merged.
        """
        here = self._scan()
        removed = [name for name in {**self._ids, **self.files} if name not in here]
        changed = [name for name, stat in here.items() if self._differs(name, stat)]
        if not changed and not removed:
            self._waiting = 0.0
            return None
        if patient and not removed and self._is_little(changed, here, batch_bytes):
            return None
        self._waiting = 0.0
        batch = _batch(changed, here, batch_bytes)
        loaded = self._load(batch)
        loaded = self._load_contested(loaded, set(removed), here)
        return self._diff(loaded, removed, len(changed) - len(batch))

    @property
    def waits(self) -> bool:
        """Whether `read` has left something for later."""
        return self._waiting > 0

    def _is_little(self, changed: Iterable[str], here: Mapping[str, os.stat_result], enough: int) -> bool:
        """Whether `changed` is not worth a generation yet."""
        now = time.monotonic()
        self._waiting = self._waiting or now
        served = sum(bytes_in(name, ref.size) for name, ref in self.files.items())
        size = sum(bytes_in(name, here[name].st_size) for name in changed)
        return size < min(served, enough) and now - self._waiting < self.wait_s

    def accept(self, change: Reading, keys: Iterable[int]) -> None:
        """The change is published; `keys` are the row keys of `change.added`, in order."""
        for chunk_id, key in change.deleted:
            entry = self.known.get(chunk_id)
            if entry is not None and entry.key == key:
                del self.known[chunk_id]
                self._forget_source(entry.source)
        for chunk, key in zip(change.added, keys, strict=True):
            self._know(chunk.id, Known(key, chunk.digest, chunk.file, sys.intern(chunk.source)))
        for name in [name for name in self._ids if name not in change.files and name not in self.damaged]:
            del self._ids[name]
            self.hidden.pop(name, None)
            self.generators.pop(name, None)
        for name, file in change.loaded.items():
            entries = ((i, self.known[i]) for i in file.ids)
            self._ids[name] = {entry.digest: i for i, entry in entries if entry.file == name}
            self.hidden.pop(name, None)
            if hidden := file.ids.difference(self._ids[name].values()):
                self.hidden[name] = hidden
            self.generators[name] = file.generator
        self.files = dict(change.files)

    def _know(self, chunk_id: str, entry: Known) -> None:
        self.known[chunk_id] = entry
        if entry.source:
            self.sources[entry.source] += 1

    def _forget_source(self, source: str) -> None:
        self.sources[source] -= 1
        if self.sources[source] <= 0:
            del self.sources[source]

    def readable_files(self) -> dict[str, FileRef]:
        """The files for CURRENT. One that hides chunks is left out,
        so that a restarted watcher reads it again.
        """
        return {name: ref for name, ref in self.files.items() if name not in self.hidden}

    def warnings(self) -> tuple[str, ...]:
        return tuple(sentence for _, sentence in self.damaged.values())

    def _scan(self) -> dict[str, os.stat_result]:
        found = files_in(self.folders)
        self.damaged = {name: fault for name, fault in self.damaged.items() if name in found}
        return found

    def _differs(self, name: str, stat: os.stat_result) -> bool:
        ref = self.damaged[name][0] if name in self.damaged else self.files.get(name)
        return ref is None or (ref.size, ref.mtime_ns) != (stat.st_size, stat.st_mtime_ns)

    def _load(self, names: Iterable[str]) -> dict[str, ChunkFile]:
        loaded: dict[str, ChunkFile] = {}
        for name in names:
            path = folder_of(self.folders, name).place(name)
            try:
                loaded[name] = read_chunk_file(path, self.dimensions, self._ids.get(name, {}), name=name)
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
        self, loaded: dict[str, ChunkFile], removed: set[str], here: dict[str, os.stat_result]
    ) -> dict[str, ChunkFile]:
        """Load also the unchanged files that hold an id which a loaded file claims, openly or
        hidden, or one that has become free.
        """
        while True:
            wanted: set[str] = set()
            claimed = {chunk_id for file in loaded.values() for chunk_id in file.ids}
            # What a file keeps is its own: only what is read may be another's.
            for chunk_id in (chunk_id for file in loaded.values() for chunk_id in file.chunks):
                owner = self.known.get(chunk_id)
                if owner and owner.file not in loaded:
                    wanted.add(owner.file)
            freed = {i for name in {*loaded, *removed} for i in self._owned(name)} - claimed
            wanted |= {name for name, ids in self.hidden.items() if ids & (freed | claimed)}
            wanted = {
                name for name in wanted if name in here and name not in loaded and name not in self.damaged
            }
            more = self._load(wanted)
            if not more:
                return loaded
            loaded |= more

    def _owned(self, name: str) -> Iterable[str]:
        return self._ids.get(name, {}).values()

    def _diff(self, loaded: dict[str, ChunkFile], removed: list[str], backlog: int) -> Reading:
        warnings = [warning for file in loaded.values() for warning in file.warnings]
        seen, twice = set[str](), set[str]()
        for file in loaded.values():
            twice |= seen & file.ids
            seen |= file.ids
        winners: dict[str, FiledChunk] = {}
        for file in loaded.values():
            again = (file.read_kept(chunk_id, self.dimensions) for chunk_id in twice.intersection(file.kept))
            for chunk in (*file.chunks.values(), *again):
                other = winners.get(chunk.id)
                if other is not None:
                    warnings.append(
                        f"chunk id {chunk.id!r} stands in {other.file} and {chunk.file}; the newest is used."
                    )
                if other is None or (chunk.updated_at, chunk.file) > (other.updated_at, other.file):
                    winners[chunk.id] = chunk
        added: list[FiledChunk] = []
        deleted: list[tuple[str, int]] = []
        for chunk_id, chunk in winners.items():
            entry = self.known.get(chunk_id)
            if entry is None or (entry.digest, entry.file) != (chunk.digest, chunk.file):
                added.append(chunk)
                deleted.extend([(chunk_id, entry.key)] if entry else [])
        for name in {*loaded, *removed}:
            gone = (i for i in self._owned(name) if i not in seen and self.known[i].file == name)
            deleted.extend((i, self.known[i].key) for i in gone)
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


def _batch(changed: list[str], here: dict[str, os.stat_result], limit: int) -> list[str]:
    """The first of `changed` that together have at most `limit` bytes unpacked, at least one."""
    total = 0
    for at, name in enumerate(changed):
        total += bytes_in(name, here[name].st_size)
        if total > limit and at:
            return changed[:at]
    return changed
