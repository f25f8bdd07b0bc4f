"""Search in sessions: the best exchange of each, with its matching words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, func, select

from cortex.memory.store.note_store import Store
from cortex.memory.store.tables import EXCHANGE, SESSION
from cortex.memory.text import question_words
from cortex.memory.times import format_optional
from cortex.memory.transcripts.search.excerpts import Excerpt, mark
from cortex.memory.transcripts.search.exchange_index import ExchangeIndex, Hit
from cortex.terms.bounds import check_page

#: candidate exchanges for each requested session, and at least
PROPOSED, PROPOSED_MIN = 5, 50
#: share of the query words' weight that an exchange must contain
SHARE_MIN = 1 / 3
#: most results of a search, and of a list
SEARCH_MAX, LIST_MAX = 50, 100


def search(
    store: Store, index: ExchangeIndex, query: str, projects: Sequence[str], *, limit: int, offset: int = 0
) -> dict[str, Any]:
    """{"results": sessions, the best first, each with its best exchange, "total_count", "query",
    "next_offset" if there are more}; the count reaches to the end of this page, plus one if there
    are more. No results if no exchange matches well. `projects`: empty for all. Raises BadRequest.
    """
    check_page(limit, SEARCH_MAX, offset)
    reached = offset + limit
    words = question_words(query)
    worth = {word: index.rarity(word) for word in words}
    hits = index.search(words, max(PROPOSED_MIN, PROPOSED * reached), *projects)
    rows = _rows(store, hits)
    by_session: dict[int, dict[str, Any]] = {}
    for hit in hits:
        row = rows.get(hit.number)
        if row is None:
            continue
        if row.session in by_session:
            by_session[row.session]["more"] += 1
        elif len(by_session) <= reached:
            excerpt = mark(row.user_text, row.assistant_text, worth)
            if excerpt.share >= SHARE_MIN:
                by_session[row.session] = _result_row(row, hit, excerpt)
    ranked = [row | {"rank": at} for at, row in enumerate(by_session.values(), 1)]
    answer = {"results": ranked[offset:reached], "total_count": len(ranked), "query": query}
    return answer | ({"next_offset": reached} if len(ranked) > reached else {})


def _rows(store: Store, hits: Sequence[Hit]) -> Mapping[int, Row[Any]]:
    """{number: exchange with the columns of its session}."""
    query = (
        select(
            EXCHANGE,
            SESSION.c.id,
            SESSION.c.kind,
            SESSION.c.workstation,
            SESSION.c.project,
            SESSION.c.project_path,
            SESSION.c.source_id,
            SESSION.c.exchange_count,
        )
        .join(SESSION, SESSION.c.number == EXCHANGE.c.session)
        .where(EXCHANGE.c.number.in_([hit.number for hit in hits]))
    )
    with store.database.read() as connection:
        return {row.number: row for row in connection.execute(query)}


def _result_row(row: Row[Any], hit: Hit, excerpt: Excerpt) -> dict[str, Any]:
    return {
        "id": row.id,
        "source_id": row.source_id,
        "kind": row.kind,
        "workstation_id": row.workstation,
        "project": row.project,
        "project_path": row.project_path,
        "exchange_count": row.exchange_count,
        "exchange": row.place,
        "exchange_id": f"{row.id}:{row.place}",
        "at": format_optional(row.at),
        "git_branch": row.branch,
        "score": round(hit.score, 3),
        "snippet": excerpt.text,
        "files_modified": list(row.files.get("modified", ())),
        "more": 0,
    }


def list_rows(
    store: Store, projects: Sequence[str], limit: int, offset: int, workstation: str
) -> dict[str, Any]:
    """{"results": sessions, the newest first, "total_count", "next_offset" if there are more}.
    Raises BadRequest.
    """
    check_page(limit, LIST_MAX, offset)
    query = select(SESSION)
    count = select(func.count()).select_from(SESSION)
    for column, values in ((SESSION.c.project, projects), (SESSION.c.workstation, [workstation])):
        if any(values):
            query, count = query.where(column.in_(values)), count.where(column.in_(values))
    order = (SESSION.c.last_at.desc(), SESSION.c.number.desc())
    with store.database.read() as connection:
        rows = list(connection.execute(query.order_by(*order).limit(limit).offset(offset)))
        total = connection.execute(count).scalar_one()
    results = [
        {
            "id": row.id,
            "source_id": row.source_id,
            "kind": row.kind,
            "workstation_id": row.workstation,
            "project_id": row.project,
            "project_path": row.project_path,
            "exchange_count": row.exchange_count,
            "git_branch": row.branch,
            "started_at": format_optional(row.started_at),
            "last_msg_at": format_optional(row.last_at),
        }
        for row in rows
    ]
    more = offset + len(rows)
    return {"results": results, "total_count": total} | ({"next_offset": more} if more < total else {})
