"""The answer of cortex_search: two lanes are asked at once and ranked together.

The lane of the words is the text worker's; that of the meaning is the vector worker's, which
embeds the question itself where that is quick: else the embed worker is asked first. An answer
needs one of them. The ranking itself is in cortex/ranking.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import orjson

from cortex.ask.line_request import entries, notes, show
from cortex.ask.query_context import Asking, Turn, nobody
from cortex.ask.questions import NO_FILTERS, Search, budget, fitting
from cortex.ranking import (
    Ranked,
    Reading,
    cite,
    define,
    prepare,
    rank,
    rank_by_cosine,
    read,
    tell_speaking,
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

#: chunks that each lane of the text worker returns, and the vector worker: at least, and for each
#: hit of the answer. Higher numbers cost time on both sides and rank no better (docs/RANKING.md)
TEXT_CANDIDATES, VECTOR_CANDIDATES = 90, 45
TEXT_CANDIDATES_PER_HIT, VECTOR_CANDIDATES_PER_HIT = 4, 2
#: and that the vector worker returns where nobody else is asked: enough for distinct files
ALONE_CANDIDATES, ALONE_CANDIDATES_PER_HIT = 64, 4
#: chunks that the text worker returns for a name in a pasted text: enough to see that too many
#: define it
NAME_CANDIDATES = 8
#: the workers of the lanes, in the order in which their errors are told
LANES = ("text", "embed", "vector")


@dataclass(frozen=True, slots=True)
class _Listed:
    """The hits in order, the workers that answered, sentences about what was left out; `more`:
    whether there are hits behind the last of them.
    """

    hits: list[Ranked]
    lanes: Lanes
    notes: tuple[str, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class Lanes:
    """What the workers told of one question, None where one was silent: `names` are the signals of
    each name in it, `places` where its files and lines are.
    """

    text: Signals | None
    vector: Signals | None
    places: Located | None = None
    names: tuple[Signals, ...] = ()

    @property
    def told(self) -> list[Signals]:
        """What those told that did."""
        return [lane for lane in (self.text, self.vector) if lane is not None]

    @property
    def answered(self) -> list[str]:
        """The workers that did."""
        return [name for name, lane in (("text", self.text), ("vector", self.vector)) if lane is not None]


@dataclass(frozen=True, slots=True)
class Found:
    """Ranked hits with the JSON of their chunks (same order); `notes` are sentences."""

    hits: tuple[Ranked, ...] = ()
    chunks: tuple[bytes, ...] = ()
    truncated: bool = False
    notes: tuple[str, ...] = ()


async def search(asking: Asking, question: Search) -> dict[str, Any]:
    """Raises BadRequest, and Unavailable when no lane can answer."""
    if question.detail == "auto":
        return await _search_lines(asking, question.checked())
    turn, found = await find(asking, question)
    stale = turn.stale(one.hit.path for one in found.hits)
    results = []
    for one, chunk in zip(found.hits, found.chunks, strict=True):
        result: dict[str, Any] = {
            "chunk": orjson.Fragment(chunk),
            "combined_score": round(one.score, 4),
        }
        if one.hit.path in stale:
            result["stale"] = True
        if question.explain:
            result["explain"] = one.explanation()
        results.append(result)
    answer: dict[str, Any] = {"results": results, "total": len(results)}
    if found.truncated:
        answer["truncated"] = True
    if not results:
        answer["suggestion"] = turn.explain_nothing(question.filters, question.min_score)
    answer["index"] = turn.index(found.notes)
    return answer


async def _search_lines(asking: Asking, question: Search) -> dict[str, Any]:
    turn, answer = await asking.attempt(lambda turn: _show(turn, question))
    return answer or {
        "results": [],
        "total": 0,
        "suggestion": turn.explain_nothing(question.filters, question.min_score),
        "index": turn.index(),
    }


async def find(asking: Asking, question: Search) -> tuple[Turn, Found]:
    """What cortex_search and code_context are made of. Raises as `search`."""
    question = question.checked()
    turn, found = await asking.attempt(lambda turn: _find(turn, question))
    return turn, found or Found()


async def _find(turn: Turn, question: Search) -> Found:
    listed = await _ranked(turn, question)
    max_bytes = budget(question.max_tokens)
    keys = tuple(one.hit.key for one in listed.hits)
    detail = "full" if question.detail == "auto" else question.detail
    request = Fetch(keys, detail, max_bytes, read(question.query).query, turn.generation.number)
    reply = await turn.fetch(listed.lanes.answered, request, {})
    kept = [(one, chunk) for one, chunk in zip(listed.hits, reply.chunks, strict=True) if chunk]
    count = fitting([len(chunk) for _, chunk in kept], max_bytes)
    return Found(
        hits=tuple(one for one, _ in kept[:count]),
        chunks=tuple(chunk for _, chunk in kept[:count]),
        truncated=reply.truncated or count < len(kept) or listed.more,
        notes=listed.notes,
    )


async def _show(turn: Turn, question: Search) -> dict[str, Any]:
    """The answer of detail "auto": the lines that answer, in the order of the ranking's files."""
    listed = await _ranked(turn, question)
    reading, hits = read(question.query), [one.hit for one in listed.hits]
    scores = tuple(one.score for one in listed.hits)
    found, speaking = tell_speaking(listed.lanes.told, {hit.path for hit in hits})
    request = Show(
        keys=tuple(hit.key for hit in hits),
        scores=scores,
        query=reading.query,
        limit=question.limit if question.counted else 0,
        places=reading.places,
        chosen=question.filters != NO_FILTERS,
        max_bytes=budget(question.max_tokens, turn.asking.config.server.answer_tokens),
        generation=turn.generation.number,
        found=found,
        speaking=speaking,
    )
    shown = await show(turn, listed.lanes.answered, request)
    if question.counted and listed.more:  # else what is weak is left out, and counted
        shown = replace(shown, truncated=True)
    results = entries(shown, hits, scores, turn.stale(hit.path for hit in hits), "combined_score")
    if question.explain:
        for result, at in zip(results, shown.of, strict=True):
            result["explain"] = listed.hits[at].explanation()
    answer: dict[str, Any] = {"results": results, "total": len(results)} | notes(shown, results)
    if not results:
        answer["suggestion"] = turn.explain_nothing(question.filters, question.min_score)
    return answer | {"index": turn.index(listed.notes)}


async def find_hits(turn: Turn, question: Search) -> list[Ranked]:
    """The hits of `turn` alone, without their chunks. Raises as `search`, and NotReady."""
    return (await _ranked(turn, question.checked())).hits


async def _ranked(turn: Turn, question: Search) -> _Listed:
    reading = read(question.query)
    lanes = await ask_lanes(turn, question, reading)
    if lanes.text is None and lanes.vector is None:
        raise nobody(turn.silent[name] for name in LANES if name in turn.silent)
    ranked = rank_lanes(lanes, question, reading, turn.asking.config.fusion.bm25_weight)
    more = len(ranked) > question.limit
    return _Listed(ranked[: question.limit], lanes, notes_of(lanes.vector), more)


async def ask_lanes(turn: Turn, question: Search, reading: Reading, counts: WordCounts = NO_COUNTS) -> Lanes:
    """Asks all lanes at once. Raises BadRequest; and NotReady, unless the turn is final."""
    question = replace(question, query=reading.query, filters=turn.asking.within(question.filters))
    if question.mode == "semantic":
        return Lanes(None, await _vectors(turn, question, alone=True))
    text, vector, (places, names), _ = await asyncio.gather(
        _words(turn, question, counts),
        _vectors(turn, question),
        _named(turn, question, reading),
        _prepared(reading.query),
    )
    return Lanes(text, vector, places, names)


async def _prepared(question: str) -> None:
    """What a ranking needs of the question alone, while the workers are busy with it."""
    prepare(question)


def rank_lanes(lanes: Lanes, question: Search, reading: Reading, bm25_weight: float) -> list[Ranked]:
    """The hits, one more than are wanted where there is one. Pure."""
    limit = question.limit + 1  # one more says that there is more
    if question.mode == "semantic":
        assert lanes.vector is not None
        return rank_by_cosine(lanes.vector, limit, question.min_score or 0.0)
    vector = lanes.vector if lanes.vector is not None and len(lanes.vector) else None
    weights = weigh(vectors=vector is not None, bm25_weight=bm25_weight)
    cited = cite(reading.places, lanes.places) if lanes.places is not None else None
    made = [cited, *(define(one, at) for at, one in enumerate(lanes.names))]
    named = [signals for signals in made if signals is not None]
    ranked = rank(reading.query, lanes.text, vector, weights, limit, named=named)
    floor = question.min_score
    return ranked if floor is None else [one for one in ranked if one.score >= floor]


async def _words(turn: Turn, question: Search, counts: WordCounts) -> Signals | None:
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


async def _vectors(turn: Turn, question: Search, *, alone: bool = False) -> Signals | None:
    limit, number = vector_candidates(question), turn.generation.number
    if turn.asking.config.embedding.quick:
        meaning = MeaningSearch(question.query, limit, question.filters, number, alone)
        return await turn.lane("vector", meaning, Signals)
    embedded = await turn.lane("embed", Embed((question.query,)), Embedded)
    if embedded is None:
        return None
    request = VectorSearch(embedded.vectors[0], embedded.model, limit, question.filters, number, alone)
    return await turn.lane("vector", request, Signals)


async def _named(
    turn: Turn, question: Search, reading: Reading
) -> tuple[Located | None, tuple[Signals, ...]]:
    """What is known of the files, lines and names in a question: where they are, and what defines
    each name. Nothing when the text worker is away: its lane says so.
    """
    if not (reading.places or reading.names):
        return None, ()
    number, filters = turn.generation.number, question.filters
    try:
        located, found = await asyncio.gather(
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
    return located, tuple(found)


def notes_of(vector: Signals | None) -> tuple[str, ...]:
    left_out = int(vector.stats.get("left_out", 0)) if vector is not None else 0
    if not left_out:
        return ()
    return (f"{left_out} chunks have no vector of the model in use and are found by words only.",)
