"""How a file of memory's database is opened: plain by SQLite, or sealed by SQLCipher with a key.
The only place that knows which; what is in the file is known elsewhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.pool import StaticPool

from cortex.system import files
from cortex.system.errors import Misconfigured
from cortex.system.installation import how_to_add

#: milliseconds that a statement waits for a reader of another process, as a back-up is
BUSY_MS = 2_000
#: what a plain file begins with: https://www.sqlite.org/fileformat2.html
HEAD = b"SQLite format 3\0"
#: marks a connection that only reads
READS = {"cortex_reads": True}
#: what the database's key is made of the folder's with
_WHAT = b"cortex-memory-database"


@dataclass(frozen=True, slots=True)
class Driver:
    """`key`: that of a sealed folder, b"" of a plain one."""

    key: bytes = field(default=b"", repr=False)

    @property
    def module(self) -> ModuleType:
        """The module of DB-API 2, with its errors. Raises Misconfigured where it is missing."""
        return sqlcipher() if self.key else sqlite3

    def connect(self, path: Path, *, reads: bool = False) -> Any:
        """A connection of this thread, and of nobody else's pool; `reads`: the file stays as it is.

        The key is not looked at before the first statement.
        """
        if reads:
            connection = self.module.connect(f"{path.as_uri()}?mode=ro", uri=True)
        else:
            connection = self.module.connect(path)
        if self.key:
            # what fails is raised as well; it would be written to stderr
            connection.execute("PRAGMA cipher_log_level = NONE")
            connection.execute(f'PRAGMA key = "{self.literal}"')
        return connection

    @property
    def literal(self) -> str:
        """The database's key as SQLCipher takes it as it is: of a password it would make one, in
        100 ms. "" of a plain one.
        """
        return f"x'{hmac.new(self.key, _WHAT, hashlib.sha256).hexdigest()}'" if self.key else ""

    @contextlib.contextmanager
    def connected(self, path: Path, *, reads: bool = False) -> Iterator[Any]:
        """As `connect`, closed at the end."""
        connection = self.connect(path, reads=reads)
        try:
            yield connection
        finally:
            connection.close()

    def engine(self, path: Path) -> Engine:
        """One connection, kept open: there is one owner, and it asks in one thread; so what only
        reads needs no transaction. One that writes takes the lock at its beginning, and holds
        statements that define tables as well.
        """
        engine = create_engine(
            "sqlite://",
            module=self.module,
            creator=lambda: self.connect(path),
            poolclass=StaticPool,
            json_serializer=lambda value: orjson.dumps(value).decode(),
            json_deserializer=orjson.loads,
        )
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
        return engine


#: of a database that is not sealed
PLAIN = Driver()


def is_plain(path: Path) -> bool:
    """Whether a database can be read by anybody; an empty or missing one holds nothing."""
    try:
        with files.open_ours(path) as file:
            return file.read(len(HEAD)) == HEAD
    except FileNotFoundError:
        return False


def sqlcipher() -> ModuleType:
    """Raises Misconfigured where it is not installed."""
    try:
        from sqlcipher3 import dbapi2
    except ImportError as error:
        raise Misconfigured(
            f"A sealed memory needs the package sqlcipher3, which is not installed: {how_to_add('private')}."
        ) from error
    module: ModuleType = dbapi2
    return module


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver begins no transactions by itself
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "secure_delete = ON",
        "foreign_keys = ON",
        f"busy_timeout = {BUSY_MS}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    if not READS.items() <= connection.get_execution_options().items():
        connection.exec_driver_sql("BEGIN IMMEDIATE")
