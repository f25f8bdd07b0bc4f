"""What a unified diff touches, by the index: which definitions its changed lines lie in.

Paths in a diff are other people's words: they are looked up in the index, and no file is opened by
them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from cortex.ask.functions import PIECE, Function, ask_graph, outline, read_lines
from cortex.ask.query_context import Turn
from cortex.system.errors import BadRequest
from cortex.terms.kinds import TYPE_KINDS, WHOLE_KINDS
from cortex.terms.paths import is_test
from ipc.messages import GraphSearch, Locate, Located, Place

#: files and hunks of a diff that are looked at
FILES_MAX, HUNKS_MAX = 40, 200
#: lines that are shown on each side of changed ones outside of definitions
BESIDE_LINES = 3
#: hunks by which is told which side of a diff is indexed
TRIED_MAX = 24
#: touched definitions whose impact is asked for; levels, and results of each
IMPACT_OF, IMPACT_DEPTH, IMPACT_MAX = 8, 2, 40

Entry = dict[str, Any]
_ORDER = ("high", "medium", "low")


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a hunk: its lines by number, and the numbers around which it changes."""

    lines: dict[int, str]
    changed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A hunk of a file, before and after."""

    path: str
    before: Side
    after: Side


@dataclass(frozen=True, slots=True)
class Touched:
    """Definitions with changed lines, then the lines around changes outside of all; the changed
    lines of each, paths that the index does not hold, and how many files were left out.
    """

    functions: tuple[Function, ...] = ()
    lines: dict[str, list[int]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Impact:
    """What may break, surest first, and the tests among it."""

    may_break: list[Entry] = field(default_factory=list)
    tests: list[Entry] = field(default_factory=list)


def parse_diff(text: str) -> list[Change]:
    """The hunks of a unified diff. Raises BadRequest for one that cannot be read."""
    # Read late: fronts start without it, and few questions bring a diff.
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    try:
        patches = PatchSet(text)
    except (UnidiffParseError, ValueError) as error:
        raise BadRequest(f"`diff` is no unified diff as `git diff` prints it: {error}.") from error
    found = [_change(str(patch.path), hunk) for patch in patches for hunk in patch]
    if not found:
        raise BadRequest("`diff` holds no changed lines; pass what `git diff` prints.")
    return found


def _change(path: str, hunk: Any) -> Change:
    old: dict[int, str] = {}
    new: dict[int, str] = {}
    gone: set[int] = set()
    come: set[int] = set()
    at_old, at_new = int(hunk.source_start), int(hunk.target_start)
    for line in hunk:
        text = str(line.value).rstrip("\r\n")
        if line.is_removed or line.is_context:
            old[at_old] = text
        if line.is_added or line.is_context:
            new[at_new] = text
        if line.is_removed:
            gone.add(at_old)
        elif line.is_added:
            come.add(at_new)
        at_old += line.is_removed or line.is_context
        at_new += line.is_added or line.is_context
    # Where lines only came, the other side has no line that changed: the one before them stands
    # for it.
    return Change(path, Side(old, _around(gone, old, hunk)), Side(new, _around(come, new, hunk)))


def _around(changed: set[int], lines: dict[int, str], hunk: Any) -> tuple[int, ...]:
    if changed or not lines:
        return tuple(sorted(changed))
    before = 0
    for line in hunk:
        if not line.is_context:
            break
        before += 1
    return (min(lines) + max(0, before - 1),)


async def find_touched(turn: Turn, changes: Sequence[Change]) -> Touched:
    """Raises NotReady, and Unavailable when no worker with rows answers."""
    paths = list(dict.fromkeys(one.path for one in changes))
    known = await _locate(turn, paths[:FILES_MAX])
    used = [one for one in changes if one.path in known][:HUNKS_MAX]
    definitions, is_new = await asyncio.gather(
        outline(turn, list(dict.fromkeys(known[one.path] for one in used))), _is_new(turn, used, known)
    )
    lines: dict[str, list[int]] = {}
    found: dict[str, Function] = {}
    outside: dict[str, list[int]] = {}
    for one in used:
        file = known[one.path]
        for number in (one.after if is_new else one.before).changed:
            around = _innermost(definitions, file, number)
            if around is None:
                outside.setdefault(file, []).append(number)
                continue
            found[around.id] = around
            lines.setdefault(around.id, []).append(number)
    for piece, own in _pieces(outside):
        found[piece.id], lines[piece.id] = piece, own
    unknown = tuple(path for path in paths[:FILES_MAX] if path not in known)
    left_out = max(0, len(paths) - FILES_MAX)
    return Touched(tuple(found.values()), lines, unknown, left_out)


def _pieces(outside: Mapping[str, list[int]]) -> Iterator[tuple[Function, list[int]]]:
    """(the lines around changes that lie near each other, the changed ones of them)"""
    for file, numbers in outside.items():
        group: list[int] = []
        for number in [*sorted(numbers), None]:
            if group and (number is None or number - group[-1] > 2 * BESIDE_LINES + 1):
                start = max(1, group[0] - BESIDE_LINES)
                yield Function(f"{file}:{file}:{start}", file, start, group[-1] + BESIDE_LINES, PIECE), group
                group = []
            group += [] if number is None else [number]


async def _locate(turn: Turn, paths: Sequence[str]) -> dict[str, str]:
    """Path of the diff → the one file of the index that it means."""
    request = Locate(tuple(Place(path) for path in paths), generation=turn.generation.number, bare=True)
    located = await turn.lane("text", request, Located)
    if located is None:
        located = await turn.ask("vector", request, Located)
    found: dict[str, set[str]] = {}
    here: dict[str, str] = {}
    for spot in located.spots:
        path, indexed = paths[spot.place], spot.hit.path
        # The index may be of a folder of the repository, and never the other way round.
        if spot.whole and path.endswith(indexed):
            found.setdefault(path, set()).add(indexed)
        elif indexed == f"{turn.asking.config.subfolder}/{path}":  # git diff --relative
            here[path] = indexed
    return {path: one for path, one in here.items() if path not in found} | {
        path: files.pop() for path, files in found.items() if len(files) == 1
    }


async def _is_new(turn: Turn, changes: Sequence[Change], known: dict[str, str]) -> bool:
    """Whether the index holds the files as they are after the change: it follows what is saved, but
    a diff may be of something that is only proposed.
    """
    tried = changes[:TRIED_MAX]
    places = [
        Place(known[one.path], line)
        for one in tried
        for side in (one.after, one.before)
        for line in side.changed[:1]
    ]
    indexed = await read_lines(turn, places)
    new = old = 0
    for one in tried:
        lines = indexed.get(known[one.path], {})
        new += sum(lines.get(number) == text for number, text in one.after.lines.items())
        old += sum(lines.get(number) == text for number, text in one.before.lines.items())
    return new >= old


def _innermost(definitions: Sequence[Function], file: str, line: int) -> Function | None:
    around = [
        one
        for one in definitions
        if one.file == file and one.start <= line <= one.end and one.kind not in WHOLE_KINDS
    ]
    return min(around, key=lambda one: (one.end - one.start, one.kind in TYPE_KINDS), default=None)


async def find_impact(turn: Turn, touched: Touched) -> Impact:
    """What refers to the touched definitions, and what refers to that; of a file of which only
    lines outside of all were touched, to the file. Raises NotReady.
    """
    own = {one.id for one in touched.functions}
    defined = [one for one in touched.functions if one.kind != PIECE]
    files = {one.file for one in defined}
    asked = [one.id for one in defined]
    asked += dict.fromkeys(one.file for one in touched.functions if one.file not in files)
    answers = await ask_graph(
        turn,
        [GraphSearch("impact", one, depth=IMPACT_DEPTH, max_results=IMPACT_MAX) for one in asked[:IMPACT_OF]],
    )
    found: dict[str, Entry] = {}
    tests: dict[str, Entry] = {}
    for answer in answers:
        for raw in answer.results if answer is not None else ():
            result = orjson.loads(raw)
            name, place = result["node"]["id"], result["location"]
            if name in own:
                continue
            symbol = name.partition(":")[2].partition("~")[0]
            if is_test(place["file"]):
                test = tests.setdefault(
                    place["file"], {"file": place["file"], "line": place["line"], "tests": []}
                )
                test["tests"] += [symbol] if symbol and symbol not in test["tests"] else []
                continue
            entry = {
                "symbol": symbol or name,
                "file": place["file"],
                "line": place["line"],
                "why": result["impact_type"],
                "severity": result["severity"],
            }
            known = found.setdefault(name, entry)
            if _ORDER.index(entry["severity"]) < _ORDER.index(known["severity"]):
                found[name] = entry
    ordered = sorted(found.values(), key=lambda one: _ORDER.index(one["severity"]))
    return Impact(ordered, list(tests.values()))
