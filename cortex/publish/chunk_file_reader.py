"""The reader of one chunk file: parsing, checking, and detecting unchanged chunks by digest. It
does not know which chunks are served.
"""

import base64
import binascii
import contextlib
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import numpy as np
import orjson

from cortex.generation.contract import FROM_TEXT, unpack
from cortex.generation.current import FileRef
from cortex.generation.others import OthersSource
from cortex.generation.write import DIGEST_BYTES
from cortex.system import files
from cortex.system.arrays import Array
from cortex.system.errors import Damaged

#: largest chunk file, in bytes: 50 000 chunks with vectors as numbers. Shards of the indexer are
#: far smaller; a clone may bring a file of zeros
FILE_BYTES_MAX = 512 * 1024 * 1024
#: fields of a chunk with its times
_TIMES = frozenset(("created_at", "updated_at"))


class FiledChunk(NamedTuple):
    """A chunk of a file. `body` without embedding; `vector`: float32, unit length, or None."""

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
        """The chunk's source file; "" for none."""
        return str((self.body.get("metadata") or {}).get("file_path") or "")


@dataclass(frozen=True, slots=True)
class ChunkFile:
    """A chunk file as read. `unchanged`: its unchanged chunks by id, unparsed."""

    name: str
    ref: FileRef
    chunks: dict[str, FiledChunk]
    sequence: int
    generator: str
    model: str = ""
    warnings: tuple[str, ...] = ()
    unchanged: dict[str, msgspec.Raw] = field(default_factory=dict)
    #: as in `read_chunk_file`
    timeless: bool = False
    #: whether the file omits vectors that the model can compute
    from_text: bool = False
    #: the sources of another program's chunks; None for a file of ours
    sources: Mapping[str, OthersSource] | None = None

    @property
    def ids(self) -> set[str]:
        return {*self.chunks, *self.unchanged}

    def read_unchanged(self, chunk_id: str, dimensions: int) -> FiledChunk:
        """Parse one chunk of `unchanged`."""
        raw = self.unchanged[chunk_id]
        digest = _digest(raw, self.model, timeless=self.timeless)
        return _check_chunk(self.name, 0, raw, model=self.model, dimensions=dimensions, digest=digest)


class _Parts(msgspec.Struct):
    """A chunk file with unparsed chunks: in most files most chunks are unchanged."""

    chunks: list[msgspec.Raw]
    metadata: Any = msgspec.field(name="_metadata", default=None)


def read_chunk_file(
    path: Path,
    dimensions: int,
    known_digests: Mapping[bytes, str] = MappingProxyType({}),
    *,
    name: str = "",
    timeless: bool = False,
) -> ChunkFile:
    """Read and check one chunk file: an object with `_metadata` and `chunks`, or a bare array of
    chunks. Its name is `name`, by default that of its path.

    `known_digests`: digest → id of the served chunks of this file; chunks that have not changed
    since were checked when they were first read, and are not parsed. `timeless`: a chunk that
    differs only in its times is unchanged, because another machine wrote it. Raises Damaged naming
    file, chunk and field; OSError when the file cannot be read.
    """
    name = name or path.name
    ref, raw = _read_bytes(path, name)
    metadata, chunks = _split(name, raw)
    declared = metadata.get("dimensions")
    if declared is not None and declared != dimensions:
        raise Damaged(f"{name}: its vectors have {declared} dimensions, the embedder has {dimensions}.")
    sequence = metadata.get("sequence")
    chunk_file = ChunkFile(
        name=name,
        ref=ref,
        chunks={},
        sequence=sequence if isinstance(sequence, int) else 0,
        generator=str(metadata.get("generator") or ""),
        model=str(metadata.get("model") or ""),
        from_text=metadata.get("embeddings") == FROM_TEXT,
        timeless=timeless,
    )
    return _fill_chunks(chunk_file, chunks, dimensions, known_digests)


def _read_bytes(path: Path, name: str) -> tuple[FileRef, bytes]:
    """Return (the file's reference, its bytes). Raises Damaged, OSError."""
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
    return FileRef(size=info.st_size, mtime_ns=info.st_mtime_ns, sha256=""), raw


def _fill_chunks(
    chunk_file: ChunkFile, chunks: list[msgspec.Raw], dimensions: int, known_digests: Mapping[bytes, str]
) -> ChunkFile:
    """Return `chunk_file` with its chunks; of those with one id the newest. Raises Damaged."""
    out, unchanged = dict[str, FiledChunk](), dict[str, msgspec.Raw]()
    warnings: list[str] = []

    def read(at: int, chunk: msgspec.Raw, digest: bytes) -> FiledChunk:
        return _check_chunk(
            chunk_file.name, at, chunk, model=chunk_file.model, dimensions=dimensions, digest=digest
        )

    for at, chunk in enumerate(chunks):
        digest = _digest(chunk, chunk_file.model, timeless=chunk_file.timeless)
        same = known_digests.get(digest)
        if same is not None and same not in out and same not in unchanged:
            unchanged[same] = chunk
            continue
        filed = read(at, chunk, digest)
        if filed.id in unchanged:
            before = unchanged.pop(filed.id)
            out[filed.id] = read(at, before, _digest(before, chunk_file.model, timeless=chunk_file.timeless))
        if filed.id in out:
            warnings.append(f"{chunk_file.name}: chunk id {filed.id!r} appears twice; the newest is used.")
            if out[filed.id].updated_at > filed.updated_at:
                continue
        out[filed.id] = filed
    return replace(chunk_file, chunks=out, unchanged=unchanged, warnings=tuple(warnings))


def _split(name: str, raw: bytes) -> tuple[dict[str, Any], list[msgspec.Raw]]:
    """Return (metadata, chunks) of a chunk file. Raises Damaged."""
    try:
        if raw.lstrip()[:1] == b"[":
            return {}, msgspec.json.decode(raw, type=list[msgspec.Raw])
        parts = msgspec.json.decode(raw, type=_Parts)
    except (ValueError, RecursionError):  # another form, or no JSON
        parts = _read_whole(name, raw)
    return (parts.metadata if isinstance(parts.metadata, dict) else {}), parts.chunks


def _read_whole(name: str, raw: bytes) -> _Parts:
    """Return the parts of a chunk file as `_split` does, with a parser that describes errors."""
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


def _digest(raw: msgspec.Raw, model: str, *, timeless: bool) -> bytes:
    """Return the digest of a chunk's JSON: it differs for another chunk or an older version."""
    content: bytes | msgspec.Raw = raw
    if timeless:
        with contextlib.suppress(orjson.JSONDecodeError, AttributeError):  # _check_chunk reports it
            chunk = orjson.loads(memoryview(raw))
            content = orjson.dumps({key: value for key, value in chunk.items() if key not in _TIMES})
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES, person=model.encode()[-16:]).digest()


def _check_chunk(
    name: str, at: int, raw: msgspec.Raw, *, model: str, dimensions: int, digest: bytes
) -> FiledChunk:
    try:
        chunk = orjson.loads(memoryview(raw))
    except orjson.JSONDecodeError as error:
        raise Damaged(f"{name}: chunk {at} is not valid JSON ({error}).") from error
    if not isinstance(chunk, dict):
        raise Damaged(f"{name}: chunk {at} is a {type(chunk).__name__}, not an object.")
    where = f"{name}: chunk {chunk.get('id') or at!r}"
    if chunk.get("chunk_type") in (None, ""):  # it may be missing
        chunk["chunk_type"] = "code"
    for key in ("id", "chunk_type", "text"):
        if not isinstance(chunk.get(key), str) or (key == "id" and not chunk[key]):
            raise Damaged(f"{where} has no field {key!r}, or it is not a string.")
    tags, metadata = chunk.get("tags"), chunk.get("metadata")
    if tags is not None and not (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)):
        raise Damaged(f"{where}: field 'tags' must be an array of strings.")
    if metadata is not None and not isinstance(metadata, dict):
        raise Damaged(f"{where}: field 'metadata' must be an object.")
    embedding = chunk.pop("embedding", None)
    chunk.setdefault("title", chunk["id"])
    vector = _vector(f"{name}: chunk {chunk['id']!r}", embedding, dimensions)
    return FiledChunk(chunk["id"], chunk, vector, model, name, digest)


def _vector(where: str, embedding: Any, dimensions: int) -> Array | None:
    """Return float32 [dimensions] of unit length from an array of numbers or base64 of float16 or
    float32; None without an embedding.
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
    return of_unit_length(where, vector)


def of_unit_length(where: str, vector: Array) -> Array | None:
    """Return a float32 vector of unit length; None for a vector of zeros. Raises Damaged."""
    norm = float(np.linalg.norm(vector))
    if not np.isfinite(norm):
        raise Damaged(f"{where}: its embedding holds a number that is not finite.")
    return vector / norm if norm > 0 else None
