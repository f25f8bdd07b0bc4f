"""A cache of embeddings by text, for switching back to a branch or for another work tree of the
same project.

One SQLite file for each model in the user's own cache folder, never in a project: a database from a
cloned repository is not opened. Keys are digests, so it contains no text. Its size is bounded, and
after any fault the texts are just embedded again.
"""

import contextlib
import functools
import hashlib
import logging
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from cortex.settings.folders.home import cache_base
from cortex.system import files

log = logging.getLogger(__name__)

#: largest file of one model, in bytes: about 60 000 vectors of 384 dimensions
BYTES_MAX = 64 << 20
#: divisor of the rows to delete when the file is full: the least recently used ones
PRUNED_DIVISOR = 4
#: keys of one query to SQLite, which accepts 999 in its oldest form
KEYS_MAX = 500
#: seconds to wait for another writing process
BUSY_S = 5.0

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL)"
)


class EmbeddingCache:
    """Vectors by the embedded text, in the form of chunk files; folder "": none stored."""

    def __init__(self, folder: str, model: str, bytes_max: int = BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._path = Path(folder, f"{re.sub(r'[^A-Za-z0-9._-]+', '-', model)}.sqlite") if folder else None
        self._database: sqlite3.Connection | None = None

    def get(self, texts: Iterable[str]) -> dict[str, bytes]:
        """Return the cached vectors of these texts."""
        if self._path is None or (self._database is None and not self._path.exists()):
            return {}
        keys = {_key(text): text for text in texts}
        return self._guarded(lambda database: self._get(database, keys), {}) if keys else {}

    def put(self, vectors: Mapping[str, bytes]) -> None:
        if vectors and self._path is not None:
            self._guarded(lambda database: self._put(database, vectors), None)

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _get(self, database: sqlite3.Connection, keys: Mapping[bytes, str]) -> dict[str, bytes]:
        vectors: dict[str, bytes] = {}
        wanted = list(keys)
        for start in range(0, len(wanted), KEYS_MAX):
            batch = wanted[start : start + KEYS_MAX]
            marks = ",".join("?" * len(batch))
            rows = database.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", batch)  # noqa: S608
            vectors |= {keys[bytes(key)]: bytes(vector) for key, vector in rows}
        return vectors

    def _put(self, database: sqlite3.Connection, vectors: Mapping[str, bytes]) -> None:
        with database:
            (clock,) = database.execute("SELECT coalesce(max(used), 0) + 1 FROM vectors").fetchone()
            database.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET used = excluded.used, vector = excluded.vector",
                [(_key(text), vector, clock) for text, vector in vectors.items()],
            )
        (rows,) = database.execute("SELECT count(*) FROM vectors").fetchone()
        size = max(map(len, vectors.values())) + 64  # a row's key and overhead
        if rows * size > self._bytes_max:
            with database:
                database.execute(
                    "DELETE FROM vectors WHERE key IN (SELECT key FROM vectors ORDER BY used, key LIMIT ?)",
                    (max(rows // PRUNED_DIVISOR, rows - self._bytes_max // size),),
                )
            database.execute("VACUUM")

    def _guarded(self, work: Callable[[sqlite3.Connection], Any], otherwise: Any) -> Any:
        try:
            if self._database is None:
                self._database = self._open()
            return work(self._database)
        except (sqlite3.Error, OSError) as error:
            log.debug("the cache of embeddings %s is not used: %s", self._path, error)
            self.close()
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
                with contextlib.suppress(OSError):  # damaged: the next run creates it again
                    files.remove(self._path or "")
            self._path = None
            return otherwise

    def _open(self) -> sqlite3.Connection:
        assert self._path is not None
        files.make_private(self._path.parent)  # SQLite opens the files in it by itself
        os.close(files.open_log(self._path))  # replaces a link
        database = sqlite3.connect(self._path, timeout=BUSY_S, check_same_thread=False)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=OFF")
        database.execute("PRAGMA temp_store=MEMORY")
        database.execute(_SCHEMA)
        return database


@functools.lru_cache(maxsize=4)
def open_cache(folder: str, model: str) -> EmbeddingCache:
    """Return the cache of one model, opened once for each process."""
    return EmbeddingCache(folder, model)


def cache_folder() -> str:
    """Return the cache's folder in the user's cache. Raises Misconfigured as `cache_base` does."""
    return os.fspath(cache_base() / "embeddings")


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).digest()
