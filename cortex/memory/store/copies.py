"""Back-ups of the database, beside it: made, checked, pruned, and restored. The caller holds the
owner's lock.
"""

import contextlib
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from cortex.memory.store.driver import PLAIN, Driver
from cortex.memory.times import format_moment
from cortex.system import files
from cortex.system.errors import Damaged, NotFound, Unavailable

#: folder of the back-ups; the number of back-ups that stay
FOLDER, COPIES_MAX = "backups", 3
#: seconds after which a back-up is made automatically, if anything changed
DAY_S = 86_400.0
#: suffixes of the files that SQLite makes for a database
SUFFIXES = ("", "-wal", "-shm")


def back_ups(folder: Path) -> list[dict[str, Any]]:
    """[{"file", "bytes", "written_at"}] of a data folder, the newest first."""
    try:
        entries = files.entries(folder / FOLDER)
    except OSError:
        return []
    names = sorted((name for name in entries if name.endswith(".sqlite3")), reverse=True)
    return [
        {
            "file": str(folder / FOLDER / name),
            "bytes": entries[name].st_size,
            "written_at": format_moment(int(entries[name].st_mtime * 1000)),
        }
        for name in names
    ]


def make(database: Path, driver: Driver = PLAIN) -> Path:
    """Copy the committed state and remove the oldest back-ups beyond COPIES_MAX. Raises Damaged,
    and removes none, when the copy is damaged: then the database is damaged too.
    """
    folder = database.parent / FOLDER
    files.make_private(folder)
    files.sweep(folder)
    names = sorted(name for name in files.names(folder) if name.endswith(".sqlite3"))
    number = int(names[-1].partition("-")[0]) + 1 if names else 1
    copy = folder / f"{number:06}-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}.sqlite3"
    with files.replacing_by_name(copy) as temporary:
        try:
            with driver.connected(database) as source, driver.connected(temporary) as target:
                source.backup(target)
                target.execute("PRAGMA journal_mode = DELETE")
        except driver.module.DatabaseError as error:
            raise Damaged(f"The memory in {database} cannot be copied: {error}.") from error
        if fault := fault_of(temporary, driver):
            raise Damaged(f"The memory in {database} is damaged ({fault}): no back-up is made of it.")
    for old in names[: -COPIES_MAX + 1]:
        files.remove(folder / old)
    return copy


def is_due(database: Path, changes: int, driver: Driver = PLAIN) -> bool:
    """Whether the newest back-up is DAY_S old and lacks some of the store's `changes`."""
    backups = back_ups(database.parent)
    if not backups:
        return changes > 0
    newest = Path(backups[0]["file"])
    return newest.stat().st_mtime < time.time() - DAY_S and last_change_in(newest, driver) != changes


def put_back(
    database: Path,
    file: str = "",
    prepare: Callable[[Path], None] = lambda _copy: None,
    driver: Driver = PLAIN,
) -> dict[str, Any]:
    """Replace the database with the newest intact back-up, or with the back-up `file`, and move the
    old database aside. Return {"file": the back-up, "written_at", "kept": the path of the old
    database, or ""}. `prepare` changes the copy before it is in place.

    Raises NotFound when there is no back-up, Damaged when none is intact, Unavailable when it
    cannot be written; then the database stays in place.
    """
    folder = database.parent
    copies = [copy for copy in back_ups(folder) if file in ("", copy["file"], Path(copy["file"]).name)]
    if not copies:
        raise NotFound(
            f"There is no back-up {file[:200]!r} in {folder / FOLDER}; `cortex memory doctor` names the newest."
            if file
            else f"There is no back-up in {folder / FOLDER}: the memory can only be moved away, to begin anew."
        )
    intact = next((copy for copy in copies if not fault_of(Path(copy["file"]), driver)), None)
    if intact is None:
        raise Damaged(
            f"No back-up in {folder / FOLDER} is whole: {fault_of(Path(copies[0]['file']), driver)}."
        )
    with files.replacing_by_name(database) as temporary:
        try:
            with driver.connected(Path(intact["file"])) as source, driver.connected(temporary) as target:
                source.backup(target)
            prepare(temporary)
        except driver.module.Error as error:
            raise Unavailable(f"The back-up {intact['file']} cannot be put in its place: {error}.") from error
        moved_to = _move_aside(database)
    return {"file": intact["file"], "written_at": intact["written_at"], "kept": moved_to}


def _move_aside(database: Path) -> str:
    """Move the database and its log to a new name and return it; "" if there was none."""
    taken, moved = set(files.names(database.parent)), ""
    now = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    names = (f"damaged-{now}{number or ''}.sqlite3" for number in count())
    stem = next(name for name in names if taken.isdisjoint(f"{name}{end}" for end in SUFFIXES))
    for end in SUFFIXES:
        path = database.with_name(f"{database.name}{end}")
        with contextlib.suppress(FileNotFoundError):
            files.move(path, database.with_name(f"{stem}{end}"))
            moved = moved or str(database.with_name(stem))
    return moved


def lost_content(database: Path) -> bool:
    """Whether an empty database held something before."""
    log = database.with_name(f"{database.name}-wal")
    return bool(back_ups(database.parent)) or (log.exists() and log.stat().st_size > 0)


def move_leftovers_aside(database: Path) -> None:
    """Move the log of a missing database aside: SQLite would apply it to a new one."""
    if any(database.with_name(f"{database.name}{end}").exists() for end in SUFFIXES):
        _move_aside(database)


def last_change_in(copy: Path, driver: Driver = PLAIN) -> int:
    """The number of the last change in a copy; -1 when it cannot be read."""
    try:
        with driver.connected(copy) as connection:
            return int(connection.execute("SELECT max(number) FROM change").fetchone()[0] or 0)
    except driver.module.Error:
        return -1


def fault_of(copy: Path, driver: Driver = PLAIN) -> str:
    """A description of the damage of a copy; "" for none."""
    try:
        with driver.connected(copy) as connection:
            report = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except driver.module.Error as error:
        return str(error)
    return "" if report == "ok" else str(report).splitlines()[0]
