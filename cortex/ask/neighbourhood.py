"""What is around a place or a symbol: the definition itself, what it calls and who calls it; of
lines that no definition holds those next to them, and the definition that comes next.
"""

from __future__ import annotations

import re
from dataclasses import replace

from cortex.ask.explore_answer import Picture
from cortex.ask.flow import Flow, choose_flow, weigh_words
from cortex.ask.functions import (
    PIECE,
    Function,
    at_places,
    find_calls,
    find_file,
    is_shown,
    outline,
    resolve,
)
from cortex.ask.query_context import Turn
from cortex.ask.query_words import sought
from cortex.terms.kinds import TYPE_KINDS
from cortex.terms.paths import question_words
from cortex.terms.spelling import FileLines, read_file_lines
from ipc import messages

#: definitions of a type whose calls are asked for
POOL_MAX = 10
#: definitions of a file that are shown
TOP_MAX = 12
#: what a caller and a callee of what is asked about is worth of it, and lines below which less
AROUND, SHORT_LINES = 0.5, 6
#: what is called by what is asked about and shown beside it
CALLEES_MAX = 3
#: lines above and below a line that no definition holds, and to the definition that is next to it
ABOVE_LINES, BELOW_LINES, NEXT_LINES = 8, 16, 60
#: lines after the first of a constant that is read by itself, and not with its neighbours
CONSTANT_LINES = 3
#: lines of a file without definitions that are shown of its top
PAGE_LINES = 80

_PATH = re.compile(r"[^\s:]+$")
#: how the path of a file ends that is named without a line
_FILE = re.compile(r"/[^/]+\.\w+$")
_SYMBOL = re.compile(r"^[\w$.:#~/\\*()&<>\[\],!?-]+$")


def read_spot(text: str) -> FileLines | None:
    """The lines of a file, or the file (`a/b.py`), that are asked about; None for what is no
    place.
    """
    place = read_file_lines(text)
    is_place = _PATH.match(place.path) and (place.line or _FILE.search(place.path))
    return replace(place, last=max(place.line, place.last)) if is_place else None


async def look_around(turn: Turn, text: str) -> Picture | None:
    """None when `text` is neither a place nor a symbol that the index knows. Raises NotReady."""
    if spot := read_spot(text):
        return await _at(turn, spot)
    if not _SYMBOL.match(text):
        return None
    seeds, suggestion = await resolve(turn, text)
    return await _around(turn, seeds[0], suggestion, range(0)) if seeds else None


async def _at(turn: Turn, spot: FileLines) -> Picture | None:
    seeds = (await at_places(turn, [messages.Place(spot.path, spot.line)]))[0]
    if seeds and not spot.line:
        return _whole(seeds)
    one = seeds[0] if seeds else None
    if one is None or not await _is_meant(turn, one, spot):
        file, end = await find_file(turn, one.file if one else spot.path)
        return await _outside(turn, file, spot, end) if file else None
    return await _around(turn, one, "", spot.lines)


async def _is_meant(turn: Turn, one: Function, spot: FileLines) -> bool:
    """Whether a place in a definition is about it: one between the members of a type is not, nor
    one of a constant, nor lines that end behind it.
    """
    if spot.last > one.end or one.callable:
        return spot.last <= one.end
    if _members(one, await outline(turn, [one.file])):
        return spot.line == one.start
    return one.kind in TYPE_KINDS or one.end - one.start >= CONSTANT_LINES


def _members(one: Function, known: list[Function]) -> tuple[Function, ...]:
    """The functions of a type."""
    return tuple(
        other for other in known if other.callable and one.start < other.start and other.end <= one.end
    )


def _whole(known: list[Function]) -> Picture:
    """What a file defines at its top, types before functions."""
    top = [one for one in known if "." not in one.name and (one.callable or one.kind in TYPE_KINDS)]
    shown = sorted(top, key=lambda one: one.callable)[:TOP_MAX]
    shown = sorted(shown or known[:TOP_MAX], key=lambda one: one.start)
    return Picture(Flow(tuple(shown)), scores={one.id: 1.0 for one in shown})


async def _outside(turn: Turn, file: str, spot: FileLines, end: int) -> Picture:
    """Lines that are asked for, as they are; around a single one those next to it, then the
    definition that comes next; of a file its first lines.
    """
    asked = range(min(max(spot.line, 1), end), min(spot.last or PAGE_LINES, end) + 1)
    first, last, after = asked[0], asked[-1], None
    if spot.line and len(asked) == 1:
        known = [one for one in await outline(turn, [file]) if one.callable or one.kind in TYPE_KINDS]
        following = [one for one in known if last < one.start <= last + NEXT_LINES]
        after = min(following, key=lambda one: (one.start, -one.end), default=None)
        before = max((one.end for one in known if one.end < first), default=0)
        first = max(1, before + 1, first - ABOVE_LINES)
        last = after.start - 1 if after else min(last + BELOW_LINES, end)
    piece = Function(f"{file}:{file}:{first}", file, first, last, PIECE)
    return Picture(
        Flow((piece,) if after is None else (piece, after)),
        focus={piece.id: list(asked) if spot.line else []},
        suggestion=f"{file} ends at line {end}." if spot.last > end else "",
        asked=piece.id,
    )


async def _around(turn: Turn, one: Function, suggestion: str, lines: range) -> Picture:
    """A definition, then what it calls; the chain of calls that it is in."""
    is_type = one.kind in TYPE_KINDS
    members = _members(one, await outline(turn, [one.file])) if is_type else ()
    seeds = [one, *members][:POOL_MAX]
    calls = await find_calls(turn, seeds)
    scores = {each.id: 1.0 - 0.02 * at for at, each in enumerate(seeds)}
    callees = []
    own = {one.id, *(member.id for member in members)}
    for caller, callee in calls.edges:
        other = calls.functions[callee if caller in own else caller]
        if (caller, callee) in calls.unsure or other.id in own or not is_shown(other) or not other.callable:
            continue
        short = min(1.0, (other.end - other.start + 1) / SHORT_LINES)
        scores.setdefault(other.id, AROUND * short * (1.0 if other.file == one.file else 0.8))
        if caller in own and other not in callees:
            callees.append(other)
    wanted = sought(question_words(one.name))
    words = weigh_words(wanted, [wanted.terms_in(one.name)])
    chain = choose_flow(scores, calls, words, ())
    return Picture(
        Flow((one, *callees[:CALLEES_MAX])),
        calls,
        words,
        focus={one.id: list(lines)},
        suggestion=suggestion,
        asked=one.id,
        members=members,
        path=chain.path(),
    )
