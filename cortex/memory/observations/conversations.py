"""Observation tools about sessions and prompts."""

from collections.abc import Sequence
from typing import Any

import orjson
from sqlalchemy import func, select

from cortex.memory.answers import visible_text
from cortex.memory.library import Library
from cortex.memory.note import Note
from cortex.memory.observations.rows import Answer, Arguments
from cortex.memory.observations.selection import next_page
from cortex.memory.store.tables import EXCHANGE, SESSION
from cortex.memory.text import question_words
from cortex.memory.times import format_moment
from cortex.memory.transcripts import sessions
from cortex.memory.transcripts.search import session_answers
from cortex.terms.budget import TOKEN_BYTES, first_fitting
from cortex.terms.observations import TOKENS

#: exchanges that are examined for a page of prompts
PROPOSED = 500
#: arguments that filter notes: sessions do not have these fields, so they are left out
_FILTERS = ("concepts", "files", "type", "obs_type", "as_of")
#: sessions may take this fraction of an answer with notes: one in …
_SHARE = 4
#: the most sessions in an answer
SESSIONS_MAX = 50


def search_sessions(library: Library, arguments: Arguments) -> Answer:
    limit = min(SESSIONS_MAX, arguments["limit"])
    return sessions.search_sessions(
        library, query=arguments["query"], limit=limit, offset=arguments["offset"]
    )


def search_prompts(library: Library, arguments: Arguments) -> Answer:
    """People's prompts with a word of the query; without one all, the newest first."""
    if not arguments["query"].strip():
        return _browse_prompts(library, arguments)
    memory, words = library.memory, question_words(arguments["query"])
    hits = {hit.number: hit.score for hit in memory.exchange_index.search(words, PROPOSED, library.project)}
    with memory.store.database.read() as connection:
        rows = list(connection.execute(_prompts().where(EXCHANGE.c.number.in_(hits))))
    matches = [row for row in rows if set(question_words(row.user_text)) & set(words)]
    matches.sort(key=lambda row: -hits[row.number])
    start = arguments["offset"]
    page = [
        _prompt_row(row) | {"score": round(hits[row.number], 3)}
        for row in matches[start : start + arguments["limit"]]
    ]
    answer = {"results": page, "total_count": len(matches), "query": arguments["query"]}
    return answer | next_page(arguments, len(page), len(matches))


def _browse_prompts(library: Library, arguments: Arguments) -> Answer:
    projects, wanted = library.memory.projects.all_of(library.project), EXCHANGE.c.user_text != ""
    if projects:
        wanted &= SESSION.c.project.in_(projects)
    count = select(func.count()).select_from(EXCHANGE.join(SESSION, SESSION.c.number == EXCHANGE.c.session))
    order = (EXCHANGE.c.at.desc(), EXCHANGE.c.number.desc())
    query = _prompts().where(wanted).order_by(*order).limit(arguments["limit"]).offset(arguments["offset"])
    with library.memory.store.database.read() as connection:
        page = [_prompt_row(row) for row in connection.execute(query)]
        total = connection.execute(count.where(wanted)).scalar_one()
    answer = {"results": page, "total_count": total, "query": arguments["query"]}
    return answer | next_page(arguments, len(page), total)


def _prompts() -> Any:
    columns = (EXCHANGE, SESSION.c.id.label("session_id"), SESSION.c.project)
    return select(*columns).join(SESSION, SESSION.c.number == EXCHANGE.c.session)


def _prompt_row(row: Any) -> Answer:
    return {
        "type": "prompt",
        "id": f"{row.session_id}:{row.place}",
        "session_id": row.session_id,
        "exchange": row.place,
        "project": row.project,
        "created_at": format_moment(row.at),
        "content": visible_text(row.user_text),
    }


def session_summaries(library: Library, arguments: Arguments, notes: Sequence[Note] | None = None) -> Answer:
    """{"sessions": summaries of the sessions during which these notes were made, without notes of
    the newest sessions}, in a quarter of the answer's tokens; {} for none, and if filters select
    among notes.
    """
    if notes == [] or arguments.get("offset") or any(arguments.get(name) for name in _FILTERS):
        return {}
    moments = [note.happened_at for note in notes or ()]
    since, until = (min(moments), max(moments)) if moments else (0, 0)
    memory = library.memory
    projects = memory.projects.all_of(library.project)
    room = TOKEN_BYTES * arguments.get("max_tokens", TOKENS) // _SHARE
    newest = reversed(session_answers.summaries(memory.store, projects, since=since, until=until))
    session_rows = first_fitting(newest, lambda row: len(orjson.dumps(row)), room - 1)
    return {"sessions": session_rows[::-1]} if session_rows else {}
