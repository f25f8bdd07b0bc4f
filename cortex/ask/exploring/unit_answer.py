"""The answer of cortex_search for an agent: a map of the best functions, then the code of the first
of them, within one budget of tokens.

Functions are units (cortex/terms/units.py), ranked over the whole index. A definition or a
line that the question names stands first. A question about the effects of a change gets the uses
of the definition that it names, too; a question about tests gets tests below the code.
"""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cortex.ask.exploring.flow import weigh_words
from cortex.ask.exploring.query_symbols import asks_for_users, names_in
from cortex.ask.exploring.query_words import TermFinder, get_term_finder
from cortex.ask.exploring.ranked_units import RankedUnits, find_units
from cortex.ask.exploring.spellings import find_spellings, spell
from cortex.ask.lines.code_pieces import Body, Bounds, Pieces, choose_pieces, show_whole
from cortex.ask.lines.current_lines import CurrentSpan, Span, read_spans
from cortex.ask.lines.indented_blocks import key_blocks
from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.questions import NO_FILTERS, Search
from cortex.ask.references.definition_uses import find_uses_of
from cortex.ask.references.nested_settings import find_joined_names, find_nested
from cortex.ask.references.use_sites import Site, Uses, cut, render, size_of
from cortex.ask.references.uses import UsesQuestion, find_uses
from cortex.ranking.unit_map import (
    MAP_LINES,
    bytes_of_map,
    choose_mapped,
    is_aside,
    is_named,
    make_map,
    map_line,
    sections_asked_for,
)
from cortex.ranking.units import SIGNALS, ScoredUnit, name_at
from cortex.terms.budget import TOKEN_BYTES
from cortex.terms.kinds import TYPE_KINDS
from cortex.terms.languages import language_of
from cortex.terms.paths import asks_for_tests, question_words

#: tokens of an answer, unless the caller sets them; tokens for the uses of definitions at least;
#: definitions whose uses are listed
TOKENS, USES_TOKENS_MIN, MEANINGS_MAX = 900, 600, 3
#: units whose code is tried, those that TOKENS show, and the share of the best one's score
#: that they need
TRIED_MAX, SHOWN_MAX, SCORE_MIN = 12, 3, 0.5
#: lines from which on a definition that the question does not name is long, and its share of the
#: bytes
LONG_LINES, LONG_SHARE = 46, 0.5
#: lines up to which a type that the question does not name is shown, without its functions
TYPE_LINES = 12
#: lines of a definition that is always shown, and the first places that it needs
TINY_LINES, TINY_PLACES = 3, 5
#: bytes that the others have left and that a further block of a long definition needs
LEFT_BYTES_MIN = 200
#: lines of a docstring from which on its beginning alone is shown
DOC_LINES = 7
#: lines of data up to which they are whole, and the share of the best block's worth that another
#: block needs to be shown
DATA_LINES, DATA_SHARE = 16, 0.35
#: tests below the code, where the question asks for them
TESTS_MAX = 4
#: share of the bytes for lines with a text of the question; share of the best line's that they have
LITERALS_SHARE, ALIKE_SHARE = 0.4, 0.75
#: unknown words that an empty answer names
UNKNOWN_MAX = 6
#: bytes of an entry's header, and of the least code for which one is tried
HEADER_BYTES, ROOM_MIN = 20, 60

_WORD = re.compile(r"\w+")

Answer = dict[str, Any]


async def answer_with_code(context: QueryContext, question: Search) -> Answer | None:
    """Answer a question with a map and code; None where the index has no units. Raises BadRequest,
    and Unavailable when no lane can answer.
    """
    question = question.checked()
    turn, answer = await context.attempt(lambda turn: _answer_as_spelled(turn, question))
    if answer is None and not turn.generation.number:
        return {"map": [], "suggestion": turn.explain_nothing(question.filters), "index": turn.index()}
    return answer


async def _answer_as_spelled(turn: Turn, question: Search) -> Answer | None:
    """Answer a question; one that nothing fits with the names that its own are almost, if any."""
    ranked = await find_units(turn, question)
    if ranked is None or ranked.fits:
        return await _answer(turn, question, ranked)
    spellings = await find_spellings(turn, question.query, ranked.unknown)
    spelled = replace(question, query=spell(question.query, spellings))
    other = await find_units(turn.renewed(), spelled) if spellings else None
    if other is None or not other.fits:
        return await _answer(turn, question, ranked)
    answer = await _answer(turn, spelled, other)
    words = ", ".join(f"`{word}` as `{name}`" for word, name in spellings.items())
    return answer | {"suggestion": f"No definition has this name: read {words}."} if answer else answer


async def _answer(turn: Turn, question: Search, ranked: RankedUnits | None) -> Answer | None:
    if ranked is None:
        return None
    is_filtered = question.filters != NO_FILTERS
    if not ranked.fits:
        is_excluded = is_filtered and not ranked.units
        reason = turn.explain_nothing(question.filters) if is_excluded else _explain_misfit(ranked.unknown)
        return {"map": [], "suggestion": reason, "index": turn.index(ranked.notes)}
    left = (question.max_tokens or TOKENS) * TOKEN_BYTES
    if asks_for_users(question.query) and not is_filtered:  # uses have no filters
        if 0 < len(ranked.meanings) <= MEANINGS_MAX:
            return await _answer_with_uses(turn, question, ranked, left)
        if not ranked.meanings and (places := await _answer_with_places(turn, question, left)):
            return places | {"index": turn.index(ranked.notes)}
    with_tests = asks_for_tests(question.query)
    mapped, tests = choose_mapped(ranked.units, question.query, with_tests=with_tests)
    if ranked.is_path:  # sections and tests, too
        mapped, tests = list(ranked.units), []
    shown = _with_code(mapped, question.query, is_path=ranked.is_path)
    answer: Answer = {"map": make_map(mapped, question.limit if question.counted else MAP_LINES)}
    left -= bytes_of_map(answer["map"])
    if with_tests and tests:
        answer["tests"] = [map_line(unit) for unit in tests[:TESTS_MAX]]
        left -= bytes_of_map(answer["tests"])
    sites = [_list_literals(ranked, int(LITERALS_SHARE * left))] if ranked.literals else []
    joined = [] if ranked.meanings or is_filtered else find_joined_names(question.query)
    if sites := [*sites, *(await find_nested(turn.renewed(), joined))]:
        answer["sites"] = sites
        left -= sum(map(size_of, sites))
    answer["code"] = await _show_code(turn.renewed(), question.query, shown, left)
    if not answer["map"]:
        answer["suggestion"] = turn.explain_nothing(question.filters)
    return answer | {"index": turn.index(ranked.notes)}


def _list_literals(ranked: RankedUnits, max_bytes: int) -> Answer:
    """Return the lines that hold most of a text of the question, shipped code first."""
    best = max(line.share for line in ranked.literals.values())
    spots = [
        Site(*place, name_at(ranked.units, place), cut(line.text))
        for place, line in ranked.literals.items()
        if line.share >= ALIKE_SHARE * best
    ]
    usage = Uses(sorted(spots, key=lambda site: site.order), textual=True)
    block = render(usage, 0, max_bytes, {"of": "this text" if best == 1.0 else "most of this text"})
    block.pop("next_offset", None)  # a search has no pages
    return block


def _explain_misfit(unknown: Sequence[str]) -> str:
    """Return why nothing answers a question."""
    if not unknown:
        return "Nothing in the index fits this question; name a file, a function or a message of the code."
    words = ", ".join(f"`{word}`" for word in unknown[:UNKNOWN_MAX])
    return f"Nothing in the index fits this question: it does not hold {words}. Ask in the code's own words."


async def _answer_with_uses(turn: Turn, question: Search, ranked: RankedUnits, max_bytes: int) -> Answer:
    """Answer what a change affects: every use of what the question names, then its code."""
    tokens = max(max_bytes // TOKEN_BYTES, USES_TOKENS_MIN)
    answer: Answer = await find_uses_of(turn, ranked.meanings, max_tokens=tokens)
    left = max_bytes - sum(map(size_of, answer["sites"])) - size_of(answer.get("elsewhere", ()))
    named = {meaning.place for meaning in ranked.meanings}
    named.update(place for block in answer["sites"] for place in block.get("overloads", ()))
    units = [scored for scored in ranked.units if f"{scored.unit['path']}:{scored.unit['head']}" in named]
    answer["code"] = await _show_code(turn.renewed(), question.query, units, left)
    return answer | {"index": turn.index(ranked.notes)}


async def _answer_with_places(turn: Turn, question: Search, max_bytes: int) -> Answer | None:
    """Answer a question about the users of a name that the project does not define: the places with
    it; None where the question names no such name.
    """
    for name in names_in(question.query)[:1]:
        answer: Answer = await find_uses(turn, UsesQuestion(name, max_tokens=max_bytes // TOKEN_BYTES))
        if any(block.get("total") for block in answer["sites"]):
            return answer
    return None


async def _show_code(turn: Turn, query: str, units: Sequence[ScoredUnit], max_bytes: int) -> list[Answer]:
    """Return the entries of the first units that fit into `max_bytes`; of copies the first."""
    unnamed = (scored.score for scored in units if not is_named(scored, query))
    least = SCORE_MIN * max(unnamed, default=0.0)
    tried = [
        scored
        for at, scored in enumerate(units[:TRIED_MAX])
        if scored.score >= least or (at < TINY_PLACES and _is_tiny(scored))
    ]
    spans = await read_spans(
        turn, [Span(scored.unit["path"], scored.unit["start"], scored.unit["end"]) for scored in tried]
    )
    wanted = get_term_finder(question_words(query))
    candidates = _join_copies(
        [
            _Candidate(scored, span, _body_of(scored.unit, span))
            for scored, span in zip(tried, spans, strict=True)
        ]
    )
    words = weigh_words(
        wanted, [wanted.terms_in("\n".join(candidate.body.own_lines.values())) for candidate in candidates]
    )
    reserved = sum(candidate.size for candidate in candidates[:TINY_PLACES] if candidate.is_tiny)
    shown: dict[int, Pieces] = {}
    most = max(SHOWN_MAX, 1 + SHOWN_MAX * max_bytes // (TOKENS * TOKEN_BYTES))
    left = max_bytes
    for at, candidate in enumerate(candidates):
        if candidate.is_tiny and at < TINY_PLACES:
            reserved -= candidate.size
        elif sum(not candidates[other].is_tiny for other in shown) >= most:
            continue
        room = left - reserved - candidate.header_bytes
        is_long = len(candidate.body.own_lines) >= LONG_LINES and not is_named(candidate.scored, query)
        room = min(room, int(LONG_SHARE * max_bytes)) if is_long else room
        pieces = (
            choose_pieces(candidate.body, candidate.weigh(words, wanted), wanted, room, candidate.bounds)
            if room >= ROOM_MIN and candidate.body.lines
            else Pieces()
        )
        if pieces.pieces:
            shown[at] = pieces
            left -= pieces.size + candidate.header_bytes
    for at, pieces in shown.items():  # bytes that the others have left
        if not pieces.is_whole and left > LEFT_BYTES_MIN:
            candidate, room = candidates[at], pieces.size + left
            weights = candidate.weigh(words, wanted)
            shown[at] = choose_pieces(candidate.body, weights, wanted, room, candidate.bounds)
            left -= shown[at].size - pieces.size
    return [candidates[at].entry(pieces) for at, pieces in shown.items()]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A unit with its lines as they are now. `copies`: the places of others with the same text."""

    scored: ScoredUnit
    span: CurrentSpan
    body: Body
    copies: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        name: str = self.scored.unit.get("symbol") or self.scored.unit.get("title", "")
        return name

    @property
    def note(self) -> str:
        """The places of the copies."""
        return f"same in {', '.join(self.copies)}" if self.copies else ""

    @property
    def header_bytes(self) -> int:
        return len(f"{self.span.file}{self.name}{self.note}".encode()) + HEADER_BYTES

    @property
    def is_tiny(self) -> bool:
        return bool(self.body.lines) and _is_tiny(self.scored)

    @property
    def is_data(self) -> bool:
        return language_of(self.scored.unit["path"]).kind == "data"

    @property
    def bounds(self) -> Bounds:
        """How much is shown: of data the lines with words of the question, and the keys around."""
        return Bounds(whole_lines=DATA_LINES, share=DATA_SHARE) if self.is_data else Bounds()

    def weigh(self, words: Mapping[str, float], wanted: TermFinder) -> Mapping[str, float]:
        """Return word → worth: the given ones of code, of data by the lines that have a word."""
        lines = self.body.own_lines.values()
        return weigh_words(wanted, [wanted.terms_in(line) for line in lines]) if self.is_data else words

    @property
    def size(self) -> int:
        return show_whole(self.body).size + self.header_bytes

    def entry(self, pieces: Pieces) -> Answer:
        span = self.span
        entry = {"file": span.file, "start": span.start, "end": span.end, "name": self.name}
        entry |= {"note": self.note} if self.copies else {}
        return entry | (_without_numbers(pieces).entry() | {"stale": True} if span.stale else pieces.entry())


def _join_copies(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the candidates, of those with the same text the first alone."""
    joined: dict[str, _Candidate] = {}
    for candidate in candidates:
        text = "\n".join(line.strip() for line in candidate.body.own_lines.values())
        first = joined.setdefault(text or f"{candidate.span.file}:{candidate.span.start}", candidate)
        if first is not candidate:
            copies = (*first.copies, f"{candidate.span.file}:{candidate.span.start}")
            joined[text] = replace(first, copies=copies)
    return list(joined.values())


def _with_code(units: Sequence[ScoredUnit], query: str, *, is_path: bool) -> list[ScoredUnit]:
    """Return the units whose code is worth showing: sections, if the question asks for documents
    alone; definitions of shipped code, if there are any and it is no path. Of a type, whose
    functions are units of their own, its place suffices, unless the question names it alone.
    """
    if pages := sections_asked_for(units, query):
        return pages
    code = [scored for scored in units if is_path or not is_aside(scored)]
    words = frozenset(_WORD.findall(query))
    small = [
        scored
        for scored in code
        if scored.unit.get("kind") not in TYPE_KINDS
        or _count_lines(scored.unit) <= TYPE_LINES
        or (is_named(scored, query) and not _names_member(words, scored.unit, code))
    ]
    return [*_leading_section(units, code), *(small or code)] or list(units)


def _leading_section(units: Sequence[ScoredUnit], code: Sequence[ScoredUnit]) -> Sequence[ScoredUnit]:
    """Return the best of all units if it is configuration, a style or a section: it precedes code
    in spite of what lines without a definition lose. A line with a text of the question is
    listed above it.
    """
    is_leading = code and is_aside(units[0]) and not units[0].is_test
    return units[:1] if is_leading and not units[0].values[SIGNALS.index("literal")] else ()


def _names_member(words: Container[str], unit: Answer, others: Sequence[ScoredUnit]) -> bool:
    """Whether words of a question name a function of a type other than its constructor."""
    symbol = unit.get("symbol", "")
    type_name = symbol.rpartition(".")[2]
    members = (
        other.unit["symbol"].rpartition(".")[2]
        for other in others
        if other.unit["path"] == unit["path"] and other.unit.get("symbol", "").startswith(f"{symbol}.")
    )
    return any(name != type_name and name in words for name in members)


def _is_tiny(scored: ScoredUnit) -> bool:
    return _count_lines(scored.unit) <= TINY_LINES


def _count_lines(unit: Answer) -> int:
    ranges = unit.get("ranges") or [(unit["start"], unit["end"])]
    return sum(last - first + 1 for first, last in ranges)


def _body_of(unit: Answer, span: CurrentSpan) -> Body:
    """Return the lines of a unit as they are now; those of nested units are apart."""
    lines = dict(enumerate(span.lines, span.start))
    if language_of(unit["path"]).kind == "data":
        return Body(lines, span.start, key_blocks(lines))
    if len(lines) != unit["end"] - unit["start"] + 1:  # lines were added or removed
        return Body(lines, span.start, doc_lines=DOC_LINES)
    moved = span.start - unit["start"]
    ranges = unit.get("ranges") or [(unit["start"], unit["end"])]
    own_lines = {number for first, last in ranges for number in range(first + moved, last + moved + 1)}
    blocks = [(first + moved, last + moved, depth) for first, last, depth in unit.get("blocks", ())]
    head = unit.get("head", unit["start"]) + moved
    return Body(lines, head, blocks, apart=lines.keys() - own_lines, doc_lines=DOC_LINES)


def _without_numbers(pieces: Pieces) -> Pieces:
    """Return the pieces of a file that has changed since, whose numbers may be wrong."""
    return Pieces(tuple((0, text) for _, text in pieces.pieces))
