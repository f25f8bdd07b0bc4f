"""The building of one shard: the chunks of the files whose paths hash to it, as one chunk file for
each kind.

A shard is the unit of work: it needs only its own files and its old chunk files, so any process can
build it. New files are written below chunks/.tmp; run.py puts them in place.
"""

import base64
import contextlib
import logging
import os
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import orjson

from cortex.embedders.protocol import Embedder
from cortex.embedders.shipped import Shipped
from cortex.generation.contract import FROM_TEXT, GENERATOR, PACKED, PLAIN, pack, unpack
from cortex.generation.manifest import Entry, Stat, stamp
from cortex.graph.facts.tables import Packed
from cortex.indexer.chunkers import PARSER_ENDED, cut
from cortex.indexer.store.embeddings import EmbeddingCache, open_cache
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.store.manifest import name_of
from cortex.indexer.syntax.source import decode, digest
from cortex.settings.encodings import Encodings
from cortex.system import files
from cortex.system.errors import CortexError
from cortex.terms.passages import embed_text
from cortex.terms.records import CHUNK_TYPES, Chunk

log = logging.getLogger(__name__)

#: `_metadata.version` of the chunk files
FORMAT_VERSION = "2.0.0"
#: chunk type → stem of its chunk files
STEMS = {
    "symbols": "code-symbols",
    "definitions": "code-definitions",
    "data": "code-data",
    "documentation": "doc-chunks",
    "code": "code-source",
}
#: largest chunk file to read again, in bytes
FILE_BYTES_MAX = 1 << 30
#: the reason for leaving out a file that ends every process
ENDED = "ended the process that read it"
#: the reason for leaving out a file on which a chunker fails; it is read again when it changes
FAILED = "could not be cut into chunks"
#: texts to embed at once: bounds the memory of one call
EMBED_TEXTS = 512


class Settings(msgspec.Struct, frozen=True):
    """The part of the configuration that building a shard needs."""

    root: str
    chunks_dir: str
    chunk_tokens: int
    max_file_bytes: int
    #: the folder of the embedding cache, "" for none
    cache: str = ""
    #: ending of the names of chunk files
    ending: str = PLAIN


class Task(msgspec.Struct, frozen=True, tag="chunks"):
    """Build shard `number` of `shards`, where there were `old_shards` before.

    `fresh` are files to read, with their stat (`known`: their old entries); `kept` are files
    whose chunks come from the old shard.
    """

    number: int
    shards: int
    old_shards: int
    sequence: int
    now: str
    fresh: dict[str, Stat]
    known: dict[str, Entry]
    kept: dict[str, Entry]
    #: embed everything again
    anew: bool = False
    #: files to cut without a parser, because it ended a process
    plain: tuple[str, ...] = ()
    #: files to leave out: they ended a process without a parser, too
    refused: tuple[str, ...] = ()

    def sources(self) -> list[int]:
        """Return the old shards that may hold files of this one; both counts are powers of two."""
        step = min(self.shards, self.old_shards)
        return list(range(self.number % step, self.old_shards, step))

    def names(self, ending: str) -> list[str]:
        """Return the chunk files that the task may write."""
        return [shard_name(kind, self.number, self.shards, ending) for kind in STEMS]


class Built(msgspec.Struct):
    """The result of a task: the files' new entries, temporary files by final name, and the names of
    deleted and of unchanged chunk files.
    """

    number: int
    entries: dict[str, Entry]
    written: dict[str, str]
    deleted: list[str]
    same: list[str]
    chunks: int = 0
    #: the graph's facts of the files that were read, encoded (see FreshFacts). As objects they
    #: would share the allocator's pages with the entries, which live on and so would hold those
    facts: bytes = b""


def ended_a_process(entry: Entry) -> bool:
    """Return whether the file, unchanged since, ended a process that read it."""
    return entry.skipped == ENDED or PARSER_ENDED in entry.remarks


def shard_count(files: int, shard_files: int) -> int:
    """Return the power of two that leaves at most about `shard_files` files to a shard."""
    count = 1
    while files > count * shard_files:
        count *= 2
    return count


def shard_of(path: str, shards: int) -> int:
    # every save calls this for every file of the project: it must cost next to nothing
    return zlib.crc32(path.encode()) % shards


def shard_name(kind: str, number: int, shards: int, ending: str) -> str:
    return f"{STEMS[kind]}{ending}" if shards == 1 else f"{STEMS[kind]}.{number:03d}{ending}"


def other_form(name: str) -> str:
    """Return the packed name of a plain chunk file, and the plain name of a packed one."""
    return name.removesuffix(PACKED) + PLAIN if name.endswith(PACKED) else name.removesuffix(PLAIN) + PACKED


@dataclass(slots=True)
class _Old:
    """The chunks of the old shard, by file in their order, with their embeddings."""

    by_path: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    by_id: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: kind → (ids in the order of the file, whether its metadata still fits)
    files: dict[str, tuple[list[str], bool]] = field(default_factory=dict)


def build(
    task: Task, settings: Settings, embedder: Embedder, reading: Callable[[str], None] = lambda _path: None
) -> Built:
    """Build a shard. Raises Unavailable when an embedding server does not answer; an unreadable
    file becomes an Entry with the reason. `reading` is called with each file before it is read, and
    with "" after the last.
    """
    old = _read_old(task, settings, embedder)
    encodings = Encodings(settings.root)
    entries: dict[str, Entry] = {}
    chunks: dict[str, list[dict[str, Any]]] = {}
    fresh: list[Chunk] = []
    facts: dict[str, Packed | None] = {}
    for path, stat in sorted((task.fresh | {p: entry.stat for p, entry in task.kept.items()}).items()):
        entry = _kept_entry(path, task, old)
        read_ns = time.time_ns()
        raw = None if entry else read_source(path, settings)
        if raw is not None and not isinstance(raw, str):
            entry = _touched_entry(path, digest(raw), task, old)
            entry = entry and stamp(entry, stat, read_ns)
        if entry is not None:
            entries[path] = entry
            chunks[path] = old.by_path.get(path, [])
            continue
        if path in task.refused:
            entries[path] = stamp(Entry("", 0, 0, skipped=ENDED), stat, read_ns)
            continue
        reading(path)
        plain = path in task.plain
        entry, file_chunks, facts[path] = _cut(path, raw, (settings, plain, encodings), embedder)
        entries[path] = stamp(entry, stat, read_ns)
        fresh += file_chunks
    reading("")
    omits_vectors = _omits_vectors(settings, embedder)
    cache = open_cache("" if omits_vectors else settings.cache, embedder.identity)
    vectors: Sequence[str | None] = (
        [None] * len(fresh) if omits_vectors else _embed(fresh, old, embedder, (cache, task))
    )
    for chunk, vector in zip(fresh, vectors, strict=True):
        body = _body(chunk, vector, old.by_id.get(chunk.id), task.now)
        chunks.setdefault(body["metadata"]["file_path"], []).append(body)
    if not omits_vectors:
        _remember(old, chunks, cache)
    written = [body for path in sorted(chunks) for body in chunks[path]]
    built = _write(task, settings, embedder, written, old)
    built.entries, built.facts = entries, msgspec.msgpack.encode(facts)
    return built


def _kept_entry(path: str, task: Task, old: _Old) -> Entry | None:
    """Return the entry of a file not read again, unless the old shard lost chunks of it."""
    entry = task.kept.get(path)
    return entry if entry is not None and _has_all_chunks(old, path, entry) else None


def _has_all_chunks(old: _Old, path: str, entry: Entry) -> bool:
    bodies = old.by_path.get(path, ())
    if len(bodies) != entry.chunks:
        return False
    return not bodies or name_of(str(body["id"]) for body in bodies) == entry.ids


def _touched_entry(path: str, sha256: str, task: Task, old: _Old) -> Entry | None:
    """Return the entry, like `_kept_entry`, of a file that is read again with the same content."""
    entry = task.known.get(path) or task.kept.get(path)
    if entry is None or entry.sha256 != sha256 or not _has_all_chunks(old, path, entry):
        return None
    return entry


def read_source(path: str, settings: Settings) -> bytes | str:
    """Return a file's bytes, or why not. Follows no links: it may have become one meanwhile."""
    try:
        raw = files.read_plain(os.path.join(settings.root, path), settings.max_file_bytes + 1)
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return raw if len(raw) <= settings.max_file_bytes else f"larger than {settings.max_file_bytes // 1024} kB"


def _cut(
    path: str, raw: bytes | str | None, how: tuple[Settings, bool, Encodings], embedder: Embedder
) -> tuple[Entry, list[Chunk], Packed | None]:
    if raw is None or isinstance(raw, str):
        return Entry("", 0, 0, skipped=raw or "unreadable"), [], None
    sha256 = digest(raw)
    settings, plain, encodings = how
    try:
        source = decode(path, raw, encodings.named)
        if isinstance(source, str):
            return Entry(sha256, 0, 0, skipped=source), [], None
        outcome = cut(source, embedder.count_tokens, settings.chunk_tokens, plain=plain)
    except RecursionError:
        return Entry(sha256, 0, 0, skipped="nested too deeply"), [], None
    except (CortexError, MemoryError, OSError):
        raise  # a fault of the embedder or the machine, not of this file
    except Exception as error:
        log.exception("%s was left out", path)
        return Entry(sha256, 0, 0, skipped=f"{FAILED} ({type(error).__name__})"), [], None
    chunks = sorted(outcome.chunks, key=lambda chunk: CHUNK_TYPES.index(chunk.chunk_type))
    ids = name_of(chunk.id for chunk in chunks)
    entry = Entry(
        sha256, 0, 0, chunks=len(chunks), ids=ids, remarks=outcome.remarks, encoding=source.encoding
    )
    return entry, chunks, None if plain else facts_of(source, sha256)


def _omits_vectors(settings: Settings, embedder: Embedder) -> bool:
    """Return whether chunk files omit vectors, because the publisher computes them as fast as it
    reads them. Files that a person or another program may read contain them.
    """
    return settings.ending == PACKED and isinstance(embedder, Shipped)


def _embed(
    fresh: Sequence[Chunk], old: _Old, embedder: Embedder, how: tuple[EmbeddingCache, Task]
) -> Sequence[str | None]:
    """Return the chunks' embeddings as in chunk files; of equal texts from the old file or the
    cache.
    """
    cache, task = how
    all_texts = [embed_text(chunk.metadata, chunk.text) for chunk in fresh]
    embeddings = {
        embed_text(body["metadata"], body["text"]): body["embedding"]
        for path in dict.fromkeys(str(chunk.metadata["file_path"]) for chunk in fresh)
        for body in old.by_path.get(path, ())
        if body.get("embedding")
    }
    wanted = list(dict.fromkeys(text for text in all_texts if text not in embeddings))
    if not task.anew:
        size = 2 * embedder.dimensions
        cached = {text: vector for text, vector in cache.get(wanted).items() if len(vector) == size}
        embeddings |= {text: base64.b64encode(vector).decode() for text, vector in cached.items()}
        wanted = [text for text in wanted if text not in cached]
    for start in range(0, len(wanted), EMBED_TEXTS):
        texts = wanted[start : start + EMBED_TEXTS]
        vectors = [row.tobytes() for row in embedder.embed(texts, "passage").astype("<f2")]
        new_vectors = dict(zip(texts, vectors, strict=True))
        embeddings |= {text: base64.b64encode(vector).decode() for text, vector in new_vectors.items()}
        if not isinstance(embedder, Shipped):  # the built-in model is as fast as the cache
            cache.put(new_vectors)
    return [embeddings.get(text) for text in all_texts]


def _remember(old: _Old, chunks: dict[str, list[dict[str, Any]]], cache: EmbeddingCache) -> None:
    """Cache the embeddings of removed chunks: their branch may come back."""
    gone: dict[str, bytes] = {}
    for path, bodies in old.by_path.items():
        now = chunks.get(path, [])
        if now is bodies:
            continue
        staying = {embed_text(body["metadata"], body["text"]) for body in now}
        for body in bodies:
            text = embed_text(body["metadata"], body["text"])
            if text not in staying and isinstance(body.get("embedding"), str) and body["embedding"]:
                with contextlib.suppress(ValueError):
                    gone[text] = base64.b64decode(body["embedding"], validate=True)
    cache.put(gone)


def _body(chunk: Chunk, embedding: str | None, before: dict[str, Any] | None, now: str) -> dict[str, Any]:
    body = {
        "id": chunk.id,
        "chunk_type": chunk.chunk_type,
        "title": chunk.title,
        "text": chunk.text,
        **({} if embedding is None else {"embedding": embedding}),
        "tags": list(chunk.tags),
        "metadata": chunk.metadata,
        "created_at": before["created_at"] if before else now,
        "updated_at": before["updated_at"] if before else now,
    }
    if before is not None and before != body:
        body["updated_at"] = now
    return body


def _read_old(task: Task, settings: Settings, embedder: Embedder) -> _Old:
    old = _Old()
    omits_vectors = _omits_vectors(settings, embedder)
    for kind in CHUNK_TYPES:
        for number in task.sources():
            name = shard_name(kind, number, task.old_shards, settings.ending)
            shard = _read_shard(Path(settings.chunks_dir, name))
            as_wanted = shard is not None
            shard = shard or _read_shard(Path(settings.chunks_dir, other_form(name)))
            if shard is None:
                continue
            metadata, bodies = shard
            same_model = metadata.get("model") == embedder.identity
            fits = same_model and metadata.get("dimensions") == embedder.dimensions and not task.anew
            fits &= metadata.get("embeddings") == (FROM_TEXT if omits_vectors else None)
            for body in bodies:
                file_path = body["metadata"]["file_path"]
                if shard_of(file_path, task.shards) != task.number:
                    continue
                if omits_vectors:
                    body.pop("embedding", None)
                elif not fits:
                    body["embedding"] = ""
                old.by_path.setdefault(file_path, []).append(body)
                old.by_id[body["id"]] = body
            if as_wanted and task.shards == task.old_shards:
                old.files[kind] = ([body["id"] for body in bodies], fits)
    return old


def _read_shard(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
    """Return (metadata, chunks) of a file by Cortex, or None: missing, damaged, by others."""
    try:
        raw = files.read_ours(path, FILE_BYTES_MAX)
        data = orjson.loads(unpack(path.name, raw, FILE_BYTES_MAX))
        metadata, bodies = data["_metadata"], data["chunks"]
        if metadata["generator"] != GENERATOR or metadata["version"] != FORMAT_VERSION:
            return None
        for body in bodies:
            if (
                not {"id", "text", "created_at", "updated_at"} <= body.keys()
                or "file_path" not in body["metadata"]
            ):
                return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return metadata, bodies


def _write(
    task: Task, settings: Settings, embedder: Embedder, bodies: Iterable[dict[str, Any]], old: _Old
) -> Built:
    built = Built(task.number, {}, {}, [], [])
    kinds: dict[str, list[dict[str, Any]]] = {kind: [] for kind in CHUNK_TYPES}
    for body in bodies:
        kinds[body["chunk_type"]].append(body)
    for kind, chunks in kinds.items():
        name = shard_name(kind, task.number, task.shards, settings.ending)
        built.chunks += len(chunks)
        if not chunks:
            stale_names = [
                candidate
                for candidate in (name, other_form(name))
                if os.path.lexists(Path(settings.chunks_dir, candidate))
            ]
            built.deleted += stale_names  # the writer checks whether they are ours
            continue
        before, fits = old.files.get(kind, ([], False))
        if (
            fits
            and before == [body["id"] for body in chunks]
            and all(old.by_id[b["id"]] == b for b in chunks)
        ):
            built.same.append(name)
            continue
        metadata = _metadata(kind, task, embedder)
        if _omits_vectors(settings, embedder):
            metadata["embeddings"] = FROM_TEXT
        raw = orjson.dumps({"_metadata": metadata, "chunks": chunks})
        temporary = files.write_new(Path(settings.chunks_dir, ".tmp"), name, pack(name, raw))
        built.written[name] = str(temporary)
    return built


def _metadata(kind: str, task: Task, embedder: Embedder) -> dict[str, Any]:
    return {
        "version": FORMAT_VERSION,
        "model": embedder.identity,
        "dimensions": embedder.dimensions,
        "chunk_type": kind,
        "generated": task.now,
        "generator": GENERATOR,
        "sequence": task.sequence,
    }
