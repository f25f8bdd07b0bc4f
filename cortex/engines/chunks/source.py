"""A file as its chunks hold it: lines, definitions, and the units that an answer is made of. Pure
over Rows.

A unit is what is read in one go: a function with what stands right above it, what a type has
beside its functions, what stands between definitions, a section of a document.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import orjson

from cortex.generation.read import Rows
from cortex.terms.kinds import DATA_KINDS
from cortex.terms.records import covers

#: lines from which on what stands between two definitions is more than one unit, at blank lines
GAP_LINES_MAX = 30
#: lines that a signature may have
SIGNATURE_LINES_MAX = 6
#: lines of one file that are looked at; what lies further down of a larger one is not chosen
FILE_LINES_MAX = 40_000

#: a line that says something only about the one below it
_ABOVE = re.compile(r"\s*(?://|/\*|\*|#(?!include|define|if|el|end)|--|@|\"\"\"|;;|%%)")


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines `start` to `end`; the definition `symbol` of the kind `kind` ("" for neither) begins at
    `head`.
    """

    start: int
    end: int
    head: int
    symbol: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The lines that a generation holds of a file, by number, and its units in their order."""

    path: str
    lines: dict[int, str]
    units: tuple[Unit, ...]
    #: (first line, ordinal) of each row that holds them, in order
    rows: tuple[tuple[int, int], ...] = ()

    def row_at(self, line: int, default: int) -> int:
        """The ordinal of the row that holds `line`."""
        at = bisect_right(self.rows, line, key=lambda row: row[0])
        return self.rows[at - 1][1] if at else default

    def signature(self, unit: Unit) -> range:
        """The numbers of the lines from the unit's head to where its body begins."""
        name = unit.symbol.rpartition(".")[2]
        for head in range(unit.head, min(unit.end, unit.head + SIGNATURE_LINES_MAX) + 1):
            if name and name in self.lines.get(head, ""):
                break
        else:
            head = unit.head
        depth = 0
        for number in range(head, min(unit.end, head + SIGNATURE_LINES_MAX) + 1):
            text = self.lines.get(number, "")
            depth += text.count("(") - text.count(")")
            if depth <= 0:
                return range(head, number + 1)
        return range(head, head + 1)


def read_source(rows: Rows, file: int) -> Source:
    """The file with the ordinal `file` among the paths."""
    covering = [at for at, name in enumerate(rows.names["type"]) if covers(name)]
    own = np.flatnonzero((rows.columns["path"] == file) & rows.live)
    own = own[np.isin(rows.columns["type"][own], covering)]
    own = own[np.argsort(rows.columns["start_line"][own], kind="stable")]
    lines: dict[int, str] = {}
    sections: list[Unit] = []
    definitions: list[dict[str, Any]] = []
    held: list[tuple[int, int]] = []
    for ordinal in own.tolist():
        first = max(1, int(rows.columns["start_line"][ordinal]))
        texts = rows.text(ordinal).split("\n")
        held.append((first, ordinal))
        for number, text in enumerate(texts, first):
            lines[number] = lines.get(number, "") + text
        metadata = orjson.loads(rows.chunk(ordinal, "")).get("metadata") or {}
        definitions += [one for one in metadata.get("definitions") or () if _is_whole(one)]
        headings = metadata.get("headings") or ()
        sections.append(Unit(first, first + len(texts) - 1, first, str(headings[-1]) if headings else ""))
        if first > FILE_LINES_MAX:
            break
    units = _units(lines, definitions) if definitions else _sections(lines, sections)
    return Source(rows.path_names[file], lines, tuple(units), tuple(held))


def _is_whole(one: object) -> bool:
    return isinstance(one, dict) and all(
        isinstance(one.get(name), kind)
        for name, kind in (("name", str), ("start_line", int), ("end_line", int))
    )


def _sections(lines: dict[int, str], sections: Sequence[Unit]) -> Iterator[Unit]:
    for section in sections:
        for start, end in _pieces(lines, section.start, section.end):
            yield Unit(start, end, start, section.symbol)


def _units(lines: dict[int, str], definitions: Sequence[dict[str, Any]]) -> list[Unit]:
    """The innermost definition of each line, what stands above it included; then what is left."""
    owner: dict[int, int] = {}
    order = sorted(definitions, key=lambda one: (one["start_line"], -one["end_line"]))
    for at, own in enumerate(order):
        if own.get("kind") in DATA_KINDS and own["end_line"] - own["start_line"] < GAP_LINES_MAX:
            continue  # read with its neighbours
        for number in range(own["start_line"], own["end_line"] + 1):
            owner[number] = at
    units: list[Unit] = []
    for first, last in _runs(sorted(lines), owner):
        whose = owner.get(first)
        long = whose is None or last - first >= 3 * GAP_LINES_MAX
        pieces = _pieces(lines, first, last) if long else ((first, last),)
        units += [Unit(a, b, a) if whose is None else _unit(order[whose], a, b) for a, b in pieces]
    telling = [one for one in units if any(lines[n].strip() for n in range(one.start, one.end + 1))]
    return _with_heads(lines, telling)


def _runs(numbers: Sequence[int], owner: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """The first and the last of each run of line numbers that have the same owner."""
    if not numbers:
        return
    first = numbers[0]
    for one, following in pairwise(numbers):
        if following != one + 1 or owner.get(one) != owner.get(following):
            yield first, one
            first = following
    yield first, numbers[-1]


def _unit(one: dict[str, Any], start: int, end: int) -> Unit:
    scope = str(one.get("scope") or "")
    symbol = f"{scope}.{one['name']}" if scope else str(one["name"])
    return Unit(start, end, int(one["start_line"]), symbol, str(one.get("kind") or ""))


def _with_heads(lines: dict[int, str], units: list[Unit]) -> list[Unit]:
    """Comments and attributes that end a unit belong to the definition that begins below it."""
    out: list[Unit] = []
    for unit in units:
        start = unit.start
        if out and unit.symbol and start == unit.head and out[-1].end == start - 1:
            before = out[-1]
            while start - 1 >= before.start and _ABOVE.match(lines[start - 1]):
                start -= 1
            if start <= before.start:
                out.pop()
            elif start < unit.start:
                out[-1] = Unit(before.start, start - 1, before.head, before.symbol, before.kind)
        out.append(Unit(start, unit.end, unit.head, unit.symbol, unit.kind))
    return out


def _pieces(lines: dict[int, str], start: int, end: int) -> Iterator[tuple[int, int]]:
    """`start` to `end` in pieces of at most about GAP_LINES_MAX lines, divided at blank ones."""
    begin = start
    for number in range(start, end + 1):
        long = number - begin >= GAP_LINES_MAX
        if (long and not lines.get(number, "").strip()) or number - begin >= 2 * GAP_LINES_MAX:
            yield begin, number
            begin = number + 1
    if begin <= end:
        yield begin, end
