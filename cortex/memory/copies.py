"""Copies of the database beside it: made, kept whole, and put back. The owner's lock is held by
whoever calls.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from cortex.memory.driver import PLAIN, Driver
from cortex.memory.times import say_moment
from cortex.system import files
from cortex.system.errors import Damaged, NotFound, Unavailable

#: the folder of the back-ups, and how many stay
FOLDER, KEPT = "backups", 3
#: seconds after which a back-up is made by itself, if anything changed
DAY_S = 86_400.0
#: what SQLite makes beside a database
BESIDE = ("", "-wal", "-shm")


def back_ups(folder: Path) -> list[dict[str, Any]]:
    """[{"file", "bytes", "written_at"}] of a data folder, the newest first."""
    try:
        found = files.entries(folder / FOLDER)
    except OSError:
        return []
    kept = sorted((name for name in found if name.endswith(".sqlite3")), reverse=True)
    return [
        {
            "file": str(folder / FOLDER / name),
            "bytes": found[name].st_size,
            "written_at": say_moment(int(found[name].st_mtime * 1000)),
        }
        for name in kept
    ]


def make(database: Path, driver: Driver = PLAIN) -> Path:
    """A copy of what is committed; the oldest of more than KEPT go.

    Raises Damaged, and keeps the others, when the copy is not whole: then the database is not.
    """
    folder = database.parent / FOLDER
    files.make_private(folder)
    files.sweep(folder)
    kept = sorted(name for name in files.names(folder) if name.endswith(".sqlite3"))
    number = int(kept[-1].partition("-")[0]) + 1 if kept else 1
    copy = folder / f"{number:06}-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}.sqlite3"
    with files.replacing_by_name(copy) as temporary:
        try:
            with driver.connected(database) as source, driver.connected(temporary) as target:
                source.backup(target)
                target.execute("PRAGMA journal_mode = DELETE")
        except driver.module.DatabaseError as error:
            raise Damaged(f"The memory in {database} cannot be copied: {error}.") from error
        if wrong := fault_of(temporary, driver):
            raise Damaged(f"The memory in {database} is damaged ({wrong}): no back-up is made of it.")
    for old in kept[: -KEPT + 1]:
        files.remove(folder / old)
    return copy


def is_due(database: Path, changes: int, driver: Driver = PLAIN) -> bool:
    """Whether the newest back-up is DAY_S old, and knows less than the store's `changes`."""
    found = back_ups(database.parent)
    if not found:
        return changes > 0
    newest = Path(found[0]["file"])
    return newest.stat().st_mtime < time.time() - DAY_S and reached(newest, driver) != changes


def put_back(
    database: Path,
    chosen: str = "",
    prepare: Callable[[Path], None] = lambda _copy: None,
    driver: Driver = PLAIN,
) -> dict[str, Any]:
    """Put the newest back-up that is whole, or the `chosen` one, in the place of the database,
    which is moved aside: {"file": the back-up, "written_at", "kept": where the old one is, or ""}.
    `prepare` changes the copy before it is in place.

    Raises NotFound when there is none, Damaged when none is whole, Unavailable when it cannot be
    written, and then the database stays where it is.
    """
    folder = database.parent
    copies = [one for one in back_ups(folder) if chosen in ("", one["file"], Path(one["file"]).name)]
    if not copies:
        raise NotFound(
            f"There is no back-up {chosen[:200]!r} in {folder / FOLDER}; `cortex memory doctor` names the newest."
            if chosen
            else f"There is no back-up in {folder / FOLDER}: the memory can only be moved away, to begin anew."
        )
    whole = next((one for one in copies if not fault_of(Path(one["file"]), driver)), None)
    if whole is None:
        raise Damaged(
            f"No back-up in {folder / FOLDER} is whole: {fault_of(Path(copies[0]['file']), driver)}."
        )
    with files.replacing_by_name(database) as temporary:
        try:
            with driver.connected(Path(whole["file"])) as source, driver.connected(temporary) as target:
                source.backup(target)
            prepare(temporary)
        except driver.module.Error as error:
            raise Unavailable(f"The back-up {whole['file']} cannot be put in its place: {error}.") from error
        kept = _move_aside(database)
    return {"file": whole["file"], "written_at": whole["written_at"], "kept": kept}


def _move_aside(database: Path) -> str:
    """What is in the place of the database, with its log, under a new name; "" for nothing."""
    there, moved = set(files.names(database.parent)), ""
    now = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    names = (f"damaged-{now}{number or ''}.sqlite3" for number in count())
    stem = next(name for name in names if there.isdisjoint(f"{name}{end}" for end in BESIDE))
    for end in BESIDE:
        path = database.with_name(f"{database.name}{end}")
        with contextlib.suppress(FileNotFoundError):
            files.move(path, database.with_name(f"{stem}{end}"))
            moved = moved or str(database.with_name(stem))
    return moved


def was_more(database: Path) -> bool:
    """Whether there was something in a database that is empty now."""
    log = database.with_name(f"{database.name}-wal")
    return bool(back_ups(database.parent)) or (log.exists() and log.stat().st_size > 0)


def clear_beside(database: Path) -> None:
    """Move the log of a database that is not there any more aside: it is of no other one."""
    if any(database.with_name(f"{database.name}{end}").exists() for end in BESIDE):
        _move_aside(database)


def reached(copy: Path, driver: Driver = PLAIN) -> int:
    """The last change that a copy knows of; -1 when it cannot be read."""
    try:
        with driver.connected(copy) as connection:
            return int(connection.execute("SELECT max(number) FROM change").fetchone()[0] or 0)
    except driver.module.Error:
        return -1


def fault_of(copy: Path, driver: Driver = PLAIN) -> str:
    """What is wrong with a copy, "" for nothing."""
    try:
        with driver.connected(copy) as connection:
            told = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except driver.module.Error as error:
        return str(error)
    return "" if told == "ok" else str(told).splitlines()[0]
