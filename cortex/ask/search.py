"""The answer of cortex_search: two lanes, asked at once and ranked together.

The text worker searches by words. The vector worker searches by meaning; it embeds the question
itself where that is quick, otherwise the embed worker is asked first. An answer needs one of the
two lanes. The ranking itself is in cortex/ranking.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import orjson

from cortex.ask.lines.line_request import make_entries, make_notes, request_lines
from cortex.ask.query_context import QueryContext, Turn, no_answer_error
from cortex.ask.questions import NO_FILTERS, Search, budget, count_fitting
from cortex.ranking import (
    Ranked,
    Reading,
    cite,
    define,
    prepare,
    rank,
    rank_by_cosine,
    read_question,
    score_candidates,
    weigh,
)
from cortex.system.errors import CortexError
from ipc.messages import (
    NO_COUNTS,
    Embed,
    Embedded,
    Fetch,
    Locate,
    Located,
    MeaningSearch,
    Show,
    Signals,
    TextSignals,
    VectorSearch,
    WordCounts,
)

#: candidates of each lane of the text worker, and of the vector worker: at least, and for each hit
#: of the answer. Higher numbers cost time on both sides and rank no better (docs/RANKING.md)
TEXT_CANDIDATES, VECTOR_CANDIDATES = 90, 45
TEXT_CANDIDATES_PER_HIT, VECTOR_CANDIDATES_PER_HIT = 4, 2
#: candidates of the vector worker where it alone is asked: enough for distinct files
ALONE_CANDIDATES, ALONE_CANDIDATES_PER_HIT = 64, 4
#: chunks that the text worker returns for a name in a pasted text: enough to see that too many
#: define it
NAME_CANDIDATES = 8
#: the workers of the lanes, in the order of their errors in a message
LANES = ("text", "embed", "vector")


@dataclass(frozen=True, slots=True)
class _Ranking:
    """Hits in order, the replies of the lanes, and sentences on omissions; `more`: whether further
    hits follow.
    """

    hits: list[Ranked]
    lanes: Lanes
    notes: tuple[str, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Lanes:
    """The replies of the workers to one question; None for a silent worker. `names` holds the
    signals of each name in the question, `places` the locations of its files and lines.
    """

    text: Signals | None
    vector: Signals | None
    places: Located | None = None
    names: tuple[Signals, ...] = ()

    @property
    def replies(self) -> list[Signals]:
        """The replies that came."""
        return [lane for lane in (self.text, self.vector) if lane is not None]

    @property
    def answered(self) -> list[str]:
        """The names of the workers that replied."""
        return [name for name, lane in (("text", self.text), ("vector", self.vector)) if lane is not None]


@dataclass(frozen=True, slots=True)
class SearchHits:
    """Ranked hits with the JSON of their chunks (same order); `notes` are sentences."""

    hits: tuple[Ranked, ...] = ()
    chunks: tuple[bytes, ...] = ()
    truncated: bool = False
    notes: tuple[str, ...] = ()


async def search(context: QueryContext, question: Search) -> dict[str, Any]:
    """Answer cortex_search. Raises BadRequest, and Unavailable when no lane can answer."""
    if question.detail == "auto":
        return await _search_lines(context, question.checked())
    turn, page = await find(context, question)
    stale = turn.stale(ranked.hit.path for ranked in page.hits)
    results = []
    for ranked, chunk in zip(page.hits, page.chunks, strict=True):
        result: dict[str, Any] = {
            "chunk": orjson.Fragment(chunk),
            "combined_score": round(ranked.score, 4),
        }
        if ranked.hit.path in stale:
            result["stale"] = True
        if question.explain:
            result["explain"] = ranked.explanation()
        results.append(result)
    answer: dict[str, Any] = {"results": results, "total": len(results)}
    if page.truncated:
        answer["truncated"] = True
    if not results:
        answer["suggestion"] = turn.explain_nothing(question.filters, question.min_score)
    answer["index"] = turn.index(page.notes)
    return answer


async def _search_lines(context: QueryContext, question: Search) -> dict[str, Any]:
    turn, answer = await context.attempt(lambda turn: _show_lines(turn, question))
    return answer or {
        "results": [],
        "total": 0,
        "suggestion": turn.explain_nothing(question.filters, question.min_score),
        "index": turn.index(),
    }


async def find(context: QueryContext, question: Search) -> tuple[Turn, SearchHits]:
    """Return ranked hits with their chunks, for cortex_search and code_context. Raises as
    `search`.
    """
    question = question.checked()
    turn, page = await context.attempt(lambda turn: _find(turn, question))
    return turn, page or SearchHits()


async def _find(turn: Turn, question: Search) -> SearchHits:
    listed = await _rank(turn, question)
    max_bytes = budget(question.max_tokens)
    keys = tuple(ranked.hit.key for ranked in listed.hits)
    detail = "full" if question.detail == "auto" else question.detail
    request = Fetch(keys, detail, max_bytes, read_question(question.query).query, turn.generation.number)
    reply = await turn.fetch(listed.lanes.answered, request, {})
    pairs = [(ranked, chunk) for ranked, chunk in zip(listed.hits, reply.chunks, strict=True) if chunk]
    count = count_fitting([len(chunk) for _, chunk in pairs], max_bytes)
    return SearchHits(
        hits=tuple(ranked for ranked, _ in pairs[:count]),
        chunks=tuple(chunk for _, chunk in pairs[:count]),
        truncated=reply.truncated or count < len(pairs) or listed.more,
        notes=listed.notes,
    )


async def _show_lines(turn: Turn, question: Search) -> dict[str, Any]:
    """Return the answer of detail "auto": the lines that answer, in the order of the ranking's
    files.
    """
    listed = await _rank(turn, question)
    reading, hits = read_question(question.query), [ranked.hit for ranked in listed.hits]
    scores = tuple(ranked.score for ranked in listed.hits)
    keys, speaking = score_candidates(listed.lanes.replies, {hit.path for hit in hits})
    request = Show(
        keys=tuple(hit.key for hit in hits),
        scores=scores,
        query=reading.query,
        limit=question.limit if question.counted else 0,
        places=reading.places,
        chosen=question.filters != NO_FILTERS,
        max_bytes=budget(question.max_tokens, turn.context.config.server.answer_tokens),
        generation=turn.generation.number,
        found=keys,
        speaking=speaking,
    )
    reply = await request_lines(turn, listed.lanes.answered, request)
    if question.counted and listed.more:  # otherwise weak hits are left out and counted
        reply = replace(reply, truncated=True)
    results = make_entries(reply, hits, scores, turn.stale(hit.path for hit in hits), "combined_score")
    if question.explain:
        for result, at in zip(results, reply.of, strict=True):
            result["explain"] = listed.hits[at].explanation()
    answer: dict[str, Any] = {"results": results, "total": len(results)} | make_notes(reply, results)
    if not results:
        answer["suggestion"] = turn.explain_nothing(question.filters, question.min_score)
    return answer | {"index": turn.index(listed.notes)}


async def find_hits(turn: Turn, question: Search) -> list[Ranked]:
    """Return the hits of `turn` without their chunks. Raises as `search`, and NotReady."""
    return (await _rank(turn, question.checked())).hits


async def _rank(turn: Turn, question: Search) -> _Ranking:
    reading = read_question(question.query)
    lanes = await ask_lanes(turn, question, reading)
    if lanes.text is None and lanes.vector is None:
        raise no_answer_error(turn.silent[name] for name in LANES if name in turn.silent)
    ranked = rank_lanes(lanes, question, reading, turn.context.config.fusion.bm25_weight)
    more = len(ranked) > question.limit
    return _Ranking(ranked[: question.limit], lanes, notes_of(lanes.vector), more)


async def ask_lanes(turn: Turn, question: Search, reading: Reading, counts: WordCounts = NO_COUNTS) -> Lanes:
    """Ask all lanes at once. Raises BadRequest; and NotReady, unless the turn is final."""
    question = replace(question, query=reading.query, filters=turn.context.scope_filters(question.filters))
    if question.mode == "semantic":
        return Lanes(None, await _ask_vectors(turn, question, alone=True))
    text, vector, (places, names), _ = await asyncio.gather(
        _ask_words(turn, question, counts),
        _ask_vectors(turn, question),
        _find_named(turn, question, reading),
        _prepare(reading.query),
    )
    return Lanes(text, vector, places, names)


async def _prepare(question: str) -> None:
    """Prepare the ranking of the question while the workers are busy with it."""
    prepare(question)


def rank_lanes(lanes: Lanes, question: Search, reading: Reading, bm25_weight: float) -> list[Ranked]:
    """Return the ranked hits: up to one more than `question.limit`, as a sign that more exist.
    Pure.
    """
    limit = question.limit + 1  # the extra hit shows that there are more
    if question.mode == "semantic":
        assert lanes.vector is not None
        return rank_by_cosine(lanes.vector, limit, question.min_score or 0.0)
    vector = lanes.vector if lanes.vector is not None and len(lanes.vector) else None
    weights = weigh(vectors=vector is not None, bm25_weight=bm25_weight)
    cited = cite(reading.places, lanes.places) if lanes.places is not None else None
    extras = [cited, *(define(name_signals, at) for at, name_signals in enumerate(lanes.names))]
    extra_signals = [signals for signals in extras if signals is not None]
    ranked = rank(reading.query, lanes.text, vector, weights, limit, extra_signals=extra_signals)
    floor = question.min_score
    return ranked if floor is None else [ranked_hit for ranked_hit in ranked if ranked_hit.score >= floor]


async def _ask_words(turn: Turn, question: Search, counts: WordCounts) -> Signals | None:
    request = TextSignals(
        question.query, text_candidates(question), question.filters, turn.generation.number, counts
    )
    return await turn.lane("text", request, Signals)


def text_candidates(question: Search) -> int:
    return max(TEXT_CANDIDATES, TEXT_CANDIDATES_PER_HIT * question.limit)


def vector_candidates(question: Search) -> int:
    least, for_each = VECTOR_CANDIDATES, VECTOR_CANDIDATES_PER_HIT
    if question.mode == "semantic":
        least, for_each = ALONE_CANDIDATES, ALONE_CANDIDATES_PER_HIT
    return max(least, for_each * (question.limit + 1))


async def _ask_vectors(turn: Turn, question: Search, *, alone: bool = False) -> Signals | None:
    limit, number = vector_candidates(question), turn.generation.number
    if turn.context.config.embedding.quick:
        meaning = MeaningSearch(question.query, limit, question.filters, number, alone)
        return await turn.lane("vector", meaning, Signals)
    embedded = await turn.lane("embed", Embed((question.query,)), Embedded)
    if embedded is None:
        return None
    request = VectorSearch(embedded.vectors[0], embedded.model, limit, question.filters, number, alone)
    return await turn.lane("vector", request, Signals)


async def _find_named(
    turn: Turn, question: Search, reading: Reading
) -> tuple[Located | None, tuple[Signals, ...]]:
    """Return the locations of the files and lines in a question, and the signals of its names.
    Nothing when the text worker is silent: its lane reports that.
    """
    if not (reading.places or reading.names):
        return None, ()
    number, filters = turn.generation.number, question.filters
    try:
        located, name_signals = await asyncio.gather(
            turn.ask("text", Locate(reading.places, filters, number), Located),
            asyncio.gather(
                *(
                    turn.ask("text", TextSignals(name, NAME_CANDIDATES, filters, number), Signals)
                    for name in reading.names
                )
            ),
        )
    except CortexError:
        return None, ()
    return located, tuple(name_signals)


def notes_of(vector: Signals | None) -> tuple[str, ...]:
    left_out = int(vector.stats.get("left_out", 0)) if vector is not None else 0
    if not left_out:
        return ()
    return (f"{left_out} chunks have no vector of the model in use and are found by words only.",)
