"""Memory of a team on its PostgreSQL server: opening, version, transactions. The only module for
PostgreSQL.

A team is a schema with its tables, numbers and log of changes; a role without rights in the schema
sees none of it. Every writer takes the team's lock first and holds it until the commit, so changes
become visible in the order of their numbers.
"""

import contextlib
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import uuid6
from sqlalchemy import (
    CompoundSelect,
    Connection,
    Engine,
    Select,
    String,
    create_engine,
    event,
    func,
    make_url,
    select,
    text,
)
from sqlalchemy.engine import URL
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.pool import QueuePool

from cortex.memory.migrations import bring_up_to_date
from cortex.memory.store.driver import PLAIN
from cortex.memory.store.tables import METADATA, VERSION
from cortex.settings.postgresql import CLIENT_KEEPALIVE, SERVER_KEEPALIVE
from cortex.system import files
from cortex.system.errors import BadRequest, Misconfigured, Occupied, Unavailable
from cortex.system.installation import how_to_add, is_installed
from ipc.locks import hold

#: accepted schemes of an address, and the one that SQLAlchemy needs
SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
DIALECT, DRIVER = "postgresql", "postgresql+psycopg"
#: names of teams, which are schemas
TEAM = re.compile(r"[a-z][a-z0-9_]{0,47}")
#: schemas that PostgreSQL uses, or shows to everybody
NOT_TEAMS = ("public", "information_schema")
#: seconds for a connection, a statement, and the team's lock
CONNECT_S, STATEMENT_S, LOCK_S = 4, 10, 5
#: seconds to wait for the lock of the data folder
OWNER_S = 1.0

_WRITERS = text("SELECT pg_advisory_xact_lock(hashtextextended('cortex memory ' || current_schema(), 0))")
_UPKEEP = text("SELECT pg_try_advisory_lock(hashtextextended('cortex upkeep ' || current_schema(), 0))")
_UPKEEP_ENDS = text("SELECT pg_advisory_unlock(hashtextextended('cortex upkeep ' || current_schema(), 0))")
_MIGRATION = text("SELECT pg_advisory_lock(hashtextextended('cortex migration ' || :team, 0))")
_SIZE = text(
    "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class "
    "WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"
)
_SEES_ALL = text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
_MAY_USE = text("SELECT has_schema_privilege(nspname, 'USAGE') FROM pg_namespace WHERE nspname = :team")
_STORE = text(
    "CREATE TABLE IF NOT EXISTS store (one boolean PRIMARY KEY DEFAULT true CHECK (one), "
    "id text NOT NULL, key bytea NOT NULL)"
)


@compiles(String, "postgresql")
def _unbounded(_type: String, _compiler: Any, **_options: Any) -> str:
    """Make every String(n) a TEXT: SQLite does not enforce n, and notes have their own bounds."""
    return "TEXT"


@dataclass(frozen=True, slots=True)
class Server:
    """A team's server; `address`: in SQLAlchemy's form, with any password."""

    address: str = field(repr=False)
    team: str


class Shared:
    """The memory of a team on its server; `folder`: the data folder, for indexes, spool and the
    lock of this machine's one process that serves it. Otherwise as `database.Database`.
    """

    shared = True
    #: files in the folder are not sealed
    driver = PLAIN

    def __init__(self, folder: Path, server: Server) -> None:
        """Raises Occupied when another process owns the folder, Misconfigured for an unusable
        address, team or version, Unavailable when the server cannot be reached.
        """
        self._url, self._team, self.folder = read_address(server.address), read_team(server.team), folder
        #: write transactions since it was opened
        self.writes = 0
        #: depth of nested `moment`s, names read in the moment, and its connection
        self._moments, self._read_names = 0, set[str]()
        self._moment_connection: Connection | None = None
        public_url = self._url.difference_update_query(
            [name for name in self._url.query if "password" in name]
        )
        self.label = f"{public_url.render_as_string(hide_password=True)} (team {self._team})"
        try:
            files.make_private(folder)
            self._lock = hold(folder / "memory.lock", lambda holder: occupied(folder, holder), wait_s=OWNER_S)
        except OSError as error:
            raise Unavailable(f"The memory's folder {folder} cannot be used: {error}.") from error
        try:
            self._engine = connect(self._url, self._team)
            self._bring_up_to_date()
            self._id = self._identity()
        except BaseException:
            self.close()
            raise

    def indexes(self, home: Path) -> Path:
        """The folder of this store's indexes: another store's numbers mean other notes."""
        return home / "shared" / self._id

    def close(self) -> None:
        if engine := getattr(self, "_engine", None):
            engine.dispose()
        self._lock.release()

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction that is committed when the `with` ends, or never was; no other member of
        the team writes meanwhile. Raises Unavailable when the server is away or refuses.
        """
        self._end_moment()
        try:
            with self._translate_errors("written to"), self._engine.begin() as connection:
                connection.execute(_WRITERS)
                self.writes += 1
                yield connection
        finally:
            self._end_moment()

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reads, which all see one state of the store."""
        with self.moment(), self._translate_errors("read from"):
            try:
                if self._moment_connection is None:
                    how = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
                    self._moment_connection = self._engine.connect().execution_options(**how)
                yield self._moment_connection
            except BaseException:  # a failed transaction takes no more statements
                self._end_moment()
                raise

    @contextlib.contextmanager
    def moment(self) -> Iterator[None]:
        """Have all reads in the `with` see one state, over one connection, which saves the messages
        that begin and end transactions. A write ends it early.
        """
        self._moments += 1
        try:
            yield
        finally:
            self._moments -= 1
            if not self._moments:
                self._end_moment()

    def _end_moment(self) -> None:
        connection, self._moment_connection = self._moment_connection, None
        self._read_names.clear()
        if connection is not None:
            connection.close()

    def is_new(self, what: str) -> bool:
        """Whether the named rows must be read again: once in each moment."""
        was_read = what in self._read_names
        if self._moments:
            self._read_names.add(what)
        return not was_read

    @contextlib.contextmanager
    def _translate_errors(self, what: str) -> Iterator[None]:
        """Turn the driver's errors into ours: BadRequest for a value that no server takes, such as
        a text with NUL, else Unavailable.
        """
        try:
            yield
        except DataError as error:
            raise BadRequest(
                f"The memory in {self.label} does not take this value: {_message_of(error)}"
            ) from None
        except (OperationalError, InterfaceError, ProgrammingError) as error:
            raise Unavailable(f"The memory cannot be {what} {self.label}: {_message_of(error)}") from error

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """Yield whether upkeep may begin: in one process of the team at a time."""
        with self._translate_errors("read from"), self._engine.connect() as connection:
            has_lock = connection.execution_options(isolation_level="AUTOCOMMIT").execute(_UPKEEP).scalar()
            try:
                yield bool(has_lock)
            finally:
                if has_lock:
                    connection.execute(_UPKEEP_ENDS)

    def size(self) -> int:
        """Bytes of the team's tables on the server."""
        with self.read() as connection:
            return int(connection.execute(_SIZE).scalar_one())

    def back_up(self) -> Path:
        raise BadRequest(
            f"Back up {self.label} on its server: `pg_dump --schema={self._team}`; `cortex memory export` "
            "writes all notes into a file here."
        )

    def key(self) -> bytes:
        """The team's secret that erased contents are hashed with."""
        with self.read() as connection:  # each time: a store that is moved there replaces it
            return bytes(connection.execute(text("SELECT key FROM store")).scalar_one())

    def check(self) -> list[str]:
        """Faults that are visible from here: tables that are missing or cannot be read."""
        return self.glance(STATEMENT_S)[0]

    def glance(self, budget_s: float) -> tuple[list[str], list[str], list[str]]:
        """Return (faults, tables that were checked, tables for which no time was left)."""
        ends_at, wrong, looked = time.monotonic() + budget_s, list[str](), list[str]()
        names = [table.name for table in METADATA.sorted_tables]
        for name in names:
            if looked and time.monotonic() >= ends_at:
                break
            try:
                with self.read() as connection:
                    connection.execute(METADATA.tables[name].select().limit(1)).all()
            except Unavailable as error:
                wrong.append(str(error))
            looked.append(name)
        return wrong, looked, names[len(looked) :]

    def optimise(self) -> None:
        """Renew the server's statistics of the tables."""
        with self._translate_errors("written to"), self._engine.connect() as connection:
            autocommit = connection.execution_options(isolation_level="AUTOCOMMIT")
            for table in METADATA.sorted_tables:
                autocommit.execute(
                    text(f"ANALYZE {autocommit.dialect.identifier_preparer.format_table(table)}")
                )

    def truncate_log(self) -> None:
        """Do nothing: the server keeps its own log, see docs/SCALE.md for its contents."""

    def warnings(self) -> list[str]:
        """Warnings about the rights of the role that connects."""
        with self.read() as connection:
            if not connection.execute(_SEES_ALL).scalar():
                return []
        warning = (
            f"The role of {self.label} may read every team's memory: connect with one that is no superuser and has "
            "rights in this team's schema alone."
        )
        return [warning]

    def _bring_up_to_date(self) -> None:
        with self.read() as connection:
            is_allowed = connection.execute(_MAY_USE, {"team": self._team}).scalar()
        if is_allowed is False:
            raise Misconfigured(
                f"The role of {self.label} may not use the schema {self._team}: GRANT USAGE on it, or set memory.team to "
                "your own."
            )
        version = self._version()
        if version == VERSION:
            return
        self._engine.dispose()
        address = self._url.render_as_string(hide_password=False)
        bring_up_to_date(version, self.label, (), f"{address}\n{self._team}", _explain_failure)

    def _version(self) -> str:
        """The version of the stored tables; "" for none."""
        with self.read() as connection:
            if not connection.execute(text("SELECT to_regclass('alembic_version')")).scalar():
                return ""
            return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or "")

    def _identity(self) -> str:
        """The id of the store, created with its secret on the first call."""
        id_query = text("SELECT id FROM store")
        with self.read() as connection:
            has_table = connection.execute(text("SELECT to_regclass('store')")).scalar()
            store_id = connection.execute(id_query).scalar() if has_table else None
        if store_id is None:
            with self.write() as connection:
                connection.execute(_STORE)
                insertion = text("INSERT INTO store (id, key) VALUES (:id, :key) ON CONFLICT DO NOTHING")
                connection.execute(insertion, {"id": uuid6.uuid7().hex, "key": secrets.token_bytes(32)})
                store_id = connection.execute(id_query).scalar_one()
        return str(store_id)


def _explain_failure(output: str) -> str:
    """Return the server's error in the output of a migration, and what to do."""
    lines = [line for line in output.splitlines() if line.strip()] or [""]
    last = next((line for line in lines if line.startswith("psycopg.")), lines[-1])
    return f"{last.rpartition(') ')[2]}; a role that may create tables there must open it once with this version."


def set_key(connection: Connection, key: bytes) -> None:
    """Hash erased contents with this secret, that of the store it was copied from."""
    connection.execute(text("UPDATE store SET key = :key"), {"key": key})


def read_address(address: str) -> URL:
    """Parse a PostgreSQL address. Raises Misconfigured, also if the extra is missing."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):  # the error's text may hold a part of the password
        raise Misconfigured(
            "memory.database is no address; it is like postgresql://user@host/database."
        ) from None
    if url.drivername not in SCHEMES:
        raise Misconfigured(
            f"memory.database begins with {url.drivername[:40]}://; it is like postgresql://user@host/database."
        )
    if "@" in (url.host or ""):
        raise Misconfigured("memory.database has an @ in its password: write it as %40.")
    if not is_installed("psycopg"):
        raise Misconfigured(
            f"memory.database names a PostgreSQL server, which needs an extra: {how_to_add('postgresql')}."
        )
    return url.set(drivername=DRIVER)


def read_team(team: str) -> str:
    """Raises Misconfigured for an invalid name of a team."""
    if not TEAM.fullmatch(team) or team in NOT_TEAMS or team.startswith("pg_"):
        raise Misconfigured(
            f"memory.team is {team[:60]!r}; it is a name of small letters, digits and _, up to 48, but none of "
            "PostgreSQL's own."
        )
    return team


def connect(url: URL, team: str) -> Engine:
    """A pool of connections for the team; a dead one is noticed and replaced on its next use."""
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=1,
        max_overflow=3,
        pool_timeout=LOCK_S,
        pool_pre_ping=True,
        hide_parameters=True,  # errors are logged, and parameters hold notes and the team's secret
        json_serializer=lambda value: orjson.dumps(value).decode(),
        json_deserializer=orjson.loads,
        connect_args={"connect_timeout": CONNECT_S, **CLIENT_KEEPALIVE, "application_name": "cortex"},
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f'SET search_path TO "{team}"')
            cursor.execute(f"SET statement_timeout TO {STATEMENT_S * 1000}")
            cursor.execute(f"SET lock_timeout TO {LOCK_S * 1000}")
            cursor.execute(f"SET idle_in_transaction_session_timeout TO {STATEMENT_S * 2000}")
            # the server releases the locks of a lost machine, such as that of upkeep
            for name, value in SERVER_KEEPALIVE.items():
                cursor.execute(f"SET {name} TO {value}")
        connection.commit()

    return engine


@contextlib.contextmanager
def open_for_migration(server: Server) -> Iterator[Connection]:
    """A connection for migrating the team's tables; it holds the lock of migrations."""
    team = read_team(server.team)
    engine = connect(read_address(server.address), team)
    with engine.connect() as connection:
        for statement in ("SET statement_timeout TO 0", "SET lock_timeout TO 0"):
            connection.execute(text(statement))
        connection.execute(_MIGRATION, {"team": team})
        if not connection.execute(text("SELECT to_regnamespace(:team)"), {"team": team}).scalar():
            connection.execute(text(f'CREATE SCHEMA "{team}"'))
        connection.commit()
        yield connection
        connection.invalidate()
    engine.dispose()


def rows_by_number(
    connection: Connection, query: CompoundSelect[Any] | Select[Any], numbers: Sequence[int]
) -> list[Sequence[Any]]:
    """As `database.rows_by_number`: JSON that the driver decoded becomes text again."""
    rows = connection.execute(query, {"numbers": list(numbers)}).all()
    return [
        [orjson.dumps(value) if isinstance(value, (dict, list)) else value for value in row] for row in rows
    ]


def last_number(connection: Connection, table: str) -> int:
    """The highest number that a row of the table ever had."""
    query = text("SELECT pg_sequence_last_value(pg_get_serial_sequence(:name, 'number')::regclass)")
    return connection.execute(query, {"name": table}).scalar() or 0


def advance_sequence(connection: Connection, table: str) -> None:
    """Make the next row of the table get a number above all existing ones."""
    numbers = METADATA.tables[table].c.number
    highest = connection.execute(select(func.max(numbers))).scalar() or 0
    if not highest:
        return
    connection.execute(
        text("SELECT setval(pg_get_serial_sequence(:name, 'number'), greatest(CAST(:highest AS bigint), 1))"),
        {"name": table, "highest": max(highest, last_number(connection, table))},
    )


def _message_of(error: DBAPIError) -> str:
    first = " ".join(str(error.orig).split())
    return first if first.endswith(".") else f"{first}."


def occupied(folder: Path, holder: str) -> Occupied:
    """The error for a folder of memory that another process serves."""
    return Occupied(f"Process {holder} already serves the memory in {folder}; ask it, or end it first.")
