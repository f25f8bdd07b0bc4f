"""Sessions as records of an export, and their import: {"session": {…}}, then an {"exchange": {…}}
for each of its exchanges. A session with a stored id or name stays as it is, and missing exchanges
are added.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from sqlalchemy import Connection, Row, and_, delete, func, insert, or_, select, tuple_, update

from cortex.memory.store.forgotten import exchange_hash, has_forgotten, session_hash, stored_hashes
from cortex.memory.store.records import Records
from cortex.memory.store.tables import EXCHANGE, SESSION
from cortex.memory.transcripts.intake import EXCHANGES, REPLY_CHARS_MAX
from cortex.system.errors import BadRequest

#: characters of exchanges after which a page of an export ends
PAGE_CHARS = 4_000_000
#: format of a session from an untrusted file
STRANGE = "import"
#: the result for a record
Outcome = Literal["new", "known", "merged", "forgotten", "refused"]

_Id = Annotated[str, Meta(pattern="^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
_Name = Annotated[str, Meta(max_length=128)]
_Path = Annotated[str, Meta(max_length=1_024)]
_Moment = Annotated[int, Meta(ge=0, lt=1 << 53)]
_Prompt = Annotated[str, Meta(max_length=1_000_000)]
_Reply = Annotated[str, Meta(max_length=REPLY_CHARS_MAX)]
_Counts = dict[_Name, _Moment]
_Files = dict[Literal["read", "modified", "commits", "plan"], tuple[_Path, ...]]


@dataclass(frozen=True, slots=True)
class SessionColumns:
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
class ExchangeColumns:
    """An exchange in the fields of its table; `session`: the id, and other fields that identify the
    session where it has another id.
    """

    session: _Id
    source_id: _Name
    place: Annotated[int, Meta(ge=1, lt=1 << 31)]
    workstation: Annotated[str, Meta(max_length=16)] = ""
    project: Annotated[str, Meta(max_length=64)] = ""
    user_text: _Prompt = ""
    assistant_text: _Reply = ""
    tools: _Counts = field(default_factory=dict)
    files: _Files = field(default_factory=dict)
    branch: Annotated[str, Meta(max_length=256)] = ""
    at: _Moment = 0


@dataclass(frozen=True, slots=True)
class ArrivingSession:
    line: int
    record: SessionColumns
    trusted: bool


@dataclass(frozen=True, slots=True)
class ArrivingExchange:
    line: int
    record: ExchangeColumns
    trusted: bool


_SESSION_FIELDS = tuple(name for name in SessionColumns.__slots__ if name != "id")
_EXCHANGE_FIELDS = ("place", "user_text", "assistant_text", "tools", "files", "branch", "at")


def read(
    line: int, record: Mapping[str, Any], project: str, *, trusted: bool
) -> ArrivingSession | ArrivingExchange | None:
    """Parse a record of a session or exchange; None for another record. Unless `trusted`, it is
    marked as a session that was not read on this machine. Raises BadRequest.
    """
    kind = next((name for name in ("session", "exchange") if isinstance(record.get(name), Mapping)), "")
    if not kind:
        return None
    values = {"project": project} | {name: value for name, value in record[kind].items() if value != ""}
    values |= {} if trusted else {"project": project}  # a stranger's file is about this project alone
    try:
        if kind == "exchange":
            return ArrivingExchange(line, msgspec.convert(values, ExchangeColumns), trusted)
        session = msgspec.convert(values, SessionColumns)
    except msgspec.ValidationError as error:
        raise BadRequest(f"it is no {kind}: {error}") from error
    if not trusted:
        session = replace(session, kind=STRANGE, file="", file_offset=0, file_size=0, file_tail="", counts={})
    return ArrivingSession(line, session, trusted)


def take_in(
    records: Records, arriving: Sequence[ArrivingSession | ArrivingExchange], key: bytes
) -> list[Outcome]:
    """Store the new records and return the result of each. Contents that were forgotten for good
    are skipped.
    """
    if not arriving:
        return []
    gone = _forgotten(records.connection, arriving, key)
    outcomes: list[Outcome] = []
    for arrival in arriving:
        if id(arrival) in gone:
            outcomes.append("forgotten")
        elif isinstance(arrival, ArrivingSession):
            outcomes.append(_take_session(records, arrival))
        else:
            outcomes.append(_take_exchange(records, arrival))
    return outcomes


def _forgotten(
    connection: Connection, arriving: Sequence[ArrivingSession | ArrivingExchange], key: bytes
) -> set[int]:
    if not has_forgotten(connection):
        return set()
    hashes: dict[int, set[str]] = {}
    for arrival in arriving:
        hashes[id(arrival)] = {session_hash(key, arrival.record.workstation, arrival.record.source_id)}
        if isinstance(arrival, ArrivingExchange):
            hashes[id(arrival)].add(exchange_hash(key, arrival.record.at, arrival.record.user_text))
    forgotten = stored_hashes(connection, {digest for digests in hashes.values() for digest in digests})
    return {which for which, digests in hashes.items() if not forgotten.isdisjoint(digests)}


def _find_session(
    connection: Connection, which: str, columns: SessionColumns | ExchangeColumns
) -> Row[Any] | None:
    """The session with this id, else with this name."""
    row = connection.execute(select(SESSION).where(SESSION.c.id == which)).first()
    by_name = select(SESSION).where(
        SESSION.c.workstation == columns.workstation,
        SESSION.c.project == columns.project,
        SESSION.c.source_id == columns.source_id,
    )
    return row or connection.execute(by_name).first()


def _take_session(records: Records, arrival: ArrivingSession) -> Outcome:
    connection, columns = records.connection, arrival.record
    row = _find_session(connection, columns.id, columns)
    if row is None:
        inserted = connection.execute(
            insert(SESSION), {"id": columns.id} | {name: getattr(columns, name) for name in _SESSION_FIELDS}
        ).inserted_primary_key
        records.did.append(["session", inserted[0] if inserted else 0])
        return "new"
    if not arrival.trusted:
        return "known"
    span = {
        "started_at": min(filter(None, (row.started_at, columns.started_at)), default=0),
        "last_at": max(row.last_at, columns.last_at),
    }
    connection.execute(update(SESSION).where(SESSION.c.number == row.number).values(**span))
    return "known"


def _take_exchange(records: Records, arrival: ArrivingExchange) -> Outcome:
    connection, columns = records.connection, arrival.record
    session = _find_session(connection, columns.session, columns)
    if session is None:
        return "refused"
    in_session = EXCHANGE.c.session == session.number
    same = and_(EXCHANGE.c.at == columns.at, EXCHANGE.c.user_text == columns.user_text)
    rows = list(
        connection.execute(select(EXCHANGE).where(in_session, or_(same, EXCHANGE.c.place == columns.place)))
    )
    existing = next((row for row in rows if (row.at, row.user_text) == (columns.at, columns.user_text)), None)
    if existing is not None and len(existing.assistant_text) >= len(columns.assistant_text):
        return "known"
    if not arrival.trusted and session.kind != STRANGE:
        return "refused"  # an untrusted file must not add to a session that was read on this machine
    values = {name: getattr(columns, name) for name in _EXCHANGE_FIELDS}
    values["files"] = {name: list(paths) for name, paths in columns.files.items()}
    if existing is not None:
        values["place"] = existing.place
        connection.execute(update(EXCHANGE).where(EXCHANGE.c.number == existing.number).values(**values))
        records.log(EXCHANGES, existing.number)
        return "merged"
    if rows:  # another exchange has its number
        last = select(func.max(EXCHANGE.c.place)).where(in_session)
        values["place"] = (connection.execute(last).scalar() or 0) + 1
    inserted = connection.execute(insert(EXCHANGE), values | {"session": session.number}).inserted_primary_key
    count = update(SESSION).where(SESSION.c.number == session.number)
    connection.execute(count.values(exchange_count=SESSION.c.exchange_count + 1))
    records.log(EXCHANGES, inserted[0] if inserted else 0)
    records.did.append(["exchange", inserted[0] if inserted else 0])
    return "new"


def take_back(records: Records, what: str, which: int) -> None:
    """Undo one entry of Records.did: ["session", number] or ["exchange", number]."""
    connection = records.connection
    if what == "session":
        in_session = EXCHANGE.c.session == which
        for number in list(connection.execute(select(EXCHANGE.c.number).where(in_session)).scalars()):
            records.log(EXCHANGES, number)
        connection.execute(delete(SESSION).where(SESSION.c.number == which))  # cascades to its exchanges
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
    """Return (records, the `after` of the next page or None at the end): exchanges after number
    after[1] of session after[0], each session before its first exchange. `projects`: empty for all.
    """
    beyond = tuple_(EXCHANGE.c.session, EXCHANGE.c.place) > tuple_(*after)
    query = select(EXCHANGE).join(SESSION, SESSION.c.number == EXCHANGE.c.session).where(beyond)
    if projects:
        query = query.where(SESSION.c.project.in_(projects))
    query = query.order_by(EXCHANGE.c.session, EXCHANGE.c.place).limit(limit)
    page: list[dict[str, Any]] = []
    reached, chars, session = after, 0, None
    for row in connection.execute(query):
        if session is None or session.number != row.session:
            session = connection.execute(select(SESSION).where(SESSION.c.number == row.session)).one()
            if reached[0] != row.session:
                page.append(
                    {
                        "session": {"id": session.id}
                        | {name: getattr(session, name) for name in _SESSION_FIELDS}
                    }
                )
        session_fields = {name: getattr(session, name) for name in ("source_id", "workstation", "project")}
        exchange_fields = {name: getattr(row, name) for name in _EXCHANGE_FIELDS}
        page.append({"exchange": {"session": session.id} | session_fields | exchange_fields})
        reached = (row.session, row.place)
        chars += len(row.user_text) + len(row.assistant_text)
        if chars > PAGE_CHARS:
            break
    return page, reached if page else None
