"""The meaning of places to read: symbols, lines, files and folders, as people and models write
them.

A path means the indexed file with exactly this path, or the only one that ends with it, which the
answer then names. A path that is not there is never read as another file.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import orjson

from cortex.ask.exploring.functions import Function, look_up, outline, parse_functions
from cortex.ask.lines.current_lines import Span, read_changed, read_spans
from cortex.ask.missing_files import say_missing
from cortex.ask.query_context import Turn
from cortex.ask.reading.data_definitions import find_data, find_parts
from cortex.ask.reading.meanings import UNKNOWN
from cortex.ask.references.owners import find_member
from cortex.ranking.traces import KNOWN_ENDINGS
from cortex.terms.ids import stem_of, strip_overload
from cortex.terms.kinds import TYPE_KINDS, WHOLE_KINDS
from cortex.terms.paths import is_built
from cortex.terms.text.spelling import FileLines, means_file, path_below, read_file_lines
from ipc.messages import GraphHits, Locate, Located, Place, Spot, UnitHits, UnitsAt

#: meanings of an ambiguous symbol or path that are all read; of one with more, the places listed
MEANINGS_MAX, LISTED_MAX = 3, 10
#: lines of overloads below each other that are read as one
TOGETHER_LINES = 60
#: lines around a line outside of definitions; lines between two definitions that are read as the
#: beginning of the second
AROUND_LINES, NEAR_LINES = 100, 3

#: a path, by its look: a file's ending, or a slash at its end
_PATH = re.compile(rf"[^:#]*\.{KNOWN_ENDINGS}|.*/[^/:#]*\.\w{{1,8}}|[^:#]*/", re.IGNORECASE)

#: in the graph's remark on a name with several meanings
_AMBIGUOUS = "may be any of"

Form = Literal["definition", "lines", "around", "file", "folder"]


@dataclass(frozen=True, slots=True)
class Target:
    """Lines to read. `start` and `end` are numbers of the index; with `now`, of the file as it is.
    Of the form "around", the statements around the line `focus` are wanted.

    `focus`: lines that were asked for, numbered as `start`. `members`: definitions right inside.
    """

    form: Form
    file: str
    start: int = 0
    end: int = 0
    name: str = ""
    kind: str = ""
    id: str = ""
    focus: range = range(0)
    members: tuple[Function, ...] = ()
    #: all lines of a changed file, where the numbers are those of the file as it is now
    now: tuple[str, ...] = ()


@dataclass(slots=True)
class Resolved:
    """The targets of an answer in the order of their places; `listed`: places of the meanings of
    names with too many; `notes`: sentences on readings, and on places that are unknown.
    """

    targets: list[Target] = field(default_factory=list)
    listed: list[Function] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    #: file → its definitions
    outlines: dict[str, list[Function]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Spelling:
    """One place: as written, and read as a path with lines."""

    text: str
    lines: FileLines
    #: whether it looks like a path
    is_path: bool


async def find_targets(turn: Turn, texts: Sequence[str]) -> Resolved:
    """Return the meaning of each place. Raises NotReady, Unavailable if no worker has rows."""
    spellings = [_read(text, str(turn.context.config.root)) for text in texts]
    files = await _find_files(turn, spellings)
    unknown = [place for place in spellings if place not in files and not _is_folder(turn, place)]
    symbols = [place for place in unknown if not place.lines.line]
    hits = dict(zip(symbols, await look_up(turn, [place.text for place in symbols]), strict=True))
    meanings = await _resolve_candidates(turn, hits)
    unclear = [
        place
        for place, answer in hits.items()
        if answer and not (answer.results or place.is_path or _AMBIGUOUS in answer.suggestion)
    ]
    data = await asyncio.gather(*(find_data(turn, place.text) for place in unclear))
    for place, definitions in zip(unclear, data, strict=True):
        if definitions:
            hits[place], meanings[place] = GraphHits(), definitions
    guessed = [
        place
        for place, answer in hits.items()
        if answer and answer.suggestion.startswith(UNKNOWN) and not place.is_path
    ]
    members = await asyncio.gather(*(find_member(turn, place.text) for place in guessed))
    for place, definitions in zip(guessed, members, strict=True):
        if definitions:
            hits[place], meanings[place] = GraphHits(), definitions
    resolved = Resolved()
    types = [meaning for meant in meanings.values() for meaning in meant if meaning.kind in TYPE_KINDS]
    partial = [meaning for meaning in types if meaning.file.endswith(".cs")][:MEANINGS_MAX]
    for meaning, parts in zip(
        partial, await asyncio.gather(*(find_parts(turn, meaning) for meaning in partial)), strict=True
    ):
        if parts:
            listed = ", ".join(f"{part.file}:{part.start}" for part in parts[:LISTED_MAX])
            resolved.notes.append(f"Other parts of {meaning.name}: {listed}.")
    of_files = [spot.hit.path for spots in files.values() for spot in spots[:1]]
    of_symbols = [function.file for functions in meanings.values() for function in functions]
    paths = dict.fromkeys(path for path in (*of_files, *of_symbols) if path)
    for function in await outline(turn, list(paths)):
        resolved.outlines.setdefault(function.file, []).append(function)
    changed = await _Changed.of(turn, of_files, resolved.outlines)
    heads = await _find_heads(turn, files)
    for place in spellings:
        if place in files:
            _add_file(resolved, _move_to_head(place, heads), files[place], changed)
        elif place in hits:
            _add_symbol(turn, resolved, place, hits[place], meanings.get(place, []))
        elif place in unknown:
            resolved.notes.append(_say_no_file(turn, place))
        else:
            resolved.targets.append(Target("folder", place.lines.path))
    resolved.targets = _without_repeats(resolved.targets)
    return resolved


def _read(text: str, root: str) -> _Spelling:
    lines = read_file_lines(text)
    path = path_below(lines.path, root)
    is_path = bool(lines.line) or path in ("", ".") or _PATH.fullmatch(lines.path) is not None
    return _Spelling(text, replace(lines, path=path), is_path)


async def _find_files(turn: Turn, spellings: Sequence[_Spelling]) -> dict[_Spelling, list[Spot]]:
    """Return place → the indexed files that its path means: several of which none is exact."""
    wanted = [place for place in spellings if place.lines.path and "\0" not in place.lines.path]
    if not wanted:
        return {}
    places = tuple(Place(place.lines.path) for place in wanted)
    request = Locate(places, generation=turn.generation.number, bare=True)
    located = await turn.first_of(("text", "vector"), request, Located, turn.silent)
    files: dict[_Spelling, list[Spot]] = {}
    for at, place in enumerate(wanted):
        spots = [
            spot for spot in located.spots if spot.place == at and means_file(place.lines.path, spot.hit.path)
        ]
        if spots:
            files[place] = spots
    return files


def _is_folder(turn: Turn, place: _Spelling) -> bool:
    path = place.lines.path
    if place.lines.line:
        return False
    return not path or any(listed.startswith(f"{path}/") for listed in turn.context.freshness.listed())


async def _find_heads(turn: Turn, files: Mapping[_Spelling, Sequence[Spot]]) -> dict[_Spelling, int]:
    """Return place → the first line of a definition, where the line is in the comment above it."""
    wanted = [place for place in files if place.lines.line and not place.lines.last]
    stale = turn.stale({files[place][0].hit.path for place in wanted})
    wanted = [place for place in wanted if files[place][0].hit.path not in stale]
    if not wanted:
        return {}
    places = tuple(Place(files[place][0].hit.path, place.lines.line) for place in wanted)
    hits = await turn.lane("text", UnitsAt(places, turn.generation.number), UnitHits, ours=True)
    units = [orjson.loads(raw) for raw in hits.units] if hits is not None else []
    heads: dict[_Spelling, int] = {}
    for place, spot in zip(wanted, places, strict=True):
        for unit in units:
            is_above = unit["path"] == spot.path and unit["start"] <= spot.line < unit.get("head", 0)
            if is_above and unit.get("symbol"):
                heads[place] = unit["head"]
    return heads


def _move_to_head(place: _Spelling, heads: Mapping[_Spelling, int]) -> _Spelling:
    return replace(place, lines=replace(place.lines, line=heads.get(place, place.lines.line)))


async def _resolve_candidates(
    turn: Turn, hits: dict[_Spelling, GraphHits | None]
) -> dict[_Spelling, list[Function]]:
    """Return place → its meanings: one, or all candidates of an ambiguous name."""
    meanings = {place: parse_functions(answer) for place, answer in hits.items()}
    ambiguous = [
        (place, name)
        for place, answer in hits.items()
        if answer is not None and not answer.results and _AMBIGUOUS in answer.suggestion
        for name in answer.candidates
    ]
    answers = await look_up(turn, [name for _, name in ambiguous])
    for (place, _), answer in zip(ambiguous, answers, strict=True):
        meanings[place] += [definition for definition in parse_functions(answer) if definition.file]
    return meanings


@dataclass(frozen=True, slots=True)
class _Changed:
    """Files that changed since they were indexed: their lines, and the places of definitions."""

    lines: dict[str, list[str]] = field(default_factory=dict)
    spans: dict[tuple[str, int, int], tuple[int, int]] = field(default_factory=dict)

    @classmethod
    async def of(cls, turn: Turn, paths: Sequence[str], outlines: dict[str, list[Function]]) -> _Changed:
        lines = await read_changed(turn, paths)
        wanted = [
            Span(definition.file, definition.start, definition.end)
            for path in lines
            for definition in outlines.get(path, ())
        ]
        spans = await read_spans(turn, wanted)
        return cls(
            lines,
            {
                (span.file, span.start, span.end): (now.start, now.end)
                for span, now in zip(wanted, spans, strict=True)
                if not now.stale
            },
        )

    def moved(self, path: str, definitions: Sequence[Function]) -> list[Function]:
        """Return the definitions of a file with their lines as they are now."""
        if path not in self.lines:
            return list(definitions)
        places = [
            (function, self.spans.get((path, function.start, function.end))) for function in definitions
        ]
        return [replace(function, start=place[0], end=place[1]) for function, place in places if place]

    def holds(self, definition: Function, line: int) -> bool:
        """Whether a line, numbered as in the file now, is in a definition."""
        key = (definition.file, definition.start, definition.end)
        first, last = self.spans.get(key, (0, -1)) if definition.file in self.lines else key[1:]
        return first <= line <= last


def _add_file(resolved: Resolved, place: _Spelling, spots: Sequence[Spot], changed: _Changed) -> None:
    """Add the file, lines or definition that a path with or without lines means."""
    path = place.lines.path
    exact = [spot for spot in spots if spot.hit.path == path]
    if len(exact or spots) > 1:
        listed = ", ".join(spot.hit.path for spot in spots[:LISTED_MAX])
        resolved.notes.append(f"{place.text!r} may be any of: {listed}.")
        return
    hit = (exact or spots)[0].hit
    if not exact:
        resolved.notes.append(f"{place.text!r} is read as {hit.path}.")
    now = tuple(changed.lines.get(hit.path, ()))
    last = len(now) or hit.end_line
    lines = place.lines
    if not lines.line:
        definitions = changed.moved(hit.path, resolved.outlines.get(hit.path, []))
        resolved.targets.append(_file_target(hit.path, last, definitions, now))
    elif lines.line > last:
        resolved.notes.append(f"{hit.path} has {last} lines: there is no line {lines.line}.")
    elif lines.last:
        end = min(last, lines.last)
        name = _name_around(resolved, hit.path, range(lines.line, end + 1), changed)
        resolved.targets.append(Target("lines", hit.path, lines.line, end, name, now=now))
    else:
        resolved.targets.append(_line_target(resolved, hit.path, lines.line, last, changed))


def _file_target(path: str, last: int, definitions: Sequence[Function], now: tuple[str, ...]) -> Target:
    return Target("file", path, 1, last, members=tuple(definitions), now=now)


def _line_target(resolved: Resolved, path: str, line: int, last: int, changed: _Changed) -> Target:
    """Return the innermost definition with a line; the lines around it where there is none."""
    now = tuple(changed.lines.get(path, ()))
    definitions = resolved.outlines.get(path, [])
    around = sorted(
        (definition for definition in definitions if changed.holds(definition, line)),
        key=lambda definition: (definition.kind in TYPE_KINDS, definition.end - definition.start),
    )
    if around:
        definition = around[0]
        first = changed.spans.get((path, definition.start, definition.end), (definition.start, 0))[0]
        # in a changed file, the same distance from the beginning: good enough to choose a block
        focus = line - first + definition.start
        return make_definition_target(definition, definitions, range(focus, focus + 1))
    first = max(
        [
            1,
            line - AROUND_LINES,
            *(definition.end + 1 for definition in definitions if definition.end < line and not now),
        ]
    )
    end = min(
        [
            last,
            line + AROUND_LINES,
            *(definition.start - 1 for definition in definitions if definition.start > line and not now),
        ]
    )
    if end - first < NEAR_LINES and (
        below := [definition for definition in definitions if definition.start == end + 1]
    ):
        return make_definition_target(max(below, key=lambda definition: definition.end), definitions)
    return Target("around", path, first, end, focus=range(line, line + 1), now=now)


def make_definition_target(
    definition: Function, definitions: Sequence[Function], focus: range = range(0)
) -> Target:
    members = (
        [other for other in definitions if other.is_inside(definition)]
        if definition.kind in TYPE_KINDS
        else []
    )
    direct = [other for other in members if not any(other.is_inside(outer) for outer in members)]
    return Target(
        "definition",
        definition.file,
        definition.start,
        definition.end,
        definition.name,
        definition.kind,
        definition.id,
        focus,
        tuple(direct),
    )


def _name_around(resolved: Resolved, path: str, lines: range, changed: _Changed) -> str:
    """Return the name of the innermost definition with all of `lines`; "" for none."""
    around = [
        definition
        for definition in resolved.outlines.get(path, ())
        if changed.holds(definition, lines[0]) and changed.holds(definition, lines[-1])
    ]
    return min(around, key=lambda definition: definition.end - definition.start).name if around else ""


def _add_symbol(
    turn: Turn, resolved: Resolved, place: _Spelling, answer: GraphHits | None, meanings: Sequence[Function]
) -> None:
    """Add the definitions that a name means, with their overloads."""
    if answer is None:
        resolved.notes.append(f"{place.text!r} was not looked up: the graph worker did not answer.")
        return
    is_guess = answer.suggestion.startswith(UNKNOWN)
    meant = (
        []
        if is_guess and place.is_path
        else _select_meant(place.text, meanings, is_sure=bool(answer.results))
    )
    if not meant:
        is_external = bool(answer.results)
        resolved.notes.append(
            _say_no_file(turn, place)
            if place.is_path
            else _say_no_symbol(place, answer, is_external=is_external)
        )
        return
    if len(meant) > MEANINGS_MAX:
        resolved.listed += meant[:LISTED_MAX]
        resolved.notes.append(f"{place.text!r} has many meanings; ask for one of the places above.")
        return
    if is_guess:
        resolved.notes.append(answer.suggestion)
    elif others := [name for name in answer.candidates if answer.results and not is_built(name)]:
        resolved.notes.append(f"Also called {place.text!r}: {', '.join(others[:LISTED_MAX])}.")
    if len(meant) > 1:
        resolved.notes.append(f"{place.text!r} has {len(meant)} meanings: each is answered.")
    for meaning in meant:
        definitions = resolved.outlines.get(meaning.file, [])
        if meaning.kind in WHOLE_KINDS:
            last = max((definition.end for definition in definitions), default=meaning.end)
            resolved.targets.append(_file_target(meaning.file, max(meaning.end, last), definitions, ()))
        else:
            resolved.targets += _with_overloads(meaning, definitions)


def _select_meant(text: str, meanings: Sequence[Function], *, is_sure: bool) -> list[Function]:
    """Return the meanings of a name that can be read. `is_sure`: there is one; of several, those in
    tests and in files that a tool has built count only where there are no others.
    """
    meant = [
        meaning
        for meaning in meanings
        if meaning.file
        and meaning.kind != "external"
        and (meaning.kind not in WHOLE_KINDS or _is_stem(text, meaning.file))
    ]
    if is_sure:
        return meant
    meant = [meaning for meaning in meant if not is_built(meaning.file)] or meant
    return [meaning for meaning in meant if not meaning.is_test] or meant


def _is_stem(text: str, path: str) -> bool:
    """Whether a name without an ending, as `shop/store` or `shop.store`, is the end of a path."""
    return any(f"/{stem_of(path)}".endswith(f"/{name}") for name in (text, text.replace(".", "/")))


def _with_overloads(definition: Function, definitions: Sequence[Function]) -> list[Target]:
    """Return a definition and its overloads; those right below each other as one target."""
    name = strip_overload(definition.id)
    copies = [other for other in definitions if strip_overload(other.id) == name] or [definition]
    targets: list[Target] = []
    for copy in sorted(copies, key=lambda copy: copy.start):
        is_near = targets and copy.start <= targets[-1].end + 2
        if is_near and copy.end - targets[-1].start < TOGETHER_LINES and copy.kind not in TYPE_KINDS:
            targets[-1] = replace(targets[-1], end=max(copy.end, targets[-1].end))
        else:
            targets.append(replace(make_definition_target(copy, definitions), id=definition.id))
    return targets


def _without_repeats(targets: Iterable[Target]) -> list[Target]:
    """Return the targets, each once; lines that are asked for in one definition together."""
    unique: dict[tuple[Any, ...], Target] = {}
    for target in targets:
        key = (target.form, target.file, target.start, target.end)
        before = unique.get(key)
        if before is not None and before.focus and target.focus:
            first, last = (pick(before.focus[0], target.focus[-1]) for pick in (min, max))
            unique[key] = replace(before, focus=range(first, last + 1))
        else:
            unique[key] = target
    return list(unique.values())


def _say_no_file(turn: Turn, place: _Spelling) -> str:
    return say_missing(turn.context.config, turn.context.freshness, place.lines.path)


def _say_no_symbol(place: _Spelling, answer: GraphHits, *, is_external: bool) -> str:
    if is_external:
        return f"{place.text!r} is not a definition of this project."
    near = f" Nearest: {', '.join(answer.candidates)}." if answer.candidates else ""
    return f"There is no definition {place.text!r}.{near} `cortex_exact` finds any other word."
