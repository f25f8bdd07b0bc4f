"""The served chunks by chunk file, in some 70 bytes each. Reads no file.

For each served chunk a watcher stores its row key and the digest of its bytes. As objects they
would take half a kilobyte a chunk, most of the memory of a large project's watcher. So the chunks
of each chunk file are packed, and unpacked when that file is read; hashes of all ids lead from an
id to the files that may contain it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec
import numpy as np

from cortex.generation.read import Rows
from cortex.generation.write import DIGEST_BYTES
from cortex.system import zstd
from cortex.system.arrays import Array

#: largest ids of one chunk file, in bytes
_IDS_BYTES_MAX = 1 << 30


@dataclass(frozen=True, slots=True)
class Chunk:
    """A served chunk: its row key, the digest of its bytes, and its source file."""

    key: int
    digest: bytes
    source: str = ""


@dataclass(frozen=True, slots=True)
class _Columns:
    """The chunks of one chunk file as columns; `of`: each chunk's index into `sources`."""

    ids: Sequence[str]
    sources: Sequence[str]
    keys: Array  #: u64 [n]
    of: Array  #: integers [n]
    digests: bytes  #: u8 [n, DIGEST_BYTES]

    @classmethod
    def of_chunks(cls, chunks: Mapping[str, Chunk]) -> _Columns:
        sources: dict[str, int] = {}
        of = [sources.setdefault(chunk.source, len(sources)) for chunk in chunks.values()]
        keys = np.array([chunk.key for chunk in chunks.values()], np.uint64)
        digests = b"".join(chunk.digest for chunk in chunks.values())
        return cls(list(chunks), list(sources), keys, np.array(of, np.uint32), digests)


@dataclass(frozen=True, slots=True)
class _PackedColumns:
    """Columns in packed form: `names` are ids and sources, as packed JSON."""

    names: bytes
    keys: bytes
    digests: bytes
    of: bytes

    @classmethod
    def pack(cls, columns: _Columns) -> _PackedColumns:
        names = zstd.pack(msgspec.json.encode((columns.ids, columns.sources)))
        keys, of = columns.keys.astype("<u8").tobytes(), columns.of.astype("<u4").tobytes()
        return cls(names, keys, columns.digests, of)

    def read_names(self) -> tuple[list[str], list[str]]:
        """Return (ids, sources)."""
        raw = zstd.unpack(self.names, _IDS_BYTES_MAX)
        return msgspec.json.decode(raw, type=tuple[list[str], list[str]])

    def read(self) -> dict[str, Chunk]:
        ids, sources = self.read_names()
        keys, of = np.frombuffer(self.keys, "<u8").tolist(), np.frombuffer(self.of, "<u4").tolist()
        return {
            name: Chunk(key, self.digests[at * DIGEST_BYTES : (at + 1) * DIGEST_BYTES], sources[source])
            for at, (name, key, source) in enumerate(zip(ids, keys, of, strict=True))
        }


class ServedChunks:
    """The served chunks. Used by one thread. An id is in at most one chunk file."""

    def __init__(self) -> None:
        self._packed: dict[str, _PackedColumns] = {}
        #: the numbers of chunk files; removed files keep theirs
        self._numbers: dict[str, int] = {}
        #: i64, ascending: hashes of all ids; i32: the number of each id's file
        self._hashes, self._files = np.zeros(0, np.int64), np.zeros(0, np.int32)
        #: source file → count of chunk files with chunks of it
        self.sources: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._hashes)

    @property
    def files(self) -> Collection[str]:
        """The chunk files with served chunks."""
        return self._packed.keys()

    def of(self, file: str) -> dict[str, Chunk]:
        """Return the chunks of a chunk file, by id."""
        packed = self._packed.get(file)
        return {} if packed is None else packed.read()

    def ids(self, file: str) -> list[str]:
        packed = self._packed.get(file)
        return [] if packed is None else packed.read_names()[0]

    def owners(self, ids: Iterable[str]) -> dict[str, str]:
        """Return id → chunk file for those of `ids` that are served."""
        wanted_ids = list(ids)
        hashes = _hash_ids(wanted_ids)
        first, end = (np.searchsorted(self._hashes, hashes, side) for side in ("left", "right"))
        wanted: dict[int, set[str]] = {}
        for at in np.flatnonzero(end > first).tolist():
            for number in self._files[first[at] : end[at]].tolist():
                wanted.setdefault(number, set()).add(wanted_ids[at])
        names = list(self._numbers) if wanted else []
        return {
            name: names[number]
            for number, some in wanted.items()
            for name in some.intersection(self.ids(names[number]))
        }

    def take(self, files: Mapping[str, Mapping[str, Chunk]]) -> None:
        """Replace all chunks of the chunk files `files`."""
        self._replace((file, _Columns.of_chunks(chunks)) for file, chunks in files.items())

    def add_rows(self, rows: Rows) -> None:
        """Replace all chunks of the chunk files in `rows` by its live rows."""
        self._replace(_read_columns(rows))

    def _replace(self, files: Iterable[tuple[str, _Columns]]) -> None:
        gone: list[int] = []
        hashes, numbers = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
        for file, columns in files:
            number = self._numbers.setdefault(file, len(self._numbers))
            if (before := self._packed.pop(file, None)) is not None:
                gone.append(number)
                self._count(before.read_names()[1], -1)
            if columns.ids:
                self._packed[file] = _PackedColumns.pack(columns)
                hashes.append(_hash_ids(columns.ids))
                numbers.append(np.full(len(columns.ids), number, np.int32))
                self._count(columns.sources, 1)
        remaining = ~np.isin(self._files, gone)
        together = np.concatenate((self._hashes[remaining], *hashes))
        order = np.argsort(together, kind="stable")
        self._hashes = together[order]
        self._files = np.concatenate((self._files[remaining], *numbers))[order]

    def _count(self, sources: Iterable[str], by: int) -> None:
        for source in filter(None, sources):
            self.sources[source] += by
            if self.sources[source] <= 0:
                del self.sources[source]


def _read_columns(rows: Rows) -> Iterator[tuple[str, _Columns]]:
    """Yield (chunk file, the columns of its live rows)."""
    numbers: dict[str, int] = {}
    files = [np.zeros(0, np.int64)]
    for segment in rows.segments:
        file_numbers = [numbers.setdefault(name, len(numbers)) for name in segment.meta["chunk_file_names"]]
        files.append(np.array(file_numbers, np.int64)[segment.arrays["chunk_file"]])
    live = np.flatnonzero(rows.live)
    file = np.concatenate(files)[live]
    order = np.argsort(file, kind="stable")
    edges = np.searchsorted(file[order], np.arange(len(numbers) + 1)).tolist()
    digests = rows.column("digests")
    for name, (begin, end) in zip(numbers, pairwise(edges), strict=True):
        if begin < end:
            ordinals = live[order[begin:end]]
            sources, of = np.unique(rows.columns["path"][ordinals], return_inverse=True)
            paths = [rows.path_names[path] for path in sources.tolist()]
            digest_bytes = digests[ordinals].tobytes()
            yield name, _Columns(rows.ids(ordinals), paths, rows.keys[ordinals], of, digest_bytes)


def _hash_ids(ids: Collection[str]) -> Array:
    """Return i64 [n]: hashes that are valid only in this process."""
    return np.fromiter(map(hash, ids), np.int64, len(ids))
