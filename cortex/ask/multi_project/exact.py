"""The answer of cortex_exact for several projects: the hits of each text worker, in the order that
one worker would give them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from cortex.ask.exact import SCORE_DIGITS, place_rows
from cortex.ask.multi_project.fan_out import FanOut, ask_each, attempt, limit_wait
from cortex.ask.multi_project.word_counts import count_words
from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.questions import LIMIT_MAX, TOKENS, Exact, budget, count_fitting
from cortex.system.errors import BadRequest
from cortex.terms.bounds import clamp
from ipc.messages import CountWords, ExactHits

#: digits to which equal scores agree when two workers compute them
EQUAL_DIGITS = 6


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
    def path(self) -> str:
        return self.hits.hits[self.at].path

    @property
    def size(self) -> int:
        return len(self.hits.chunks[self.at]) + sum(map(len, self.hits.highlights[self.at]))


async def exact_in_projects(
    context: QueryContext, projects: Sequence[str], question: Exact
) -> dict[str, Any]:
    """Answer cortex_exact for the projects that `projects` select; each result names its project.
    Raises BadRequest, and Unavailable when no project can answer.
    """
    started = time.perf_counter()
    question = replace(
        question.checked(),
        usual_tokens=context.config.server.answer_tokens,
        as_text=context.audience == "agent",
    )
    if question.offset and question.detail == "auto":
        raise BadRequest(
            "`offset` counts the lines of one project; for several, raise `max_tokens` or `limit`, or pass `detail` snippet."
        )
    if question.offset + clamp(question.limit, 1, LIMIT_MAX) > LIMIT_MAX:
        raise BadRequest(
            f"Several projects return at most their first {LIMIT_MAX} results; ask one of them for more."
        )
    answer = await attempt(context, projects, lambda fan_out: _exact(fan_out, question))
    answer["metadata"]["took_ms"] = round(1000 * (time.perf_counter() - started))
    return answer


async def _exact(fan_out: FanOut, question: Exact) -> dict[str, Any]:
    widened = replace(question, offset=0, limit=question.offset + clamp(question.limit, 1, LIMIT_MAX))
    words = CountWords(question.query, keywords=True, match_type=question.match_type)
    counts = await count_words(fan_out, words)

    async def ask(_name: str, turn: Turn) -> ExactHits:
        scoped = replace(widened, filters=turn.context.scope_filters(question.filters))
        request = replace(scoped.request(turn.generation.number), counts=counts)
        return await limit_wait(turn, turn.until).ask("text", request, ExactHits)

    answers = await ask_each(fan_out, ask)
    if not answers:
        raise fan_out.no_answer_error()
    numbers = {name: number for number, name in enumerate(answers)}
    hits = [_Hit(name, at, answer) for name, answer in answers.items() for at in range(len(answer.hits))]
    hits.sort(key=lambda hit: hit.order(numbers[hit.turn]))
    page = _page(question, hits)
    results, lines = _results(fan_out, question, page)
    total, cut = (
        sum(answer.total_found for answer in answers.values()),
        any(answer.truncated for answer in answers.values()),
    )
    returned = lines if question.detail == "auto" else len(results)
    used = sum(hit.size for hit in page)
    rows = [
        row for name, answer in answers.items() for row in place_rows(answer, project=fan_out.label(name))
    ]
    sizes = [used, *(len(orjson.dumps(row)) for row in rows)]
    places = rows[: count_fitting(sizes, budget(question.max_tokens, question.usual_tokens)) - 1]
    omitted: dict[str, int] = {}
    for answer in answers.values():
        for why, count in answer.omitted.items():
            omitted[why] = omitted.get(why, 0) + count
    more = question.detail != "auto" and question.offset + len(results) < total
    return {
        "query": question.query,
        "match_type": next(iter(answers.values())).match_type,
        "results": results,
        **({"places": places} if places else {}),
        "total_found": total,
        "total_returned": returned + sum(len(row["lines"]) for row in places),
        "truncated": cut or more or returned < _count(question, hits),
        "suggestion": _suggestion(fan_out, question, answers, nothing=not results),
        **({"omitted": omitted} if omitted else {}),
        "metadata": {"took_ms": 0, "source": "exact"},
        "index": fan_out.index(visible={result["project"] for result in results}),
    }


def _count(question: Exact, hits: Sequence[_Hit]) -> int:
    """Return how many lines or results there are to show."""
    if question.detail == "auto":
        return sum(len(hit.hits.highlight_lines[hit.at]) for hit in hits)
    return len(hits[question.offset :])


def _page(question: Exact, hits: Sequence[_Hit]) -> list[_Hit]:
    """Return as many hits as are wanted and fit."""
    usual = question.usual_tokens if question.detail == "auto" else TOKENS
    remaining = hits[question.offset :]
    count = count_fitting([hit.size for hit in remaining], budget(question.max_tokens, usual))
    if question.detail != "auto":
        count = min(count, clamp(question.limit, 1, LIMIT_MAX))
    return list(remaining[:count])


def _results(fan_out: FanOut, question: Exact, page: Sequence[_Hit]) -> tuple[list[dict[str, Any]], int]:
    """Return (the results, their number of lines); with a `limit` of lines, at most that many."""
    by_lines = question.detail == "auto"
    left = clamp(question.limit, 1, LIMIT_MAX) if by_lines and question.counted else None
    stale = {
        name: fan_out.turns[name].stale(hit.path for hit in page if hit.turn == name)
        for name in {hit.turn for hit in page}
    }
    results, lines = [], 0
    for hit in page:
        if left is not None and lines >= left:
            break
        chunk, numbers = hit.hits.chunks[hit.at], hit.hits.highlight_lines[hit.at]
        wanted = len(numbers) if left is None else min(len(numbers), left - lines)
        lines += wanted
        if by_lines and wanted < len(numbers):
            chunk = _cut(chunk, numbers[:wanted])
        result: dict[str, Any] = {
            "project": fan_out.project_of(hit.turn, hit.path),
            "chunk": orjson.Fragment(chunk),
            "score": round(hit.hits.scores[hit.at], SCORE_DIGITS),
        }
        if not by_lines:
            result["highlights"] = hit.hits.highlights[hit.at]
            result["highlight_lines"] = numbers
        if hit.path in stale[hit.turn]:
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
    encoded: bytes = orjson.dumps(chunk)
    return encoded


def _suggestion(fan_out: FanOut, question: Exact, answers: dict[str, ExactHits], *, nothing: bool) -> str:
    """Return the suggestions of the projects with results; without any result, those of all
    projects, or the reason.
    """
    suggestions = {name: answer.suggestion for name, answer in answers.items() if nothing or answer.hits}
    suggestions = {fan_out.label(name): suggestion for name, suggestion in suggestions.items() if suggestion}
    if len(set(suggestions.values())) == 1 and len(suggestions) == len(answers):
        return next(iter(suggestions.values()))
    if suggestions:
        return " ".join(f"{name}: {suggestion}" for name, suggestion in suggestions.items())
    return fan_out.explain_nothing(question.filters) if nothing else ""
