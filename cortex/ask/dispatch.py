"""One question to one answer: whom to ask, how long, what if one is silent. Ranks nothing itself, parses no chunk.

Every lane gets LANE_SHARE of the deadline. An answer is made of one generation; a lane that stays silent is left out
and named in `index.degraded`, until no lane is left that the question needs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

import orjson

from cortex.ask.freshness import Freshness
from cortex.ask.questions import (
    LIMIT_MAX,
    NO_FILTERS,
    OFFSET_MAX,
    TOKEN_BYTES,
    TOKENS_MAX,
    TOKENS_MIN,
    Exact,
    Search,
    fitting,
)
from cortex.generation.current import Generation
from cortex.query.check import check_query
from cortex.ranking import Ranked, Reading, cite, define, rank, rank_by_cosine, read, weigh
from cortex.settings.config import Config
from cortex.terms.bounds import clamp
from ipc.arrays import Array
from ipc.errors import BadRequest, CortexError, NotReady, Unavailable
from ipc.messages import (
    Chunks,
    Embed,
    Embedded,
    ExactHits,
    ExactSearch,
    Fetch,
    Filters,
    Locate,
    Located,
    Message,
    Signals,
    TextSignals,
    VectorSearch,
)

M = TypeVar("M")

#: what a lane gets of the deadline of a call
LANE_SHARE = 0.6
#: seconds that a call waits for the first generation
FIRST_GENERATION_S = 8.0
#: seconds between two looks at CURRENT while waiting for the first generation
LOOK_S = 0.05
#: chunks that each lane of the text worker returns, and the vector worker, at least, and for each hit of the answer. More
#: cost more on both sides and rank no better: docs/RANKING.md has the figures
TEXT_CANDIDATES, VECTOR_CANDIDATES = 90, 45
TEXT_CANDIDATES_PER_HIT, VECTOR_CANDIDATES_PER_HIT = 4, 2
#: chunks that the text worker returns for a name in a pasted text: enough to see that too many define it
NAME_CANDIDATES = 8
#: a set whose workers have just been started: seconds after the front's start in which an absent worker is waited for
SETTLE_S = 10.0


class Asker(Protocol):
    """What dispatch needs of ipc.client.Client."""

    async def ask(self, worker: str, message: Message, deadline_s: float) -> Message: ...


@dataclass(frozen=True, slots=True)
class Found:
    """Ranked hits with the JSON of their chunks (same order), all of `generation`."""

    generation: Generation
    hits: tuple[Ranked, ...] = ()
    chunks: tuple[bytes, ...] = ()
    truncated: bool = False
    degraded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Lane:
    """A lane's reply, or why there is none. `worker` is who did not answer."""

    signals: Signals | None = None
    error: CortexError | None = None
    worker: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Asks for one front. `until` is the monotonic time at which the call that is under way has to be answered."""

    config: Config
    client: Asker
    freshness: Freshness
    until: float
    #: monotonic time until which an absent worker may still be starting
    settled: float = 0.0

    async def search(self, question: Search) -> dict[str, Any]:
        """The answer of cortex_search. Raises BadRequest, and Unavailable when no lane can answer."""
        found = await self.find(question)
        stale = self.freshness.stale((one.hit.path for one in found.hits), found.generation)
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
            answer["suggestion"] = self.explain_nothing(question, found)
        answer["index"] = self.freshness.block(found.generation, found.degraded, found.notes)
        return answer

    async def find(self, question: Search) -> Found:
        """Ranked hits with their chunks; what code_context and cortex_search are made of."""
        check_query(question.query)
        question = replace(question, limit=clamp(question.limit, 1, LIMIT_MAX))
        generation = await self.first_generation()
        if not generation.number:
            return Found(generation)
        for final in (False, True):
            try:
                return await self._find(question, generation, final=final)
            except NotReady:
                if final:
                    raise
                generation = self.freshness.current()  # a worker was ahead of us, or behind: ask once more
        raise AssertionError("unreachable")

    async def _find(self, question: Search, generation: Generation, *, final: bool) -> Found:
        reading = read(question.query)
        question = replace(question, query=reading.query)
        text, vector, named = await self._lanes(question, reading, generation)
        silent = [lane for lane in (text, vector) if lane.error is not None]
        if not final and any(isinstance(lane.error, NotReady) for lane in silent):
            raise NotReady("another generation")
        needed = [vector] if question.mode == "semantic" else [text, vector]
        if all(lane.error is not None for lane in needed):
            raise nobody([lane.error for lane in needed if lane.error is not None])
        ranked = self._rank(question, text.signals, vector.signals, named)
        answered = [name for name, lane in (("text", text), ("vector", vector)) if lane.signals is not None]
        reply = await self._fetch(question, generation, ranked, answered)
        budget = TOKEN_BYTES * clamp(question.max_tokens, TOKENS_MIN, TOKENS_MAX)
        kept = [(one, chunk) for one, chunk in zip(ranked, reply.chunks, strict=True) if chunk]
        count = fitting([len(chunk) for _, chunk in kept], budget)
        return Found(
            generation=generation,
            hits=tuple(one for one, _ in kept[:count]),
            chunks=tuple(chunk for _, chunk in kept[:count]),
            truncated=reply.truncated or count < len(kept),
            degraded=tuple(sorted({lane.worker for lane in silent if lane.worker})),
            notes=tuple(note for lane in (text, vector) for note in lane.notes),
        )

    def _rank(
        self, question: Search, text: Signals | None, vector: Signals | None, named: Sequence[Signals]
    ) -> list[Ranked]:
        if question.mode == "semantic":
            assert vector is not None
            ranked = rank_by_cosine(vector, question.limit)
        else:
            vector = vector if vector is not None and vector.hits else None
            weights = weigh(vectors=vector is not None, bm25_weight=self.config.fusion.bm25_weight)
            ranked = rank(question.query, text, vector, weights, question.limit, named=named)
        floor = question.min_score
        return ranked if floor is None else [one for one in ranked if one.score >= floor]

    async def _lanes(
        self, question: Search, reading: Reading, generation: Generation
    ) -> tuple[_Lane, _Lane, list[Signals]]:
        """(text, vector, what the question names), asked at the same time."""
        until = time.monotonic() + min(LANE_SHARE * self.config.server.deadline_s, self.left_s())
        if question.mode == "semantic":
            return _Lane(), await self._vector_lane(question, generation, until), []
        text, vector, named = await asyncio.gather(
            self._text_lane(question, generation, until),
            self._vector_lane(question, generation, until),
            self._named(question, reading, generation, until),
        )
        return text, vector, named

    async def _named(
        self, question: Search, reading: Reading, generation: Generation, until: float
    ) -> list[Signals]:
        """The signals of the files, lines and names in a question; none when the text worker, whose lane says so, is away."""
        if not (reading.places or reading.names):
            return []
        number, filters = generation.number, question.filters
        try:
            located, found = await asyncio.gather(
                self.ask("text", Locate(reading.places, filters, number), Located, until),
                asyncio.gather(
                    *(
                        self.ask("text", TextSignals(name, NAME_CANDIDATES, filters, number), Signals, until)
                        for name in reading.names
                    )
                ),
            )
        except CortexError:
            return []
        made = [cite(reading.places, located), *(define(one, at) for at, one in enumerate(found))]
        return [signals for signals in made if signals is not None]

    async def _text_lane(self, question: Search, generation: Generation, until: float) -> _Lane:
        limit = max(TEXT_CANDIDATES, TEXT_CANDIDATES_PER_HIT * question.limit)
        request = TextSignals(question.query, limit, question.filters, generation.number)
        return await self._lane("text", lambda: self.ask("text", request, Signals, until))

    async def _vector_lane(self, question: Search, generation: Generation, until: float) -> _Lane:
        embedded: list[Embedded] = []

        async def embed() -> Signals | None:
            embedded.append(await self.ask("embed", Embed((question.query,)), Embedded, until))
            return None

        lane = await self._lane("embed", embed)
        if lane.error is not None:
            return lane
        vector: Array = embedded[0].vectors[0]
        limit = question.limit
        if question.mode != "semantic":
            limit = max(VECTOR_CANDIDATES, VECTOR_CANDIDATES_PER_HIT * limit)
        request = VectorSearch(vector, embedded[0].model, limit, question.filters, generation.number)
        lane = await self._lane("vector", lambda: self.ask("vector", request, Signals, until))
        left_out = int(lane.signals.stats.get("left_out", 0)) if lane.signals is not None else 0
        if left_out:
            lane.notes.append(
                f"{left_out} chunks have no vector of the model in use and are found by words only."
            )
        return lane

    async def _lane(self, worker: str, ask: Callable[[], Awaitable[Signals | None]]) -> _Lane:
        """What `ask` returns; an error of any kind but the caller's own is kept for the decision who is left out."""
        try:
            return _Lane(await ask())
        except BadRequest:
            raise
        except CortexError as error:
            return _Lane(error=error, worker=worker, notes=[str(error)])

    async def _fetch(
        self, question: Search, generation: Generation, ranked: Sequence[Ranked], answered: Sequence[str]
    ) -> Chunks:
        """The chunks of the hits from a worker that has just answered; from the other when that one fails."""
        if not ranked:
            return Chunks(generation.number, truncated=False, chunks=())
        request = Fetch(
            keys=tuple(one.hit.key for one in ranked),
            detail=question.detail,
            max_bytes=TOKEN_BYTES * clamp(question.max_tokens, TOKENS_MIN, TOKENS_MAX),
            query=question.query,
            generation=generation.number,
        )
        errors: list[CortexError] = []
        for worker in answered:
            try:
                return await self.ask(worker, request, Chunks, time.monotonic() + self.left_s())
            except NotReady:
                raise
            except CortexError as error:
                errors.append(error)
        raise nobody(errors)

    async def exact(self, question: Exact) -> dict[str, Any]:
        """The answer of cortex_exact. Raises BadRequest, and Unavailable when the text worker cannot answer."""
        started = time.perf_counter()
        check_query(question.query)
        generation = await self.first_generation()
        if not generation.number:
            return self._exact_answer(question, _no_hits(question), generation, started)
        budget = TOKEN_BYTES * clamp(question.max_tokens, TOKENS_MIN, TOKENS_MAX)
        for final in (False, True):
            request = ExactSearch(
                query=question.query,
                match_type=question.match_type,
                limit=clamp(question.limit, 1, LIMIT_MAX),
                offset=clamp(question.offset, 0, OFFSET_MAX),
                filters=question.filters,
                detail=question.detail,
                max_bytes=budget,
                generation=generation.number,
            )
            until = time.monotonic() + min(LANE_SHARE * self.config.server.deadline_s, self.left_s())
            try:
                hits = await self.ask("text", request, ExactHits, until)
            except NotReady as error:
                if final:
                    raise nobody([error]) from error
                generation = self.freshness.current()
            except BadRequest:
                raise
            except CortexError as error:
                raise nobody([error]) from error
            else:
                return self._exact_answer(question, hits, generation, started)
        raise AssertionError("unreachable")

    def _exact_answer(
        self, question: Exact, hits: ExactHits, generation: Generation, started: float
    ) -> dict[str, Any]:
        stale = self.freshness.stale((hit.path for hit in hits.hits), generation)
        budget = TOKEN_BYTES * clamp(question.max_tokens, TOKENS_MIN, TOKENS_MAX)
        sizes = [
            len(chunk) + sum(map(len, marked))
            for chunk, marked in zip(hits.chunks, hits.highlights, strict=True)
        ]
        count = fitting(sizes, budget)
        results = []
        for at in range(count):
            result: dict[str, Any] = {
                "chunk": orjson.Fragment(hits.chunks[at]),
                "score": hits.scores[at],
                "highlights": hits.highlights[at],
                "highlight_lines": hits.highlight_lines[at],
            }
            if hits.hits[at].path in stale:
                result["stale"] = True
            results.append(result)
        suggestion = hits.suggestion
        if not results and not suggestion:
            suggestion = self._nothing(generation, question.filters, None)
        return {
            "query": question.query,
            "match_type": hits.match_type,
            "results": results,
            "total_found": hits.total_found,
            "total_returned": count,
            "truncated": hits.truncated or count < len(hits.chunks),
            "suggestion": suggestion,
            "metadata": {"took_ms": round(1000 * (time.perf_counter() - started), 1), "source": "exact"},
            "index": self.freshness.block(generation),
        }

    def explain_nothing(self, question: Search, found: Found) -> str:
        """Why `found` is empty, in a sentence."""
        return self._nothing(found.generation, question.filters, question.min_score)

    def _nothing(self, generation: Generation, filters: Filters, floor: float | None) -> str:
        """Why an answer is empty; there always is a reason."""
        if not generation.number:
            return self.freshness.explain_nothing()
        if not generation.rows:
            return f"The index holds nothing yet. {self.freshness.explain_nothing()}"
        if floor is not None:
            return f"No hit reaches min_score {floor:g}; leave it out to see the best there are."
        if filters != NO_FILTERS:
            return (
                "Nothing matches with these filters (chunk_types, tags, paths, exclude_paths); loosen them."
            )
        return "Nothing in the index shares a word or a meaning with the query; try other words."

    async def first_generation(self) -> Generation:
        """The published generation; waits for the first one, and returns EMPTY when it does not come in time.

        Waits as well while a watcher that has just started reads what was indexed before it.
        """
        until = time.monotonic() + min(FIRST_GENERATION_S, self.left_s() - 1.0)
        while True:
            generation = self.freshness.current()
            if generation.number and not self._just_starting(generation):
                return generation
            if time.monotonic() >= until:
                return generation
            await asyncio.sleep(LOOK_S)

    def _just_starting(self, generation: Generation) -> bool:
        if self.freshness.progress().indexing:
            return False  # may take minutes; what there is is served meanwhile
        starting = time.monotonic() < self.settled
        return bool(generation.backlog) or (starting and self.freshness.behind(generation))

    async def ask(self, worker: str, message: Message, kind: type[M], until: float) -> M:
        """One reply of the class `kind`. Raises what the worker raised, and Unavailable for silence."""
        while True:
            left = until - time.monotonic()
            if left <= 0:
                raise Unavailable(f"The {worker} worker did not answer in time; see `cortex status`.")
            try:
                reply = await self.client.ask(worker, message, left)
            except Unavailable:
                if time.monotonic() >= min(until, self.settled):
                    raise
                await asyncio.sleep(LOOK_S)  # the set has just been started, and this worker with it
                continue
            if not isinstance(reply, kind):
                raise Unavailable(f"The {worker} worker answered with a {type(reply).__name__}.")
            return reply

    def left_s(self) -> float:
        return max(0.0, self.until - time.monotonic())


def nobody(errors: Sequence[CortexError]) -> Unavailable:
    """Nobody is left who could answer: one sentence for each reason, each once."""
    return Unavailable(" ".join(dict.fromkeys(str(error) for error in errors)) or "No worker answers.")


def _no_hits(question: Exact) -> ExactHits:
    return ExactHits(
        generation=0,
        match_type=question.match_type or "exact",
        hits=(),
        scores=(),
        highlights=(),
        highlight_lines=(),
        total_found=0,
        truncated=False,
        suggestion="",
        chunks=(),
    )
