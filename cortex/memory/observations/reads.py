"""What the tools of observations answer that only read: lists, timelines, one observation, what is
related to it, and why a search ranks as it does.

Each takes the library and the call's arguments as `cortex.terms.observations` has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cortex.memory.answers import told
from cortex.memory.catalog import Selection
from cortex.memory.library import Library
from cortex.memory.note import Edge, Note, State
from cortex.memory.observations.conversations import beside_sessions, search_prompts, search_sessions
from cortex.memory.observations.rows import record_of, row_of, type_of
from cortex.memory.observations.selection import (
    Found,
    answer,
    browse,
    choose,
    find,
    following,
    listed,
    of_files,
    of_types,
)
from cortex.memory.ranking import WEIGHTS
from cortex.memory.text import question_words
from cortex.memory.timeline import around, between, notes_of
from cortex.memory.transcripts import session_answers
from cortex.system.errors import BadQuery, BadRequest
from cortex.terms import tokens

Given = Mapping[str, Any]
Answer = dict[str, Any]

#: whose relations are told: what was replaced is known by what replaced it
NOT_DELETED: tuple[State, ...] = ("active", "superseded", "archived")
#: what a score is broken down to → its parts; all others are what the words of the question match
BREAKDOWN: Mapping[str, tuple[str, ...]] = {
    "vector_similarity": ("meaning", "alone"),
    "importance": ("importance", "relevance", "use"),
    "recency": ("recency",),
}
#: notes among which one whose title is the question is looked for: what was told more often than it
#: may rank before it
_NAMESAKES = 10
#: tool → the types that count for more in it, and the concepts that do
PRIORS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "decisions": (("decision",), ()),
    "changes": (("bugfix", "feature", "refactor", "change"), ()),
    "how_it_works": (("discovery", "decision"), ("how-it-works", "architecture")),
}


def search(library: Library, given: Given) -> Answer:
    if given["type"] == "sessions":
        return search_sessions(library, given)
    if given["type"] == "prompts":
        return search_prompts(library, given)
    found = find(
        library.memory,
        given["query"],
        choose(library, given),
        limit=given["limit"],
        offset=given["offset"],
        order=given["orderBy"],
    )
    return answer(found, given, given["query"])


def search_about(name: str, library: Library, given: Given) -> Answer:
    """The tools of PRIORS: a search in which what is of their types counts for more."""
    memory, (types, concepts) = library.memory, PRIORS[name]
    lifted = of_types(memory, types, {})
    for concept in concepts:
        chosen = Selection(project=library.project, labels=(concept,))
        lifted |= set(memory.catalog.in_time(memory.catalog.mask(chosen)).tolist())
    chosen = choose(library, given)
    found = find(memory, _asked(given), chosen, limit=given["limit"], offset=given["offset"], lifted=lifted)
    return answer(found, given, given["query"])


def find_by(name: str, library: Library, given: Given) -> Answer:
    """Filters alone; the one that `name` names has to say something. Raises BadRequest."""
    if name:
        _named(given, name)
    return answer(_browsed(library, given), given)


def find_by_file(library: Library, given: Given) -> Answer:
    """What modified the file before what read it; within each the newest first."""
    if given["orderBy"] in ("date_asc", "date_desc"):
        return find_by("files", library, given)
    chosen = choose(library, given)
    then = library.memory.then(chosen.as_of)
    named = of_files(library.memory, _named(given, "files"), then)
    modified = {number for number, was in named.items() if was}
    among = chosen.among or frozenset()
    parts = [replace(chosen, among=part) for part in (among & modified, among - modified)]
    start, end = given["offset"], given["offset"] + given["limit"]
    first = browse(library.memory, parts[0], limit=given["limit"], offset=start)
    left, skipped = end - start - len(first.notes), max(0, start - first.total)
    second = browse(library.memory, parts[1], limit=left, offset=skipped)
    return answer(Found(first.notes + second.notes, {}, first.total + second.total), given)


def get_observations_by_tag(library: Library, given: Given) -> Answer:
    told_page = answer(_browsed(library, dict(given) | {"concepts": _named(given, "tag")}), given)
    rows = told_page.pop("results")
    return {"tag": given["tag"], "observations": rows, "count": len(rows)} | told_page


def _browsed(library: Library, given: Given) -> Found:
    library.memory.follow()
    return browse(
        library.memory,
        choose(library, given, every=given.get("match") == "all"),
        limit=given["limit"],
        offset=given["offset"],
        oldest_first=given.get("orderBy") == "date_asc",
    )


def _named(given: Given, name: str) -> tuple[str, ...]:
    """Raises BadRequest for an argument that names nothing."""
    if not (named := listed(given[name])):
        raise BadRequest(f"`{name}` names nothing; pass one, or several by commas.")
    return named


def _asked(given: Given) -> str:
    """Raises BadQuery for no question."""
    if not given["query"].strip():
        raise BadQuery("The query is empty; say what is to be found.")
    return str(given["query"])


def timeline(library: Library, given: Given) -> Answer:
    """Around an anchor, around what a question finds best, or between two moments."""
    memory = library.memory
    memory.follow()
    chosen = choose(library, given)
    anchor = _anchor(library, given, chosen)
    if anchor is None and given.get("query"):
        return {"results": [], "total_count": 0, "query": given["query"], "message": "Nothing is about this."}
    if anchor is None:
        return _span(library, given, chosen)
    span = around(memory, anchor, chosen, given["before"], given["after"])
    said = beside_sessions(library, given, span.notes)
    full = given["format"] == "full"
    rows = [
        row_of(note, full=full) | ({"anchor": True} if note.number == anchor.number else {})
        for note in span.notes
    ]
    return {
        "results": rows,
        "total_count": len(rows),
        "query": given.get("query", ""),
        "anchor_id": anchor.number,
        "earlier": span.before,
        "later": span.after,
    } | said


def _anchor(library: Library, given: Given, chosen: Selection) -> Note | None:
    """Raises NotFound for an anchor that is not there."""
    memory = library.memory
    if given.get("anchor_id"):
        return memory.store.need(given["anchor_id"])
    if given.get("query"):
        found = [one.note for one in memory.recall(given["query"], chosen, _NAMESAKES)]
        asked = _folded(given["query"])
        return next((note for note in found if _folded(note.title) == asked), found[0] if found else None)
    return None


def _folded(title: str) -> str:
    return " ".join(title.casefold().split())


def _span(library: Library, given: Given, chosen: Selection) -> Answer:
    limit = given["before"] + given["after"] + 1
    offset = given.get("offset", 0)
    span = between(library.memory, chosen, limit, offset, newest_first=False)
    rows = [row_of(note, full=given["format"] == "full") for note in span.notes]
    total = span.before + len(span.notes) + span.after
    told_rows = {"results": rows, "total_count": total, "query": ""} | following(given, len(rows), total)
    return told_rows | beside_sessions(library, given, span.notes)


def get_recent_context(library: Library, given: Given) -> Answer:
    """The newest notes, and the newest sessions."""
    return find_by("", library, given) | beside_sessions(library, given)


def get_observation(library: Library, given: Given) -> Answer:
    """All of one, or of a session or exchange; who asks for a note uses it. Raises NotFound."""
    library.memory.follow()
    if (said := session_answers.find(library.memory.store, given["id"])) is not None:
        return said
    note = library.memory.store.need(given["id"])
    library.memory.count_use([note.number])
    return record_of(library.memory.store.need(note.number)) | {
        "relations": len(library.memory.links.of(note.number))
    }


def find_similar_observations(library: Library, given: Given) -> Answer:
    memory, query = library.memory, _asked(given)
    memory.follow()
    mask = memory.catalog.mask(choose(library, given))
    near = memory.vectors.cosines([query], mask)
    best = sorted(zip(near.values.tolist(), near.numbers.tolist(), strict=True), reverse=True)
    alike = {number: value for value, number in best if value >= given["min_similarity"] and mask[number]}
    rows = [
        row_of(note, full=True) | {"similarity": round(alike[note.number], 4)}
        for note in notes_of(memory, _page(list(alike), given), {})
    ]
    told_page = {"observations": rows, "count": len(rows), "total_count": len(alike)}
    return told_page | {"min_similarity": given["min_similarity"]} | following(given, len(rows), len(alike))


def _page(numbers: Sequence[int], given: Given) -> Sequence[int]:
    """Those from the `offset`th on."""
    return numbers[given["offset"] : given["offset"] + given["limit"]]


def find_related_observations(library: Library, given: Given) -> Answer:
    memory = library.memory
    memory.follow()
    note = memory.store.need(given["id"])
    seen = memory.catalog.mask(Selection(project=library.project))
    related: dict[int, Edge] = {}
    for edge in memory.links.of(note.number):  # the strongest first
        other = edge.target if edge.source == note.number else edge.source
        if edge.weight >= given["min_confidence"] and not edge.valid_until and seen[other]:
            related.setdefault(other, edge)
    rows = [
        row_of(one) | _relation(related[one.number], note.number)
        for one in notes_of(memory, _page(list(related), given), {})
    ]
    told_page = {"observations": rows, "count": len(rows), "total_count": len(related)}
    return told_page | following(given, len(rows), len(related))


def _relation(edge: Edge, of: int) -> Answer:
    return {
        "relation": edge.relation,
        "direction": "outgoing" if edge.source == of else "incoming",
        "confidence": edge.weight,
        "detection_source": edge.detection,
    } | ({"reason": told(edge.reason)} if edge.reason else {})


def get_observation_relationships(library: Library, given: Given) -> Answer:
    memory = library.memory
    memory.follow()
    start = memory.store.need(given["id"])
    seen = memory.catalog.mask(Selection(project=library.project, states=NOT_DELETED))
    walk = memory.links.walk(start.number, given["max_depth"], "both", lambda number: bool(seen[number]))
    notes = {note.number: note for note in memory.store.notes_by_number(list(walk.depth))}
    edges = [edge for edge in walk.edges if {edge.source, edge.target} <= notes.keys()]
    rows = [
        {
            "id": edge.id,
            "source_id": edge.source,
            "target_id": edge.target,
            "type": edge.relation,
            "confidence": edge.weight,
            "source_title": told(notes[edge.source].title),
            "target_title": told(notes[edge.target].title),
            "source_type": type_of(notes[edge.source]),
            "target_type": type_of(notes[edge.target]),
        }
        for edge in edges[given["offset"] :]
    ]
    told_page = {
        "center_id": start.number,
        "max_depth": given["max_depth"],
        "total_relations": len(edges),
        "relations": rows,
        "unique_nodes": len(notes),
    }
    return told_page | ({"truncated": True} if walk.truncated else {})


def explain_search_ranking(library: Library, given: Given) -> Answer:
    """The scores of `search` taken apart: the parts are those that `recall` explains."""
    memory, query = library.memory, _asked(given)
    best = memory.recall(query, choose(library, given), given["top_n"])
    asked = question_words(query)
    places = {lane: _places([one.parts.get(lane, 0.0) for one in best]) for lane in WEIGHTS}
    rows = []
    for at, one in enumerate(best):
        parts = {name: round(value, 4) for name, value in one.parts.items()}
        rows.append(
            {
                "rank": at + 1,
                "id": one.note.number,
                "title": told(one.note.title),
                "type": type_of(one.note),
                "score": round(one.score, 4),
                "score_breakdown": broken_down(one.parts),
                "parts": parts,
                "lanes": {lane: {"rank": places[lane][at], "value": parts[lane]} for lane in WEIGHTS},
                "matched_fields": matched_fields(one.note, asked),
            }
        )
    return {
        "query": query,
        "project": library.project,
        "result_count": len(rows),
        "explanations": rows,
        "tips": _tips(rows, asked),
    }


def broken_down(parts: Mapping[str, float]) -> dict[str, float]:
    """The parts of a score in the four of BREAKDOWN, which add up to it as well."""
    of = {part: name for name, some in BREAKDOWN.items() for part in some}
    summed = dict.fromkeys(("vector_similarity", "text_match", "importance", "recency"), 0.0)
    for part, value in parts.items():
        summed[of.get(part, "text_match")] += value
    return {name: round(value, 4) for name, value in summed.items()}


def _places(values: list[float]) -> list[int]:
    """The rank of each value, the greatest is 1."""
    order = sorted(values, reverse=True)
    return [order.index(value) + 1 for value in values]


def matched_fields(note: Note, asked: list[str]) -> dict[str, list[str]]:
    """Field → the words of the question that it holds, as they are compared."""
    fields = {
        "title": (note.title, note.subtitle),
        "narrative": (note.body,),
        "facts": note.facts,
        "concepts": note.labels,
        "files": note.files,
    }
    held = {
        name: set(tokens.lane_text(tokens.words(" ".join(texts))).split()) for name, texts in fields.items()
    }
    return {name: found for name, words in held.items() if (found := [one for one in asked if one in words])}


def _tips(rows: list[Answer], asked: list[str]) -> list[str]:
    if not rows:
        return ["Nothing is about this: ask by other words, or browse by `concepts`, `files` and dates."]
    tips = []
    if not any(row["matched_fields"] for row in rows):
        tips.append("No word of the question is in what was found: only its meaning counts here.")
    held = {word for row in rows for words in row["matched_fields"].values() for word in words}
    if missing := [word for word in asked if word not in held]:
        tips.append(f"In none of these: {', '.join(missing[:5])}.")
    return tips
