"""The database of a data folder: opening, owner's lock, version, transactions. `driver` opens the
file.
"""

import contextlib
import os
import secrets
import shlex
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import CompoundSelect, Connection, Dialect, Select, text
from sqlalchemy.exc import DatabaseError, OperationalError

from cortex.memory.migrations import bring_up_to_date
from cortex.memory.migrations.current_tables import bring_to_current_tables
from cortex.memory.store import copies
from cortex.memory.store.driver import PLAIN, READS, Driver
from cortex.memory.store.folder_sealing import apply_sealing
from cortex.memory.store.tables import VERSION
from cortex.memory.team import postgresql
from cortex.memory.team.postgresql import Server, Shared, occupied
from cortex.system import files
from cortex.system.errors import Damaged, Unavailable
from ipc.locks import hold

#: names of the database file and of the owner's lock file
NAME, LOCK = "memory.sqlite3", "memory.lock"
#: name and length in bytes of the secret that erased notes are hashed with
KEY, KEY_BYTES = "memory.key", 32
#: seconds to wait for the owner's lock
LOCK_S = 1.0
#: rows of an index that SQLite samples for its statistics
ANALYSED = 400
#: in the error of a text whose bytes are no UTF-8: the file is damaged there
_UNDECODABLE = "Could not decode to UTF-8"
_TABLES = text("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY name")


class Database:
    """The database in `folder`, for its one owner process. Use it in one thread."""

    #: whether other processes write to it
    shared = False

    def __init__(self, folder: Path, driver: Driver = PLAIN) -> None:
        """Raises Occupied when another process owns the folder, Misconfigured when the store is of
        a newer version, Unavailable when the folder cannot be used, Damaged for a file that is no
        database.
        """
        self.folder, self.path, self.driver = folder, folder / NAME, driver
        #: its name in messages
        self.label = str(self.path)
        #: write transactions since it was opened
        self.writes = 0
        try:
            files.make_private(folder)
            self._lock = hold(folder / LOCK, lambda holder: occupied(folder, holder), wait_s=LOCK_S)
        except OSError as error:
            raise Unavailable(f"The memory's folder {folder} cannot be used: {error}.") from error
        try:
            apply_sealing(self.path, driver)
        except Damaged as error:
            self._lock.release()
            raise _damaged(self.path, error) from error
        except OSError as error:
            self._lock.release()
            raise Unavailable(f"The memory's folder {folder} cannot be used: {error}.") from error
        self._engine = driver.engine(self.path)
        #: tables checked by `glance` so far, over all rounds
        self._glanced = 0
        try:
            self._prepare()
            self._bring_up_to_date()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        """Make an empty file where there is none: SQLite gives the files beside it the same mode.
        Raises Damaged for a file that has become empty, Unavailable when it cannot be made.
        """
        try:
            if not os.path.lexists(self.path):
                copies.move_leftovers_aside(self.path)
                files.replace(self.path, b"")
            elif not self.path.stat().st_size and copies.lost_content(self.path):
                raise _damaged(self.path, "it is empty")
        except OSError as error:
            raise Unavailable(f"The memory's folder {self.path.parent} cannot be used: {error}.") from error

    def release_file(self) -> None:
        """Close the file; the folder stays locked."""
        self._engine.dispose()

    def indexes(self, home: Path) -> Path:
        """The folder below `home` of the indexes made of it."""
        return home / "index"

    def close(self) -> None:
        self._engine.dispose()
        self._lock.release()

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """Yield whether upkeep may begin: always, for there is no other owner."""
        yield True

    @contextlib.contextmanager
    def moment(self) -> Iterator[None]:
        """Have all reads in the `with` see one state: nobody else writes."""
        yield

    def is_new(self, _what: str) -> bool:
        """Whether rows that were read must be read again."""
        return False

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction that is on disk when the `with` ends, or never was. Raises Unavailable
        when the disk is full or cannot be written, Damaged for a damaged file.
        """
        try:
            with self._engine.begin() as connection:
                self.writes += 1
                yield connection
        except OperationalError as error:
            raise Unavailable(f"The memory cannot be written to {self.path}: {error.orig}.") from error
        except DatabaseError as error:
            if type(error) is DatabaseError:  # no subclass: SQLite's error for a damaged file
                raise _damaged(self.path, error.orig) from error
            raise

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reads. Raises Unavailable, and Damaged for a damaged file."""
        try:
            with self._engine.connect() as connection:
                yield connection.execution_options(**READS)
        except (OperationalError, self.driver.module.OperationalError) as error:
            cause = getattr(error, "orig", error)  # `rows_by_number` raises the module's own error
            if _UNDECODABLE in str(cause):  # for a text of other bytes
                raise _damaged(self.path, cause) from error
            raise Unavailable(f"The memory in {self.path} cannot be read: {cause}.") from error
        except (DatabaseError, self.driver.module.DatabaseError) as error:
            raise _damaged(self.path, getattr(error, "orig", error)) from error

    def size(self) -> int:
        """Bytes of the database and its log."""
        paths = (self.path, self.path.with_name(f"{NAME}-wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def back_up(self) -> Path:
        """Copy the committed state with `copies.make`. Safe in any thread."""
        return copies.make(self.path, self.driver)

    def key(self) -> bytes:
        return read_key(self.path.parent)

    def replace_key(self, key: bytes) -> None:
        """Store the secret of another store, when this store takes over its contents."""
        files.replace(self.folder / KEY, key)

    def check(self) -> list[str]:
        """SQLite's complaints about the file, at most some 20 lines; empty for an intact one."""
        with self.read() as connection:
            messages = connection.execute(text("PRAGMA integrity_check(20)")).scalars().all()
            sealed = connection.execute(text("PRAGMA cipher_integrity_check")) if self.driver.key else None
            messages = [*messages, *(sealed.scalars() if sealed else ())]
            lost = connection.execute(text("PRAGMA foreign_key_check")).all()
        faults = [str(message) for message in messages if message != "ok"]
        return faults + ([f"{len(lost)} rows that belong to no note"] if lost else [])

    def glance(self, budget_s: float) -> tuple[list[str], list[str], list[str]]:
        """Return (faults, tables that were checked, tables for which no time was left). Checks
        pages and rows of one table after another, at least one; the next call goes on after the
        last. Indexes and references are left to `check`.
        """
        ends_at, wrong = time.monotonic() + budget_s, list[str]()
        with self.read() as connection:
            tables = connection.execute(_TABLES).scalars().all()
            order = [tables[(self._glanced + at) % len(tables)] for at in range(len(tables))]
            looked = list[str]()
            for table in order:
                if looked and time.monotonic() >= ends_at:
                    break
                messages = connection.exec_driver_sql(f'PRAGMA quick_check("{table}")').scalars().all()
                wrong += [str(message) for message in messages if message != "ok"]
                looked.append(table)
        self._glanced = (self._glanced + len(looked)) % len(tables)
        return wrong, looked, order[len(looked) :]

    def optimise(self) -> None:
        """Renew SQLite's statistics from a sample of rows, and move its log into the file as far as
        no reader needs it.
        """
        with self._engine.connect() as connection:
            if raw := connection.connection.driver_connection:
                for pragma in (f"analysis_limit = {ANALYSED}", "optimize", "wal_checkpoint(PASSIVE)"):
                    raw.execute(f"PRAGMA {pragma}").fetchall()

    def truncate_log(self) -> None:
        """Remove older contents from the write-ahead log."""
        with self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall() if raw else None

    def _bring_up_to_date(self) -> None:
        version = self._version()
        if version == VERSION:
            return
        if not version:  # a process for it would take a third of the time of the first start
            try:
                with self._engine.connect() as connection:
                    bring_to_current_tables(connection)
            except DatabaseError as error:
                raise Unavailable(f"The memory in {self.label} cannot be made: {error.orig}.") from error
            return
        if version < VERSION:
            self.back_up()
        self._engine.dispose()
        key = self.driver.key.hex()
        bring_up_to_date(version, self.label, (str(self.path),), key, lambda text: text.rpartition("\n")[2])

    def _version(self) -> str:
        """The version of the stored tables; "" for an empty file."""
        try:
            with self._engine.connect() as connection:
                if not connection.execute(text("SELECT 1 FROM sqlite_master LIMIT 1")).first():
                    return ""
                return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or "")
        except OperationalError as error:
            raise Unavailable(f"The memory in {self.path} cannot be opened: {error.orig}.") from error
        except DatabaseError as error:
            other = ", or was sealed by a key that is gone" if self.driver.key else ""
            raise _damaged(self.path, f"{error.orig}{other}") from error


def read_key(folder: Path) -> bytes:
    """The secret of the store in `folder`, made on the first call."""
    path = folder / KEY
    with contextlib.suppress(FileExistsError):
        files.create(path, secrets.token_bytes(KEY_BYTES))
    return files.read_ours(path, KEY_BYTES)


def rows_by_number(
    connection: Connection, query: CompoundSelect[Any] | Select[Any], numbers: Sequence[int]
) -> list[Sequence[Any]]:
    """The rows of a query with no parameter but the list `numbers`, as the driver returns them:
    JSON is text. SQLAlchemy's handling of a statement takes ten times as long as reading ten notes,
    and a query waits for it.
    """
    if connection.dialect.name == postgresql.DIALECT:
        return postgresql.rows_by_number(connection, query, numbers)
    driver = connection.connection.driver_connection
    statement, times = _statement_of(query, connection.dialect, len(numbers))
    return list(driver.execute(statement, (*numbers,) * times)) if driver else []


@lru_cache(64)
def _statement_of(query: CompoundSelect[Any] | Select[Any], dialect: Dialect, count: int) -> tuple[str, int]:
    """Return (the statement for `count` numbers, how often it repeats them)."""
    expanded = query.params(numbers=[0] * count)
    compiled = expanded.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})
    return str(compiled), len(compiled.positiontup or ()) // count


def last_number(connection: Connection, table: str) -> int:
    """The highest number that a row of the table ever had."""
    if connection.dialect.name == postgresql.DIALECT:
        return postgresql.last_number(connection, table)
    query = text("SELECT seq FROM sqlite_sequence WHERE name = :name")
    return connection.execute(query, {"name": table}).scalar() or 0


def advance_sequence(connection: Connection, table: str) -> None:
    """Make the next row's number higher than all existing ones, even chosen ones."""
    if connection.dialect.name == postgresql.DIALECT:
        postgresql.advance_sequence(connection, table)


def open_database(folder: Path, driver: Driver | Server) -> Database | Shared:
    """Open the folder's memory, or its team's. Raises the errors of both classes."""
    return Shared(folder, driver) if isinstance(driver, Server) else Database(folder, driver)


def _damaged(path: Path, why: object) -> Damaged:
    backups = copies.back_ups(path.parent)
    anew = f"move {path} away to begin anew"
    advice = (
        f"`cortex memory restore --data-dir {shlex.quote(str(path.parent))}` puts the newest back-up, of "
        f"{backups[0]['written_at']}, in its place and keeps the damaged file beside it; or {anew}"
        if backups
        else f"there is no back-up: {anew}"
    )
    return Damaged(
        f"The memory in {path} is damaged ({why}); it stays as it is. {advice[0].upper()}{advice[1:]}."
    )
