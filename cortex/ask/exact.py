"""The answer of cortex_exact: the hits of each project's text worker, in the order that one worker
would give them, cut to the budget.
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson
from msgspec import structs

from cortex.ask.multi_project.fan_out import HOME, FanOut, add_up, ask_each, attempt, count_words
from cortex.ask.query_context import REST_S, QueryContext, Turn
from cortex.ask.questions import LIMIT_MAX, TOKENS, Exact, budget, count_fitting
from cortex.system.errors import BadRequest
from cortex.terms.bounds import clamp
from cortex.terms.paths import is_test
from ipc.messages import CountWords, ExactHits, ExactSearch, GraphHits, GraphSearch

#: digits of a score in an answer
SCORE_DIGITS = 4
#: digits to which equal scores agree when two workers compute them
EQUAL_DIGITS = 6
#: a word whose parts in longer words are counted: shorter ones are in too many
_WORD = re.compile(r"[\w$]{3,}")
#: the path of a route, also with its method or in quotes; routes that a hint names
_PATH = re.compile(r"[\"'`]?((?:[A-Z]+ )?/[^\s\"'`]+)[\"'`]?")
ROUTES_MAX = 3


@dataclass(frozen=True, slots=True)
class _Hit:
    """Hit number `at` in the answer of one turn."""

    turn: str
    at: int
    hits: ExactHits

    def order(self, number: int) -> tuple[tuple[int, ...], float, str, int, int]:
        """Sort key: match classes, score, chunk id, then the order of the projects."""
        classes = self.hits.classes[self.at] if self.hits.classes else ()
        name = "" if classes else self.hits.hits[self.at].id
        return classes, -round(self.hits.scores[self.at], EQUAL_DIGITS), name, number, self.at

    @property
    def file(self) -> tuple[str, str]:
        """The turn and the path that its worker uses."""
        return self.turn, self.hits.hits[self.at].path

    @property
    def size(self) -> int:
        return len(self.hits.chunks[self.at]) + sum(map(len, self.hits.highlights[self.at]))


async def exact(context: QueryContext, question: Exact, projects: Sequence[str] = ()) -> dict[str, Any]:
    """Answer cortex_exact for the projects that `projects` select, () for the context's own; then
    no result names its project. Raises BadRequest, and Unavailable when no text worker can answer.
    """
    started = time.perf_counter()
    question = replace(
        question.checked(),
        usual_tokens=context.config.server.answer_tokens,
        as_text=context.audience == "agent",
    )
    fan_out, answer = await attempt(context, projects, lambda fan_out: _ask(fan_out, question))
    if answer is None:
        from cortex.query.parse import parse

        parse(question.query, question.match_type)  # no worker has checked the query
        answer = _make_answer(fan_out, question, {HOME: ExactHits(match_type=question.match_type or "exact")})
    answer["metadata"]["took_ms"] = round(1000 * (time.perf_counter() - started))
    return answer | {"index": fan_out.index(visible={result.get("project") for result in answer["results"]})}


async def _ask(fan_out: FanOut, question: Exact) -> dict[str, Any]:
    paged = question
    if fan_out.plain is None:
        _check_page(question)
        limit = question.offset + clamp(question.limit, 1, LIMIT_MAX)
        paged = replace(question, offset=0, limit=limit)
    words = CountWords(question.query, keywords=True, match_type=question.match_type)
    counts = await count_words(fan_out, words)

    def request(turn: Turn) -> ExactSearch:
        scoped = replace(paged, filters=turn.context.scope_filters(question.filters))
        return structs.replace(scoped.request(turn.generation.number), counts=counts)

    async def ask(_name: str, turn: Turn) -> ExactHits:
        turn = fan_out.limit_wait(turn, turn.until)
        until = max(turn.until, turn.context.until - REST_S)  # no other lane needs the time
        return await turn.context.ask("text", request(turn), ExactHits, until)

    answers = await ask_each(fan_out, ask)
    if (name := fan_out.plain) is not None:
        turn, hits = fan_out.turns[name], answers[name]
        if inside := await _count_inside_words(turn, question, request(turn), hits):
            answers[name] = structs.replace(hits, omitted={**hits.omitted, "inside words": inside})
        only_tests = all(is_test(hit.path) for hit in hits.hits)  # or nothing
        if only_tests and (hint := await _name_routes(turn, question, in_tests=bool(hits.hits))):
            answers[name] = structs.replace(
                hits, suggestion=f"{hits.suggestion} {hint}" if hits.hits else hint
            )
    return _make_answer(fan_out, question, answers)


def _check_page(question: Exact) -> None:
    """Check that each project can return what the page may hold. Raises BadRequest."""
    if question.offset and question.detail == "auto":
        raise BadRequest(
            "`offset` counts the lines of one project; for several, raise `max_tokens` or `limit`, or pass `detail` snippet."
        )
    if question.offset + clamp(question.limit, 1, LIMIT_MAX) > LIMIT_MAX:
        raise BadRequest(
            f"Several projects return at most their first {LIMIT_MAX} results; ask one of them for more."
        )


def _make_answer(fan_out: FanOut, question: Exact, answers: Mapping[str, ExactHits]) -> dict[str, Any]:
    """Return the answer without its `index`."""
    sole, by_lines = answers.get(fan_out.plain or HOME), question.detail == "auto"
    numbers = {name: number for number, name in enumerate(answers)}
    hits = [_Hit(name, at, reply) for name, reply in answers.items() for at in range(len(reply.hits))]
    if sole is None:
        hits.sort(key=lambda hit: hit.order(numbers[hit.turn]))
        hits = hits[0 if by_lines else question.offset :]
    page = hits if sole is not None and by_lines else _page(question, hits)  # the worker has cut lines
    results, lines = _results(fan_out, question, page)
    total = sum(reply.total_found for reply in answers.values())
    returned = lines if by_lines else len(results)
    places = [
        {**fan_out.name_project(fan_out.label(name)), "file": path, "lines": list(numbers)}
        for name, reply in answers.items()
        for path, numbers in reply.places
    ]
    if sole is None:
        sizes = [sum(hit.size for hit in page), *(len(orjson.dumps(row)) for row in places)]
        places = places[: count_fitting(sizes, budget(question.max_tokens, question.usual_tokens)) - 1]
    more = (
        returned < sum(len(hit.hits.highlight_lines[hit.at]) for hit in hits)
        if by_lines
        else question.offset + returned < total
    )
    following = question.offset + returned
    before = question.offset if by_lines and question.as_text else 0  # the lines of earlier pages
    suggestion = _suggestion(fan_out, question, answers, nothing=not results)
    if sole is not None:
        suggestion = _add_share(fan_out.turns[fan_out.plain or HOME], question, sole, suggestion)
    omitted = add_up(reply.omitted for reply in answers.values())
    return {
        "query": question.query,
        "match_type": next(iter(answers.values())).match_type,
        "results": results,
        **({"places": places} if places else {}),
        "total_found": total,
        "total_returned": before
        + returned
        + sum(len(row["lines"]) for row in places)
        + omitted.get("copies", 0),
        "truncated": more or any(reply.truncated for reply in answers.values()),
        "suggestion": suggestion,
        **({"omitted": omitted} if omitted else {}),
        **({"facets": sole.facets} if question.facets and sole is not None else {}),
        **(
            {"next_offset": _next_offset(sole, following)} if sole is not None and _leaves_lines(sole) else {}
        ),
        "metadata": {"took_ms": 0, "source": "exact"},
    }


async def _count_inside_words(turn: Turn, question: Exact, request: ExactSearch, hits: ExactHits) -> int:
    """Return how many lines hold a word of a text answer only inside longer words: `reopen` for
    `open`. The index finds words, a reader of grep expects parts of them too.
    """
    by_lines = question.as_text and question.detail == "auto" and not question.offset
    if not by_lines or question.match_type or not _WORD.fullmatch(question.query) or hits.truncated:
        return 0
    request = structs.replace(request, match_type="substring", lines=1, alike=False, every=False, bare=True)
    reply = await turn.lane("text", request, ExactHits, ours=True)
    if reply is None:
        return 0
    return max(reply.total_found - hits.total_found + hits.omitted.get("other words", 0), 0)


async def _name_routes(turn: Turn, question: Exact, *, in_tests: bool) -> str:
    """Return a sentence on the routes with a path that no line has: several lines make it.
    `in_tests`: tests have it as one text.
    """
    match = _PATH.fullmatch(question.query.strip())
    if match is None or question.match_type in ("regex", "fuzzy"):
        return ""
    request = GraphSearch("routes", match[1], include_context=False, max_results=ROUTES_MAX)
    request = structs.replace(request, generation=turn.generation.number)
    reply = await turn.lane("graph", request, GraphHits, ours=True)
    rows = [orjson.loads(raw) for raw in reply.results] if reply is not None else []
    routes = (" → ".join(filter(None, (row["node"]["route"], ", ".join(row["handlers"])))) for row in rows)
    subject = "Only tests have" if in_tests else "No line has"
    return f"{subject} this text; routes have it: {'; '.join(routes)}." if rows else ""


def _leaves_lines(hits: ExactHits) -> bool:
    """Whether an answer of every line has neither shown nor numbered some."""
    return bool(hits.omitted.get("places") or hits.omitted.get("other words"))


def _next_offset(hits: ExactHits, following: int) -> int:
    """Return the offset of the first line without code, or of the first in other words if the
    answer numbers all before.
    """
    others = hits.omitted.get("other words", 0)
    copies = hits.omitted.get("copies", 0)  # no line of its own
    return following if hits.omitted.get("places") or not others else hits.total_found - others - copies


def _add_share(turn: Turn, question: Exact, hits: ExactHits, suggestion: str) -> str:
    """Return `suggestion`, after a note on what may be missing while only a part is served."""
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
    return bool(orjson.loads(hits.chunks[0])["metadata"].get("kind") == "definition")


def _page(question: Exact, hits: Sequence[_Hit]) -> Sequence[_Hit]:
    """Return as many hits as are wanted and fit."""
    by_lines = question.detail == "auto"
    usual = question.usual_tokens if by_lines else TOKENS
    count = count_fitting([hit.size for hit in hits], budget(question.max_tokens, usual))
    return hits[: count if by_lines else min(count, clamp(question.limit, 1, LIMIT_MAX))]


def _results(fan_out: FanOut, question: Exact, page: Sequence[_Hit]) -> tuple[list[dict[str, Any]], int]:
    """Return (the results, their number of lines); with a `limit` of lines, at most that many."""
    by_lines = question.detail == "auto"
    left = clamp(question.limit, 1, LIMIT_MAX) if by_lines and question.counted else None
    stale = fan_out.stale(hit.file for hit in page)
    results, lines = [], 0
    for hit in page:
        if left is not None and lines >= left:
            break
        chunk, numbers = hit.hits.chunks[hit.at], hit.hits.highlight_lines[hit.at]
        wanted = len(numbers) if left is None else min(len(numbers), left - lines)
        lines += wanted
        if by_lines and wanted < len(numbers):
            chunk = _cut(chunk, numbers[:wanted])
        result = fan_out.name_project(fan_out.project_of(*hit.file))
        result |= {"chunk": orjson.Fragment(chunk), "score": round(hit.hits.scores[hit.at], SCORE_DIGITS)}
        if not by_lines:
            result["highlights"] = hit.hits.highlights[hit.at]
            result["highlight_lines"] = numbers
        if hit.file[1] in stale[hit.turn]:
            result["stale"] = True
        results.append(result)
    return results, lines


def _cut(raw: bytes, numbers: Sequence[int]) -> bytes:
    """Return an entry cut to its first lines."""
    chunk = orjson.loads(raw)
    chunk["text"] = "\n".join(chunk["text"].split("\n")[: len(numbers)])
    chunk["metadata"]["end_line"] = next(
        (number for number in reversed(numbers) if number), chunk["metadata"]["end_line"]
    )
    return orjson.dumps(chunk)


def _suggestion(fan_out: FanOut, question: Exact, answers: Mapping[str, ExactHits], *, nothing: bool) -> str:
    """Return the suggestions of projects with results; without results those of all, or why."""
    suggestions = {name: answer.suggestion for name, answer in answers.items() if nothing or answer.hits}
    suggestions = {fan_out.label(name): suggestion for name, suggestion in suggestions.items() if suggestion}
    if len(set(suggestions.values())) == 1 and len(suggestions) == len(answers):
        return next(iter(suggestions.values()))
    if suggestions:
        return " ".join(f"{name}: {suggestion}" for name, suggestion in suggestions.items())
    return fan_out.explain_nothing(question.filters) if nothing else ""
