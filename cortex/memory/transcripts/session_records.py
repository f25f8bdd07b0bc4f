"""Sessions as records of an export, and what an import makes of them: {"session": {…}}, then an
{"exchange": {…}} for each of its exchanges. A session that is there under its id, or as a program's
of that name, stays; it is added to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from sqlalchemy import Connection, Row, and_, delete, func, insert, or_, select, tuple_, update

from cortex.memory.forgotten import any_of, exchange_hash, known, session_hash
from cortex.memory.records import Records
from cortex.memory.tables import EXCHANGE, SESSION
from cortex.memory.transcripts.intake import EXCHANGES, SAID_CHARS_MAX
from cortex.system.errors import BadRequest

#: characters of what was said of one page of an export, after which it ends
PAGE_CHARS = 4_000_000
#: what the format of a session is called that came with a file which is not trusted
STRANGE = "import"
#: what became of a record
Became = Literal["new", "known", "merged", "forgotten", "refused"]

_Id = Annotated[str, Meta(pattern="^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
_Name = Annotated[str, Meta(max_length=128)]
_Path = Annotated[str, Meta(max_length=1_024)]
_Moment = Annotated[int, Meta(ge=0, lt=1 << 53)]
_Asked = Annotated[str, Meta(max_length=1_000_000)]
_Said = Annotated[str, Meta(max_length=SAID_CHARS_MAX)]
_Counts = dict[_Name, _Moment]
_Files = dict[Literal["read", "modified", "commits"], tuple[_Path, ...]]


@dataclass(frozen=True, slots=True)
class SessionTold:
    """A session as its columns have it."""

    id: _Id
    source_id: _Name
    kind: Annotated[str, Meta(max_length=20)] = ""
    workstation: Annotated[str, Meta(max_length=16)] = ""
    project: Annotated[str, Meta(max_length=64)] = ""
    project_path: _Path = ""
    branch: Annotated[str, Meta(max_length=256)] = ""
    file: _Path = ""
    file_offset: _Moment = 0
    file_size: _Moment = 0
    file_tail: Annotated[str, Meta(max_length=64)] = ""
    counts: dict[str, int] = field(default_factory=dict)
    started_at: _Moment = 0
    last_at: _Moment = 0


@dataclass(frozen=True, slots=True)
class ExchangeTold:
    """An exchange as its columns have it; `session`: the id, the others say which session that is
    where it has another.
    """

    session: _Id
    source_id: _Name
    place: Annotated[int, Meta(ge=1, lt=1 << 31)]
    workstation: Annotated[str, Meta(max_length=16)] = ""
    project: Annotated[str, Meta(max_length=64)] = ""
    user_text: _Asked = ""
    assistant_text: _Said = ""
    tools: _Counts = field(default_factory=dict)
    files: _Files = field(default_factory=dict)
    branch: Annotated[str, Meta(max_length=256)] = ""
    at: _Moment = 0


@dataclass(frozen=True, slots=True)
class ArrivingSession:
    line: int
    told: SessionTold
    trusted: bool


@dataclass(frozen=True, slots=True)
class ArrivingExchange:
    line: int
    told: ExchangeTold
    trusted: bool


_KEPT = tuple(name for name in SessionTold.__slots__ if name != "id")
_SAID = ("place", "user_text", "assistant_text", "tools", "files", "branch", "at")


def read(
    line: int, record: Mapping[str, Any], project: str, *, trusted: bool
) -> ArrivingSession | ArrivingExchange | None:
    """What a record says of a session, None when it is about something else. Not `trusted`, it is
    a session that was read by nobody here. Raises BadRequest.
    """
    what = next((name for name in ("session", "exchange") if isinstance(record.get(name), Mapping)), "")
    if not what:
        return None
    given = {"project": project} | {name: value for name, value in record[what].items() if value != ""}
    try:
        if what == "exchange":
            return ArrivingExchange(line, msgspec.convert(given, ExchangeTold), trusted)
        told = msgspec.convert(given, SessionTold)
    except msgspec.ValidationError as error:
        raise BadRequest(f"it is no {what}: {error}") from error
    if not trusted:
        told = replace(told, kind=STRANGE, file="", file_offset=0, file_size=0, file_tail="", counts={})
    return ArrivingSession(line, told, trusted)


def take_in(
    records: Records, arriving: Sequence[ArrivingSession | ArrivingExchange], key: bytes
) -> list[Became]:
    """Store what is not there yet; what became of each. What was forgotten for good stays away."""
    if not arriving:
        return []
    gone = _forgotten(records.connection, arriving, key)
    became: list[Became] = []
    for one in arriving:
        if id(one) in gone:
            became.append("forgotten")
        elif isinstance(one, ArrivingSession):
            became.append(_take_session(records, one))
        else:
            became.append(_take_exchange(records, one))
    return became


def _forgotten(
    connection: Connection, arriving: Sequence[ArrivingSession | ArrivingExchange], key: bytes
) -> set[int]:
    if not any_of(connection):
        return set()
    hashes: dict[int, set[str]] = {}
    for one in arriving:
        hashes[id(one)] = {session_hash(key, one.told.workstation, one.told.source_id)}
        if isinstance(one, ArrivingExchange):
            hashes[id(one)].add(exchange_hash(key, one.told.at, one.told.user_text))
    found = known(connection, {each for some in hashes.values() for each in some})
    return {which for which, some in hashes.items() if not found.isdisjoint(some)}


def _there(connection: Connection, which: str, told: SessionTold | ExchangeTold) -> Row[Any] | None:
    """The session of this id, else the one of that name."""
    row = connection.execute(select(SESSION).where(SESSION.c.id == which)).first()
    named = select(SESSION).where(
        SESSION.c.workstation == told.workstation,
        SESSION.c.project == told.project,
        SESSION.c.source_id == told.source_id,
    )
    return row or connection.execute(named).first()


def _take_session(records: Records, one: ArrivingSession) -> Became:
    connection, told = records.connection, one.told
    row = _there(connection, told.id, told)
    if row is None:
        made = connection.execute(
            insert(SESSION), {"id": told.id} | {name: getattr(told, name) for name in _KEPT}
        ).inserted_primary_key
        records.did.append(["session", made[0] if made else 0])
        return "new"
    if not one.trusted:
        return "known"
    span = {
        "started_at": min(filter(None, (row.started_at, told.started_at)), default=0),
        "last_at": max(row.last_at, told.last_at),
    }
    connection.execute(update(SESSION).where(SESSION.c.number == row.number).values(**span))
    return "known"


def _take_exchange(records: Records, one: ArrivingExchange) -> Became:
    connection, told = records.connection, one.told
    session = _there(connection, told.session, told)
    if session is None:
        return "refused"
    own = EXCHANGE.c.session == session.number
    same = and_(EXCHANGE.c.at == told.at, EXCHANGE.c.user_text == told.user_text)
    rows = list(connection.execute(select(EXCHANGE).where(own, or_(same, EXCHANGE.c.place == told.place))))
    there = next((row for row in rows if (row.at, row.user_text) == (told.at, told.user_text)), None)
    if there is not None and len(there.assistant_text) >= len(told.assistant_text):
        return "known"
    if not one.trusted and session.kind != STRANGE:
        return "refused"  # nobody adds to what was read here
    values = {name: getattr(told, name) for name in _SAID}
    values["files"] = {name: list(paths) for name, paths in told.files.items()}
    if there is not None:
        values["place"] = there.place
        connection.execute(update(EXCHANGE).where(EXCHANGE.c.number == there.number).values(**values))
        records.log(EXCHANGES, there.number)
        return "merged"
    if rows:  # another is at its place
        last = select(func.max(EXCHANGE.c.place)).where(own)
        values["place"] = (connection.execute(last).scalar() or 0) + 1
    made = connection.execute(insert(EXCHANGE), values | {"session": session.number}).inserted_primary_key
    count = update(SESSION).where(SESSION.c.number == session.number)
    connection.execute(count.values(exchange_count=SESSION.c.exchange_count + 1))
    records.log(EXCHANGES, made[0] if made else 0)
    records.did.append(["exchange", made[0] if made else 0])
    return "new"


def take_back(records: Records, what: str, which: int) -> None:
    """Undo one entry of Records.did: ["session", number] or ["exchange", number]."""
    connection = records.connection
    if what == "session":
        own = EXCHANGE.c.session == which
        for number in list(connection.execute(select(EXCHANGE.c.number).where(own)).scalars()):
            records.log(EXCHANGES, number)
        connection.execute(delete(SESSION).where(SESSION.c.number == which))  # and its exchanges
        return
    row = connection.execute(select(EXCHANGE.c.session).where(EXCHANGE.c.number == which)).first()
    if row is not None:
        connection.execute(delete(EXCHANGE).where(EXCHANGE.c.number == which))
        left = update(SESSION).where(SESSION.c.number == row.session)
        connection.execute(left.values(exchange_count=SESSION.c.exchange_count - 1))
        records.log(EXCHANGES, which)


def take_out(
    connection: Connection, after: tuple[int, int], limit: int, projects: Sequence[str]
) -> tuple[list[dict[str, Any]], tuple[int, int] | None]:
    """(records, what to go on after, or None at the end): exchanges after the session's number
    after[0] and the place after[1] in it, each session right before its first. `projects`: whose,
    none for everybody's.
    """
    beyond = tuple_(EXCHANGE.c.session, EXCHANGE.c.place) > tuple_(*after)
    query = select(EXCHANGE).join(SESSION, SESSION.c.number == EXCHANGE.c.session).where(beyond)
    if projects:
        query = query.where(SESSION.c.project.in_(projects))
    query = query.order_by(EXCHANGE.c.session, EXCHANGE.c.place).limit(limit)
    told: list[dict[str, Any]] = []
    reached, chars, session = after, 0, None
    for row in connection.execute(query):
        if session is None or session.number != row.session:
            session = connection.execute(select(SESSION).where(SESSION.c.number == row.session)).one()
            if reached[0] != row.session:
                told.append(
                    {"session": {"id": session.id} | {name: getattr(session, name) for name in _KEPT}}
                )
        whose = {name: getattr(session, name) for name in ("source_id", "workstation", "project")}
        said = {name: getattr(row, name) for name in _SAID}
        told.append({"exchange": {"session": session.id} | whose | said})
        reached = (row.session, row.place)
        chars += len(row.user_text) + len(row.assistant_text)
        if chars > PAGE_CHARS:
            break
    return told, reached if told else None
