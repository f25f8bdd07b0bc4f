"""Search in sessions: the best exchange of each, with its matching words."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, func, select

from cortex.memory.store.note_store import Store
from cortex.memory.store.tables import EXCHANGE, SESSION
from cortex.memory.text import question_words
from cortex.memory.times import format_optional
from cortex.memory.transcripts.search.exchange_index import ExchangeIndex, Hit
from cortex.terms import tokens
from cortex.terms.bounds import check_page

#: mark before and after a matching word
MARK = "**"
#: characters of the excerpt, and before its first match
SHOWN_CHARS, BEFORE_CHARS = 320, 80
#: characters of a text that are searched; words that are compared
LOOKED_CHARS, COMPARED = 200_000, 1_000
#: characters of a word before and after the match
WORD_CHARS = 60
#: letters at the end of a stem that may differ in a word: happi, happy
_ENDING_CHARS = 1


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The excerpt; `share`: weight of the words in the whole text, as a share of the query's."""

    text: str
    share: float


def mark(prompt: str, reply: str, worth: Mapping[str, float]) -> Excerpt:
    """The best excerpt of an exchange for words with these weights."""
    text = f"{prompt}\n{reply}" if reply else prompt
    matches = _find(text[:LOOKED_CHARS], worth)
    total = sum(worth.values())
    share = sum(worth[word] for word in {word for _, _, word in matches}) / total if total else 0.0
    start = max(0, _best_start(matches, worth) - BEFORE_CHARS)
    end = min(len(text), start + SHOWN_CHARS)
    pieces, at = ["…" if start else ""], start
    for first, last, _ in matches:
        if at <= first and last <= end:
            pieces += [text[at:first], MARK, text[first:last], MARK]
            at = last
    pieces += [text[at:end], "…" if end < len(text) else ""]
    return Excerpt("".join(pieces).strip(), share)


def _find(text: str, worth: Mapping[str, float]) -> list[tuple[int, int, str]]:
    """(begin, end, word of the query) of each match, in their order."""
    if not worth:
        return []
    stems = "|".join(re.escape(word[: max(3, len(word) - _ENDING_CHARS)]) for word in worth)
    matches: list[tuple[int, int, str]] = []
    fitting: dict[str, str] = {}
    end = compared = 0
    for match in re.finditer(stems, tokens.lowered(text)):
        if match.start() < end:
            continue  # inside the word before
        start, end = _word_bounds(text, match.start(), match.end())
        written = text[start:end]
        if written not in fitting:
            terms = [term for term in tokens.lane_text(tokens.words(written)).split() if term in worth]
            fitting[written] = max(terms, key=worth.__getitem__, default="")
        if fitting[written]:
            matches.append((start, end, fitting[written]))
        compared += 1
        if compared >= COMPARED:
            break
    return matches


def _word_bounds(text: str, start: int, end: int) -> tuple[int, int]:
    first, last = max(0, start - WORD_CHARS), min(len(text), end + WORD_CHARS)
    while start > first and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < last and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return start, end


def _best_start(matches: list[tuple[int, int, str]], worth: Mapping[str, float]) -> int:
    """The start of the excerpt with the greatest weight of words."""
    best, place = 0.0, 0
    for at, (start, _, _) in enumerate(matches):
        words = {
            word for first, _, word in matches[at : at + 40] if first < start + SHOWN_CHARS - BEFORE_CHARS
        }
        value = sum(worth[word] for word in words)
        if value > best:
            best, place = value, start
    return place


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
