"""Questions about structure: cortex_graph, cortex_outline and cortex_pattern, all of them the graph worker's to answer."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import orjson

from cortex.ask.dispatch import LANE_SHARE, Dispatch, nobody
from cortex.ask.questions import TOKEN_BYTES, TOKENS_MAX, TOKENS_MIN
from cortex.generation.current import Generation
from cortex.query.check import check_query
from cortex.terms.bounds import clamp
from ipc.errors import BadRequest, CortexError, NotReady
from ipc.messages import GraphHits, GraphSearch, OutlineSearch, PatternSearch


async def graph(dispatch: Dispatch, request: GraphSearch) -> dict[str, Any]:
    """The answer of cortex_graph. Raises BadRequest, and Unavailable when the graph worker cannot answer."""
    started = time.perf_counter()
    if not request.target.strip():
        raise BadRequest("The target is empty; pass the name of a type, function, method or file.")
    check_query(request.target)
    if request.to:
        check_query(request.to)
    hits, generation = await _ask(dispatch, request)
    echo = {"operation": request.operation, "target": (hits.target if hits else "") or request.target}
    answer = _answer(dispatch, echo, hits, generation, started)
    if hits is not None and hits.summary:
        answer["summary"] = hits.summary
    return answer


async def outline(dispatch: Dispatch, path: str, max_tokens: int) -> dict[str, Any]:
    """The answer of cortex_outline. Raises Unavailable when the graph worker cannot answer."""
    started = time.perf_counter()
    if path:
        check_query(path)
    budget = TOKEN_BYTES * clamp(max_tokens, TOKENS_MIN, TOKENS_MAX)
    hits, generation = await _ask(dispatch, OutlineSearch(path, budget))
    answer = _answer(dispatch, {"path": path}, hits, generation, started)
    answer["symbols_shown"] = hits.summary.get("shown", 0) if hits is not None else 0
    return answer


async def pattern(dispatch: Dispatch, request: PatternSearch) -> dict[str, Any]:
    """The answer of cortex_pattern. Raises BadRequest, and Unavailable when the graph worker cannot answer."""
    started = time.perf_counter()
    check_query(request.pattern)
    hits, generation = await _ask(dispatch, request)
    echo = {"pattern": request.pattern, "language": request.language}
    answer = _answer(dispatch, echo, hits, generation, started)
    answer["files_searched"] = hits.summary.get("files_searched", 0) if hits is not None else 0
    return answer


async def _ask(
    dispatch: Dispatch, request: GraphSearch | OutlineSearch | PatternSearch
) -> tuple[GraphHits | None, Generation]:
    """The graph worker's reply, None before the first generation, and the generation that it is of."""
    generation = await dispatch.first_generation()
    for final in (False, True):
        if not generation.number:
            break
        until = time.monotonic() + min(LANE_SHARE * dispatch.config.server.deadline_s, dispatch.left_s())
        try:
            asked = replace(request, generation=generation.number)
            return await dispatch.ask("graph", asked, GraphHits, until), generation
        except NotReady as error:
            if final:
                raise nobody([error]) from error
            generation = dispatch.freshness.current()
        except BadRequest:
            raise
        except CortexError as error:
            raise nobody([error]) from error
    return None, generation


def _answer(
    dispatch: Dispatch, echo: dict[str, Any], hits: GraphHits | None, generation: Generation, started: float
) -> dict[str, Any]:
    stale = dispatch.freshness.stale(hits.paths, generation) if hits is not None else frozenset()
    results = [
        orjson.Fragment(raw[:-1] + b',"stale":true}' if path in stale else raw)
        for path, raw in (zip(hits.paths, hits.results, strict=True) if hits is not None else ())
    ]
    answer: dict[str, Any] = {
        **echo,
        "results": results,
        "total_found": hits.total_found if hits is not None else 0,
        "total_returned": len(results),
        "truncated": hits is not None and hits.truncated,
        "suggestion": hits.suggestion if hits is not None else dispatch.freshness.explain_nothing(),
        "metadata": {"took_ms": round(1000 * (time.perf_counter() - started), 1), "source": "graph"},
    }
    if hits is not None and hits.candidates:
        answer["candidates"] = hits.candidates
    answer["index"] = dispatch.freshness.block(generation)
    return answer
