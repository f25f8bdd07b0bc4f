"""The surroundings of a place or a symbol: the definition, its callees and callers. For lines
outside of definitions: the lines next to them, and the next definition.
"""

import re
from dataclasses import replace

from cortex.ask.exploring.explore_answer import Picture
from cortex.ask.exploring.flow import Flow, choose_flow, weigh_words
from cortex.ask.exploring.functions import (
    PIECE,
    Function,
    find_at_places,
    find_calls,
    find_file,
    is_shown,
    outline,
    resolve,
)
from cortex.ask.exploring.query_words import get_term_finder
from cortex.ask.query_context import Turn
from cortex.terms.kinds import TYPE_KINDS
from cortex.terms.paths import question_words
from cortex.terms.text.spelling import FileLines, read_file_lines
from ipc import messages

#: members of a type whose calls are searched
POOL_MAX = 10
#: definitions of a file that are shown
TOP_MAX = 12
#: score of a caller or callee, relative to the target; lines below which it is lower
AROUND, SHORT_LINES = 0.5, 6
#: callees that are shown beside the target
CALLEES_MAX = 3
#: lines shown above and below a line outside of definitions; lines to the next definition
ABOVE_LINES, BELOW_LINES, NEXT_LINES = 8, 16, 60
#: lines from which on a constant is shown alone instead of with its neighbours
CONSTANT_LINES = 3
#: leading lines shown of a file without definitions
PAGE_LINES = 80

_PATH = re.compile(r"[^\s:]+$")
#: the end of a path that names a file without a line
_FILE = re.compile(r"/[^/]+\.\w+$")
_SYMBOL = re.compile(r"^[\w$.:#~/\\*()&<>\[\],!?-]+$")


def read_spot(text: str) -> FileLines | None:
    """Return the lines of a file, or the file (`a/b.py`), that the text names; None for none."""
    place = read_file_lines(text)
    is_place = _PATH.match(place.path) and (place.line or _FILE.search(place.path))
    return replace(place, last=max(place.line, place.last)) if is_place else None


async def look_around(turn: Turn, text: str) -> Picture | None:
    """Return the surroundings of a place or symbol, None if both are unknown. Raises NotReady."""
    if spot := read_spot(text):
        return await _look_at_place(turn, spot)
    if not _SYMBOL.match(text):
        return None
    seeds, suggestion = await resolve(turn, text)
    return await look_at_definition(turn, seeds[0], suggestion, range(0)) if seeds else None


async def _look_at_place(turn: Turn, spot: FileLines) -> Picture | None:
    seeds = (await find_at_places(turn, [messages.Place(spot.path, spot.line)]))[0]
    if seeds and not spot.line:
        return _file_outline(seeds)
    definition = seeds[0] if seeds else None
    if definition is None or not await _is_about(turn, definition, spot):
        file, end = await find_file(turn, definition.file if definition else spot.path)
        return await _look_at_lines(turn, file, spot, end) if file else None
    return await look_at_definition(turn, definition, "", spot.lines)


async def _is_about(turn: Turn, definition: Function, spot: FileLines) -> bool:
    """Whether a place is about the definition around it. It is not when it lies between the members
    of a type or in a short constant, or ends behind the definition.
    """
    if spot.last > definition.end or definition.callable:
        return spot.last <= definition.end
    if _members(definition, await outline(turn, [definition.file])):
        return spot.line == definition.start
    return definition.kind in TYPE_KINDS or definition.end - definition.start >= CONSTANT_LINES


def _members(owner: Function, definitions: list[Function]) -> tuple[Function, ...]:
    return tuple(
        other
        for other in definitions
        if other.callable and owner.start < other.start and other.end <= owner.end
    )


def _file_outline(definitions: list[Function]) -> Picture:
    """Return the top-level definitions of a file; of too many, types before functions."""
    top = [
        definition
        for definition in definitions
        if "." not in definition.name and (definition.callable or definition.kind in TYPE_KINDS)
    ]
    visible = sorted(top, key=lambda definition: definition.callable)[:TOP_MAX]
    visible = sorted(visible or definitions[:TOP_MAX], key=lambda definition: definition.start)
    return Picture(Flow(tuple(visible)), scores={definition.id: 1.0 for definition in visible})


async def _look_at_lines(turn: Turn, file: str, spot: FileLines, end: int) -> Picture:
    """Return the requested lines as they are. A single line gets its neighbours and the next
    definition; a file without a line gets its first lines.
    """
    requested = range(min(max(spot.line, 1), end), min(spot.last or PAGE_LINES, end) + 1)
    first, last, after = requested[0], requested[-1], None
    if spot.line and len(requested) == 1:
        definitions = [
            definition
            for definition in await outline(turn, [file])
            if definition.callable or definition.kind in TYPE_KINDS
        ]
        following = [definition for definition in definitions if last < definition.start <= last + NEXT_LINES]
        after = min(following, key=lambda definition: (definition.start, -definition.end), default=None)
        before = max((definition.end for definition in definitions if definition.end < first), default=0)
        first = max(1, before + 1, first - ABOVE_LINES)
        last = after.start - 1 if after else min(last + BELOW_LINES, end)
    piece = Function(f"{file}:{file}:{first}", file, first, last, PIECE)
    return Picture(
        Flow((piece,) if after is None else (piece, after)),
        focus={piece.id: list(requested) if spot.line else []},
        suggestion=f"{file} ends at line {end}." if spot.last > end else "",
        target=piece.id,
    )


async def look_at_definition(turn: Turn, definition: Function, suggestion: str, lines: range) -> Picture:
    """Return a definition with its first callees, and the chain of calls through it."""
    is_type = definition.kind in TYPE_KINDS
    members = _members(definition, await outline(turn, [definition.file])) if is_type else ()
    seeds = [definition, *members][:POOL_MAX]
    calls = await find_calls(turn, seeds)
    scores = {function.id: 1.0 - 0.02 * at for at, function in enumerate(seeds)}
    callees = []
    own_ids = {definition.id, *(member.id for member in members)}
    for caller, callee in calls.edges:
        other = calls.functions[callee if caller in own_ids else caller]
        if (
            (caller, callee) in calls.unsure
            or other.id in own_ids
            or not is_shown(other)
            or not other.callable
        ):
            continue
        short = min(1.0, (other.end - other.start + 1) / SHORT_LINES)
        scores.setdefault(other.id, AROUND * short * (1.0 if other.file == definition.file else 0.8))
        if caller in own_ids and other not in callees:
            callees.append(other)
    wanted = get_term_finder(question_words(definition.name))
    words = weigh_words(wanted, [wanted.terms_in(definition.name)])
    chain = choose_flow(scores, calls, words, ())
    return Picture(
        Flow((definition, *callees[:CALLEES_MAX])),
        calls,
        words,
        focus={definition.id: list(lines)},
        suggestion=suggestion,
        target=definition.id,
        members=members,
        path=chain.path(),
    )
