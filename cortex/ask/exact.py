"""The answer of cortex_exact: the text worker's hits in its order, cut to the budget."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import Any

import orjson

from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.questions import Exact, budget, count_fitting
from ipc.messages import ExactHits

#: digits of a score in an answer
SCORE_DIGITS = 4
#: a word whose parts in longer words are counted: shorter ones are in too many
_WORD = re.compile(r"[\w$]{3,}")


async def exact(context: QueryContext, question: Exact) -> dict[str, Any]:
    """Answer cortex_exact. Raises BadRequest, and Unavailable when the text worker cannot
    answer.
    """
    started = time.perf_counter()
    question = replace(
        question.checked(),
        usual_tokens=context.config.server.answer_tokens,
        as_text=context.audience == "agent",
    )
    scoped = replace(question, filters=context.scope_filters(question.filters))
    turn, hits = await context.look_up("text", scoped, ExactHits)
    if hits is None:
        from cortex.query.parse import parse

        parse(question.query, question.match_type)  # no worker has checked the query
    hits = hits or ExactHits(match_type=question.match_type or "exact")
    results = _make_results(question, turn, hits)
    lines = question.detail == "auto"
    returned = sum(map(len, hits.highlight_lines)) if lines else len(results)
    following = question.offset + returned
    if lines and question.as_text:  # with the lines of earlier pages
        returned = following + sum(len(numbers) for _, numbers in hits.places)
    suggestion = hits.suggestion
    if not results and not suggestion:
        suggestion = turn.explain_nothing(question.filters)
    suggestion = _add_share(turn, question, hits, suggestion)
    omitted = dict(hits.omitted)
    if inside := await _count_inside_words(turn, scoped, hits):
        omitted["inside words"] = inside
    return {
        "query": question.query,
        "match_type": hits.match_type,
        "results": results,
        **({"places": place_rows(hits)} if hits.places else {}),
        "total_found": hits.total_found,
        "total_returned": returned,
        "truncated": hits.truncated or len(results) < len(hits.chunks) or _has_more(question, hits),
        "suggestion": suggestion,
        **({"omitted": omitted} if omitted else {}),
        **({"facets": hits.facets} if question.facets else {}),
        **({"next_offset": _next_offset(hits, following)} if _leaves_lines(hits) else {}),
        "metadata": {"took_ms": round(1000 * (time.perf_counter() - started)), "source": "exact"},
        "index": turn.index(),
    }


async def _count_inside_words(turn: Turn, question: Exact, hits: ExactHits) -> int:
    """Return how many lines hold a word of a text answer only inside longer words: `reopen` for
    `open`. The index finds words, a reader of grep expects parts of them too.
    """
    by_lines = question.as_text and question.detail == "auto" and not question.offset
    if (
        not turn.generation.number
        or not by_lines
        or question.match_type
        or not _WORD.fullmatch(question.query)
        or hits.truncated
    ):
        return 0
    request = replace(
        question.request(turn.generation.number), match_type="substring", lines=1, alike=False, every=False
    )
    reply = await turn.lane("text", replace(request, bare=True), ExactHits, ours=True)
    if reply is None:
        return 0
    return max(reply.total_found - hits.total_found + hits.omitted.get("other words", 0), 0)


def _leaves_lines(hits: ExactHits) -> bool:
    """Whether an answer of every line has neither shown nor numbered some."""
    return bool(hits.omitted.get("places") or hits.omitted.get("other words"))


def _next_offset(hits: ExactHits, following: int) -> int:
    """Return the offset of the first line without code, or of the first in other words if the
    answer numbers all before.
    """
    others = hits.omitted.get("other words", 0)
    return following if hits.omitted.get("places") or not others else hits.total_found - others


def place_rows(hits: ExactHits, **fields: str) -> list[dict[str, Any]]:
    """Return the lines that the answer names by their numbers, one row for each file, with
    `fields`.
    """
    return [{**fields, "file": path, "lines": list(numbers)} for path, numbers in hits.places]


def _add_share(turn: Turn, question: Exact, hits: ExactHits, suggestion: str) -> str:
    """Return `suggestion`; while only a part is served, after a note that matches may be
    missing.
    """
    if not turn.generation.rows or question.offset or _begins_with_definition(question, hits):
        return suggestion
    prefix = turn.describe_share()
    if not prefix:
        return suggestion
    missing = "a definition" if hits.hits else "what matches"
    return f"{prefix} {missing} may be in the rest. {suggestion}".rstrip()


def _begins_with_definition(question: Exact, hits: ExactHits) -> bool:
    """Whether the answer begins with lines of a definition, which come first. Whole chunks do not
    tell, so any of them counts.
    """
    if not hits.chunks or question.detail != "auto":
        return bool(hits.chunks)
    return bool(orjson.loads(hits.chunks[0])["metadata"]["kind"] == "definition")


def _has_more(question: Exact, hits: ExactHits) -> bool:
    """Whether another page follows; for lines the worker itself reports omissions."""
    return question.detail != "auto" and question.offset + len(hits.hits) < hits.total_found


def _make_results(question: Exact, turn: Turn, hits: ExactHits) -> list[dict[str, Any]]:
    """Return as many results as fit the answer."""
    stale = turn.stale(hit.path for hit in hits.hits)
    sizes = [
        len(chunk) + sum(map(len, marked)) for chunk, marked in zip(hits.chunks, hits.highlights, strict=True)
    ]
    results = []
    lines = question.detail == "auto"  # the worker has cut them to fit
    for at in range(len(sizes) if lines else count_fitting(sizes, budget(question.max_tokens))):
        score = round(hits.scores[at], SCORE_DIGITS)
        result: dict[str, Any] = {"chunk": orjson.Fragment(hits.chunks[at]), "score": score}
        if not lines:
            result["highlights"] = hits.highlights[at]
            result["highlight_lines"] = hits.highlight_lines[at]
        if hits.hits[at].path in stale:
            result["stale"] = True
        results.append(result)
    return results
