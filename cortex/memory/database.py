"""The database of a data folder: opening, its owner, its version, its transactions. Which driver
reads the file is known elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import CompoundSelect, Connection, Dialect, Select, text
from sqlalchemy.exc import DatabaseError, OperationalError

from cortex.memory import copies, postgresql
from cortex.memory.driver import PLAIN, READS, Driver
from cortex.memory.folder_sealing import apply_sealing
from cortex.memory.postgresql import Server, Shared
from cortex.memory.tables import VERSION
from cortex.system import files
from cortex.system.errors import Damaged, Misconfigured, Occupied, Unavailable
from ipc.locks import hold

#: the file of the database in its folder, and that of the owner's lock
NAME, LOCK = "memory.sqlite3", "memory.lock"
#: the file of the secret that what was forgotten is hashed with, and its bytes
KEY, KEY_BYTES = "memory.key", 32
#: seconds that a migration may take, and that the owner's lock is waited for
MIGRATION_S, LOCK_S = 600.0, 1.0
#: rows of an index that are looked at to know what it is worth
ANALYSED = 400
_TABLES = text("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY name")


class Database:
    """The database of the folder `folder`, for its one owner. Use it in one thread."""

    #: whether others write to it, too
    shared = False

    def __init__(self, folder: Path, driver: Driver = PLAIN) -> None:
        """Raises Occupied when another process owns the folder, Misconfigured when the store is of
        a newer version, Unavailable when the folder cannot be used, Damaged for a file that is no
        database.
        """
        self.folder, self.path, self.driver = folder, folder / NAME, driver
        #: what it is called in sentences
        self.label = str(self.path)
        #: transactions that wrote, since it was opened
        self.writes = 0
        try:
            files.make_private(folder)
            self._lock = hold(folder / LOCK, lambda holder: _occupied(folder, holder), wait_s=LOCK_S)
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
        #: how many tables were looked at, round after round
        self._glanced = 0
        try:
            self._prepare()
            self._bring_up_to_date()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        """Make an empty file where there is none: SQLite gives what it makes beside it the same
        mode. Raises Damaged for a file that has become empty, Unavailable when it cannot be made.
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
        """Have nothing open of the file; the folder stays ours."""
        self._engine.dispose()

    def indexes(self, home: Path) -> Path:
        """The folder below `home` of what is made of it."""
        return home / "index"

    def close(self) -> None:
        self._engine.dispose()
        self._lock.release()

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """Whether upkeep may begin: there is nobody else."""
        yield True

    @contextlib.contextmanager
    def moment(self) -> Iterator[None]:
        """What is read meanwhile is as it was at one moment: nobody else writes."""
        yield

    def is_new(self, _what: str) -> bool:
        """Whether what was read has to be read again."""
        return False

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction that is on disk when the `with` ends, or never was.

        Raises Unavailable when the disk is full or cannot be written.
        """
        try:
            with self._engine.begin() as connection:
                self.writes += 1
                yield connection
        except OperationalError as error:
            raise Unavailable(f"The memory cannot be written to {self.path}: {error.orig}.") from error
        except DatabaseError as error:
            if type(error) is DatabaseError:  # none of its kinds, but what SQLite says of a damaged file
                raise _damaged(self.path, error.orig) from error
            raise

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection to read with. Raises Damaged for what SQLite cannot read."""
        try:
            with self._engine.connect() as connection:
                yield connection.execution_options(**READS)
        except OperationalError as error:
            raise Unavailable(f"The memory in {self.path} cannot be read: {error.orig}.") from error
        except DatabaseError as error:
            raise _damaged(self.path, error.orig) from error
        except self.driver.module.OperationalError as error:  # of `rows_by_number`
            raise Unavailable(f"The memory in {self.path} cannot be read: {error}.") from error
        except self.driver.module.DatabaseError as error:
            raise _damaged(self.path, error) from error

    def size(self) -> int:
        """Of the database and its log."""
        paths = (self.path, self.path.with_name(f"{NAME}-wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def back_up(self) -> Path:
        """A copy of what is committed, beside the database, as `copies.make` makes it. Any thread
        may ask for it.
        """
        return copies.make(self.path, self.driver)

    def key(self) -> bytes:
        """As `read_key`."""
        return read_key(self.path.parent)

    def replace_key(self, key: bytes) -> None:
        """Have it be the secret of another store, whose contents this one takes over."""
        files.replace(self.folder / KEY, key)

    def check(self) -> list[str]:
        """What SQLite finds wrong with the file, some lines of it; none when nothing is."""
        with self.read() as connection:
            messages = connection.execute(text("PRAGMA integrity_check(20)")).scalars().all()
            sealed = connection.execute(text("PRAGMA cipher_integrity_check")) if self.driver.key else None
            messages = [*messages, *(sealed.scalars() if sealed else ())]
            lost = connection.execute(text("PRAGMA foreign_key_check")).all()
        faults = [str(message) for message in messages if message != "ok"]
        return faults + ([f"{len(lost)} rows that belong to no note"] if lost else [])

    def glance(self, budget_s: float) -> tuple[list[str], list[str], list[str]]:
        """(what is wrong, tables that were looked at, those for which there was no time): a quick
        look at the pages and rows of one table after the other, of one at least. The next look
        goes on where this one ended. What indexes and references hold is `check`'s.
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
        """Renew what SQLite knows of the tables by a look at some of their rows, and put what is in
        its log into the file, where nobody reads it.
        """
        with self._engine.connect() as connection:
            if raw := connection.connection.driver_connection:
                for pragma in (f"analysis_limit = {ANALYSED}", "optimize", "wal_checkpoint(PASSIVE)"):
                    raw.execute(f"PRAGMA {pragma}").fetchall()

    def truncate_log(self) -> None:
        """Leave nothing of older contents in the write-ahead log."""
        with self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall() if raw else None

    def _bring_up_to_date(self) -> None:
        version = self._version()
        if version == VERSION:
            return
        if version > VERSION:
            raise Misconfigured(
                f"The memory in {self.path} was written by a newer Cortex (version {version} of the store; this one "
                f"knows {VERSION}): upgrade this one."
            )
        if version:
            self.back_up()
        self._engine.dispose()
        # In a process of its own: what makes the tables is needed once in a while only.
        command = [sys.executable, "-P", "-m", "cortex.memory.migrations", str(self.path)]
        try:
            # the key on its standard input: a list of processes shows the rest
            key = self.driver.key.hex().encode()
            done = subprocess.run(
                command, input=key, capture_output=True, timeout=MIGRATION_S, check=False, cwd="/"
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unavailable(f"The memory in {self.path} cannot be brought up to date: {error}.") from error
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
            raise Unavailable(f"The memory in {self.path} cannot be brought up to date: {last}")

    def _version(self) -> str:
        """The version of what is there, "" for nothing."""
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
    """A secret of the store in `folder`, made when it is first asked for."""
    path = folder / KEY
    with contextlib.suppress(FileExistsError):
        files.create(path, secrets.token_bytes(KEY_BYTES))
    return files.read_ours(path, KEY_BYTES)


def rows_by_number(
    connection: Connection, query: CompoundSelect[Any] | Select[Any], numbers: Sequence[int]
) -> list[Sequence[Any]]:
    """The rows of a query with no other parameter than the list `numbers`, as the driver has them:
    JSON is text. What SQLAlchemy does around a statement takes ten times as long as to read ten
    notes; a question waits for it.
    """
    if connection.dialect.name == postgresql.DIALECT:
        return postgresql.rows_by_number(connection, query, numbers)
    driver = connection.connection.driver_connection
    statement, times = _statement_of(query, connection.dialect, len(numbers))
    return list(driver.execute(statement, (*numbers,) * times)) if driver else []


@lru_cache(64)
def _statement_of(query: CompoundSelect[Any] | Select[Any], dialect: Dialect, count: int) -> tuple[str, int]:
    """(the statement for so many numbers, how often it asks for them)."""
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
    """Have the next row of the table get a number above all that were given by us, too."""
    if connection.dialect.name == postgresql.DIALECT:
        postgresql.advance_sequence(connection, table)


def open_database(folder: Path, driver: Driver | Server) -> Database | Shared:
    """The memory of the folder, or what its team keeps on a server. Raises what both raise."""
    return Shared(folder, driver) if isinstance(driver, Server) else Database(folder, driver)


def _occupied(folder: Path, holder: str) -> Occupied:
    return Occupied(f"Process {holder} already serves the memory in {folder}; ask it, or end it first.")


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
