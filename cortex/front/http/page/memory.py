"""The view of memory: notes by time, one note with its history, sessions, quality, trends, and
changes with undo. All data come from the tools of memory.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping
from itertools import groupby
from typing import Any

import orjson

from cortex.front.http.page.frame import Action, View, Visit, form_address, number_in, text_of
from cortex.front.text.notes import OPERATION_WORDS, moment_of
from cortex.front.tools.memory.fence import unfenced
from cortex.system.errors import BadRequest, CortexError, NotFound

Fields = dict[str, Any]
Query = Mapping[str, str]

#: name of a tab → its title
TABS = {
    "notes": "Notes",
    "candidates": "Candidates",
    "sessions": "Sessions",
    "quality": "Quality",
    "trends": "Trends",
    "changes": "Changes",
}
#: kinds of notes in the filter; the URL takes others as well
KINDS = ("fact", "decision", "goal", "event", "pattern", "observation", "preference")
#: notes, sessions and exchanges of a page, maximum of listed operations
NOTES, SESSIONS, EXCHANGES, OPERATIONS = 50, 30, 20, 50
#: candidates of a page: for a visitor on this machine, and for others
CANDIDATES, CANDIDATES_FAR = 20, 5
#: maxima: notes with a rated quality, tokens of that answer, shown groups and patterns
JUDGED, TOKENS, GROUPS, PATTERNS = 200, 40_000, 10, 10
#: spans of trends in days; groupings → titles
SPANS, GROUPED = (7, 30, 90, 365), {"day": "day", "week": "week", "hour_of_day": "hour of the day"}
#: mark around a matched word in a snippet
_MARK = "**"
#: text fields of a note that the page can change
_EDITED = ("title", "body", "kind", "scope")


async def show(visit: Visit) -> Fields:
    query = visit.query
    tab = query.get("tab", "notes")
    tab = tab if tab in TABS else "notes"
    filters = {name: query.get(name, "") for name in ("q", "kind", "tag", "since", "until")}
    values: Fields = {"tab": tab, "tabs": TABS, "kinds": KINDS, "asked": filters, "found": {}, "fault": ""}
    values |= {
        "note": None,
        "states": _STATES,
        "what": OPERATION_WORDS,
        "there": "cortex_store" in visit.hosted.tools,
    }
    values["pair"] = ()
    if not values["there"]:
        return values
    try:
        content, note, pair = await asyncio.gather(
            _TAB_CONTENTS[tab](visit, query),
            _note(visit, query.get("note", "")),
            _pair(visit, query.get("merge", "")),
        )
    except CortexError as error:  # the other tabs, and the other views, may still answer
        return values | {"fault": str(error)}
    return values | {"found": content, "note": note, "pair": pair}


#: state of a note → its explanation
_STATES = {
    "superseded": "Another note replaces it.",
    "archived": "It was archived: queries do not find it.",
    "deleted": "It was forgotten: queries do not find it.",
}


async def _notes(visit: Visit, query: Query) -> Fields:
    """Return {"days": [(day, rows)], "next", "previous": offsets or None}."""
    filters: Fields = {"kind": query.get("kind", ""), "tags": [tag] if (tag := query.get("tag", "")) else []}
    if question := query.get("q", "").strip():
        answer = await visit.call("memory_search", filters | {"query": question, "limit": NOTES})
        rows = [_note_row(row) for row in answer["results"]]
        return {"days": [("", rows)] if rows else [], "next": None, "previous": None}
    offset = number_in(query.get("offset", ""), 0)
    span = {"since": query.get("since", ""), "until": query.get("until", "")}
    page = {"limit": NOTES, "offset": offset, "newest_first": True}
    answer = await visit.call("memory_timeline", filters | span | page)
    rows = [_note_row(row) for row in answer["items"]]
    days = [(day, list(some)) for day, some in groupby(rows, key=lambda row: row["at"][:10])]
    return {"days": days} | _pages_beside(answer, offset, NOTES)


def _pages_beside(answer: Fields, offset: int, limit: int) -> Fields:
    """Return the offsets of the pages beside that of an answer; None where there is none."""
    return {"next": answer.get("next_offset"), "previous": max(0, offset - limit) if offset else None}


def _note_row(row: Mapping[str, Any]) -> Fields:
    body = unfenced(row.get("body") or "")
    defaults = {"state": "", "flagged": "", "score": None}
    return defaults | dict(row) | {"body": body, "at": moment_of(row)}


async def _note(visit: Visit, number: str) -> Fields | None:
    """Return one note with its history and its quality; None for an empty number."""
    if not number:
        return None
    note, history, quality = await asyncio.gather(
        visit.call("memory_show", {"node_id": number}),
        visit.call("memory_history", {"node_id": number}),
        visit.call("get_observation_quality", {"id": number}),
    )
    return (
        _UNSAID
        | note
        | {
            "read": await _is_readable(visit, note["session"]),
            "body": unfenced(note["body"]),
            "edges": history["edges"],
            "revisions": history["revisions"],
            "operations": history["operations"],
            "quality": quality,
        }
    )


async def _pair(visit: Visit, numbers: str) -> list[Fields]:
    """Return the two notes to merge, of "12,34"; [] for "". Raises BadRequest for one note."""
    if not numbers:
        return []
    first, _, second = numbers.partition(",")
    if first == second:
        raise BadRequest("Pick two notes to merge.")
    notes = await asyncio.gather(
        *(visit.call("memory_show", {"node_id": number}) for number in (first, second))
    )
    return [note | {"body": unfenced(note["body"])} for note in notes]


async def _is_readable(visit: Visit, session: str) -> bool:
    if not session:
        return False
    try:
        await visit.call("memory_session", {"session_id": session, "limit": 1})
    except NotFound:
        return False
    return True


#: fields that only some notes have
_UNSAID = dict.fromkeys(("flagged", "changed", "gone", "moved", "occurred_at", "valid_until"), "")


async def _candidates(visit: Visit, query: Query) -> Fields:
    """Return {"rows", "withheld", "next", "previous"}: sentences of sessions."""
    offset, limit = number_in(query.get("offset", ""), 0), CANDIDATES if visit.is_local else CANDIDATES_FAR
    answer = await visit.call("memory_candidates", {"offset": offset, "limit": limit}, as_person=True)
    rows = {"rows": answer["candidates"], "withheld": answer.get("withheld", 0)}
    return rows | _pages_beside(answer, offset, limit)


async def _sessions(visit: Visit, query: Query) -> Fields:
    """Return {"session", "next", "previous"} for one session, else {"rows", "next", "previous"}."""
    if session := query.get("session", ""):
        offset = number_in(query.get("offset", ""), 0)
        arguments = {"session_id": session, "offset": offset, "limit": EXCHANGES}
        answer = await visit.call("memory_session", arguments)
        return {"session": answer} | _pages_beside(answer, offset, EXCHANGES)
    if question := query.get("q", "").strip():
        answer = await visit.call("search_sessions", {"query": question, "limit": SESSIONS})
        for row in answer["results"]:
            pieces = unfenced(row["snippet"]).split(_MARK)
            row["pieces"] = [(text, at % 2 == 1) for at, text in enumerate(pieces) if text]  # odd: matched
        return {"rows": answer["results"], "next": None, "previous": None}
    offset = number_in(query.get("offset", ""), 0)
    answer = await visit.call("list_sessions", {"limit": SESSIONS, "offset": offset, "max_tokens": TOKENS})
    rows = [row | {"pieces": [], "at": row["last_msg_at"]} for row in answer["results"]]
    return {"rows": rows} | _pages_beside(answer, offset, SESSIONS)


async def _quality(visit: Visit, _query: Query) -> Fields:
    """Return {"report", "groups", "patterns"}."""
    report, groups, patterns = await asyncio.gather(
        visit.call("get_data_quality_report", {"limit": JUDGED, "max_tokens": TOKENS}),
        visit.call("suggest_consolidations", {"limit": GROUPS, "max_tokens": TOKENS}),
        visit.call("get_patterns", {"limit": PATTERNS, "max_tokens": TOKENS}),
    )
    return {"report": report, "groups": groups["groups"], "patterns": patterns["patterns"]}


async def _trends(visit: Visit, query: Query) -> Fields:
    """Return {"trends", "stats", "days", "by", "spans", "grouped", "plot": JSON for the module}."""
    days, by = number_in(query.get("days", ""), 0) or 30, query.get("by", "day")
    days, by = min(max(days, 1), 365), by if by in GROUPED else "day"
    trends, stats = await asyncio.gather(
        visit.call("get_temporal_trends", {"days": days, "group_by": by, "max_tokens": TOKENS}),
        visit.call("get_memory_stats", {}),
    )
    plot = {"labels": list(trends["distribution"]), "counts": list(trends["distribution"].values())}
    return {
        "trends": trends,
        "stats": stats,
        "days": days,
        "by": by,
        "spans": SPANS,
        "grouped": GROUPED,
        "plot": orjson.dumps(plot).decode(),
    }


_TAB_CONTENTS: Mapping[str, Callable[[Visit, Query], Awaitable[Fields]]] = {
    "notes": _notes,
    "candidates": _candidates,
    "sessions": _sessions,
    "quality": _quality,
    "trends": _trends,
    "changes": lambda visit, _query: visit.call("memory_history", {"limit": OPERATIONS}),
}


async def change(visit: Visit, body: Fields) -> Fields:
    """Change a note or a candidate; return {"message", "undo": operation id, "" if it is final}.

    `body`: {"what", "note", …}. Raises BadRequest, Forbidden for a token that may only read, and
    the tool's errors.
    """
    what = text_of(body, "what")
    if what not in _CHANGES:
        raise BadRequest(f"A note cannot be {what[:40]!r}; it takes: {', '.join(_CHANGES)}.")
    tool, make, describe = _CHANGES[what]
    arguments = make(body)
    number = str(uuid.uuid4())
    is_final = what in _FINAL
    arguments |= {} if is_final else {"operation_id": number}
    answer = await visit.call(tool, arguments, as_person=tool == "memory_candidates")
    return {"message": describe(answer), "undo": "" if is_final else number}


def _edit(body: Fields) -> Fields:
    """Return the arguments of an edit. `body` has tags separated by commas, facts by line ends."""
    changes: Fields = {name: text_of(body, name) for name in _EDITED if name in body}
    if "title" in changes and not changes["title"].strip():
        raise BadRequest("A note needs a title.")
    if "body" in changes and not changes["body"].strip():
        raise BadRequest("The text is empty. Write a new text, or forget the note.")
    if "tags" in body:
        changes["tags"] = [tag.strip() for tag in text_of(body, "tags").split(",") if tag.strip()]
    if "facts" in body:
        changes["facts"] = [fact.strip() for fact in text_of(body, "facts").splitlines() if fact.strip()]
    if "importance" in body:
        changes["importance"] = text_of(body, "importance")
    if not changes:
        raise BadRequest("Nothing was changed.")
    return changes | {"id": _note_id(body)}


def _note_id(body: Fields, name: str = "note") -> str:
    """Return a note's number or id. Raises BadRequest for none."""
    if not (note_id := text_of(body, name).strip().removeprefix("#")):
        raise BadRequest("Enter the number of a note.")
    return note_id


def _describe_undo(answer: Fields) -> str:
    titles = ", ".join(f"#{node['number']} {node['title']}" for node in answer["nodes"][:5])
    return f"Taken back: {titles}" if titles else "Taken back."


#: name of a change → (tool, function body → arguments, function answer → message)
_CHANGES: Mapping[str, tuple[str, Callable[[Fields], Fields], Callable[[Fields], str]]] = {
    "edit": ("cortex_store", _edit, lambda answer: str(answer["message"])),
    "forget": (
        "cortex_store",
        lambda body: {"id": _note_id(body), "state": "deleted"},
        lambda answer: f"Forgotten: #{answer['number']}.",
    ),
    "restore": (
        "cortex_store",
        lambda body: {"id": _note_id(body), "state": "active"},
        lambda answer: f"#{answer['number']} is active again.",
    ),
    "merge": (
        "merge_observations",
        lambda body: {"source_id": _note_id(body), "target_id": _note_id(body, "into")},
        lambda answer: f"Merged #{answer['source_id']} into #{answer['target_id']} {answer['target_title']}",
    ),
    "supersede": (
        "bulk_mark_superseded",
        lambda body: {
            "ids": [_note_id(body)],
            "superseded_by": text_of(body, "by").strip().removeprefix("#"),
        },
        lambda _answer: "Superseded.",
    ),
    "undo": ("memory_undo", lambda body: {"undone": _note_id(body, "operation")}, _describe_undo),
    "take": (
        "memory_candidates",
        lambda body: {"take": [_note_id(body, "candidate")]},
        lambda answer: (
            "Noted as " + ", ".join(f"#{row['number']}: {row['title']}" for row in answer["taken"])
        ),
    ),
    "drop": (
        "memory_candidates",
        lambda body: {"drop": [_note_id(body, "candidate")]},
        lambda _answer: "Dropped: it is not proposed again.",
    ),
}
#: changes without a button that takes them back
_FINAL = frozenset(("undo", "take", "drop"))


VIEW = View(
    "memory",
    "Memory",
    show,
    {"change": Action(change), "address": form_address("memory")},
    styles=("memory.css", "vendor/uPlot.min.css"),
)
