"""The answers of cortex_search and code_context: the hits of all projects of a question, in one
order.

The lanes of all projects are asked at once and ranked once, as if they came from one project
(cortex/ranking/multi_project.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import orjson

from cortex.ask.lanes import Lanes, ask_lanes, notes_of, rank_lanes, text_candidates, vector_candidates
from cortex.ask.multi_project.fan_out import FanOut, add_up, ask_each, at_home, attempt, count_words
from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.questions import NO_FILTERS, Search, budget, count_fitting
from cortex.ranking import Ranked, read_question, score_candidates
from cortex.ranking.multi_project import (
    join_meaning,
    join_names,
    join_places,
    join_words,
    project_key,
    split_hit,
)
from cortex.system.errors import BadRequest
from ipc.messages import NO_COUNTS, Chunks, CountWords, Fetch, Hit, Show, Shown

T = TypeVar("T")

#: smallest share of one project in bytes, and entries of several projects without a `limit`
LINES_BYTES_MIN, ENTRIES = 600, 15


@dataclass(frozen=True, slots=True)
class ProjectHit:
    """A hit with its project and path there; `worker_hit` has the path for the turn's workers."""

    turn: str
    project: str
    ranked: Ranked
    worker_hit: Hit

    @property
    def file(self) -> tuple[str, str]:
        """The project and the path; the id of a chunk without a file."""
        return self.project, self.ranked.hit.path or self.ranked.hit.id


@dataclass(frozen=True, slots=True)
class ProjectRanking:
    """The hits of all projects in one order. `lanes`: turn → the replies of its workers; `notes`:
    sentences; `more`: whether further hits follow.
    """

    hits: tuple[ProjectHit, ...]
    lanes: Mapping[str, Lanes]
    notes: tuple[str, ...]
    more: bool

    def hits_of(self, turn: str) -> list[ProjectHit]:
        return [hit for hit in self.hits if hit.turn == turn]

    def by_project(self) -> dict[tuple[str, str], list[ProjectHit]]:
        """Return (turn, project) → its hits."""
        hits: dict[tuple[str, str], list[ProjectHit]] = {}
        for hit in self.hits:
            hits.setdefault((hit.turn, hit.project), []).append(hit)
        return hits


@dataclass(frozen=True, slots=True)
class ProjectResult:
    """One result: the hit, and its chunk's JSON."""

    hit: ProjectHit
    chunk: bytes
    stale: bool


@dataclass(frozen=True, slots=True)
class SearchHits:
    """Results in one order; `fan_out` has the other facts of the answer, `notes` are sentences."""

    fan_out: FanOut
    results: tuple[ProjectResult, ...] = ()
    truncated: bool = False
    notes: tuple[str, ...] = ()

    def end(self, question: Search) -> dict[str, Any]:
        """Return the last fields of an answer with these results."""
        cut = {"truncated": True} if self.truncated else {}
        return cut | _end(self.fan_out, question, [result.hit.project for result in self.results], self.notes)


async def search(context: QueryContext, question: Search, projects: Sequence[str] = ()) -> dict[str, Any]:
    """Answer cortex_search for the projects that `projects` select, () for the context's own; then
    no result names its project. Raises BadRequest, and Unavailable when no lane can answer.
    """
    if question.detail == "auto":
        question = question.checked()
        fan_out, answer = await attempt(
            context, projects, lambda fan_out: _show_lines(context, fan_out, question)
        )
        return answer or {"results": [], "total": 0} | _end(fan_out, question)
    page = await find(context, question, projects)
    results = []
    for placed in page.results:
        ranked = placed.hit.ranked
        result = page.fan_out.name_project(placed.hit.project)
        result["chunk"], result["combined_score"] = orjson.Fragment(placed.chunk), round(ranked.score, 4)
        if placed.stale:
            result["stale"] = True
        if question.explain:
            result["explain"] = ranked.explanation()
        results.append(result)
    return {"results": results, "total": len(results)} | page.end(question)


def _end(
    fan_out: FanOut, question: Search, projects: Sequence[str] = (), notes: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the last fields of an answer; `projects` are those of its results."""
    why = {} if projects else {"suggestion": fan_out.explain_nothing(question.filters, question.min_score)}
    return why | {"index": fan_out.index(notes, set(projects))}


async def find(context: QueryContext, question: Search, projects: Sequence[str] = ()) -> SearchHits:
    """Return whole chunks, snippets or places. Arguments and errors as in `search`."""
    question = question.checked()
    fan_out, page = await attempt(context, projects, lambda fan_out: _find(context, fan_out, question))
    return page or SearchHits(fan_out)


async def _find(context: QueryContext, fan_out: FanOut, question: Search) -> SearchHits:
    listed = await _rank(fan_out, question, context.config.fusion.bm25_weight)
    max_bytes, query = budget(question.max_tokens), read_question(question.query).query
    detail = "full" if question.detail == "auto" else question.detail

    async def fetch(name: str, turn: Turn) -> Chunks:
        keys = tuple(hit.worker_hit.key for hit in listed.hits_of(name))
        request = Fetch(keys, detail, max_bytes, query, turn.generation.number)
        return await turn.fetch(listed.lanes[name].answered, request, {})

    replies = await ask_each(fan_out, fetch)
    chunks = {name: iter(replies[name].chunks if name in replies else ()) for name in fan_out.turns}
    pairs = [(hit, chunk) for hit in listed.hits if (chunk := next(chunks[hit.turn], b""))]
    count = count_fitting([len(chunk) for _, chunk in pairs], max_bytes)
    stale = fan_out.stale((hit.turn, hit.worker_hit.path) for hit, _ in pairs[:count])
    return SearchHits(
        fan_out=fan_out,
        results=tuple(
            ProjectResult(hit, chunk, hit.worker_hit.path in stale[hit.turn]) for hit, chunk in pairs[:count]
        ),
        truncated=any(reply.truncated for reply in replies.values()) or count < len(pairs) or listed.more,
        notes=listed.notes,
    )


async def _show_lines(context: QueryContext, fan_out: FanOut, question: Search) -> dict[str, Any]:
    """Answer detail "auto": the lines that answer, in the order of the ranking's files."""
    listed = await _rank(fan_out, question, context.config.fusion.bm25_weight)
    max_bytes = budget(question.max_tokens, context.config.server.answer_tokens)
    hits = listed.by_project()
    sizes = _divide(max_bytes, listed.hits)

    async def ask(name: str, turn: Turn) -> dict[str, Shown]:
        lanes, generations = listed.lanes[name], turn.generations(name)
        requests = {
            project: _make_request(
                question,
                placed,
                lanes,
                (sizes[project], generations[project]),
                is_joined=fan_out.plain is None,
            )
            for (other, project), placed in hits.items()
            if other == name
        }
        return await turn.ask_apart(lanes.answered, requests, Shown)

    every = await ask_each(fan_out, ask)
    replies = {(name, project): reply for name, shown in every.items() for project, reply in shown.items()}
    rows = [row for key, reply in replies.items() for row in _entries(fan_out, reply, hits[key], question)]
    rank = {hit.file: at for at, hit in reversed([*enumerate(listed.hits)])}
    rows.sort(key=lambda row: rank[row[0].file])
    if len(replies) > 1:  # otherwise the worker itself has cut them to fit
        count = count_fitting([size for _, size, _ in rows], max_bytes)
        count = min(count, question.limit if question.counted else ENTRIES)
        cut, rows = count < len(rows), rows[:count]
    else:
        cut = False
    results = [result for _, _, result in rows]
    cut = cut or any(reply.truncated for reply in replies.values()) or (question.counted and listed.more)
    answer: dict[str, Any] = {"results": results, "total": len(results)}
    answer |= _make_notes(fan_out, replies, results, truncated=cut)
    return answer | _end(fan_out, question, [hit.project for hit, _, _ in rows], listed.notes)


def _make_request(
    question: Search, hits: Sequence[ProjectHit], lanes: Lanes, bounds: tuple[int, int], *, is_joined: bool
) -> Show:
    """Return the request for one project's lines; `bounds`: its bytes, and its generation.
    `is_joined`: keys may hold a project's number.
    """
    reading, (max_bytes, generation) = read_question(question.query), bounds
    keys, speaking = score_candidates(lanes.replies, {hit.worker_hit.path for hit in hits})
    return Show(
        keys=tuple(hit.ranked.hit.key for hit in hits),
        scores=tuple(hit.ranked.score for hit in hits),
        query=reading.query,
        limit=question.limit if question.counted else 0,
        places=reading.places,
        chosen=question.filters != NO_FILTERS,
        max_bytes=max_bytes,
        generation=generation,
        found=tuple(map(project_key, keys)) if is_joined else keys,
        speaking=speaking,
    )


def _divide(max_bytes: int, hits: Sequence[ProjectHit]) -> dict[str, int]:
    """Return project → its bytes of an answer, by the summed scores of its files."""
    best = {hit.file: hit.ranked.score for hit in reversed(hits)}
    total = sum(best.values()) or 1.0
    shares: dict[str, float] = {}
    for (project, _), score in best.items():
        shares[project] = shares.get(project, 0.0) + score / total
    if len(shares) < 2:
        return dict.fromkeys(shares, max_bytes)
    return {
        project: min(max(LINES_BYTES_MIN, round(max_bytes * share)), max_bytes)
        for project, share in shares.items()
    }


def _entries(
    fan_out: FanOut, reply: Shown, hits: Sequence[ProjectHit], question: Search
) -> Iterator[tuple[ProjectHit, int, dict[str, Any]]]:
    """Yield (hit, bytes, result) of each entry of one project: its lines, and the score in two
    digits.

    The score is that of the file's best hit, because entries of one file stand together.
    """
    best = {hit.file: hit.ranked.score for hit in reversed(hits)}
    stale = fan_out.stale((hit.turn, hit.worker_hit.path) for hit in hits)
    for at, body in zip(reply.of, reply.entries, strict=True):
        hit = hits[at]
        result = fan_out.name_project(hit.project)
        result |= {"chunk": orjson.Fragment(body), "combined_score": round(best[hit.file], 2)}
        if hit.worker_hit.path in stale[hit.turn]:
            result["stale"] = True
        if question.explain:
            result["explain"] = hit.ranked.explanation()
        yield hit, len(body), result


def _make_notes(
    fan_out: FanOut,
    replies: Mapping[tuple[str, str], Shown],
    results: Sequence[Mapping[str, Any]],
    *,
    truncated: bool,
) -> dict[str, Any]:
    """Return the fields on lines that the answer leaves out, and the next step for the reader."""
    is_home = fan_out.home is not None
    more = [
        place if is_home else f"{project}:{place}"
        for (_, project), reply in replies.items()
        for place in reply.more
    ]
    omitted = add_up(reply.omitted for reply in replies.values())
    notes: dict[str, Any] = {"truncated": True} if truncated else {}
    notes |= {"more": more} if more else {}
    notes |= {"omitted": omitted} if omitted else {}
    if any(result.get("stale") for result in results):
        notes["next"] = "Read the stale files: they were saved since."
    elif truncated:
        narrower = "`paths`" if is_home else "`paths` or `projects`"
        notes["next"] = f"There is more: raise `max_tokens` or `limit`, or narrow by {narrower}."
    return notes


async def find_hits(turn: Turn, question: Search) -> list[Ranked]:
    """Return the hits of `turn` without their chunks. Raises as `search`, and NotReady."""
    listed = await _rank(at_home(turn), question.checked(), turn.context.config.fusion.bm25_weight)
    return [hit.ranked for hit in listed.hits]


async def _rank(fan_out: FanOut, question: Search, bm25_weight: float) -> ProjectRanking:
    """Rank all projects' hits. Raises BadRequest, NotReady, Unavailable if none answers."""
    reading = read_question(question.query)
    spaces = {name: _vector_space(turn) for name, turn in fan_out.turns.items() if fan_out.plain is None}
    if question.mode == "semantic" and len(set(spaces.values())) > 1:
        raise BadRequest(
            "`mode` semantic compares cosines, and these projects are embedded by different models; leave `mode` out, or "
            "name projects of one model."
        )
    counts = NO_COUNTS
    if question.mode != "semantic":
        counts = await count_words(fan_out, CountWords(reading.query))

    async def ask(_name: str, turn: Turn) -> Lanes:
        return await ask_lanes(fan_out.limit_wait(turn, turn.until), question, reading, counts)

    lanes = dict.fromkeys(fan_out.turns, Lanes(None, None)) | await ask_each(fan_out, ask)
    if not any(project_lanes.replies for project_lanes in lanes.values()):
        raise fan_out.no_answer_error()
    joined = lanes[fan_out.plain] if fan_out.plain is not None else _join(fan_out, lanes, question, spaces)
    ranked = rank_lanes(joined, question, reading, bm25_weight)
    return ProjectRanking(
        hits=tuple(_place(fan_out, ranked_hit) for ranked_hit in ranked[: question.limit]),
        lanes=lanes,
        notes=notes_of(joined.vector),
        more=len(ranked) > question.limit,
    )


def _join(fan_out: FanOut, lanes: Mapping[str, Lanes], question: Search, spaces: Mapping[str, str]) -> Lanes:
    """Return the lanes of all projects as those of one, which holds all their candidates."""
    by_number = {fan_out.numbers[name]: project_lanes for name, project_lanes in lanes.items()}

    def pick(get: Callable[[Lanes], T | None]) -> dict[int, T]:
        replies = {number: get(project_lanes) for number, project_lanes in by_number.items()}
        return {number: reply for number, reply in replies.items() if reply is not None}

    count = max(len(project_lanes.names) for project_lanes in lanes.values())
    names = (
        join_names(
            {
                number: project_lanes.names[at]
                for number, project_lanes in by_number.items()
                if project_lanes.names
            }
        )
        for at in range(count)
    )
    return Lanes(
        join_words(pick(lambda project_lanes: project_lanes.text), text_candidates(question)),
        join_meaning(
            pick(lambda project_lanes: project_lanes.vector),
            vector_candidates(question),
            {fan_out.numbers[name]: space for name, space in spaces.items()},
        ),
        join_places(pick(lambda project_lanes: project_lanes.places)),
        tuple(signals for signals in names if signals is not None),
    )


def _place(fan_out: FanOut, ranked: Ranked) -> ProjectHit:
    if fan_out.plain is not None:
        return ProjectHit(fan_out.plain, fan_out.plain, ranked, ranked.hit)
    number, hit = split_hit(ranked.hit)
    turn = next(name for name in reversed(fan_out.numbers) if fan_out.numbers[name] <= number)
    worker_hit = fan_out.turns[turn].own_hit(number - fan_out.numbers[turn], hit)
    return ProjectHit(turn, fan_out.names[number], replace(ranked, hit=hit), worker_hit)


def _vector_space(turn: Turn) -> str:
    """Return the identity of the embedding: only vectors with the same one can be compared."""
    embedding = turn.context.config.embedding
    return f"{embedding.provider} {embedding.model or embedding.endpoint or embedding.model_path}"
