"""The indexed definitions that a unified diff changes, and the code that they may break.

Paths in a diff are untrusted: they are looked up in the index, and no file is opened by them.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from cortex.ask.exploring.functions import PIECE, Function, ask_graph, outline, read_lines
from cortex.ask.query_context import Turn
from cortex.system.errors import BadRequest
from cortex.terms.code.inline_tests import is_test_code
from cortex.terms.kinds import TYPE_KINDS, WHOLE_KINDS
from ipc.messages import GraphSearch, Place

#: files and hunks of a diff that are read
FILES_MAX, HUNKS_MAX = 40, 200
#: lines shown on each side of changed lines outside of definitions
BESIDE_LINES = 3
#: hunks that decide which side of a diff is indexed
TRIED_MAX = 24
#: changed definitions with a search for their impact; levels, and results of each search
IMPACT_OF, IMPACT_DEPTH, IMPACT_MAX = 8, 2, 40

Entry = dict[str, Any]
_ORDER = ("high", "medium", "low")


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a hunk: line number → text, and the numbers of its changed lines."""

    lines: dict[int, str]
    changed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A hunk of a file, before and after."""

    path: str
    before: Side
    after: Side


@dataclass(frozen=True, slots=True)
class TouchedCode:
    """Definitions with changed lines, then pieces around changes outside of definitions. `lines`:
    id → changed lines; `unknown`: paths that the index lacks; `left_out`: number of skipped files.
    """

    functions: tuple[Function, ...] = ()
    lines: dict[str, list[int]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Impact:
    """Code that may break, most severe first, and the tests among it."""

    may_break: list[Entry] = field(default_factory=list)
    tests: list[Entry] = field(default_factory=list)


def parse_diff(text: str) -> list[Change]:
    """Return the hunks of a unified diff. Raises BadRequest for text that is no such diff."""
    # Imported late: fronts start without it, and few questions have a diff.
    from unidiff.errors import UnidiffParseError
    from unidiff.patch import PatchSet

    try:
        patches = PatchSet(text)
    except (UnidiffParseError, ValueError) as error:
        raise BadRequest(f"`diff` is no unified diff as `git diff` prints it: {error}.") from error
    changes = [_parse_hunk(str(patch.path), hunk) for patch in patches for hunk in patch]
    if not changes:
        raise BadRequest("`diff` holds no changed lines; pass what `git diff` prints.")
    return changes


def _parse_hunk(path: str, hunk: Any) -> Change:
    old: dict[int, str] = {}
    new: dict[int, str] = {}
    removed: set[int] = set()
    added: set[int] = set()
    at_old, at_new = int(hunk.source_start), int(hunk.target_start)
    for line in hunk:
        text = str(line.value).rstrip("\r\n")
        if line.is_removed or line.is_context:
            old[at_old] = text
        if line.is_added or line.is_context:
            new[at_new] = text
        if line.is_removed:
            removed.add(at_old)
        elif line.is_added:
            added.add(at_new)
        at_old += line.is_removed or line.is_context
        at_new += line.is_added or line.is_context
    # Where a hunk only adds or only removes lines, the other side has no changed line: the line
    # before them stands for it.
    return Change(
        path, Side(old, _changed_lines(removed, old, hunk)), Side(new, _changed_lines(added, new, hunk))
    )


def _changed_lines(changed: set[int], lines: dict[int, str], hunk: Any) -> tuple[int, ...]:
    if changed or not lines:
        return tuple(sorted(changed))
    before = 0
    for line in hunk:
        if not line.is_context:
            break
        before += 1
    return (min(lines) + max(0, before - 1),)


async def find_touched(turn: Turn, changes: Sequence[Change]) -> TouchedCode:
    """Return the indexed code that the hunks change. Raises NotReady, Unavailable."""
    paths = list(dict.fromkeys(change.path for change in changes))
    indexed_paths = await _locate(turn, paths[:FILES_MAX])
    used = [change for change in changes if change.path in indexed_paths][:HUNKS_MAX]
    definitions, is_new = await asyncio.gather(
        outline(turn, list(dict.fromkeys(indexed_paths[change.path] for change in used))),
        _is_new(turn, used, indexed_paths),
    )
    lines: dict[str, list[int]] = {}
    functions: dict[str, Function] = {}
    outside: dict[str, list[int]] = {}
    changed: dict[str, list[int]] = {}
    for change in used:
        side = change.after if is_new else change.before
        changed.setdefault(indexed_paths[change.path], []).extend(side.changed)
    for file, numbers in changed.items():
        in_file = [definition for definition in definitions if definition.file == file]
        innermost = _find_innermost(in_file, sorted(numbers))
        for number in numbers:
            around = innermost.get(number)
            if around is None:
                outside.setdefault(file, []).append(number)
                continue
            functions[around.id] = around
            lines.setdefault(around.id, []).append(number)
    for piece, numbers in _group_lines(outside):
        functions[piece.id], lines[piece.id] = piece, numbers
    unknown = tuple(path for path in paths[:FILES_MAX] if path not in indexed_paths)
    left_out = max(0, len(paths) - FILES_MAX)
    return TouchedCode(tuple(functions.values()), lines, unknown, left_out)


def _group_lines(outside: Mapping[str, list[int]]) -> Iterator[tuple[Function, list[int]]]:
    """Yield (piece around changed lines near each other, the numbers of the changed lines)."""
    for file, numbers in outside.items():
        group: list[int] = []
        for number in [*sorted(numbers), None]:
            if group and (number is None or number - group[-1] > 2 * BESIDE_LINES + 1):
                start = max(1, group[0] - BESIDE_LINES)
                yield Function(f"{file}:{file}:{start}", file, start, group[-1] + BESIDE_LINES, PIECE), group
                group = []
            group += [] if number is None else [number]


async def _locate(turn: Turn, paths: Sequence[str]) -> dict[str, str]:
    """Return path in the diff → the one indexed file that it means."""
    located = await turn.locate([Place(path) for path in paths])
    suffix_matches: dict[str, set[str]] = {}
    relative_matches: dict[str, str] = {}
    for spot in located.spots:
        path, indexed = paths[spot.place], spot.hit.path
        # The index may cover a folder of the repository, never the reverse.
        if spot.whole and path.endswith(indexed):
            suffix_matches.setdefault(path, set()).add(indexed)
        elif indexed == f"{turn.context.config.subfolder}/{path}":  # git diff --relative
            relative_matches[path] = indexed
    return {path: hit_path for path, hit_path in relative_matches.items() if path not in suffix_matches} | {
        path: files.pop() for path, files in suffix_matches.items() if len(files) == 1
    }


async def _is_new(turn: Turn, changes: Sequence[Change], indexed_paths: dict[str, str]) -> bool:
    """Whether the index holds the files after the change: a diff may be a mere proposal."""
    tried = changes[:TRIED_MAX]
    places = [
        Place(indexed_paths[change.path], line)
        for change in tried
        for side in (change.after, change.before)
        for line in side.changed[:1]
    ]
    indexed = await read_lines(turn, places)
    new = old = 0
    for change in tried:
        lines = indexed.get(indexed_paths[change.path], {})
        new += sum(lines.get(number) == text for number, text in change.after.lines.items())
        old += sum(lines.get(number) == text for number, text in change.before.lines.items())
    return new >= old


def _find_innermost(definitions: Sequence[Function], numbers: Sequence[int]) -> dict[int, Function]:
    """Return line → the smallest definition around it, for sorted lines of one file."""
    around: dict[int, Function] = {}
    smallest_last = sorted(
        (definition for definition in reversed(definitions) if definition.kind not in WHOLE_KINDS),
        key=lambda definition: (definition.end - definition.start, definition.kind in TYPE_KINDS),
        reverse=True,
    )
    for definition in smallest_last:
        inside = slice(bisect_left(numbers, definition.start), bisect_right(numbers, definition.end))
        around.update(dict.fromkeys(numbers[inside], definition))
    return around


async def find_impact(turn: Turn, touched: TouchedCode) -> Impact:
    """Return the references to the changed definitions, and the references to those. For a file
    with changes outside of definitions only, the references to the file. Raises NotReady.
    """
    touched_ids = {function.id for function in touched.functions}
    defined = [function for function in touched.functions if function.kind != PIECE]
    files = {function.file for function in defined}
    targets = [function.id for function in defined]
    targets += dict.fromkeys(function.file for function in touched.functions if function.file not in files)
    answers = await ask_graph(
        turn,
        [
            GraphSearch("impact", target, depth=IMPACT_DEPTH, max_results=IMPACT_MAX, bare=True)
            for target in targets[:IMPACT_OF]
        ],
    )
    may_break: dict[str, Entry] = {}
    tests: dict[str, Entry] = {}
    for answer in answers:
        for raw in answer.results if answer is not None else ():
            result = orjson.loads(raw)
            name, place = result["node"]["id"], result["location"]
            if name in touched_ids:
                continue
            symbol = name.partition(":")[2].partition("~")[0]
            if is_test_code(place["file"], symbol):
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
            previous = may_break.setdefault(name, entry)
            if _ORDER.index(entry["severity"]) < _ORDER.index(previous["severity"]):
                may_break[name] = entry
    ordered = sorted(may_break.values(), key=lambda row: _ORDER.index(row["severity"]))
    return Impact(ordered, list(tests.values()))
