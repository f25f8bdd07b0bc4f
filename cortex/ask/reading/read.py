"""The answer of cortex_read: definitions, lines, files and folders, numbered as in the files now.

What fits is whole; a long definition is its signature, an outline of its blocks, and the blocks
that hold the line or the words in question. A long file is its outline, and the definitions with
those words.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson

from cortex.ask.exploring.flow import weigh_words
from cortex.ask.exploring.functions import CANDIDATES_MAX, Function, ask_graph, parse_functions
from cortex.ask.exploring.query_words import TermFinder, get_term_finder
from cortex.ask.lines.code_pieces import Body, Bounds, Pieces, choose_pieces, show_whole
from cortex.ask.lines.current_lines import CurrentSpan, Span, read_spans
from cortex.ask.lines.indented_blocks import Block, signature_end, statements_around
from cortex.ask.query_context import QueryContext, Turn
from cortex.ask.questions import TOKENS_MAX, TOKENS_MIN
from cortex.ask.reading.read_outlines import outline_document, outline_file, outline_folder, sections_of
from cortex.ask.reading.read_places import LISTED_MAX, Resolved, Target, find_targets, make_definition_target
from cortex.query.check import check_text
from cortex.ranking.units import WEIGHTS
from cortex.system.errors import BadRequest
from cortex.terms.bounds import clamp
from cortex.terms.budget import TOKEN_BYTES, first_fitting
from cortex.terms.kinds import CALLABLE_KINDS
from cortex.terms.languages import language_of
from cortex.terms.paths import question_words
from ipc.messages import Filters, GraphSearch, Place, UnitHits, UnitsAt, UnitSearch

#: tokens of an answer where the caller sets none
TOKENS = 2_500
#: bytes of lines that are asked for by number, where the caller sets no size: an agent reads again
#: what an answer cuts off, and pays twice
LINES_BYTES = 24_000
#: places of one call; letters of a place
PLACES_MAX, PLACE_CHARS_MAX = 24, 4_096
#: lines up to which a definition and a file are whole; bytes up to which a longer definition is,
#: where neither a line nor a word of it is in question
WHOLE_LINES, WHOLE_BYTES = 60, 5_000
#: lines of a docstring from which on its beginning is shown, where no lines are asked for
DOC_LINES = 13
#: lines around a line in question
AROUND = 10
#: share of the best block's worth that another block of a definition needs to be shown
BLOCKS_SHARE = 0.35
#: blocks of a long definition around what is in question, or in their order; lines of its outline,
#: the next number where one does not fit
BLOCKS_MAX, ALL_BLOCKS, OUTLINES = 6, 1_000, (60, 24, 8, 3)
#: lines of a file without definitions that are read for its outline
DOCUMENT_LINES_MAX = 5_000
#: called definitions that are listed; their share of the answer; calls of one definition
CALLS_MAX, CALLS_SHARE, CALLEES_MAX = 12, 0.12, 60
#: definitions of an outlined file that the query wants, and the share of the best one's score that
#: they need
WANTED_MAX, WANTED_SHARE = 3, 0.6
#: bytes of the outline of a folder, at least
FOLDER_BYTES_MIN = 800
#: bytes of an entry's first line without its path and name
HEADER_BYTES = 16

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Read:
    """Places to read, as people write them; `query`: what is wanted of the long ones."""

    places: tuple[str, ...]
    query: str = ""
    max_tokens: int = TOKENS

    def checked(self) -> Read:
        """Return the question within its bounds. Raises BadRequest."""
        places = [place.strip() for place in _rejoin(self.places) if place.strip()]
        if not places:
            raise BadRequest('No place is given; pass names or paths, as ["Store.save", "src/app.py:40-90"].')
        for place in places:
            check_text(place, "place")
            if len(place) > PLACE_CHARS_MAX:
                raise BadRequest(f"A place is longer than {PLACE_CHARS_MAX} letters.")
        return Read(tuple(dict.fromkeys(places)), self.query, clamp(self.max_tokens, TOKENS_MIN, TOKENS_MAX))


def _rejoin(places: Sequence[str]) -> list[str]:
    """Return the places with those in one piece that a comma between arguments has divided."""
    joined: list[str] = []
    for place in places:
        if joined and joined[-1].count("(") > joined[-1].count(")"):
            joined[-1] += f", {place}"
        else:
            joined.append(place)
    return joined


@dataclass(frozen=True, slots=True)
class _Item:
    """A target with its lines. `shift`: what its numbers in the index lack to those of now."""

    target: Target
    span: CurrentSpan
    body: Body
    shift: int = 0

    @property
    def entry(self) -> Answer:
        target, span = self.target, self.span
        entry: Answer = {"file": target.file, "start": span.start, "end": span.end, "name": target.name}
        return entry | ({"stale": True} if span.stale else {})

    @property
    def header_bytes(self) -> int:
        return len(f"{self.target.file}{self.target.name}".encode()) + HEADER_BYTES


async def read(context: QueryContext, question: Read) -> Answer:
    """Answer cortex_read. Raises BadRequest, and Unavailable when no worker can answer."""
    question = question.checked()
    turn, answer = await context.attempt(lambda turn: _answer(turn, question))
    if answer is None:
        return {"code": [], "suggestion": turn.explain_nothing(), "index": turn.index()}
    return answer


async def _answer(turn: Turn, question: Read) -> Answer:
    resolved = await find_targets(turn, question.places[:PLACES_MAX])
    notes = list(resolved.notes)
    if left := len(question.places) - PLACES_MAX:
        notes += [f"{left} of {len(question.places)} places are left out: ask for them again."] * (left > 0)
    turn = turn.renewed()
    if question.query.strip():
        resolved.targets += await _find_wanted(turn, resolved, question.query)
    units = await _find_units(turn, resolved.targets)
    items, callees = await asyncio.gather(
        _read_items(turn, resolved, units), _find_callees(turn, resolved.targets)
    )
    notes += [
        f"{path} was removed after it was indexed."
        for path in dict.fromkeys(item.span.file for item in items if item.span.gone)
    ]
    answer: Answer = {}
    if resolved.listed:
        answer["map"] = [_map_line(function) for function in resolved.listed[:LISTED_MAX]]
    left_bytes = question.max_tokens * TOKEN_BYTES
    if question.max_tokens == TOKENS:
        left_bytes = max(left_bytes, min(LINES_BYTES, _bytes_of_lines(items)))
    left_bytes -= len("\n".join(notes).encode())
    folders = [target for target in resolved.targets if target.form == "folder"]
    for target in folders:
        share = max(FOLDER_BYTES_MIN, left_bytes // len(resolved.targets))
        rows, sentence = await outline_folder(turn, target.file, share)
        answer.setdefault("map", []).extend(rows)
        notes += [sentence] if sentence else []
        left_bytes -= len(sentence.encode())
    left_bytes -= sum(len(f"{row['file']}{row['name']}".encode()) for row in answer.get("map", ()))
    room = int(left_bytes * (1 - CALLS_SHARE)) if any(callees.values()) else left_bytes
    answer["code"], cut, used = _show_code(resolved, items, question.query, room)
    if calls := await _list_calls(turn, items, callees, answer["code"], left_bytes - used):
        answer["calls"] = calls
    if cut:
        notes.append(f"Lines that are not shown: read them by number, as {cut}.")
    if notes:
        answer["notes"] = list(dict.fromkeys(notes))
    return answer | {"index": turn.index()}


async def _find_wanted(turn: Turn, resolved: Resolved, query: str) -> list[Target]:
    """Return the definitions of the files to outline whose words answer the query best."""
    files = [target for target in resolved.targets if target.form == "file" and not _needs_lines(target)]
    replies = await asyncio.gather(
        *(
            turn.lane("text", _search_file(target, query, turn.generation.number), UnitHits, ours=True)
            for target in files
        )
    )
    wanted: list[Target] = []
    for target, reply in zip(files, replies, strict=True):
        if reply is None or not reply.units:
            continue
        scores = np.array([getattr(WEIGHTS, name) for name in reply.names]) @ reply.values
        best = [
            unit
            for raw, score in zip(reply.units, scores.tolist(), strict=True)
            if score >= WANTED_SHARE * scores.max() and (unit := orjson.loads(raw)).get("symbol")
        ]
        heads = {unit.get("head", unit["start"]) for unit in best[:WANTED_MAX]}
        definitions = resolved.outlines.get(target.file, [])
        wanted += [
            make_definition_target(definition, definitions)
            for definition in definitions
            if definition.start in heads
        ]
    read = {(target.file, target.start, target.end) for target in resolved.targets}
    return [target for target in wanted if (target.file, target.start, target.end) not in read]


def _search_file(target: Target, query: str, generation: int) -> UnitSearch:
    filters = Filters(tags=(target.file,))
    return UnitSearch(query, WANTED_MAX, filters, generation, WANTED_MAX)


def _map_line(function: Function) -> Answer:
    return {"file": function.file, "start": function.start, "end": function.end, "name": function.name}


def _bytes_of_lines(items: Iterable[_Item]) -> int:
    """Return the bytes of the answer, if the lines that were asked for by number are all of it."""
    by_number = [item for item in items if item.target.form == "lines"]
    shown = sum(show_whole(item.body).size + item.header_bytes for item in by_number)
    return int(shown / (1 - CALLS_SHARE)) + 1 if by_number else 0


async def _find_units(turn: Turn, targets: Sequence[Target]) -> dict[tuple[str, int], Answer]:
    """Return (file, first line of a definition) → its unit: comments above it, blocks inside it."""
    wanted = [target for target in targets if target.form == "definition"]
    if not wanted:
        return {}
    places = tuple(Place(target.file, target.start) for target in wanted)
    hits = await turn.lane("text", UnitsAt(places, turn.generation.number), UnitHits, ours=True)
    units = [orjson.loads(raw) for raw in hits.units] if hits is not None else []
    return {(unit["path"], unit.get("head", unit["start"])): unit for unit in units}


async def _read_items(turn: Turn, resolved: Resolved, units: Mapping[tuple[str, int], Answer]) -> list[_Item]:
    """Return the targets in order with lines; no folders, and no long files with definitions."""
    wanted = [target for target in resolved.targets if _needs_lines(target)]
    spans = []
    for target in wanted:
        unit = units.get((target.file, target.start), {})
        end = min(target.end, DOCUMENT_LINES_MAX) if target.form == "file" else target.end
        spans.append(Span(target.file, min(target.start, unit.get("start", target.start)), end))
    unread = [span for span, target in zip(spans, wanted, strict=True) if not target.now]
    lines = dict(zip(unread, await read_spans(turn, unread), strict=True))
    items = []
    for target, span in zip(wanted, spans, strict=True):
        if target.now:
            text = target.now[target.start - 1 : target.end]
            current = CurrentSpan(target.file, target.start, target.end, text)
        else:
            current = lines[span]
        items.append(_make_item(target, span, current, units.get((target.file, target.start), {})))
    return items


def _needs_lines(target: Target) -> bool:
    if target.form == "file":
        return target.end <= WHOLE_LINES or not target.members
    return target.form != "folder"


def _make_item(target: Target, span: Span, current: CurrentSpan, unit: Answer) -> _Item:
    lines = dict(enumerate(current.lines, current.start))
    shift = current.start - span.start
    if target.form == "around" and lines:
        line = min(max(target.focus[0] + shift, current.start), max(lines))
        first, last = statements_around(lines, line, AROUND, WHOLE_LINES)
        lines = {number: lines[number] for number in range(first, last + 1)}
        cut = replace(current, start=first, end=last, lines=tuple(lines.values()))
        return _Item(target, cut, Body(lines, first), shift)
    focus: Sequence[int] = [number + shift for number in target.focus]
    doc_lines = DOC_LINES if target.form == "definition" else 0
    if len(lines) != span.end - span.start + 1:  # lines were added or removed: no block is certain
        return _Item(target, current, Body(lines, current.start, focus=focus, doc_lines=doc_lines), shift)
    moved = [(first + shift, last + shift, depth) for first, last, depth in unit.get("blocks", ())]
    if target.members and target.form == "definition":
        moved = _blocks_of_type(lines, target, shift)
    body = Body(lines, target.start + shift, moved, focus, doc_lines=doc_lines)
    return _Item(target, current, body, shift)


def _blocks_of_type(lines: Mapping[int, str], target: Target, shift: int) -> list[Block]:
    """Return the members of a type and the pieces between them."""
    blocks: list[Block] = []
    following = signature_end(lines, target.start + shift) + 1
    for member in (*target.members, None):
        first = member.start + shift if member else target.end + shift
        if between := [number for number in range(following, first) if lines[number].strip()]:
            blocks.append((between[0], between[-1], 0))
        if member and member.end + shift >= following:
            blocks.append((max(first, following), member.end + shift, 0))
            following = member.end + shift + 1
    return blocks


def _show_code(
    resolved: Resolved, items: Sequence[_Item], query: str, max_bytes: int
) -> tuple[list[Answer], str, int]:
    """Return (the entries of all targets but folders within `max_bytes`, those that need less first
    served; a place that is left out, "" for none; the bytes of all).
    """
    wanted = get_term_finder(question_words(query)) if query.strip() else None
    read_targets = {id(item.target): item for item in items}
    entries: dict[int, Answer] = {}
    cuts: list[str] = []
    sizes: list[tuple[int, int]] = []
    targets = [target for target in resolved.targets if target.form != "folder"]
    for at, target in enumerate(targets):
        item = read_targets.get(id(target))
        entry = _entry_of(target, item, wanted, max_bytes * 4)
        sizes.append((entry[1], at))
    left = max_bytes
    for served, (_, at) in enumerate(sorted(sizes)):
        share = left // (len(sizes) - served)
        item = read_targets.get(id(targets[at]))
        entries[at], used, cut = _entry_of(targets[at], item, wanted, share)
        left -= min(used, left)
        cuts += [cut] if cut else []
    return [entries[at] for at in sorted(entries)], cuts[0] if cuts else "", max_bytes - left


def _entry_of(
    target: Target, item: _Item | None, wanted: TermFinder | None, max_bytes: int
) -> tuple[Answer, int, str]:
    """Return (the entry of a target in `max_bytes`, its bytes, a place of it that is left out)."""
    if item is None or _is_long_document(item):
        if item is not None and wanted is not None:
            sections = _find_sections(item, wanted, max_bytes - item.header_bytes)
            if sections.pieces:
                return item.entry | sections.entry(), sections.size + item.header_bytes, ""
        entry: Answer = {"file": target.file, "start": 0, "end": 0, "name": f"{target.end} lines"}
        if item is not None and target.form == "definition":
            entry = item.entry
        room = max_bytes - len(target.file) - HEADER_BYTES
        rows = (
            outline_file(target.members, room)
            if item is None
            else outline_document(item.body.lines, target.file, room)
        )
        return entry | {"outline": rows}, sum(len(row["text"]) + HEADER_BYTES for row in rows), ""
    pieces = _choose(item, wanted, max_bytes - item.header_bytes)
    entry = item.entry
    if not item.body.lines:
        return entry, item.header_bytes, ""
    shown = pieces.entry()
    if item.span.stale:
        shown = {"pieces": [{"start": 0, "text": text} for _, text in pieces.pieces]}
    cut = "" if pieces.is_whole else _first_left_out(item, pieces)
    return entry | shown, pieces.size + item.header_bytes, cut


def _is_long_document(item: _Item) -> bool:
    """Whether a target is too long to be whole and has no definitions inside: a file of which an
    outline suffices, or a section of data, whose keys do.
    """
    is_long = len(item.body.lines) > WHOLE_LINES
    if item.target.form == "definition" and not item.body.focus:
        is_data = language_of(item.target.file).kind == "data"
        return is_data and (is_long or show_whole(item.body).size > WHOLE_BYTES)
    return is_long and item.target.form == "file"


def _find_sections(item: _Item, wanted: TermFinder, max_bytes: int) -> Pieces:
    """Return the sections of a file without definitions that hold most of the words in question,
    with an outline of the others; nothing where none holds any.
    """
    words = weigh_words(wanted, [wanted.terms_in(line) for line in item.body.lines.values()])
    if not words or item.span.stale:
        return Pieces()
    body = replace(item.body, blocks=sections_of(item.body.lines, item.target.file))
    return choose_pieces(body, words, wanted, max_bytes, Bounds(BLOCKS_MAX, OUTLINES[0], BLOCKS_SHARE))


def _first_left_out(item: _Item, pieces: Pieces) -> str:
    if item.span.stale:
        return ""
    parts = [(first, last) for first, last, text in pieces.outline if text.strip()]
    parts = parts or [part[:2] for part in pieces.outline] or [(item.span.start, item.span.end)]
    first, last = max(parts, key=lambda part: part[1] - part[0])
    return f"{item.target.file}:{first}-{last}"


def _choose(item: _Item, wanted: TermFinder | None, max_bytes: int) -> Pieces:
    """Return the lines of a definition that an answer shows."""
    body, all_lines = item.body, show_whole(item.body)
    words: dict[str, float] = {}
    if wanted is not None and item.target.form == "definition":
        words = weigh_words(wanted, [wanted.terms_in(line) for line in body.lines.values()])
    is_focused = bool(words or body.focus)
    is_short = len(body.lines) <= WHOLE_LINES or item.target.form in ("lines", "around")
    if all_lines.size <= max_bytes and (is_short or (not is_focused and all_lines.size <= WHOLE_BYTES)):
        return all_lines
    if not is_focused:
        body, blocks = replace(body, focus=list(body.lines)), 0 if item.target.members else ALL_BLOCKS
        max_bytes = min(max_bytes, WHOLE_BYTES) if item.target.form == "definition" else max_bytes
    else:
        first, last = (body.focus[0], body.focus[-1]) if body.focus else (0, -1)
        around = range(first - AROUND, last + AROUND + 1) if body.focus else range(0)
        body, blocks = replace(body, focus=around), BLOCKS_MAX
    for outline in OUTLINES:
        bounds = Bounds(blocks, outline, BLOCKS_SHARE, in_order=not is_focused)
        pieces = choose_pieces(body, words, wanted or get_term_finder(()), max_bytes, bounds)
        if pieces.pieces:
            break
    return pieces


async def _find_callees(turn: Turn, targets: Sequence[Target]) -> dict[str, list[tuple[Function, int]]]:
    """Return id of a function → the definitions that it calls, each with the line of the call."""
    callers = [target for target in targets if target.id and target.kind in CALLABLE_KINDS]
    answers = await ask_graph(
        turn, [GraphSearch("callees", target.id, max_results=CALLEES_MAX) for target in callers]
    )
    callees: dict[str, list[tuple[Function, int]]] = {}
    for target, answer in zip(callers, answers, strict=True):
        for raw, function in zip(
            answer.results if answer is not None else (), parse_functions(answer), strict=True
        ):
            result = orjson.loads(raw)
            if (
                function.file
                and function.kind != "external"
                and len(result.get("candidates", ())) <= CANDIDATES_MAX
            ):
                callees.setdefault(target.id, []).append((function, result["location"]["line"]))
    return callees


async def _list_calls(
    turn: Turn,
    items: Sequence[_Item],
    callees: Mapping[str, Sequence[tuple[Function, int]]],
    entries: Sequence[Answer],
    max_bytes: int,
) -> list[Answer]:
    """Return the places of what the shown lines call, and do not define."""
    shown: dict[str, set[int]] = {}
    for entry in entries:
        for piece in entry.get("pieces", ()):
            numbers = range(piece["start"], piece["start"] + piece["text"].count("\n") + 1)
            shown.setdefault(entry["file"], set()).update(numbers)
    called: dict[str, Function] = {}
    for item in items:
        for function, line in callees.get(item.target.id, ()):
            if line + item.shift in shown.get(item.target.file, ()) or item.span.moved:
                called.setdefault(function.id, function)
    stale = turn.stale({function.file for function in called.values()})
    unseen = [
        function
        for function in called.values()
        if function.file in stale or function.start not in shown.get(function.file, ())
    ]
    fitting = first_fitting(unseen, lambda other: len(f"{other.file}{other.name}") + 8, max_bytes)
    return [
        {"file": function.file}
        | ({} if function.file in stale else {"start": function.start})
        | {"name": function.name}
        for function in fitting[:CALLS_MAX]
    ]
