"""The rows of a generation with texts and vectors in Milvus: fetched by key on demand, and cached.
The data without texts (paths, lines, words, counts) is local.
"""

import dataclasses
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import orjson

from cortex.engines.milvus.scope import ProjectScope
from cortex.engines.milvus.storage.collection import Collection
from cortex.engines.milvus.storage.removal import continuation_key
from cortex.generation.read import Rows, join_chunk
from cortex.system.arrays import Array
from cortex.system.errors import NotReady
from ipc.messages.signals import path_of

#: bytes of cached texts and vectors in one process. Keys are never reused, so no entry gets stale
KEPT_BYTES = 32 << 20


class Fetched:
    """A cache of fetched rows by primary key; evicts the least recently used."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        #: primary key → (the chunk without its text, its text with a line feed)
        self._texts: OrderedDict[str, tuple[bytes, bytes]] = OrderedDict()
        self._vectors: OrderedDict[str, Array] = OrderedDict()
        self._bytes = 0

    @property
    def project(self) -> str:
        return self._collection.place.project

    def texts(self, keys: Sequence[str]) -> list[tuple[bytes, bytes]]:
        """The texts of rows by primary key. Raises Unavailable, NotReady for a lost row."""
        return self._get_all(self._texts, keys, self._fetch_texts)

    def vectors(self, keys: Sequence[str]) -> list[Array]:
        """The vectors of rows, float16 [dimensions] each. Raises as `texts`."""
        return self._get_all(self._vectors, keys, self._fetch_vectors)

    def _get_all(self, cache: OrderedDict[str, Any], keys: Sequence[str], fetch: Any) -> list[Any]:
        wanted = dict.fromkeys(keys)
        entries = {key: cache[key] for key in wanted if key in cache}
        if missing := [key for key in wanted if key not in entries]:
            new = fetch(missing)
            if len(new) < len(missing):
                raise NotReady("The index in Milvus has moved on; ask again in a second.")
            entries |= new
        for key, entry in entries.items():
            if key not in cache:
                self._bytes += _size(entry)
            cache[key] = entry
            cache.move_to_end(key)
        self._evict()
        return [entries[key] for key in keys]

    def _evict(self) -> None:
        while self._bytes > KEPT_BYTES and (self._texts or self._vectors):
            texts = len(self._texts) >= len(self._vectors)
            _, entry = (self._texts if texts else self._vectors).popitem(last=False)
            self._bytes -= _size(entry)

    def _fetch_texts(self, keys: list[str]) -> dict[str, tuple[bytes, bytes]]:
        rows = self._collection.get(keys, ["pk", "project", "key", "chunk", "parts"])
        return {row["pk"]: _split_chunk(self._full_chunk(row)) for row in rows}

    def _full_chunk(self, row: dict[str, Any]) -> str:
        """The JSON of a chunk, joined from all its parts."""
        if not row["parts"]:
            return str(row["chunk"])
        wanted = [
            continuation_key(row["project"], int(row["key"]), at) for at in range(1, int(row["parts"]) + 1)
        ]
        rows = self._collection.get(wanted, ["pk", "content"], parts=True)
        parts = {part_row["pk"]: part_row["content"] for part_row in rows}
        if len(parts) < len(wanted):
            raise NotReady("The index in Milvus has moved on; ask again in a second.")
        return "".join([str(row["chunk"]), *(parts[key] for key in wanted)])

    def _fetch_vectors(self, keys: list[str]) -> dict[str, Array]:
        rows = self._collection.get(keys, ["pk", "vector"])
        return {row["pk"]: np.array(row["vector"], np.float16) for row in rows}


def _split_chunk(chunk: str) -> tuple[bytes, bytes]:
    body = orjson.loads(chunk)
    text = body.pop("text", None) or ""
    return orjson.dumps(body), f"{text}\n".encode()


def _size(entry: tuple[bytes, bytes] | Array) -> int:
    return entry.nbytes if isinstance(entry, np.ndarray) else sum(map(len, entry))


@dataclass(frozen=True)
class RemoteRows(Rows):
    """See `Rows`; texts and vectors come from Milvus in place of segments. `counts`: in joined rows
    the number of paths of each project; the paths of hits then begin with the project's index.
    """

    fetched: Fetched = field(kw_only=True)
    scope: ProjectScope = field(kw_only=True)
    counts: tuple[int, ...] = ()

    @cached_property
    def hit_paths(self) -> list[str]:
        if not self.counts:
            return super().hit_paths
        numbers = np.repeat(np.arange(len(self.counts)), self.counts).tolist()
        return [path_of(number, path) for number, path in zip(numbers, self.path_names, strict=True)]

    def chunk(self, ordinal: int, text: str | None = None) -> bytes:
        head, raw = self._fetch(np.array([ordinal]))[0]
        return join_chunk(head, raw[:-1].decode() if text is None else text)

    def raw_text(self, ordinal: int) -> bytes:
        return self._fetch(np.array([ordinal]))[0][1]

    def cuts(self, what: Literal["chunk", "id", "text"], ordinals: Array) -> list[bytes]:
        if what == "id":
            return super().cuts(what, ordinals)
        return [pair[what == "text"] for pair in self._fetch(ordinals)]

    def vectors(self, ordinals: Array) -> Array:
        if not len(ordinals):
            return np.zeros((0, self.dimensions), np.float16)
        return np.stack(self.fetched.vectors(self._primary_keys(ordinals)))

    def _fetch(self, ordinals: Array) -> list[tuple[bytes, bytes]]:
        return self.fetched.texts(self._primary_keys(ordinals))

    def _primary_keys(self, ordinals: Array) -> list[str]:
        return self.scope.primary_keys(self.keys[ordinals].tolist())


def make_remote_rows(rows: Rows, fetched: Fetched, project: str) -> RemoteRows:
    """`rows` of a project, with texts and vectors from `fetched`."""
    attributes = {attribute.name: getattr(rows, attribute.name) for attribute in dataclasses.fields(rows)}
    return RemoteRows(
        **attributes, fetched=fetched, scope=ProjectScope((project,), rows.generation, rows.generation)
    )
