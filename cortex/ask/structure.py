"""The answers of cortex_graph, cortex_outline and cortex_pattern, from the graph worker."""

import time
from collections.abc import Mapping
from typing import Any, Literal

import orjson
from msgspec import structs

from cortex.ask.code_notes.annotations import files_of, with_decisions, with_notes
from cortex.ask.compact import compact, drop_text
from cortex.ask.query_context import REST_S, QueryContext, Turn, no_answer_error
from cortex.ask.questions import count_fitting
from cortex.ask.references.other_mentions import describe_mentions
from cortex.query.check import check_text
from cortex.system.errors import BadRequest, CortexError, NotReady
from cortex.terms.code.ambiguous_candidates import fold
from cortex.terms.ids import strip_overload
from ipc.messages import GraphHits, GraphSearch, NameSearch, OutlineSearch, PatternSearch

#: meanings of an ambiguous target that are answered together
MEANINGS_MAX = 3
#: results of an impact for an agent that does not ask for a number, the bytes of their names and
#: places, and the bytes of the other marks of each
BRIEF_ROWS, BRIEF_BYTES, KEYS_BYTES = 30, 3_600, 110
#: `max_results` and `max_per_level` of a caller that leaves them to the tool
USUAL_ROWS = (100, 50)
_ENTRY_POINTS = ("entry_points", "entry_points_total")
#: unresolved uses that an answer lists
UNRESOLVED_PLACES = 5


async def graph(
    context: QueryContext, question: GraphSearch, detail: Literal["compact", "full"] = "compact"
) -> dict[str, Any]:
    """Answer cortex_graph; a compact answer shows the line itself even without context. Raises
    BadRequest, and Unavailable when the graph worker cannot answer.
    """
    started = time.perf_counter()
    _check(question)
    is_brief = (
        (context.audience, question.operation) == ("agent", "impact")
        and (question.max_results, question.max_per_level) == USUAL_ROWS
        and detail == "compact"
    )
    question = structs.replace(
        question,
        include_context=question.include_context or detail == "compact",
        context_lines=question.context_lines if question.include_context else 0,
    )
    turn, hits = await (_ask_briefly if is_brief else _ask)(context, question)
    if context.audience == "agent" and hits.ambiguous and len(hits.candidates) <= MEANINGS_MAX:
        turn, hits = await _ask_each(context, question, hits)
    if word := await describe_mentions(turn, question, hits):
        hits = structs.replace(hits, suggestion=f"{word} {hits.suggestion}".rstrip())
    echo = {"operation": question.operation, "target": hits.target or question.target}
    hits = structs.replace(hits, results=fold(hits.results))
    compacted = hits
    if detail == "compact":
        rows, file = compact(hits.results, question.operation)
        compacted = structs.replace(hits, results=rows)
        echo |= {"file": file} if file else {}
    answer = _answer(echo, turn, _with_share(turn, compacted), started)
    if question.operation == "impact":
        nodes = [orjson.loads(raw)["node"] for raw in hits.results]
        touched = {hits.target, *(strip_overload(node["id"]) for node in nodes)}
        target_files = files_of(context, hits.target)
        answer = await with_decisions(context, answer, [*target_files, *hits.paths], touched)
    return answer | {"summary": hits.summary} if hits.summary else answer


def _check(question: GraphSearch) -> None:
    """Check the names of a question. Raises BadRequest."""
    if question.target.strip():
        check_text(question.target, "target")
    elif question.operation != "routes":
        problem = "The target is empty" if question.target else "The argument `target` is required"
        raise BadRequest(f"{problem}. Pass the name of a type, function, method or file.")
    if question.to:
        check_text(question.to, "name in `to`")


async def outline(context: QueryContext, question: OutlineSearch) -> dict[str, Any]:
    """Answer cortex_outline. Raises BadRequest, Unavailable without the graph worker."""
    started = time.perf_counter()
    if question.path:
        check_text(question.path, "path")
    turn, hits = await _ask(context, question)
    path = question.path.strip().strip("/")
    if hits.target != path and turn.context.freshness.is_there(path) and turn.describe_share():
        # The worker outlined another file with a similar path; this file exists and is not served
        # yet.
        hits = GraphHits(hits.generation, path, suggestion=f"Read {path} itself: it is not served yet.")
    answer = _answer({"path": question.path}, turn, _with_share(turn, hits), started)
    answer |= {"symbols_shown": hits.summary.get("shown", 0)}
    answer |= {name: hits.summary[name] for name in _ENTRY_POINTS if name in hits.summary}
    return await with_notes(context, answer, hits.paths)


def _mark_stale(raw: bytes) -> dict[str, Any]:
    """Return the result of a changed file without lines around it, which have moved."""
    result: dict[str, Any] = drop_text(orjson.loads(raw))
    result.pop("context", None)
    for site in result.get("sites", ()):
        if isinstance(site, dict):
            site.pop("text", None)
    return result | {"stale": True}


async def pattern(context: QueryContext, question: PatternSearch) -> dict[str, Any]:
    """Answer cortex_pattern. Raises BadRequest, Unavailable without the graph worker."""
    started = time.perf_counter()
    check_text(question.pattern, "pattern")
    turn, hits = await _ask(context, question)
    echo = {"pattern": question.pattern, "language": question.language}
    answer = _answer(echo, turn, hits, started, current=True)
    return answer | {"files_searched": hits.summary.get("files_searched", 0)}


async def names(context: QueryContext, question: NameSearch) -> dict[str, Any]:
    """Return the `values` that complete a prefix, and their total number.

    Raises BadRequest, and Unavailable when the graph worker cannot answer.
    """
    if question.prefix:
        check_text(question.prefix, "prefix")
    _turn, hits = await _ask(context, question)
    return {"values": hits.candidates, "total": hits.total_found}


async def _ask(
    context: QueryContext, question: GraphSearch | OutlineSearch | PatternSearch | NameSearch
) -> tuple[Turn, GraphHits]:
    """Return the graph worker's reply; before the first generation a reply that says why it is
    empty.
    """

    async def make(turn: Turn) -> GraphHits:
        request = structs.replace(question, generation=turn.generation.number)
        until = max(turn.until, context.until - REST_S)  # no other lane needs the time
        try:
            return await context.ask("graph", request, GraphHits, until)
        except (BadRequest, NotReady):
            raise
        except CortexError as error:
            raise no_answer_error([error]) from error

    turn, hits = await context.attempt(make)
    return turn, hits or GraphHits(suggestion=turn.explain_nothing())


async def _ask_briefly(context: QueryContext, question: GraphSearch) -> tuple[Turn, GraphHits]:
    """Return the worst results as places alone, as many as fit BRIEF_BYTES."""
    question = structs.replace(question, include_context=False, tests_last=True, max_results=BRIEF_ROWS)
    turn, hits = await _ask(context, question)
    rows, _ = compact(hits.results, question.operation)
    fitting = count_fitting([len(raw) - KEYS_BYTES for raw in rows], BRIEF_BYTES)
    if fitting < len(rows):
        turn, hits = await _ask(context, structs.replace(question, max_results=fitting))
    return turn, hits


async def _ask_each(
    context: QueryContext, question: GraphSearch, ambiguous: GraphHits
) -> tuple[Turn, GraphHits]:
    """Return the results of each meaning of an ambiguous target; `of` names the meaning."""
    paths: list[str] = []
    results: list[bytes] = []
    total, truncated = 0, False
    for meaning in ambiguous.candidates:
        turn, hits = await _ask(context, structs.replace(question, target=meaning))
        paths += hits.paths
        results += [orjson.dumps(orjson.loads(raw) | {"of": meaning}) for raw in hits.results]
        total, truncated = total + hits.total_found, truncated or hits.truncated
    return turn, structs.replace(
        ambiguous,
        generation=turn.generation.number,
        paths=tuple(paths),
        results=tuple(results),
        total_found=total,
        truncated=truncated,
        suggestion=f"{question.target!r} has {len(ambiguous.candidates)} meanings; these are the results of each.",
        candidates=(),
    )


def _with_share(turn: Turn, hits: GraphHits) -> GraphHits:
    """Return the reply; if empty while only a part is served, with a suggestion that says so."""
    share_text = "" if hits.results or not turn.generation.number else turn.describe_share()
    if not share_text:
        return hits
    return structs.replace(hits, suggestion=f"{share_text} the rest may hold it. {hits.suggestion}".rstrip())


def _name_unresolved(unresolved: Mapping[str, Any]) -> dict[str, Any]:
    """Return the number of unresolved uses, and at most UNRESOLVED_PLACES of them."""
    places = [f"{file}:{line}" for file, line in unresolved["places"][:UNRESOLVED_PLACES]]
    return {"name": unresolved["name"], "total": unresolved["total"], "places": places}


def _answer(
    echo: dict[str, Any], turn: Turn, hits: GraphHits, started: float, *, current: bool = False
) -> dict[str, Any]:
    """Return the answer; `current`: the worker has read the files as they are now."""
    stale = turn.stale(() if current else hits.paths)
    results = [
        _mark_stale(raw) if path in stale else orjson.Fragment(raw)
        for path, raw in zip(hits.paths, hits.results, strict=True)
    ]
    answer: dict[str, Any] = {
        **echo,
        "results": results,
        "total_found": hits.total_found,
        "total_returned": len(results),
        "truncated": hits.truncated,
        "suggestion": hits.suggestion,
        "metadata": {"took_ms": round(1000 * (time.perf_counter() - started)), "source": "graph"},
    }
    if hits.unresolved:
        answer["unresolved"] = _name_unresolved(hits.unresolved)
    if hits.next_offset:
        answer["next_offset"] = hits.next_offset
    if hits.candidates:
        answer["candidates"] = hits.candidates
    answer["index"] = turn.index()
    return answer
