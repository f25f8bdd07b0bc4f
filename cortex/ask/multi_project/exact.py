"""The answer of cortex_exact about several projects: what the text worker of each finds, in the
order in which one worker would have put it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from cortex.ask.exact import SCORE_DIGITS
from cortex.ask.multi_project.fan_out import Together, attempt, bounded, each
from cortex.ask.multi_project.word_counts import count_words
from cortex.ask.query_context import Asking, Turn
from cortex.ask.questions import LIMIT_MAX, TOKENS, Exact, budget, fitting
from cortex.system.errors import BadRequest
from cortex.terms.bounds import clamp
from ipc.messages import CountWords, ExactHits

#: digits in which scores that are equal in one project are, where two work them out
EQUAL_DIGITS = 6


@dataclass(frozen=True, slots=True)
class _Hit:
    """Hit number `at` of the answer of one turn."""

    turn: str
    at: int
    hits: ExactHits

    def order(self, number: int) -> tuple[tuple[int, ...], float, str, int, int]:
        """By what is compared before scores, by the score, chunks by their ids, then in the order
        of the projects.
        """
        classes = self.hits.classes[self.at] if self.hits.classes else ()
        name = "" if classes else self.hits.hits[self.at].id
        return classes, -round(self.hits.scores[self.at], EQUAL_DIGITS), name, number, self.at

    @property
    def path(self) -> str:
        return self.hits.hits[self.at].path

    @property
    def size(self) -> int:
        return len(self.hits.chunks[self.at]) + sum(map(len, self.hits.highlights[self.at]))


async def exact_together(asking: Asking, projects: Sequence[str], question: Exact) -> dict[str, Any]:
    """As `cortex.ask.exact.exact`, of the projects that `projects` mean; each result says whose it
    is. Raises BadRequest, and Unavailable when no project can answer.
    """
    started = time.perf_counter()
    question = replace(question.checked(), usual_tokens=asking.config.server.answer_tokens)
    if question.offset and question.detail == "auto":
        raise BadRequest(
            "`offset` counts the lines of one project; of several raise `max_tokens` or `limit`, or pass `detail` snippet."
        )
    if question.offset + clamp(question.limit, 1, LIMIT_MAX) > LIMIT_MAX:
        raise BadRequest(
            f"Of several projects the first {LIMIT_MAX} results can be had; beyond that ask one of them."
        )
    answer = await attempt(asking, projects, lambda together: _exact(together, question))
    answer["metadata"]["took_ms"] = round(1000 * (time.perf_counter() - started))
    return answer


async def _exact(together: Together, question: Exact) -> dict[str, Any]:
    asked = replace(question, offset=0, limit=question.offset + clamp(question.limit, 1, LIMIT_MAX))
    words = CountWords(question.query, keywords=True, match_type=question.match_type)
    counts = await count_words(together, words)

    async def ask(_name: str, turn: Turn) -> ExactHits:
        own = replace(asked, filters=turn.asking.within(question.filters))
        request = replace(own.request(turn.generation.number), counts=counts)
        return await bounded(turn, turn.until).ask("text", request, ExactHits)

    told = await each(together, ask)
    if not told:
        raise together.nobody()
    numbers = {name: number for number, name in enumerate(told)}
    hits = [_Hit(name, at, one) for name, one in told.items() for at in range(len(one.hits))]
    hits.sort(key=lambda hit: hit.order(numbers[hit.turn]))
    shown = _page(question, hits)
    results, lines = _results(together, question, shown)
    found, cut = sum(one.total_found for one in told.values()), any(one.truncated for one in told.values())
    returned = lines if question.detail == "auto" else len(results)
    omitted: dict[str, int] = {}
    for one in told.values():
        for why, count in one.omitted.items():
            omitted[why] = omitted.get(why, 0) + count
    more = question.detail != "auto" and question.offset + len(results) < found
    return {
        "query": question.query,
        "match_type": next(iter(told.values())).match_type,
        "results": results,
        "total_found": found,
        "total_returned": returned,
        "truncated": cut or more or returned < _count(question, hits),
        "suggestion": _suggestion(together, question, told, nothing=not results),
        **({"omitted": omitted} if omitted else {}),
        "metadata": {"took_ms": 0, "source": "exact"},
        "index": together.index(shown={result["project"] for result in results}),
    }


def _count(question: Exact, hits: Sequence[_Hit]) -> int:
    """How many lines or results could be shown."""
    if question.detail == "auto":
        return sum(len(hit.hits.highlight_lines[hit.at]) for hit in hits)
    return len(hits[question.offset :])


def _page(question: Exact, hits: Sequence[_Hit]) -> list[_Hit]:
    """As many as are asked for and fit."""
    usual = question.usual_tokens if question.detail == "auto" else TOKENS
    rest = hits[question.offset :]
    count = fitting([hit.size for hit in rest], budget(question.max_tokens, usual))
    if question.detail != "auto":
        count = min(count, clamp(question.limit, 1, LIMIT_MAX))
    return list(rest[:count])


def _results(together: Together, question: Exact, shown: Sequence[_Hit]) -> tuple[list[dict[str, Any]], int]:
    """(the results; how many lines they hold): of lines that are counted as many as are wanted."""
    by_lines = question.detail == "auto"
    left = clamp(question.limit, 1, LIMIT_MAX) if by_lines and question.counted else None
    stale = {
        name: together.turns[name].stale(hit.path for hit in shown if hit.turn == name)
        for name in {hit.turn for hit in shown}
    }
    results, lines = [], 0
    for hit in shown:
        if left is not None and lines >= left:
            break
        chunk, numbers = hit.hits.chunks[hit.at], hit.hits.highlight_lines[hit.at]
        wanted = len(numbers) if left is None else min(len(numbers), left - lines)
        lines += wanted
        if by_lines and wanted < len(numbers):
            chunk = _cut(chunk, numbers[:wanted])
        result: dict[str, Any] = {
            "project": together.whose(hit.turn, hit.path),
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
    """An entry with its first lines alone."""
    chunk = orjson.loads(raw)
    chunk["text"] = "\n".join(chunk["text"].split("\n")[: len(numbers)])
    chunk["metadata"]["end_line"] = next(
        (one for one in reversed(numbers) if one), chunk["metadata"]["end_line"]
    )
    encoded: bytes = orjson.dumps(chunk)
    return encoded


def _suggestion(together: Together, question: Exact, told: dict[str, ExactHits], *, nothing: bool) -> str:
    """What projects that found something say of it; where nothing is found anywhere, why."""
    said = {name: one.suggestion for name, one in told.items() if nothing or one.hits}
    said = {together.called(name): one for name, one in said.items() if one}
    if len(set(said.values())) == 1 and len(said) == len(told):
        return next(iter(said.values()))
    if said:
        return " ".join(f"{name}: {one}" for name, one in said.items())
    return together.explain_nothing(question.filters) if nothing else ""
