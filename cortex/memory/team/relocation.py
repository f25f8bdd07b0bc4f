"""Copies of a whole store: into a team's database, or back into a folder. Ids and numbers stay; the
copy is compared with the source by row count and hash.
"""

import hashlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Connection, RowMapping, Select, Table, delete, func, insert, select, tuple_

from cortex.memory.library import Library
from cortex.memory.store.database import Database, advance_sequence
from cortex.memory.store.tables import METADATA, UPKEEP
from cortex.memory.team import postgresql
from cortex.memory.team.postgresql import Server, Shared
from cortex.settings.reference import read_reference
from cortex.system import files
from cortex.system.errors import BadRequest, Damaged, Unavailable

#: rows read and written at once
PAGE = 1_000
#: folder below the source folder for the lock of the target
MEANWHILE = "moving"


def migrate(library: Library, *, to: str, team: str = "") -> Generator[None, None, dict[str, Any]]:
    """Copy the whole memory to `to`, which must be empty: the address of a PostgreSQL server (or
    $NAME of a variable with it), or a folder. Return {"to", "rows": {table: count}}. The source
    stays as it is. Raises BadRequest for a target with memory and for a sealed source, Unavailable
    when the source was changed meanwhile; then nothing was copied.
    """
    source = library.memory.store.database
    if source.driver.key:
        raise BadRequest(
            f"The memory in {source.folder} is sealed, and the copy would not be: to allow that, set "
            "security.encrypt_memory to off and run `cortex memory decrypt` first."
        )
    settings = library.memory.upkeep.settings
    target = _open(source.folder, to, team or settings.team)
    try:
        before = _state(source)
        with target.write() as connection:
            for name in ("note", "session", "change"):
                if connection.execute(select(METADATA.tables[name]).limit(1)).first():
                    raise BadRequest(
                        f"{target.label} holds memory already, which is never overwritten: name an empty place, or "
                        "another memory.team; `cortex memory export` and `import` join two memories."
                    )
            rows = yield from _copy_tables(source, connection)
            if isinstance(target, Shared):
                postgresql.set_key(connection, source.key())
            else:
                target.replace_key(source.key())
            if _state(source) != before:
                raise Unavailable(f"{source.label} was changed meanwhile, so nothing was copied: try again.")
        return {"to": target.label, "rows": rows}
    finally:
        target.close()
        files.remove_tree(source.folder / MEANWHILE)


def _open(folder: Path, to: str, team: str) -> Database | Shared:
    if to.startswith("$") or "://" in to:
        return Shared(folder / MEANWHILE, Server(read_reference(to, "--to"), team))
    place = Path(to).expanduser().absolute()
    if place == folder:
        raise BadRequest(f"The memory in {folder} cannot be copied to itself: name another folder.")
    return Database(place)


def _state(database: Database | Shared) -> tuple[int, int]:
    """The numbers of write transactions and of the last change."""
    with database.read() as connection:
        last = connection.execute(select(func.max(METADATA.tables["change"].c.number))).scalar()
    return database.writes, last or 0


def _copy_tables(source: Database | Shared, target: Connection) -> Generator[None, None, dict[str, int]]:
    """Copy all rows, tables that others refer to first; return {table: count}."""
    counts: dict[str, int] = {}
    target.execute(delete(UPKEEP))  # migrations of an empty store leave notes of what they did
    for table in METADATA.sorted_tables:
        name = str(table.name)  # its class is not str, and cannot be a key of JSON
        digest = counts[name] = 0
        for page in _pages(source, table):
            rows = [  # PostgreSQL's texts cannot hold NUL, which output of tools may contain
                {
                    name: value.replace("\0", "") if isinstance(value, str) else value
                    for name, value in row.items()
                }
                for row in page
            ]
            target.execute(insert(table), rows)
            digest = _add_hashes(digest, rows)
            counts[name] += len(page)
            yield
        if "number" in table.c:
            advance_sequence(target, name)
        _compare(target, table, digest, counts[name])
        yield
    return counts


def _pages(source: Database | Shared, table: Table) -> Iterator[Sequence[RowMapping]]:
    after: tuple[Any, ...] = ()
    while True:
        with source.read() as connection:
            page = connection.execute(_page(table, after)).mappings().all()
        if not page:
            return
        yield page
        after = tuple(page[-1][column.name] for column in table.primary_key)


def _page(table: Table, after: tuple[Any, ...]) -> Select[Any]:
    key = tuple(table.primary_key)
    query = select(table).order_by(*key).limit(PAGE)
    return query.where(tuple_(*key) > after) if after else query


def _compare(target: Connection, table: Table, wanted: int, count: int) -> None:
    """Raises Damaged when the copied rows differ from the source's."""
    total, arrived, after = 0, 0, tuple[Any, ...]()
    while page := target.execute(_page(table, after)).mappings().all():
        total = _add_hashes(total, page)
        arrived += len(page)
        after = tuple(page[-1][column.name] for column in table.primary_key)
    if (total, arrived) != (wanted, count):
        raise Damaged(f"The copy of {table.name} differs ({arrived} rows of {count}): nothing was copied.")


def _add_hashes(before: int, page: Sequence[Mapping[str, Any] | RowMapping]) -> int:
    """`before` plus the hashes of the rows: a sum, because two databases sort texts differently."""
    encoded_rows = (orjson.dumps(list(row.values()), option=orjson.OPT_SORT_KEYS) for row in page)
    return sum((int.from_bytes(hashlib.sha256(encoded).digest()) for encoded in encoded_rows), before)
