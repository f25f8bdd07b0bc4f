"""The answer of cortex_search for an agent: a map of the best functions, then the code of the first
of them, within one budget of tokens.

Functions are units (cortex/terms/units.py), ranked over the whole index. A definition or a
line that the question names stands first. A question about the effects of a change gets the uses
of the definition that it names, too; a question about tests gets tests below the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cortex.ask.code_pieces import Body, Pieces, choose_pieces
from cortex.ask.current_lines import CurrentSpan, Span, read_spans
from cortex.ask.flow import weigh_words
from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.query_symbols import asks_for_users
from cortex.ask.query_words import TermFinder, get_term_finder
from cortex.ask.questions import TOKEN_BYTES, Search
from cortex.ask.ranked_units import RankedUnits, find_units
from cortex.ask.use_sites import size_of
from cortex.ask.uses import find_uses_of
from cortex.ranking.unit_map import MAP_LINES, bytes_of_line, choose_mapped, is_aside, make_map, map_line
from cortex.ranking.units import ScoredUnit
from cortex.terms.kinds import TYPE_KINDS
from cortex.terms.paths import asks_for_tests, question_words

#: tokens of an answer, unless the caller sets them; tokens for the uses of definitions at least;
#: definitions whose uses are listed
TOKENS, USES_TOKENS_MIN, MEANINGS_MAX = 900, 600, 3
#: units whose code is tried, and the share of the best one's score that they need; the share of the
#: bytes for a long one
SHOWN_MAX, SCORE_MIN, LONG_SHARE = 8, 0.5, 0.6
#: lines up to which a type is shown, without its functions
SMALL = 40
#: tests below the code, where the question asks for them
TESTS_MAX = 4
#: unknown words that an empty answer names
UNKNOWN_MAX = 6
#: bytes of an entry's header
HEADER_BYTES = 20

Answer = dict[str, Any]


async def answer_with_code(context: QueryContext, question: Search) -> Answer | None:
    """Answer a question with a map and code; None where the index has no units. Raises BadRequest,
    and Unavailable when no lane can answer.
    """
    question = question.checked()
    turn, answer = await context.attempt(lambda turn: _answer(turn, question))
    if answer is None and not turn.generation.number:
        return {"map": [], "suggestion": turn.explain_nothing(question.filters), "index": turn.index()}
    return answer


async def _answer(turn: Turn, question: Search) -> Answer | None:
    found = await find_units(turn, question)
    if found is None:
        return None
    if not found.fits:
        return {"map": [], "suggestion": _explain_misfit(found.unknown), "index": turn.index(found.notes)}
    left = (question.max_tokens or TOKENS) * TOKEN_BYTES
    if asks_for_users(question.query) and 0 < len(found.meanings) <= MEANINGS_MAX:
        return await _answer_with_uses(turn, question, found, left)
    with_tests = asks_for_tests(question.query)
    mapped, tests = choose_mapped(found.units, with_tests=with_tests)
    answer: Answer = {"map": make_map(mapped, question.limit if question.counted else MAP_LINES)}
    left -= sum(map(bytes_of_line, answer["map"]))
    if with_tests and tests:
        answer["tests"] = [map_line(unit) for unit in tests[:TESTS_MAX]]
        left -= sum(map(bytes_of_line, answer["tests"]))
    answer["code"] = await _show_code(turn.renewed(), question.query, _with_code(mapped), left)
    if not answer["map"]:
        answer["suggestion"] = turn.explain_nothing(question.filters)
    return answer | {"index": turn.index(found.notes)}


def _explain_misfit(unknown: Sequence[str]) -> str:
    """Return why nothing answers a question."""
    if not unknown:
        return "Nothing in the index fits this question; name a file, a function or a message of the code."
    words = ", ".join(f"`{word}`" for word in unknown[:UNKNOWN_MAX])
    return f"Nothing in the index fits this question: it does not hold {words}. Ask in the code's own words."


async def _answer_with_uses(turn: Turn, question: Search, found: RankedUnits, max_bytes: int) -> Answer:
    """Answer a question about the effects of a change: every use of what it names, then its code,
    as far as it fits.
    """
    tokens = max(max_bytes // TOKEN_BYTES, USES_TOKENS_MIN)
    answer: Answer = await find_uses_of(turn, found.meanings, max_tokens=tokens)
    left = max_bytes - sum(map(size_of, answer["sites"]))
    named = {meaning.place for meaning in found.meanings}
    named.update(place for block in answer["sites"] for place in block.get("overloads", ()))
    units = [one for one in found.units if f"{one.unit['path']}:{one.unit['head']}" in named]
    answer["code"] = await _show_code(turn.renewed(), question.query, units, left)
    return answer | {"index": turn.index(found.notes)}


async def _show_code(turn: Turn, query: str, units: Sequence[ScoredUnit], max_bytes: int) -> list[Answer]:
    """Return the entries of the first units that fit into `max_bytes`."""
    tried = [one.unit for one in units[:SHOWN_MAX] if one.score >= SCORE_MIN * units[0].score]
    spans = await read_spans(turn, [Span(unit["path"], unit["start"], unit["end"]) for unit in tried])
    wanted = get_term_finder(question_words(query))
    bodies = [_body_of(unit, span) for unit, span in zip(tried, spans, strict=True)]
    words = weigh_words(wanted, [wanted.terms_in("\n".join(body.lines.values())) for body in bodies])
    entries: list[Answer] = []
    left = max_bytes
    for unit, span, body in zip(tried, spans, bodies, strict=True):
        name = unit.get("symbol") or unit.get("title", "")
        room = left - len(f"{unit['path']}{name}".encode()) - HEADER_BYTES
        pieces = _choose(body, words, wanted, room, max_bytes)
        if not pieces.pieces:
            continue
        entry = {"file": unit["path"], "start": span.start, "end": span.end, "name": name}
        entry |= _without_numbers(pieces).entry() | {"stale": True} if span.stale else pieces.entry()
        entries.append(entry)
        left = room - pieces.size
    return entries


def _with_code(units: Sequence[ScoredUnit]) -> list[ScoredUnit]:
    """Return the units whose code is worth showing: definitions of shipped code, if there are any;
    of a type, whose functions are units of their own, its place suffices.
    """
    code = [one for one in units if not is_aside(one)]
    small = [one for one in code if not _is_type(one.unit) or _count_lines(one.unit) <= SMALL]
    return small or code or list(units)


def _is_type(unit: Answer) -> bool:
    return unit.get("kind") in TYPE_KINDS


def _count_lines(unit: Answer) -> int:
    ranges = unit.get("ranges") or [(unit["start"], unit["end"])]
    return sum(last - first + 1 for first, last in ranges)


def _choose(body: Body, words: dict[str, float], wanted: TermFinder, room: int, budget: int) -> Pieces:
    """Return the pieces of one of several units: a long one leaves room for the others."""
    if not body.lines or room <= 0:
        return Pieces()
    pieces = choose_pieces(body, words, wanted, room)
    if pieces.is_whole or pieces.size <= LONG_SHARE * budget:
        return pieces
    return choose_pieces(body, words, wanted, min(room, int(LONG_SHARE * budget)))


def _body_of(unit: Answer, span: CurrentSpan) -> Body:
    """Return the lines of a unit as they are now, without those of nested units."""
    lines = dict(enumerate(span.lines, span.start))
    if len(lines) != unit["end"] - unit["start"] + 1:  # lines were added or removed
        return Body(lines, span.start)
    moved = span.start - unit["start"]
    ranges = unit.get("ranges")
    if ranges:
        kept = {number for first, last in ranges for number in range(first + moved, last + moved + 1)}
        lines = {number: text for number, text in lines.items() if number in kept}
    blocks = [(first + moved, last + moved, depth) for first, last, depth in unit.get("blocks", ())]
    return Body(lines, unit.get("head", unit["start"]) + moved, blocks)


def _without_numbers(pieces: Pieces) -> Pieces:
    """Return the pieces of a file that has changed since, whose numbers may be wrong."""
    return Pieces(tuple((0, text) for _, text in pieces.pieces))
