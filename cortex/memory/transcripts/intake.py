"""Storage of a session's portions: each is stored once, however often it is sent.

A portion has its start in the file. It is accepted if the store has reached that position, in one
transaction with the new position; otherwise nothing changes, and the answer says where to continue.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
import uuid6
from msgspec import Meta
from sqlalchemy import Connection, Row, bindparam, func, insert, select, update

from cortex.memory.store.forgotten import exchange_hash, has_forgotten, session_hash, stored_hashes
from cortex.memory.store.records import Records
from cortex.memory.store.tables import EXCHANGE, SESSION
from cortex.memory.transcripts.formats.exchanges import ExchangePart
from cortex.memory.transcripts.formats.plans import joined
from cortex.memory.transcripts.formats.reader import Position
from cortex.system.errors import BadRequest

#: characters kept of all texts of the agent in one exchange
REPLY_CHARS_MAX = 4_000_000
#: name of a changed exchange in the log of changes
EXCHANGES = "exchange"
#: key in a session's counts for the number of the exchange that may continue; NOWHERE if that one
#: was forgotten for good
GOES_ON, NOWHERE = "place", -1
# Statements made once: making one takes longer than running it.
_OF_SESSION = select(EXCHANGE).where(EXCHANGE.c.session == bindparam("of"))
_SAME_EXCHANGE = _OF_SESSION.where(
    EXCHANGE.c.at == bindparam("then"), EXCHANGE.c.user_text == bindparam("said")
)
_GOING_ON = _OF_SESSION.where(EXCHANGE.c.place == bindparam("where"))
_LAST = select(func.max(EXCHANGE.c.place)).where(EXCHANGE.c.session == bindparam("of"))
_ADDED, _CHANGED = insert(EXCHANGE), update(EXCHANGE).where(EXCHANGE.c.number == bindparam("which"))


#: a moment that the store can hold
Moment = Annotated[int, Meta(gt=-(1 << 53), lt=1 << 53)]


@dataclass(frozen=True, slots=True)
class Session:
    """The session of a portion: `kind` is the format, `source_id` its program's name for it."""

    kind: str
    source_id: str
    workstation: str
    project: str
    project_path: str = ""
    branch: str = ""
    file: str = ""
    started_at: Moment = 0
    last_at: Moment = 0


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that was made in the session, from git's log."""

    name: str
    at: Moment
    title: str
    body: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IncomingPortion:
    """One portion of a session, as in `reader.Portion`; `root`: the folder of its project; `branch`
    and `commit`: where that folder was when the portion was read, if it had just been written.
    """

    session: Session
    start: int
    place: Position
    commits: tuple[Commit, ...] = ()
    anew: bool = False
    parts: tuple[ExchangePart, ...] = ()
    counts: dict[str, int] = field(default_factory=dict)
    root: str = ""
    branch: str = ""
    commit: str = ""


def read_incoming_portion(fields: Mapping[str, Any], project: str) -> IncomingPortion:
    """The portion with checked fields. Raises BadRequest for malformed ones."""
    try:
        session = {**fields.get("session", {}), "project": project}
        return msgspec.convert({**fields, "session": session}, IncomingPortion, strict=False)
    except msgspec.ValidationError as error:
        raise BadRequest(f"This is no portion of a session: {error}.") from error


def take(records: Records, taking: IncomingPortion, key: bytes) -> tuple[dict[str, Any], list[Row[Any]]]:
    """Store a portion; return ({"offset": the position reached, "taken", "session": its number},
    the exchanges with new contents). Contents that were forgotten for good are skipped; "forgotten"
    means the whole session was.
    """
    connection, session = records.connection, taking.session
    checks_forgotten = has_forgotten(connection)
    if checks_forgotten and stored_hashes(
        connection, [session_hash(key, session.workstation, session.source_id)]
    ):
        return {"offset": taking.place.offset, "taken": True, "session": 0, "forgotten": True}, []
    gone = _forgotten_parts(connection, taking.parts, key) if checks_forgotten else set()
    row = _session_row(records, session)
    # another file with this session, such as after its folder was moved, is read from its start
    reached = 0 if taking.anew or row.file != session.file else row.file_offset
    if taking.start != reached:
        return {"offset": reached, "taken": False, "session": row.number}, []
    counts = Counter(row.counts)
    place = counts.pop(GOES_ON, 0)
    numbers: list[int] = []
    for piece in taking.parts:
        if id(piece) in gone:
            place = NOWHERE
        elif piece.begins or place != NOWHERE:
            number, place = _write(records, row, piece, place)
            numbers.append(number)
    counts.update(taking.counts)
    count = select(func.count()).where(EXCHANGE.c.session == row.number)
    values = {
        "file": session.file,
        "file_offset": taking.place.offset,
        "file_size": taking.place.size,
        "file_tail": taking.place.tail,
        "counts": dict(counts) | {GOES_ON: place},
        "branch": session.branch or row.branch,
        "started_at": min(filter(None, (row.started_at, session.started_at)), default=0),
        "last_at": max(row.last_at, session.last_at),
        "exchange_count": connection.execute(count).scalar_one(),
    }
    connection.execute(update(SESSION).where(SESSION.c.number == row.number).values(**values))
    return {"offset": taking.place.offset, "taken": True, "session": row.number}, exchanges_of(
        records, numbers
    )


def _forgotten_parts(connection: Connection, parts: Sequence[ExchangePart], key: bytes) -> set[int]:
    hashes = {exchange_hash(key, piece.at, piece.user): id(piece) for piece in parts if piece.begins}
    return {hashes[digest] for digest in stored_hashes(connection, hashes)}


def exchanges_of(records: Records, numbers: Sequence[int]) -> list[Row[Any]]:
    """The exchanges with these numbers, in order."""
    query = select(EXCHANGE).where(EXCHANGE.c.number.in_(numbers)).order_by(EXCHANGE.c.number)
    return list(records.connection.execute(query)) if numbers else []


def _session_row(records: Records, session: Session) -> Row[Any]:
    """The session of this file, else of this name, else a new one."""
    connection = records.connection
    query = select(SESSION).where(SESSION.c.workstation == session.workstation)
    by_name = query.where(SESSION.c.project == session.project, SESSION.c.source_id == session.source_id)
    row = connection.execute(query.where(SESSION.c.file == session.file)).first() if session.file else None
    row = row or connection.execute(by_name).first()
    if row is None:
        values = {name: getattr(session, name) for name in Session.__slots__}
        connection.execute(insert(SESSION), values | {"id": str(uuid6.uuid7()), "counts": {}})
        row = connection.execute(by_name).first()
    assert row is not None
    return row


def _write(records: Records, session: Row[Any], piece: ExchangePart, place: int) -> tuple[int, int]:
    """Return (the number of the exchange that the part belongs to, its number in the session)."""
    connection, parameters = records.connection, {"of": session.number}
    if piece.begins:
        # a file that is read again repeats stored exchanges: each is overwritten with its new form
        existing = connection.execute(
            _SAME_EXCHANGE, parameters | {"then": piece.at, "said": piece.user}
        ).first()
    else:
        existing = connection.execute(_GOING_ON, parameters | {"where": place}).first()
    before: dict[str, Any] = {}
    if existing is not None and not piece.begins:
        before = dict(existing._mapping)  # noqa: SLF001 - SQLAlchemy's public name
    files = before.get("files") or {}
    reply = "\n\n".join(filter(None, (before.get("assistant_text", ""), piece.assistant)))
    values: dict[str, Any] = {
        "assistant_text": reply[:REPLY_CHARS_MAX],
        "tools": dict(Counter(before.get("tools") or {}) + Counter(piece.tools)),
        "files": {
            name: list(dict.fromkeys((*files.get(name, ()), *getattr(piece, name))))
            for name in ("read", "modified", "commits")
        },
        "branch": piece.branch or before.get("branch", ""),
    }
    if plan := joined(files.get("plan", ()), piece.plan):
        values["files"]["plan"] = plan
    if existing is not None:
        connection.execute(_CHANGED, values | {"which": existing.number})
        number, place = existing.number, existing.place
    else:
        place = (connection.execute(_LAST, parameters).scalar() or 0) + 1
        values |= {"session": session.number, "place": place, "user_text": piece.user, "at": piece.at}
        inserted = connection.execute(_ADDED, values).inserted_primary_key
        number = inserted[0] if inserted else 0
    records.log(EXCHANGES, number)
    return number, place
