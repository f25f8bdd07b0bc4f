"""Sessions and prompts as the tools of observations answer them: what was said, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from cortex.memory.answers import told
from cortex.memory.library import Library
from cortex.memory.observations.finding import following
from cortex.memory.tables import EXCHANGE, SESSION
from cortex.memory.text import question_words
from cortex.memory.times import say_moment
from cortex.memory.transcripts import sessions
from ipc.errors import BadQuery

Given = Mapping[str, Any]
Answer = dict[str, Any]

#: exchanges that are looked at for the prompts of a page
PROPOSED = 500
#: the most sessions of one answer
SESSIONS_MAX = 50


def search_sessions(library: Library, given: Given) -> Answer:
    """Raises BadQuery for no question."""
    limit = min(SESSIONS_MAX, given["limit"])
    return sessions.search_sessions(library, query=_asked(given), limit=limit, offset=given["offset"])


def list_sessions(library: Library, given: Given) -> Answer:
    return sessions.list_sessions(
        library,
        workstation_id=given["workstation_id"],
        project_id=given["project_id"],
        limit=given["limit"],
        offset=given["offset"],
    )


def search_prompts(library: Library, given: Given) -> Answer:
    """What people asked agents for, with the words of the question. Raises BadQuery."""
    memory, words = library.memory, question_words(_asked(given))
    hits = {hit.number: hit.score for hit in memory.said.search(words, PROPOSED, library.project)}
    wanted = select(EXCHANGE, SESSION.c.id.label("session_id"), SESSION.c.project)
    wanted = wanted.join(SESSION, SESSION.c.number == EXCHANGE.c.session)
    with memory.store.database.read() as connection:
        rows = list(connection.execute(wanted.where(EXCHANGE.c.number.in_(hits))))
    asked = [row for row in rows if set(question_words(row.user_text)) & set(words)]
    asked.sort(key=lambda row: -hits[row.number])
    start = given["offset"]
    page = [
        {
            "type": "prompt",
            "id": row.number,
            "session_id": row.session_id,
            "exchange": row.place,
            "project": row.project,
            "created_at": say_moment(row.at),
            "content": told(row.user_text),
            "score": round(hits[row.number], 3),
        }
        for row in asked[start : start + given["limit"]]
    ]
    told_page = {"results": page, "total_count": len(asked), "query": given["query"]}
    return told_page | following(given, len(page), len(asked))


def _asked(given: Given) -> str:
    if not given["query"].strip():
        raise BadQuery("The query is empty; say what was spoken of.")
    return str(given["query"])
