"""What was read of a session goes into the store: once, however often it is handed in.

A portion names the place in the file that it begins at. It is taken when that is the place that
the store has reached, in one transaction with the place that is reached then; otherwise nothing
changes, and the answer says where to go on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import uuid6
from sqlalchemy import Connection, Row, bindparam, func, insert, select, update

from cortex.memory.forgotten import any_of, exchange_hash, known, session_hash
from cortex.memory.records import Records
from cortex.memory.tables import EXCHANGE, SESSION
from cortex.memory.transcripts.exchanges import Part
from cortex.memory.transcripts.reader import Place
from cortex.system.errors import BadRequest

#: characters that are kept of all that the agent said in one exchange
SAID_CHARS_MAX = 4_000_000
#: what a change of an exchange is called in the log of changes
EXCHANGES = "exchange"
#: the key of a session's counts that holds the place of the exchange that goes on; NOWHERE while
#: that one was forgotten for good
GOES_ON, NOWHERE = "place", -1
# Statements that are made once: to make one takes longer than to carry it out.
_OWN = select(EXCHANGE).where(EXCHANGE.c.session == bindparam("of"))
_TOLD = _OWN.where(EXCHANGE.c.at == bindparam("then"), EXCHANGE.c.user_text == bindparam("said"))
_GOING_ON = _OWN.where(EXCHANGE.c.place == bindparam("where"))
_LAST = select(func.max(EXCHANGE.c.place)).where(EXCHANGE.c.session == bindparam("of"))
_ADDED, _CHANGED = insert(EXCHANGE), update(EXCHANGE).where(EXCHANGE.c.number == bindparam("which"))


@dataclass(frozen=True, slots=True)
class Session:
    """Of which session a portion is: `kind` names the format, `source_id` is its program's name."""

    kind: str
    source_id: str
    workstation: str
    project: str
    project_path: str = ""
    branch: str = ""
    file: str = ""
    started_at: int = 0
    last_at: int = 0


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that was made in the session, as git tells it."""

    name: str
    at: int
    title: str
    body: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Taking:
    """One portion of a session, as in `reading.Portion`; `root`: the folder of its project."""

    session: Session
    start: int
    place: Place
    commits: tuple[Commit, ...] = ()
    anew: bool = False
    parts: tuple[Part, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    root: str = ""


def read_taking(given: Mapping[str, Any], project: str) -> Taking:
    """Raises BadRequest for what is no portion."""
    try:
        session = {**given.get("session", {}), "project": project}
        return msgspec.convert({**given, "session": session}, Taking, strict=False)
    except msgspec.ValidationError as error:
        raise BadRequest(f"This is no portion of a session: {error}.") from error


def take(records: Records, taking: Taking, key: bytes) -> tuple[dict[str, Any], list[Row[Any]]]:
    """({"offset": the place that is reached, "taken", "session": its number}, the exchanges of
    which something was told, as they are now). Of what was forgotten for good nothing is taken;
    "forgotten" says that the whole session was.
    """
    connection, told = records.connection, taking.session
    some = any_of(connection)
    if some and known(connection, [session_hash(key, told.workstation, told.source_id)]):
        return {"offset": taking.place.offset, "taken": True, "session": 0, "forgotten": True}, []
    gone = _forgotten(connection, taking.parts, key) if some else set()
    row = _row_of(records, told)
    # one that is told by another file, as after its folder was moved, is read from its beginning
    reached = 0 if taking.anew or row.file != told.file else row.file_offset
    if taking.start != reached:
        return {"offset": reached, "taken": False, "session": row.number}, []
    counts = Counter(row.counts)
    place = counts.pop(GOES_ON, 0)
    numbers: list[int] = []
    for part in taking.parts:
        if id(part) in gone:
            place = NOWHERE
        elif part.begins or place != NOWHERE:
            number, place = _write(records, row, part, place)
            numbers.append(number)
    counts.update(taking.counts)
    count = select(func.count()).where(EXCHANGE.c.session == row.number)
    values = {
        "file": told.file,
        "file_offset": taking.place.offset,
        "file_size": taking.place.size,
        "file_tail": taking.place.tail,
        "counts": dict(counts) | {GOES_ON: place},
        "branch": told.branch or row.branch,
        "started_at": min(filter(None, (row.started_at, told.started_at)), default=0),
        "last_at": max(row.last_at, told.last_at),
        "exchange_count": connection.execute(count).scalar_one(),
    }
    connection.execute(update(SESSION).where(SESSION.c.number == row.number).values(**values))
    return {"offset": taking.place.offset, "taken": True, "session": row.number}, written(records, numbers)


def _forgotten(connection: Connection, parts: Sequence[Part], key: bytes) -> set[int]:
    hashes = {exchange_hash(key, part.at, part.user): id(part) for part in parts if part.begins}
    return {hashes[each] for each in known(connection, hashes)}


def written(records: Records, numbers: Sequence[int]) -> list[Row[Any]]:
    """The exchanges of these numbers."""
    chosen = select(EXCHANGE).where(EXCHANGE.c.number.in_(numbers)).order_by(EXCHANGE.c.number)
    return list(records.connection.execute(chosen)) if numbers else []


def _row_of(records: Records, told: Session) -> Row[Any]:
    """The session: that of its file, else that of its name, else a new one."""
    connection = records.connection
    chosen = select(SESSION).where(SESSION.c.workstation == told.workstation)
    named = chosen.where(SESSION.c.project == told.project, SESSION.c.source_id == told.source_id)
    row = connection.execute(chosen.where(SESSION.c.file == told.file)).first() if told.file else None
    row = row or connection.execute(named).first()
    if row is None:
        values = {name: getattr(told, name) for name in Session.__slots__}
        connection.execute(insert(SESSION), values | {"id": str(uuid6.uuid7()), "counts": {}})
        row = connection.execute(named).first()
    assert row is not None
    return row


def _write(records: Records, session: Row[Any], part: Part, place: int) -> tuple[int, int]:
    """(the number of the exchange that the part belongs to, its place in the session)."""
    connection, asked = records.connection, {"of": session.number}
    if part.begins:
        # a file that is read anew tells exchanges that are there: each is as it is told now
        there = connection.execute(_TOLD, asked | {"then": part.at, "said": part.user}).first()
    else:
        there = connection.execute(_GOING_ON, asked | {"where": place}).first()
    before: dict[str, Any] = {}
    if there is not None and not part.begins:
        before = dict(there._mapping)  # noqa: SLF001 - SQLAlchemy's own name for what all may use
    files = before.get("files") or {}
    said = "\n\n".join(filter(None, (before.get("assistant_text", ""), part.assistant)))
    values = {
        "assistant_text": said[:SAID_CHARS_MAX],
        "tools": dict(Counter(before.get("tools") or {}) + Counter(part.tools)),
        "files": {
            name: list(dict.fromkeys((*files.get(name, ()), *getattr(part, name))))
            for name in ("read", "modified", "commits")
        },
        "branch": part.branch or before.get("branch", ""),
    }
    if there is not None:
        connection.execute(_CHANGED, values | {"which": there.number})
        number, place = there.number, there.place
    else:
        place = (connection.execute(_LAST, asked).scalar() or 0) + 1
        values |= {"session": session.number, "place": place, "user_text": part.user, "at": part.at}
        made = connection.execute(_ADDED, values).inserted_primary_key
        number = made[0] if made else 0
    records.log(EXCHANGES, number)
    return number, place
