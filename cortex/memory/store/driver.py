"""Opening of memory's database file: plain by SQLite, or sealed by SQLCipher with a key. No other
module knows which.
"""

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

#: milliseconds that a statement waits for another process's lock, such as a back-up's
BUSY_MS = 2_000
#: first bytes of a plain file: https://www.sqlite.org/fileformat2.html
HEAD = b"SQLite format 3\0"
#: execution option of a connection that only reads
READS = {"cortex_reads": True}
#: context of the HMAC that derives the database's key from the folder's
_WHAT = b"cortex-memory-database"


@dataclass(frozen=True, slots=True)
class Driver:
    """`key`: the key of a sealed folder, b"" for a plain one."""

    key: bytes = field(default=b"", repr=False)

    @property
    def module(self) -> ModuleType:
        """The DB-API 2 module, with its errors. Raises Misconfigured where it is not installed."""
        return sqlcipher() if self.key else sqlite3

    def connect(self, path: Path, *, reads: bool = False) -> Any:
        """Open a connection for this thread, outside any pool; `reads`: read-only. A wrong key
        fails at the first statement.
        """
        if reads:
            connection = self.module.connect(f"{path.as_uri()}?mode=ro", uri=True)
        else:
            connection = self.module.connect(path)
        if self.key:
            # errors are raised as well; SQLCipher would also write them to stderr
            connection.execute("PRAGMA cipher_log_level = NONE")
            connection.execute(f'PRAGMA key = "{self.literal}"')
        return connection

    @property
    def literal(self) -> str:
        """The database's key as SQLCipher's raw key literal: deriving a key from a password would
        take 100 ms. "" for a plain database.
        """
        return f"x'{hmac.new(self.key, _WHAT, hashlib.sha256).hexdigest()}'" if self.key else ""

    @contextlib.contextmanager
    def connected(self, path: Path, *, reads: bool = False) -> Iterator[Any]:
        """As `connect`, closed at the end of the `with`."""
        connection = self.connect(path, reads=reads)
        try:
            yield connection
        finally:
            connection.close()

    def engine(self, path: Path) -> Engine:
        """An engine with one open connection, for one owner with one thread; so reads need no
        transaction. A transaction that writes locks at its start, and includes statements that
        define tables.
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


#: the driver of a database that is not sealed
PLAIN = Driver()


def is_plain(path: Path) -> bool:
    """Whether anybody can read the database; False for an empty or missing one."""
    try:
        with files.open_ours(path) as file:
            return file.read(len(HEAD)) == HEAD
    except FileNotFoundError:
        return False


def sqlcipher() -> ModuleType:
    """Import the module. Raises Misconfigured where it is not installed."""
    try:
        from sqlcipher3 import dbapi2
    except ImportError as error:
        raise Misconfigured(
            f"A sealed memory needs the package sqlcipher3, which is not installed: {how_to_add('private')}."
        ) from error
    module: ModuleType = dbapi2
    return module


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the driver begins no transactions
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
