"""The answers of cortex_search and code_context about several projects: the lanes of all are ranked
once, as if one project had told them (cortex/ranking/multi_project.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import orjson

from cortex.ask.line_request import entries, show
from cortex.ask.multi_project.fan_out import Together, attempt, bounded, each
from cortex.ask.multi_project.joint import JointTurn
from cortex.ask.multi_project.word_counts import count_words
from cortex.ask.query_context import Asking, Turn, expected
from cortex.ask.questions import NO_FILTERS, Search, budget, fitting
from cortex.ask.search import (
    Lanes,
    ask_lanes,
    notes_of,
    rank_lanes,
    text_candidates,
    vector_candidates,
)
from cortex.ranking import Ranked, Reading, read, tell_speaking
from cortex.ranking.multi_project import (
    join_meaning,
    join_names,
    join_places,
    join_words,
    key_in,
    told_as,
    told_by,
)
from cortex.system.errors import BadRequest
from ipc.codec import decode, encode
from ipc.messages import NO_COUNTS, Answers, Apart, Chunks, CountWords, Fetch, Hit, Show, Shown, Signals

T = TypeVar("T")

#: bytes of the lines of one project at least, and entries of an answer that nobody counted
LINES_BYTES_MIN, ENTRIES = 600, 15


@dataclass(frozen=True, slots=True)
class Placed:
    """One result: whose it is, the hit, and its chunk's JSON."""

    project: str
    ranked: Ranked
    chunk: bytes
    stale: bool


@dataclass(frozen=True, slots=True)
class Found:
    """Results of several projects in one order; `together` says the rest."""

    together: Together
    results: tuple[Placed, ...]
    truncated: bool
    notes: tuple[str, ...]


async def search_together(asking: Asking, projects: Sequence[str], question: Search) -> dict[str, Any]:
    """As `cortex.ask.search.search`, of the projects that `projects` mean; each result says whose
    it is. Raises BadRequest, and Unavailable when no project can answer.
    """
    question = question.checked()
    if question.detail == "auto":
        return await attempt(asking, projects, lambda together: _show(asking, together, question))
    found = await find_together(asking, projects, question)
    results = []
    for one in found.results:
        result: dict[str, Any] = {
            "project": one.project,
            "chunk": orjson.Fragment(one.chunk),
            "combined_score": round(one.ranked.score, 4),
        }
        if one.stale:
            result["stale"] = True
        if question.explain:
            result["explain"] = one.ranked.explanation()
        results.append(result)
    answer: dict[str, Any] = {"results": results, "total": len(results)}
    if found.truncated:
        answer["truncated"] = True
    if not results:
        answer["suggestion"] = found.together.explain_nothing(question.filters, question.min_score)
    shown = {one.project for one in found.results}
    return answer | {"index": found.together.index(found.notes, shown)}


async def find_together(asking: Asking, projects: Sequence[str], question: Search) -> Found:
    """Whole chunks, snippets or places of several projects. Raises as `search_together`."""
    question = question.checked()
    return await attempt(asking, projects, lambda together: _find(asking, together, question))


async def _find(asking: Asking, together: Together, question: Search) -> Found:
    listed = await rank_together(together, question, asking.config.fusion.bm25_weight)
    max_bytes, query = budget(question.max_tokens), read(question.query).query
    detail = "full" if question.detail == "auto" else question.detail

    async def fetch(name: str, turn: Turn) -> Chunks:
        keys = tuple(one.own.key for one in listed.of(name))
        request = Fetch(keys, detail, max_bytes, query, turn.generation.number)
        return await turn.fetch(listed.answered.get(name, ()), request, {})

    told = await each(together, fetch)
    chunks = {name: iter(reply.chunks) for name, reply in told.items()}
    kept = [(one, chunk) for one in listed.hits if (chunk := next(chunks.get(one.turn, iter(())), b""))]
    count = fitting([len(chunk) for _, chunk in kept], max_bytes)
    stale = {name: turn.stale(listed.paths(name)) for name, turn in together.turns.items()}
    return Found(
        together=together,
        results=tuple(
            Placed(one.project, one.ranked, chunk, one.own.path in stale[one.turn])
            for one, chunk in kept[:count]
        ),
        truncated=any(one.truncated for one in told.values()) or count < len(kept) or listed.more,
        notes=listed.notes,
    )


async def _show(asking: Asking, together: Together, question: Search) -> dict[str, Any]:
    """The answer of detail "auto": the lines that answer, in the order of the files of all."""
    listed = await rank_together(together, question, asking.config.fusion.bm25_weight)
    max_bytes = budget(question.max_tokens, asking.config.server.answer_tokens)
    shares = _shares(listed)

    def request(name: str, number: int, hits: Sequence[Placing]) -> Show:
        own = max(LINES_BYTES_MIN, round(max_bytes * shares.get(hits[0].project, 0.0))) if hits else 0
        asked = _request([one.ranked for one in hits], question, min(own, max_bytes), number)
        found, speaking = tell_speaking(listed.told.get(name, ()), {one.own.path for one in hits})
        return replace(asked, found=tuple(map(key_in, found)), speaking=speaking)

    async def ask(name: str, turn: Turn) -> dict[str, Shown]:
        if isinstance(turn, JointTurn):
            return await _show_apart(
                turn, listed.answered.get(name, ()), listed.of(name), partial(request, name)
            )
        asked = request(name, turn.generation.number, listed.of(name))
        return {name: await show(turn, listed.answered.get(name, ()), asked)}

    every = await each(together, ask)
    told = {project: shown for own in every.values() for project, shown in own.items()}
    made = [
        one
        for name, own in every.items()
        for project, shown in own.items()
        for one in _entries(together.turns[name], (shown, listed.of(name, project)), question)
    ]
    first = listed.files
    made.sort(key=lambda one: first[one[0]])
    limit = question.limit if question.counted else ENTRIES
    count = min(limit, fitting([size for _, size, _ in made], max_bytes))
    results = [result for _, _, result in made[:count]]
    answer: dict[str, Any] = {"results": results, "total": len(results)}
    cut = count < len(made) or any(shown.truncated for shown in told.values())
    answer |= _notes(told, results, truncated=cut or (question.counted and listed.more))
    if not results:
        answer["suggestion"] = together.explain_nothing(question.filters, question.min_score)
    return answer | {"index": together.index(listed.notes, {result["project"] for result in results})}


async def _show_apart(
    turn: JointTurn,
    workers: Sequence[str],
    hits: Sequence[Placing],
    request: Callable[[int, Sequence[Placing]], Show],
) -> dict[str, Shown]:
    """The lines of each project that has hits, by its name: all are asked for at once. Raises as
    Turn.fetch.
    """
    of: dict[str, list[Placing]] = {}
    for one in hits:
        of.setdefault(one.project, []).append(one)
    if not of:
        return {}
    places = [turn.group.names.index(name) for name in of]
    generations = tuple(turn.group.generations[at] for at in places)
    frames = (encode(request(number, own)) for number, own in zip(generations, of.values(), strict=True))
    message = Apart(tuple(turn.group.projects[at] for at in places), generations, tuple(frames))
    alone = replace(turn, asking=replace(turn.asking, client=turn.alone))
    told = await alone.first_of(workers, message, Answers, {})
    return {
        name: expected(decode(frame), Shown, "text") for name, frame in zip(of, told.replies, strict=True)
    }


def _request(hits: Sequence[Ranked], question: Search, max_bytes: int, generation: int) -> Show:
    reading = read(question.query)
    return Show(
        keys=tuple(one.hit.key for one in hits),
        scores=tuple(one.score for one in hits),
        query=reading.query,
        limit=question.limit if question.counted else 0,
        places=reading.places,
        chosen=question.filters != NO_FILTERS,
        max_bytes=max_bytes,
        generation=generation,
    )


def _entries(
    turn: Turn, told: tuple[Shown, Sequence[Placing]], question: Search
) -> list[tuple[tuple[str, str], int, dict[str, Any]]]:
    """(file, bytes, result) of each entry of one project."""
    shown, placed = told
    hits, scores = [one.ranked.hit for one in placed], [one.ranked.score for one in placed]
    stale = turn.stale(one.own.path for one in placed)
    changed = {one.ranked.hit.path for one in placed if one.own.path in stale}
    results = entries(shown, hits, scores, changed, "combined_score")
    out = []
    for at, body, result in zip(shown.of, shown.entries, results, strict=True):
        own = {"project": placed[at].project} | result
        if question.explain:
            own["explain"] = placed[at].ranked.explanation()
        out.append(((placed[at].project, hits[at].path or hits[at].id), len(body), own))
    return out


def _shares(listed: Listed) -> dict[str, float]:
    """Of each project the share of an answer's bytes: that of its files' scores, each file once."""
    best: dict[tuple[str, str], float] = {}
    for one in listed.hits:
        hit = one.ranked.hit
        best.setdefault((one.project, hit.path or hit.id), one.ranked.score)
    total = sum(best.values()) or 1.0
    shares: dict[str, float] = {}
    for (name, _), score in best.items():
        shares[name] = shares.get(name, 0.0) + score / total
    return shares


def _notes(
    told: Mapping[str, Shown], results: Sequence[Mapping[str, Any]], *, truncated: bool
) -> dict[str, Any]:
    """What the answer says of the lines that are not in it, and what to do about it."""
    omitted: dict[str, int] = {}
    for shown in told.values():
        for why, count in shown.omitted.items():
            omitted[why] = omitted.get(why, 0) + count
    more = [f"{name}:{place}" for name, shown in told.items() for place in shown.more]
    notes: dict[str, Any] = {"truncated": True} if truncated else {}
    notes |= {"more": more} if more else {}
    notes |= {"omitted": omitted} if omitted else {}
    if any(result.get("stale") for result in results):
        notes["next"] = "Read the stale files: they were saved since."
    elif truncated:
        notes["next"] = "There is more: raise max_tokens or limit, or narrow by paths or projects."
    return notes


@dataclass(frozen=True, slots=True)
class Placing:
    """A hit with its project's name and its place there; `own` is as the workers of `turn` name
    it.
    """

    turn: str
    project: str
    ranked: Ranked
    own: Hit


@dataclass(frozen=True, slots=True)
class Listed:
    """The hits of all projects in one order; which workers of each turn answered, `notes` as
    sentences, whether there are `more`; `told`: what those workers told.
    """

    hits: tuple[Placing, ...]
    answered: Mapping[str, Sequence[str]]
    notes: tuple[str, ...]
    more: bool
    told: Mapping[str, Sequence[Signals]]

    @property
    def files(self) -> dict[tuple[str, str], int]:
        """The place of the first hit of each file, by its project and path."""
        first: dict[tuple[str, str], int] = {}
        for at, one in enumerate(self.hits):
            first.setdefault((one.project, one.ranked.hit.path or one.ranked.hit.id), at)
        return first

    def of(self, turn: str, project: str = "") -> list[Placing]:
        return [one for one in self.hits if one.turn == turn and project in ("", one.project)]

    def paths(self, turn: str) -> list[str]:
        """The files of the hits, as the workers of that turn name them."""
        return [one.own.path for one in self.of(turn)]


async def rank_together(together: Together, question: Search, bm25_weight: float) -> Listed:
    """Raises BadRequest, NotReady, and Unavailable where no project answers."""
    reading = read(question.query)
    spaces = {name: _space(turn) for name, turn in together.turns.items()}
    if question.mode == "semantic" and len(set(spaces.values())) > 1:
        raise BadRequest(
            "`mode` semantic compares cosines, and these projects are embedded by different models; leave `mode` out, or "
            "name projects of one model."
        )
    lanes = await _lanes(together, question, reading)
    answered = {name: one.answered for name, one in lanes.items() if one.answered}
    if not answered:
        raise together.nobody()
    numbers = together.numbers
    joined = Lanes(
        join_words(_by_number(numbers, lanes, lambda one: one.text), text_candidates(question)),
        join_meaning(
            _by_number(numbers, lanes, lambda one: one.vector),
            vector_candidates(question),
            {numbers[name]: space for name, space in spaces.items()},
        ),
        join_places(_by_number(numbers, lanes, lambda one: one.places)),
        _join_names(numbers, lanes, reading),
    )
    ranked = rank_lanes(joined, question, reading, bm25_weight)
    hits = tuple(_placed(together, one) for one in ranked[: question.limit])
    told = {name: one.told for name, one in lanes.items()}
    return Listed(hits, answered, notes_of(joined.vector), more=len(ranked) > question.limit, told=told)


async def _lanes(together: Together, question: Search, reading: Reading) -> dict[str, Lanes]:
    counts = NO_COUNTS
    if question.mode != "semantic":
        counts = await count_words(together, CountWords(reading.query))

    async def ask(_name: str, turn: Turn) -> Lanes:
        return await ask_lanes(bounded(turn, turn.until), question, reading, counts)

    return await each(together, ask)


def _by_number(
    numbers: Mapping[str, int], lanes: Mapping[str, Lanes], get: Callable[[Lanes], T | None]
) -> dict[int, T]:
    told = {numbers[name]: get(one) for name, one in lanes.items()}
    return {number: one for number, one in told.items() if one is not None}


def _join_names(numbers: Mapping[str, int], lanes: Mapping[str, Lanes], reading: Reading) -> tuple[Any, ...]:
    """For each name in the question what was found for it, in all projects that told."""
    told = {numbers[name]: one.names for name, one in lanes.items() if one.names}
    if not told:
        return ()
    each_name = ({number: names[at] for number, names in told.items()} for at in range(len(reading.names)))
    return tuple(join_names(one) for one in each_name)


def _placed(together: Together, one: Ranked) -> Placing:
    number, hit = told_by(one.hit)
    turn = next(name for name in reversed(together.numbers) if together.numbers[name] <= number)
    own = hit
    if isinstance(together.turns[turn], JointTurn):
        own = told_as(number - together.numbers[turn], hit)
    return Placing(turn, together.names[number], replace(one, hit=hit), own)


def _space(turn: Turn) -> str:
    """What tells vectors apart that do not compare."""
    embedding = turn.asking.config.embedding
    return f"{embedding.provider} {embedding.model or embedding.endpoint or embedding.model_path}"
