"""Conversion of memory's folder from plain to sealed and back: each file is replaced by one rename,
and the plain bytes are overwritten. An interrupted conversion goes on at the next start.

SQLCipher seals the database and its copies; a file that cannot be read as a database is sealed as a
stream of bytes. The indexes of a sealed store are in memory only.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cortex.memory.store.copies import FOLDER as BACK_UPS
from cortex.memory.store.copies import SUFFIXES, fault_of
from cortex.memory.store.driver import PLAIN, Driver, is_plain, sqlcipher
from cortex.sealing.streams import seal, unseal
from cortex.system import files
from cortex.system.errors import Damaged
from cortex.system.folders.wiping import wipe, wipe_tree

#: folders of files made of the store; where that is sealed, they are in memory instead
DERIVED = ("index", "briefings", "run", "shared")
#: suffixes of the old file until it is overwritten, and of a file that is sealed as bytes
BEFORE, SEALED = ".before", ".sealed"
#: prefix of databases that were moved aside
MOVED = "damaged-"
_WHAT = b"cortex-memory-bytes\0"


def apply_sealing(database: Path, driver: Driver) -> None:
    """Convert the database and its neighbours to the form that this driver reads; the caller holds
    the owner's lock. Raises OSError, and Damaged where a plain database cannot be read; that one
    stays as it is.
    """
    folder = database.parent
    for path in (*_files_starting(folder, f".{database.name}."), *_files_starting(folder / BACK_UPS, ".")):
        wipe(path)  # leftovers of a killed process: we hold the lock
    for path in (database, *_copies(folder)):
        _wipe_before(path)
    if not driver.key:
        return
    was_plain = is_plain(database)
    for path in sorted(_files_starting(folder, MOVED)) if was_plain else ():
        if not path.name.endswith(SEALED):
            _seal_bytes(path, driver)
    for copy in _copies(folder):
        if is_plain(copy):
            _turn_or_seal(copy, driver)
    if was_plain:
        turn(database, PLAIN, driver)
    for name in DERIVED:
        wipe_tree(folder / name)


def unseal_all(database: Path, driver: Driver) -> None:
    """Convert all sealed files to plain ones; the caller holds the owner's lock. The database comes
    last: if this is interrupted before, the next start seals the others again. Raises Damaged and
    OSError.
    """
    folder = database.parent
    for path in (*sorted(_files_starting(folder, MOVED)), *sorted(_files_starting(folder / BACK_UPS, ""))):
        if path.name.endswith(SEALED):
            _unseal_bytes(path, driver)
    for copy in _copies(folder):
        if not is_plain(copy) and not fault_of(copy, driver):
            turn(copy, driver, PLAIN)
    if database.exists() and not is_plain(database) and database.stat().st_size:
        turn(database, driver, PLAIN)


def turn(database: Path, source: Driver, target: Driver) -> None:
    """Rewrite a database in the form that `target` reads, and overwrite the old file. Raises
    Damaged where it cannot be read completely, and OSError, as for a full disk; then it stays as it
    is.
    """
    module, before = sqlcipher(), database.with_name(database.name + BEFORE)
    try:
        with files.replacing_by_name(database) as temporary:
            with contextlib.suppress(
                FileNotFoundError
            ):  # SQLite removes the log when the last connection closes
                files.link(f"{database}-wal", f"{before}-wal")
            _export(database, temporary, source, target)
            _check_same(database, temporary, source, target)
            files.link(database, before)
        files.sync(database.parent)
    except (module.OperationalError, sqlite3.OperationalError) as error:  # the database itself is intact
        _wipe_before(database)
        raise OSError(str(error)) from error
    except (module.DatabaseError, sqlite3.DatabaseError) as error:
        _wipe_before(database)
        raise Damaged(str(error)) from error
    _wipe_before(database)


def _wipe_before(database: Path) -> None:
    """Overwrite and remove the old file of a database, and its log."""
    for end in SUFFIXES:
        wipe(database.with_name(f"{database.name}{BEFORE}{end}"))


def _export(database: Path, temporary: Path, source: Driver, target: Driver) -> None:
    with contextlib.closing(sqlcipher().connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA cipher_log_level = NONE")
        if source.key:
            connection.execute(f'PRAGMA key = "{source.literal}"')
        connection.execute("ATTACH ? AS other KEY ?", (os.fspath(temporary), target.literal))
        connection.execute("SELECT sqlcipher_export('other')").fetchall()


def _check_same(database: Path, temporary: Path, source: Driver, target: Driver) -> None:
    """Raises Damaged unless the new file is intact and every table has as many rows."""
    if fault := fault_of(temporary, target):
        raise Damaged(f"the converted copy is damaged ({fault})")
    with source.connected(database) as original, target.connected(temporary) as written:
        if list(_row_counts(original)) != list(_row_counts(written)):
            raise Damaged("not all of it could be read")


def _row_counts(connection: Any) -> Iterator[tuple[str, int]]:
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    for (name,) in connection.execute(tables).fetchall():
        yield name, connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]  # noqa: S608 - a table's name


def _turn_or_seal(copy: Path, driver: Driver) -> None:
    try:
        turn(copy, PLAIN, driver)
    except (Damaged, OSError):
        _seal_bytes(copy, driver)


def _seal_bytes(path: Path, driver: Driver) -> None:
    with files.open_ours(path) as plain, files.replacing(f"{path}{SEALED}", sync=True) as sealed:
        seal(driver.key, _WHAT + path.name.encode(), plain, sealed)
    files.sync(path.parent)
    wipe(path)


def _unseal_bytes(path: Path, driver: Driver) -> None:
    target = path.with_name(path.name.removesuffix(SEALED))
    with files.open_ours(path) as sealed, files.replacing(target, sync=True) as plain:
        unseal(driver.key, _WHAT + target.name.encode(), sealed, plain)
    files.sync(path.parent)
    files.remove(path)


def _copies(folder: Path) -> list[Path]:
    return sorted(path for path in _files_starting(folder / BACK_UPS, "") if path.suffix == ".sqlite3")


def _files_starting(folder: Path, prefix: str) -> Iterator[Path]:
    try:
        listed = files.names(folder)
    except FileNotFoundError:
        return
    yield from (folder / name for name in listed if name.startswith(prefix))
