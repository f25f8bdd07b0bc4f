"""The answer of cortex_exact: the text worker's hits in its order, cut to the budget."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import orjson

from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.questions import Exact, budget, count_fitting
from ipc.messages import ExactHits

#: digits of a score in an answer
SCORE_DIGITS = 4


async def exact(context: QueryContext, question: Exact) -> dict[str, Any]:
    """Answer cortex_exact. Raises BadRequest, and Unavailable when the text worker cannot
    answer.
    """
    started = time.perf_counter()
    question = replace(question.checked(), usual_tokens=context.config.server.answer_tokens)
    scoped = replace(question, filters=context.scope_filters(question.filters))
    turn, hits = await context.look_up("text", scoped, ExactHits)
    if hits is None:
        from cortex.query.parse import parse

        parse(question.query, question.match_type)  # no worker has checked the query
    hits = hits or ExactHits(match_type=question.match_type or "exact")
    results = _make_results(question, turn, hits)
    lines = question.detail == "auto"
    returned = sum(map(len, hits.highlight_lines)) if lines else len(results)
    suggestion = hits.suggestion
    if not results and not suggestion:
        suggestion = turn.explain_nothing(question.filters)
    suggestion = _add_share(turn, question, hits, suggestion)
    return {
        "query": question.query,
        "match_type": hits.match_type,
        "results": results,
        "total_found": hits.total_found,
        "total_returned": returned,
        "truncated": hits.truncated or len(results) < len(hits.chunks) or _has_more(question, hits),
        "suggestion": suggestion,
        **({"omitted": hits.omitted} if hits.omitted else {}),
        "metadata": {"took_ms": round(1000 * (time.perf_counter() - started)), "source": "exact"},
        "index": turn.index(),
    }


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
