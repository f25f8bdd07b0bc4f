"""Sessions and prompts as the tools of observations answer them: what was said, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import select

from cortex.memory.answers import told
from cortex.memory.library import Library
from cortex.memory.note import Note
from cortex.memory.observations.selection import following
from cortex.memory.tables import EXCHANGE, SESSION
from cortex.memory.text import question_words
from cortex.memory.times import say_moment
from cortex.memory.transcripts import session_answers, sessions
from cortex.system.errors import BadQuery
from cortex.terms.observations import TOKEN_BYTES, TOKENS

Given = Mapping[str, Any]
Answer = dict[str, Any]

#: exchanges that are looked at for the prompts of a page
PROPOSED = 500
#: arguments by which only some notes are asked for: what was said then is no answer to them
_FILTERS = ("concepts", "files", "type", "obs_type", "as_of")
#: which share of an answer sessions beside notes may take
_SHARE = 4
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
            "id": f"{row.session_id}:{row.place}",
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


def beside_sessions(library: Library, given: Given, notes: Sequence[Note] | None = None) -> Answer:
    """{"sessions": in a few lines those that went on while these notes were made, without notes the
    newest}, in a quarter of the answer's room; {} for none, and where filters choose among notes.
    """
    if notes == [] or given.get("offset") or any(given.get(name) for name in _FILTERS):
        return {}
    moments = [note.happened_at for note in notes or ()]
    since, until = (min(moments), max(moments)) if moments else (0, 0)
    memory = library.memory
    whose = memory.projects.all_of(library.project)
    room, kept = TOKEN_BYTES * given.get("max_tokens", TOKENS) // _SHARE, list[Answer]()
    for row in reversed(session_answers.summaries(memory.store, whose, since=since, until=until)):
        room -= len(orjson.dumps(row))
        if room > 0:
            kept.insert(0, row)
    return {"sessions": kept} if kept else {}


def _asked(given: Given) -> str:
    if not given["query"].strip():
        raise BadQuery("The query is empty; say what was spoken of.")
    return str(given["query"])
