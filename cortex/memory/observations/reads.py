"""Observation tools that only read: lists, timelines, an observation, its relations, explanations
of a ranking.

Each function takes the library and the call's arguments, as in `cortex.terms.observations`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cortex.memory.answers import visible_text
from cortex.memory.find.catalog import Selection
from cortex.memory.find.ranking import WEIGHTS
from cortex.memory.find.timeline import around, between, notes_of
from cortex.memory.library import Library
from cortex.memory.note import Edge, Note, State
from cortex.memory.observations.conversations import search_prompts, search_sessions, session_summaries
from cortex.memory.observations.rows import Answer, Arguments, record_of, row_of, type_of
from cortex.memory.observations.selection import (
    Page,
    answer,
    browse,
    choose,
    find,
    next_page,
    of_files,
    of_types,
    split_values,
)
from cortex.memory.text import question_words
from cortex.memory.transcripts.search import session_answers
from cortex.system.errors import BadQuery, BadRequest
from cortex.terms import tokens

#: states of the notes in a graph of relations: a superseded note is linked to its successor
NOT_DELETED: tuple[State, ...] = ("active", "superseded", "archived")
#: group of a score's parts → the parts; all others are "text_match"
BREAKDOWN: Mapping[str, tuple[str, ...]] = {
    "vector_similarity": ("meaning", "alone"),
    "importance": ("importance", "relevance", "use"),
    "recency": ("recency",),
}
#: hits among which the anchor of a timeline is searched by its exact title: notes on the same
#: subject may rank above it
_NAMESAKES = 10
#: tool → types and concepts that get a higher score in it
PRIORS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "decisions": (("decision",), ()),
    "changes": (("bugfix", "feature", "refactor", "change"), ()),
    "how_it_works": (("discovery", "decision"), ("how-it-works", "architecture")),
}


def search(library: Library, arguments: Arguments) -> Answer:
    if arguments["type"] == "sessions":
        return search_sessions(library, arguments)
    if arguments["type"] == "prompts":
        return search_prompts(library, arguments)
    hits = find(
        library.memory,
        arguments["query"],
        choose(library, arguments),
        limit=arguments["limit"],
        offset=arguments["offset"],
        order=arguments["orderBy"],
    )
    return answer(hits, arguments, arguments["query"])


def search_about(name: str, library: Library, arguments: Arguments) -> Answer:
    """Search for a tool of PRIORS: its types and concepts get a higher score."""
    memory, (types, concepts) = library.memory, PRIORS[name]
    lifted = of_types(memory, types, {})
    for concept in concepts:
        selection = Selection(project=library.project, labels=(concept,))
        lifted |= set(memory.catalog.in_time(memory.catalog.mask(selection)).tolist())
    selection = choose(library, arguments)
    hits = find(
        memory,
        _query_of(arguments),
        selection,
        limit=arguments["limit"],
        offset=arguments["offset"],
        lifted=lifted,
    )
    return answer(hits, arguments, arguments["query"])


def find_by(name: str, library: Library, arguments: Arguments) -> Answer:
    """List notes by filters alone; the filter `name` must not be empty. Raises BadRequest."""
    if name:
        _required_list(arguments, name)
    return answer(_browse_arguments(library, arguments), arguments)


def find_by_file(library: Library, arguments: Arguments) -> Answer:
    """List notes that modified the file, then those that read it; each group newest first."""
    if arguments["orderBy"] in ("date_asc", "date_desc"):
        return find_by("files", library, arguments)
    selection = choose(library, arguments)
    past_notes = library.memory.notes_at(selection.as_of)
    modified_by_number = of_files(library.memory, _required_list(arguments, "files"), past_notes)
    modified = {number for number, is_modified in modified_by_number.items() if is_modified}
    among = selection.among or frozenset()
    parts = [replace(selection, among=group) for group in (among & modified, among - modified)]
    start, end = arguments["offset"], arguments["offset"] + arguments["limit"]
    first = browse(library.memory, parts[0], limit=arguments["limit"], offset=start)
    left, skipped = end - start - len(first.notes), max(0, start - first.total)
    second = browse(library.memory, parts[1], limit=left, offset=skipped)
    return answer(Page(first.notes + second.notes, {}, first.total + second.total), arguments)


def get_observations_by_tag(library: Library, arguments: Arguments) -> Answer:
    page_fields = answer(
        _browse_arguments(library, dict(arguments) | {"concepts": _required_list(arguments, "tag")}),
        arguments,
    )
    rows = page_fields.pop("results")
    return {"tag": arguments["tag"], "observations": rows, "count": len(rows)} | page_fields


def _browse_arguments(library: Library, arguments: Arguments) -> Page:
    return browse(
        library.memory,
        choose(library, arguments, every=arguments.get("match") == "all"),
        limit=arguments["limit"],
        offset=arguments["offset"],
        oldest_first=arguments.get("orderBy") == "date_asc",
    )


def _required_list(arguments: Arguments, name: str) -> tuple[str, ...]:
    """The values of a list argument. Raises BadRequest for an empty one."""
    if not (names := split_values(arguments[name])):
        raise BadRequest(f"`{name}` is empty; pass one value, or more, separated by commas.")
    return names


def _query_of(arguments: Arguments) -> str:
    """The query. Raises BadQuery for an empty one."""
    if not arguments["query"].strip():
        raise BadQuery("The query is empty; say what to search for.")
    return str(arguments["query"])


def timeline(library: Library, arguments: Arguments) -> Answer:
    """Notes around an anchor, around the best hit of a query, or between two moments."""
    memory = library.memory
    selection = choose(library, arguments)
    anchor = _anchor_note(library, arguments, selection)
    if anchor is None and arguments.get("query"):
        return {
            "results": [],
            "total_count": 0,
            "query": arguments["query"],
        }
    if anchor is None:
        return _span(library, arguments, selection)
    span = around(memory, anchor, selection, arguments["before"], arguments["after"])
    session_rows = session_summaries(library, arguments, span.notes)
    full = arguments["format"] == "full"
    rows = [
        row_of(note, full=full) | ({"anchor": True} if note.number == anchor.number else {})
        for note in span.notes
    ]
    return {
        "results": rows,
        "total_count": len(rows),
        "query": arguments.get("query", ""),
        "anchor_id": anchor.number,
        "earlier": span.before,
        "later": span.after,
    } | session_rows


def _anchor_note(library: Library, arguments: Arguments, selection: Selection) -> Note | None:
    """Raises NotFound for an unknown anchor."""
    memory = library.memory
    if arguments.get("anchor_id"):
        return memory.store.need(arguments["anchor_id"])
    if arguments.get("query"):
        recalled = [hit.note for hit in memory.recall(arguments["query"], selection, _NAMESAKES)]
        folded_query = _fold(arguments["query"])
        return next(
            (note for note in recalled if _fold(note.title) == folded_query),
            recalled[0] if recalled else None,
        )
    return None


def _fold(title: str) -> str:
    return " ".join(title.casefold().split())


def _span(library: Library, arguments: Arguments, selection: Selection) -> Answer:
    limit = arguments["before"] + arguments["after"] + 1
    offset = arguments.get("offset", 0)
    span = between(library.memory, selection, limit, offset, newest_first=False)
    rows = [row_of(note, full=arguments["format"] == "full") for note in span.notes]
    total = span.before + len(span.notes) + span.after
    page_fields = {"results": rows, "total_count": total, "query": ""} | next_page(
        arguments, len(rows), total
    )
    return page_fields | session_summaries(library, arguments, span.notes)


def get_recent_context(library: Library, arguments: Arguments) -> Answer:
    """The newest notes and the newest sessions."""
    return find_by("", library, arguments) | session_summaries(library, arguments)


def get_observation(library: Library, arguments: Arguments) -> Answer:
    """One note in full, which counts as used, or a session or exchange. Raises NotFound."""
    if (session_answer := session_answers.find(library.memory.store, arguments["id"])) is not None:
        return session_answer
    note = library.memory.store.need(arguments["id"])
    library.memory.count_use([note.number])
    return record_of(library.memory.store.need(note.number)) | {
        "relations": len(library.memory.links.of(note.number))
    }


def find_similar_observations(library: Library, arguments: Arguments) -> Answer:
    memory, query = library.memory, _query_of(arguments)
    mask = memory.catalog.mask(choose(library, arguments))
    near = memory.cosines([query], mask)
    best = sorted(zip(near.values.tolist(), near.numbers.tolist(), strict=True), reverse=True)
    alike = {number: value for value, number in best if value >= arguments["min_similarity"] and mask[number]}
    rows = [
        row_of(note, full=True) | {"similarity": round(alike[note.number], 4)}
        for note in notes_of(memory, _page(list(alike), arguments), {})
    ]
    page_fields = {"observations": rows, "count": len(rows), "total_count": len(alike)}
    return (
        page_fields
        | {"min_similarity": arguments["min_similarity"]}
        | next_page(arguments, len(rows), len(alike))
    )


def _page(numbers: Sequence[int], arguments: Arguments) -> Sequence[int]:
    return numbers[arguments["offset"] : arguments["offset"] + arguments["limit"]]


def find_related_observations(library: Library, arguments: Arguments) -> Answer:
    memory = library.memory
    note = memory.store.need(arguments["id"])
    visible = memory.catalog.mask(Selection(project=library.project))
    related: dict[int, Edge] = {}
    for edge in memory.links.of(note.number):  # the strongest first
        other = edge.target if edge.source == note.number else edge.source
        if edge.weight >= arguments["min_confidence"] and not edge.valid_until and visible[other]:
            related.setdefault(other, edge)
    rows = [
        row_of(neighbour) | _relation(related[neighbour.number], note.number)
        for neighbour in notes_of(memory, _page(list(related), arguments), {})
    ]
    page_fields = {"observations": rows, "count": len(rows), "total_count": len(related)}
    return page_fields | next_page(arguments, len(rows), len(related))


def _relation(edge: Edge, of: int) -> Answer:
    return {
        "relation": edge.relation,
        "direction": "outgoing" if edge.source == of else "incoming",
        "confidence": edge.weight,
        "detection_source": edge.detection,
    } | ({"reason": visible_text(edge.reason)} if edge.reason else {})


def get_observation_relationships(library: Library, arguments: Arguments) -> Answer:
    memory = library.memory
    start = memory.store.need(arguments["id"])
    visible = memory.catalog.mask(Selection(project=library.project, states=NOT_DELETED))
    walk = memory.links.walk(
        start.number, arguments["max_depth"], "both", lambda number: bool(visible[number])
    )
    notes = {note.number: note for note in memory.store.notes_by_number(list(walk.depth))}
    edges = [edge for edge in walk.edges if {edge.source, edge.target} <= notes.keys()]
    rows = [
        {
            "id": edge.id,
            "source_id": edge.source,
            "target_id": edge.target,
            "type": edge.relation,
            "confidence": edge.weight,
            "source_title": visible_text(notes[edge.source].title),
            "target_title": visible_text(notes[edge.target].title),
            "source_type": type_of(notes[edge.source]),
            "target_type": type_of(notes[edge.target]),
        }
        for edge in edges[arguments["offset"] :]
    ]
    page_fields = {
        "center_id": start.number,
        "max_depth": arguments["max_depth"],
        "total_relations": len(edges),
        "relations": rows,
        "unique_nodes": len(notes),
    }
    return page_fields | ({"truncated": True} if walk.truncated else {})


def explain_search_ranking(library: Library, arguments: Arguments) -> Answer:
    """The hits of `search` with the parts of their scores, as `recall` explains them."""
    memory, query = library.memory, _query_of(arguments)
    best = memory.recall(query, choose(library, arguments), arguments["top_n"])
    query_words = question_words(query)
    places = {lane: _places([hit.parts.get(lane, 0.0) for hit in best]) for lane in WEIGHTS}
    rows = []
    for at, hit in enumerate(best):
        parts = {name: round(value, 4) for name, value in hit.parts.items()}
        rows.append(
            {
                "rank": at + 1,
                "id": hit.note.number,
                "title": visible_text(hit.note.title),
                "type": type_of(hit.note),
                "score": round(hit.score, 4),
                "score_breakdown": break_down(hit.parts),
                "parts": parts,
                "lanes": {lane: {"rank": places[lane][at], "value": parts[lane]} for lane in WEIGHTS},
                "matched_fields": matched_fields(hit.note, query_words),
            }
        )
    return {
        "query": query,
        "project": library.project,
        "result_count": len(rows),
        "explanations": rows,
        "tips": _tips(rows, query_words),
    }


def break_down(parts: Mapping[str, float]) -> dict[str, float]:
    """The parts in the groups of BREAKDOWN and "text_match"; they add up to the score."""
    of = {component: name for name, components in BREAKDOWN.items() for component in components}
    summed = dict.fromkeys(("vector_similarity", "text_match", "importance", "recency"), 0.0)
    for component, value in parts.items():
        summed[of.get(component, "text_match")] += value
    return {name: round(value, 4) for name, value in summed.items()}


def _places(values: list[float]) -> list[int]:
    """The rank of each value; the greatest has rank 1."""
    order = sorted(values, reverse=True)
    return [order.index(value) + 1 for value in values]


def matched_fields(note: Note, query_words: list[str]) -> dict[str, list[str]]:
    """{field: words of the query in it, in their normalised form}."""
    fields = {
        "title": (note.title, note.subtitle),
        "narrative": (note.body,),
        "facts": note.facts,
        "concepts": note.labels,
        "files": note.files,
    }
    field_words = {
        name: set(tokens.lane_text(tokens.words(" ".join(texts))).split()) for name, texts in fields.items()
    }
    return {
        name: matches
        for name, words in field_words.items()
        if (matches := [word for word in query_words if word in words])
    }


def _tips(rows: list[Answer], query_words: list[str]) -> list[str]:
    if not rows:
        return ["No hits: try other words, or browse by `concepts`, `files` and dates."]
    tips = []
    if not any(row["matched_fields"] for row in rows):
        tips.append("No hit contains a word of the query: they match by meaning only.")
    matched_words = {word for row in rows for words in row["matched_fields"].values() for word in words}
    if missing := [word for word in query_words if word not in matched_words]:
        tips.append(f"Words in no hit: {', '.join(missing[:5])}.")
    return tips
