"""Sessions and exchanges in answers: a session as a list of prompts, an exchange in full, in parts,
and short summaries of sessions beside notes of the same time.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, select

from cortex.memory.answers import visible_text
from cortex.memory.store.note_store import Store
from cortex.memory.store.tables import EXCHANGE, SESSION
from cortex.memory.times import format_optional

#: name of an exchange: its session's id, its number, and the part
_REFERENCE = re.compile(
    r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?::([1-9]\d{0,8}))?(?::([1-9]\d{0,8}))?"
)
#: bytes of the texts in one part, so that it fits in an answer of 4 000 tokens; bytes of the pieces
#: that it is made of
PART_BYTES, PIECE_BYTES = 11_000, 5_500
#: exchanges, files and tools of one answer
EXCHANGES_MAX, FILES_MAX, TOOLS_MAX = 40, 20, 20
#: characters of a prompt
PROMPT_CHARS = 160
#: files of a summary; exchanges that it is made from
SUMMED_FILES, SUMMED_EXCHANGES = 8, 500


def find(store: Store, reference: str | int) -> dict[str, Any] | None:
    """The session `<id>`, or its exchange `<id>:<number>`; None if there is none."""
    parsed = _REFERENCE.fullmatch(str(reference).strip().lower())
    if parsed is None:
        return None
    with store.database.read() as connection:
        session = connection.execute(select(SESSION).where(SESSION.c.id == parsed[1])).first()
        if session is None:
            return None
        if parsed[2] is None:
            return _session(connection, session)
        query = select(EXCHANGE).where(EXCHANGE.c.session == session.number)
        row = connection.execute(query.where(EXCHANGE.c.place == int(parsed[2]))).first()
    return None if row is None else _exchange(session, row, int(parsed[3] or 1))


def _origin(session: Row[Any]) -> dict[str, Any]:
    return {
        "source_id": session.source_id,
        "session_kind": session.kind,
        "project": session.project,
        "project_path": session.project_path,
        "exchange_count": session.exchange_count,
    }


def _session(connection: Connection, session: Row[Any]) -> dict[str, Any]:
    beginning = func.substr(EXCHANGE.c.user_text, 1, PROMPT_CHARS).label("asked")
    query = select(EXCHANGE.c.place, EXCHANGE.c.at, beginning).where(EXCHANGE.c.session == session.number)
    rows = list(connection.execute(query.order_by(EXCHANGE.c.place).limit(EXCHANGES_MAX + 1)))
    exchanges = [
        {"id": f"{session.id}:{row.place}", "at": format_optional(row.at), "content": visible_text(row.asked)}
        for row in rows[:EXCHANGES_MAX]
    ]
    return (
        {"type": "session", "id": session.id, **_origin(session)}
        | {"started_at": format_optional(session.started_at), "last_msg_at": format_optional(session.last_at)}
        | {"git_branch": session.branch, "exchanges": exchanges}
        | ({"more": session.exchange_count - EXCHANGES_MAX} if len(rows) > EXCHANGES_MAX else {})
    )


def _exchange(session: Row[Any], row: Row[Any], part_number: int) -> dict[str, Any] | None:
    """`content`: the prompt, `narrative`: the agent's text; `next_id`: the next part."""
    parts = list(_parts(visible_text(row.user_text), visible_text(row.assistant_text)))
    if part_number > len(parts):
        return None
    name = f"{session.id}:{row.place}"
    files = {use: list(row.files.get(use, ()))[:FILES_MAX] for use in ("read", "modified", "commits")}
    answer = {"type": "exchange", "id": name, "session_id": session.id, **_origin(session)}
    answer |= {
        "exchange": row.place,
        "at": format_optional(row.at),
        "git_branch": row.branch,
        **parts[part_number - 1],
    }
    if part_number == 1:
        answer["tools"] = dict(list(row.tools.items())[:TOOLS_MAX])
        answer |= {
            "files_read": files["read"],
            "files_modified": files["modified"],
            "commits": files["commits"],
        }
    return answer | ({"next_id": f"{name}:{part_number + 1}"} if part_number < len(parts) else {})


def _parts(prompt: str, reply: str) -> Iterator[dict[str, str]]:
    """The texts in parts of PART_BYTES: complete, without repetition."""
    texts, room = dict[str, str](), PART_BYTES
    for name, text in (("content", prompt), ("narrative", reply)):
        for piece in _pieces(text):
            size = len(piece.encode())
            if size > room:
                yield texts
                texts, room = {}, PART_BYTES
            texts[name] = texts.get(name, "") + piece
            room -= size
    yield texts


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of at most PIECE_BYTES, cut between characters."""
    raw, at = text.encode("utf-8", "replace"), 0
    while at < len(raw):
        piece = raw[at : at + PIECE_BYTES].decode(errors="ignore")
        yield piece
        at += len(piece.encode())


def summaries(
    store: Store, projects: Sequence[str], *, since: int = 0, until: int = 0, limit: int = 3
) -> list[dict[str, Any]]:
    """Summaries of the newest sessions of these projects between two moments (UTC milliseconds, 0
    for none), in order: the first prompt, the changed files. `projects`: empty for all.
    """
    query = select(SESSION).where(SESSION.c.exchange_count > 0, ~SESSION.c.source_id.contains("/"))
    if projects:
        query = query.where(SESSION.c.project.in_(projects))
    if until:
        query = query.where(SESSION.c.started_at <= until)
    query = query.where(SESSION.c.last_at >= since)
    order = (SESSION.c.last_at.desc(), SESSION.c.number.desc())
    with store.database.read() as connection:
        rows = list(connection.execute(query.order_by(*order).limit(limit)))
        return [_summary(connection, row) for row in reversed(rows)]


def _summary(connection: Connection, session: Row[Any]) -> dict[str, Any]:
    beginning = func.substr(EXCHANGE.c.user_text, 1, PROMPT_CHARS).label("asked")
    query = select(beginning, EXCHANGE.c.files).where(EXCHANGE.c.session == session.number)
    rows = list(connection.execute(query.order_by(EXCHANGE.c.place).limit(SUMMED_EXCHANGES)))
    first = next((row.asked for row in rows if row.asked), "")
    files = dict.fromkeys(path for row in rows for path in row.files.get("modified", ()))
    commits = dict.fromkeys(name for row in rows for name in row.files.get("commits", ()))
    return {
        "type": "session",
        "id": session.id,
        "started_at": format_optional(session.started_at),
        "last_msg_at": format_optional(session.last_at),
        "git_branch": session.branch,
        "exchange_count": session.exchange_count,
        "content": visible_text(first),
        "files_modified": list(files)[:SUMMED_FILES],
        "commits": len(commits),
    }
