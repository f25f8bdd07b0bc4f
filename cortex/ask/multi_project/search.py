"""The answers of cortex_search and code_context for several projects: all lanes are ranked once, as
if they came from one project (cortex/ranking/multi_project.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import orjson

from cortex.ask.lines.line_request import make_entries
from cortex.ask.multi_project.fan_out import FanOut, ask_each, attempt, limit_wait
from cortex.ask.multi_project.word_counts import count_words
from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.questions import NO_FILTERS, Search, budget, count_fitting
from cortex.ask.search import (
    Lanes,
    ask_lanes,
    notes_of,
    rank_lanes,
    text_candidates,
    vector_candidates,
)
from cortex.ranking import Ranked, Reading, read_question, score_candidates
from cortex.ranking.multi_project import (
    join_meaning,
    join_names,
    join_places,
    join_words,
    project_key,
    split_hit,
)
from cortex.system.errors import BadRequest
from ipc.messages import NO_COUNTS, Chunks, CountWords, Fetch, Hit, Show, Shown, Signals

T = TypeVar("T")

#: smallest share of one project in bytes, and entries of an answer without a `limit`
LINES_BYTES_MIN, ENTRIES = 600, 15


@dataclass(frozen=True, slots=True)
class ProjectResult:
    """One result: its project, the hit, and its chunk's JSON."""

    project: str
    ranked: Ranked
    chunk: bytes
    stale: bool


@dataclass(frozen=True, slots=True)
class ProjectHits:
    """Results of several projects in one order; `fan_out` has the other facts of the answer."""

    fan_out: FanOut
    results: tuple[ProjectResult, ...]
    truncated: bool
    notes: tuple[str, ...]


async def search_in_projects(
    context: QueryContext, projects: Sequence[str], question: Search
) -> dict[str, Any]:
    """Answer cortex_search for the projects that `projects` select; each result names its project.
    Raises BadRequest, and Unavailable when no project can answer.
    """
    question = question.checked()
    if question.detail == "auto":
        return await attempt(context, projects, lambda fan_out: _show_lines(context, fan_out, question))
    page = await find_in_projects(context, projects, question)
    results = []
    for placed in page.results:
        result: dict[str, Any] = {
            "project": placed.project,
            "chunk": orjson.Fragment(placed.chunk),
            "combined_score": round(placed.ranked.score, 4),
        }
        if placed.stale:
            result["stale"] = True
        if question.explain:
            result["explain"] = placed.ranked.explanation()
        results.append(result)
    answer: dict[str, Any] = {"results": results, "total": len(results)}
    if page.truncated:
        answer["truncated"] = True
    if not results:
        answer["suggestion"] = page.fan_out.explain_nothing(question.filters, question.min_score)
    visible = {placed.project for placed in page.results}
    return answer | {"index": page.fan_out.index(page.notes, visible)}


async def find_in_projects(context: QueryContext, projects: Sequence[str], question: Search) -> ProjectHits:
    """Return whole chunks, snippets or places of several projects. Raises as
    `search_in_projects`.
    """
    question = question.checked()
    return await attempt(context, projects, lambda fan_out: _find(context, fan_out, question))


async def _find(context: QueryContext, fan_out: FanOut, question: Search) -> ProjectHits:
    listed = await rank_in_projects(fan_out, question, context.config.fusion.bm25_weight)
    max_bytes, query = budget(question.max_tokens), read_question(question.query).query
    detail = "full" if question.detail == "auto" else question.detail

    async def fetch(name: str, turn: Turn) -> Chunks:
        keys = tuple(hit.worker_hit.key for hit in listed.hits_of(name))
        request = Fetch(keys, detail, max_bytes, query, turn.generation.number)
        return await turn.fetch(listed.answered.get(name, ()), request, {})

    replies = await ask_each(fan_out, fetch)
    chunks = {name: iter(reply.chunks) for name, reply in replies.items()}
    pairs = [(hit, chunk) for hit in listed.hits if (chunk := next(chunks.get(hit.turn, iter(())), b""))]
    count = count_fitting([len(chunk) for _, chunk in pairs], max_bytes)
    stale = {name: turn.stale(listed.paths(name)) for name, turn in fan_out.turns.items()}
    return ProjectHits(
        fan_out=fan_out,
        results=tuple(
            ProjectResult(hit.project, hit.ranked, chunk, hit.worker_hit.path in stale[hit.turn])
            for hit, chunk in pairs[:count]
        ),
        truncated=any(answer.truncated for answer in replies.values()) or count < len(pairs) or listed.more,
        notes=listed.notes,
    )


async def _show_lines(context: QueryContext, fan_out: FanOut, question: Search) -> dict[str, Any]:
    """Return the answer of detail "auto": the lines that answer, in the order of all files."""
    listed = await rank_in_projects(fan_out, question, context.config.fusion.bm25_weight)
    max_bytes = budget(question.max_tokens, context.config.server.answer_tokens)
    shares = _byte_shares(listed)

    def request(name: str, number: int, hits: Sequence[ProjectHit]) -> Show:
        share_bytes = max(LINES_BYTES_MIN, round(max_bytes * shares.get(hits[0].project, 0.0)))
        base = _make_request([hit.ranked for hit in hits], question, min(share_bytes, max_bytes), number)
        keys, speaking = score_candidates(listed.replies.get(name, ()), {hit.worker_hit.path for hit in hits})
        return replace(base, found=tuple(map(project_key, keys)), speaking=speaking)

    async def ask(name: str, turn: Turn) -> dict[str, Shown]:
        of: dict[str, list[ProjectHit]] = {}
        for hit in listed.hits_of(name):
            of.setdefault(hit.project, []).append(hit)
        generations = turn.generations(name)
        requests = {project: request(name, generations[project], hits) for project, hits in of.items()}
        return await turn.ask_apart(listed.answered.get(name, ()), requests, Shown)

    every = await ask_each(fan_out, ask)
    replies = {project: reply for project_lines in every.values() for project, reply in project_lines.items()}
    rows = [
        row
        for name, project_lines in every.items()
        for project, reply in project_lines.items()
        for row in _project_entries(fan_out.turns[name], (reply, listed.hits_of(name, project)), question)
    ]
    first = listed.files
    rows.sort(key=lambda row: first[row[0]])
    limit = question.limit if question.counted else ENTRIES
    count = min(limit, count_fitting([size for _, size, _ in rows], max_bytes))
    results = [result for _, _, result in rows[:count]]
    answer: dict[str, Any] = {"results": results, "total": len(results)}
    cut = count < len(rows) or any(reply.truncated for reply in replies.values())
    answer |= _make_notes(replies, results, truncated=cut or (question.counted and listed.more))
    if not results:
        answer["suggestion"] = fan_out.explain_nothing(question.filters, question.min_score)
    return answer | {"index": fan_out.index(listed.notes, {result["project"] for result in results})}


def _make_request(hits: Sequence[Ranked], question: Search, max_bytes: int, generation: int) -> Show:
    reading = read_question(question.query)
    return Show(
        keys=tuple(ranked.hit.key for ranked in hits),
        scores=tuple(ranked.score for ranked in hits),
        query=reading.query,
        limit=question.limit if question.counted else 0,
        places=reading.places,
        chosen=question.filters != NO_FILTERS,
        max_bytes=max_bytes,
        generation=generation,
    )


def _project_entries(
    turn: Turn, pair: tuple[Shown, Sequence[ProjectHit]], question: Search
) -> list[tuple[tuple[str, str], int, dict[str, Any]]]:
    """Return (file, bytes, result) of each entry of one project."""
    reply, placed = pair
    hits, scores = [hit.ranked.hit for hit in placed], [hit.ranked.score for hit in placed]
    stale = turn.stale(hit.worker_hit.path for hit in placed)
    changed = {hit.ranked.hit.path for hit in placed if hit.worker_hit.path in stale}
    results = make_entries(reply, hits, scores, changed, "combined_score")
    out = []
    for at, body, result in zip(reply.of, reply.entries, results, strict=True):
        row = {"project": placed[at].project} | result
        if question.explain:
            row["explain"] = placed[at].ranked.explanation()
        out.append(((placed[at].project, hits[at].path or hits[at].id), len(body), row))
    return out


def _byte_shares(listed: ProjectRanking) -> dict[str, float]:
    """Return project → its share of the answer's bytes, by the summed scores of its files."""
    best: dict[tuple[str, str], float] = {}
    for project_hit in listed.hits:
        hit = project_hit.ranked.hit
        best.setdefault((project_hit.project, hit.path or hit.id), project_hit.ranked.score)
    total = sum(best.values()) or 1.0
    shares: dict[str, float] = {}
    for (name, _), score in best.items():
        shares[name] = shares.get(name, 0.0) + score / total
    return shares


def _make_notes(
    replies: Mapping[str, Shown], results: Sequence[Mapping[str, Any]], *, truncated: bool
) -> dict[str, Any]:
    """Return the fields on lines that the answer leaves out, and the next step for the reader."""
    omitted: dict[str, int] = {}
    for reply in replies.values():
        for why, count in reply.omitted.items():
            omitted[why] = omitted.get(why, 0) + count
    more = [f"{name}:{place}" for name, reply in replies.items() for place in reply.more]
    notes: dict[str, Any] = {"truncated": True} if truncated else {}
    notes |= {"more": more} if more else {}
    notes |= {"omitted": omitted} if omitted else {}
    if any(result.get("stale") for result in results):
        notes["next"] = "Read the stale files: they were saved since."
    elif truncated:
        notes["next"] = "There is more: raise `max_tokens` or `limit`, or narrow by `paths` or `projects`."
    return notes


@dataclass(frozen=True, slots=True)
class ProjectHit:
    """A hit with its project and its path there; `worker_hit` has the path that the workers of
    `turn` use.
    """

    turn: str
    project: str
    ranked: Ranked
    worker_hit: Hit


@dataclass(frozen=True, slots=True)
class ProjectRanking:
    """The hits of all projects in one order. `answered`: turn → the workers that answered; `notes`:
    sentences; `more`: whether further hits follow; `replies`: turn → those workers' signals.
    """

    hits: tuple[ProjectHit, ...]
    answered: Mapping[str, Sequence[str]]
    notes: tuple[str, ...]
    more: bool
    replies: Mapping[str, Sequence[Signals]]

    @property
    def files(self) -> dict[tuple[str, str], int]:
        """The rank of each file's first hit, by its project and path."""
        first: dict[tuple[str, str], int] = {}
        for at, hit in enumerate(self.hits):
            first.setdefault((hit.project, hit.ranked.hit.path or hit.ranked.hit.id), at)
        return first

    def hits_of(self, turn: str, project: str = "") -> list[ProjectHit]:
        return [hit for hit in self.hits if hit.turn == turn and project in ("", hit.project)]

    def paths(self, turn: str) -> list[str]:
        """Return the files of the hits, with the paths that the turn's workers use."""
        return [hit.worker_hit.path for hit in self.hits_of(turn)]


async def rank_in_projects(fan_out: FanOut, question: Search, bm25_weight: float) -> ProjectRanking:
    """Rank the hits of all projects. Raises BadRequest, NotReady, and Unavailable where no project
    answers.
    """
    reading = read_question(question.query)
    spaces = {name: _vector_space(turn) for name, turn in fan_out.turns.items()}
    if question.mode == "semantic" and len(set(spaces.values())) > 1:
        raise BadRequest(
            "`mode` semantic compares cosines, and these projects are embedded by different models; leave `mode` out, or "
            "name projects of one model."
        )
    lanes = await _ask_all_lanes(fan_out, question, reading)
    answered = {
        name: project_lanes.answered for name, project_lanes in lanes.items() if project_lanes.answered
    }
    if not answered:
        raise fan_out.no_answer_error()
    numbers = fan_out.numbers
    joined = Lanes(
        join_words(
            _by_number(numbers, lanes, lambda project_lanes: project_lanes.text), text_candidates(question)
        ),
        join_meaning(
            _by_number(numbers, lanes, lambda project_lanes: project_lanes.vector),
            vector_candidates(question),
            {numbers[name]: space for name, space in spaces.items()},
        ),
        join_places(_by_number(numbers, lanes, lambda project_lanes: project_lanes.places)),
        _join_names(numbers, lanes, reading),
    )
    ranked = rank_lanes(joined, question, reading, bm25_weight)
    hits = tuple(_place_hit(fan_out, ranked_hit) for ranked_hit in ranked[: question.limit])
    replies = {name: project_lanes.replies for name, project_lanes in lanes.items()}
    return ProjectRanking(
        hits, answered, notes_of(joined.vector), more=len(ranked) > question.limit, replies=replies
    )


async def _ask_all_lanes(fan_out: FanOut, question: Search, reading: Reading) -> dict[str, Lanes]:
    counts = NO_COUNTS
    if question.mode != "semantic":
        counts = await count_words(fan_out, CountWords(reading.query))

    async def ask(_name: str, turn: Turn) -> Lanes:
        return await ask_lanes(limit_wait(turn, turn.until), question, reading, counts)

    return await ask_each(fan_out, ask)


def _by_number(
    numbers: Mapping[str, int], lanes: Mapping[str, Lanes], get: Callable[[Lanes], T | None]
) -> dict[int, T]:
    by_number = {numbers[name]: get(project_lanes) for name, project_lanes in lanes.items()}
    return {number: reply for number, reply in by_number.items() if reply is not None}


def _join_names(numbers: Mapping[str, int], lanes: Mapping[str, Lanes], reading: Reading) -> tuple[Any, ...]:
    """Return for each name in the question its signals, merged from all projects that replied."""
    names_by_number = {
        numbers[name]: project_lanes.names for name, project_lanes in lanes.items() if project_lanes.names
    }
    if not names_by_number:
        return ()
    each_name = (
        {number: names[at] for number, names in names_by_number.items()} for at in range(len(reading.names))
    )
    return tuple(join_names(replies) for replies in each_name)


def _place_hit(fan_out: FanOut, ranked: Ranked) -> ProjectHit:
    number, hit = split_hit(ranked.hit)
    turn = next(name for name in reversed(fan_out.numbers) if fan_out.numbers[name] <= number)
    worker_hit = fan_out.turns[turn].own_hit(number - fan_out.numbers[turn], hit)
    return ProjectHit(turn, fan_out.names[number], replace(ranked, hit=hit), worker_hit)


def _vector_space(turn: Turn) -> str:
    """Return the identity of the embedding: only vectors with the same one can be compared."""
    embedding = turn.context.config.embedding
    return f"{embedding.provider} {embedding.model or embedding.endpoint or embedding.model_path}"
