"""A file as its chunks hold it: lines, definitions, and the units of an answer. Pure over Rows.

A unit is a piece to read at once: a function with the comments right above it, a type without its
functions, the lines between definitions, or a section of a document.
"""

from __future__ import annotations

import functools
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from cortex.generation.read import Rows, read_definitions
from cortex.system.arrays import Array
from cortex.terms import tokens
from cortex.terms.kinds import DATA_KINDS
from cortex.terms.units import continue_text, find_signature, is_definition

#: lines between two definitions above which they are divided at blank lines
GAP_LINES_MAX = 30
#: most lines of a signature
SIGNATURE_LINES_MAX = 6
#: lines of one file that are read; further lines of a larger one are ignored
FILE_LINES_MAX = 40_000

#: a comment, decorator or attribute: a line about the one below it
_ABOVE = re.compile(r"\s*(?://|/\*|\*|#(?!include|define|if|el|end)|--|@|\"\"\"|;;|%%)")

#: each byte → the letter in lower case if it belongs to words, else a space
_LOWER_WORDS = bytes(
    ord(chr(at).lower()) if at < 128 and (chr(at).isalnum() or chr(at) == "_") else ord(" ")
    for at in range(256)
)


class Unit(NamedTuple):  # a fourth of a dataclass's time, and a file has hundreds
    """The lines `start` to `end`. The definition `symbol` of the kind `kind` ("" if none) begins at
    `head`.
    """

    start: int
    end: int
    head: int
    symbol: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Lines:
    """Text from the line `first` of a file on."""

    text: str
    first: int
    #: offset in the text of each line, then the text's length + 1
    starts: array[int]
    #: u8: the text as `letters_of` makes it
    letters: Array

    @classmethod
    def of(cls, text: str, first: int) -> Lines:
        """The lines of `text`; 10 000 take some .5 ms."""
        ends = (code_points(text) == ord("\n")).nonzero()[0] + 1
        starts = array("q", np.concatenate([[0], ends, [len(text) + 1]]).tobytes())
        return cls(text, first, starts, letters_of(text))

    @property
    def count(self) -> int:
        return len(self.starts) - 1

    @property
    def last(self) -> int:
        return self.first + len(self.starts) - 2

    def __getitem__(self, number: int) -> str:
        """The line without its end; "" for a number outside of the text."""
        at = number - self.first
        if not 0 <= at < len(self.starts) - 1:
            return ""
        return self.text[self.starts[at] : self.starts[at + 1] - 1]

    def match(self, pattern: re.Pattern[str], number: int) -> re.Match[str] | None:
        """Match `pattern` at the beginning of an existing line, without a copy of the line."""
        at = number - self.first
        return pattern.match(self.text, self.starts[at], self.starts[at + 1] - 1)

    def letters_in(self, numbers: Iterable[int]) -> int:
        """The number of letters of the lines, without their ends."""
        starts, first, count = self.starts, self.first, len(self.starts) - 1
        places = (number - first for number in numbers)
        return sum(starts[at + 1] - 1 - starts[at] for at in places if 0 <= at < count)

    def number_at(self, place: int) -> int:
        """The number of the line with the letter at `place`."""
        return self.first + bisect_right(self.starts, place) - 1

    @functools.cached_property
    def word_edges(self) -> Array:
        """u32 [2, words]: the places where each word begins and ends."""
        inside = np.concatenate([[False], self.letters != ord(" "), [False]])
        return np.flatnonzero(inside[1:] != inside[:-1]).astype(np.uint32).reshape(-1, 2).T.copy()

    def between(self, start: int, end: int) -> str:
        """The existing lines `start` to `end`, with their ends."""
        return self.text[self.starts[start - self.first] : self.starts[end - self.first + 1]]

    def is_blank(self, start: int, end: int) -> bool:
        """Whether the existing lines `start` to `end` are blank."""
        excerpt = self.between(start, end)
        return not excerpt or excerpt.isspace()


def letters_of(text: str) -> Array:
    """The text in lower case, u8: letters beyond ASCII as one of 128 stand-ins, and a space for
    each letter outside of words.
    """
    if text.isascii():
        return np.frombuffer(text.encode().translate(_LOWER_WORDS), np.uint8)
    points = code_points(text)
    letters = np.frombuffer(_LOWER_WORDS, np.uint8)[np.minimum(points, 255)]
    wide = (points > 127).nonzero()[0]
    lower = tokens.lowered("".join(map(chr, points[wide].tolist())))
    # Each distinct letter is tested once: a third of the time of a regular expression.
    codes = {letter: _stand_in(letter) for letter in set(lower)}
    letters[wide] = list(map(codes.__getitem__, lower))
    return letters


def _stand_in(letter: str) -> int:
    """The u8 of a letter in lower case; the same for both forms of sigma, which depend on the
    letters around it.
    """
    point = ord("σ" if letter == "ς" else letter)
    return min(point, 128 | point & 127) if tokens.WORD.match(letter) else ord(" ")


def code_points(text: str) -> Array:
    """The code points of the text, as uint8 if none is above 255, else uint32."""
    try:
        return np.frombuffer(text.encode("latin-1"), np.uint8)
    except UnicodeEncodeError:
        return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@dataclass(frozen=True, slots=True)
class Source:
    """The lines of a file in a generation, and its units in order."""

    path: str
    lines: Lines
    units: tuple[Unit, ...] = ()
    #: (first line, ordinal) of each row of the file, in order
    rows: tuple[tuple[int, int], ...] = ()
    #: i64 [2, units]: first and last line of each
    spans: Array = field(default_factory=lambda: np.zeros((2, 0), np.int64), compare=False)
    #: the units' symbols in lower case, one per line
    symbols: str = ""
    #: last component of a symbol → indices of the units that define it
    defined: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, path: str, lines: Lines, units: Sequence[Unit], rows: tuple[tuple[int, int], ...] = ()
    ) -> Source:
        """The source with tables to look up units quickly."""
        defined: dict[str, list[int]] = {}
        for at, unit in enumerate(units):
            if unit.kind:
                defined.setdefault(unit.symbol.rpartition(".")[2], []).append(at)
        spans = np.array([(unit.start, unit.end) for unit in units], np.int64).reshape(-1, 2).T
        symbols = "\n".join(unit.symbol.lower().replace("\n", " ") for unit in units)
        return cls(path, lines, tuple(units), rows, spans, symbols, defined)

    def units_holding(self, numbers: Sequence[int]) -> list[int]:
        """Indices of the units with one of the lines `numbers`, which ascend."""
        if not numbers:
            return []
        firsts = np.searchsorted(numbers, self.spans[0])
        lasts = np.searchsorted(numbers, self.spans[1], side="right")
        return np.flatnonzero(lasts > firsts).tolist()

    def units_with_names(self, parts: Iterable[str]) -> set[int]:
        """Indices of the units whose symbol contains one of the `parts`, in lower case."""
        numbers: set[int] = set()
        for name_part in parts:
            place, at, before = self.symbols.find(name_part), 0, 0
            while place >= 0:
                at += self.symbols.count("\n", before, place)
                numbers.add(at)
                before = place
                place = self.symbols.find(name_part, place + 1)
        return numbers

    def row_at(self, line: int, default: int) -> int:
        """The ordinal of the row with `line`."""
        at = bisect_right(self.rows, line, key=lambda row: row[0])
        return self.rows[at - 1][1] if at else default

    def signature(self, unit: Unit) -> range:
        """The numbers of the lines from the unit's head to the beginning of its body."""
        name = unit.symbol.rpartition(".")[2]
        return find_signature(self.lines.__getitem__, unit.head, unit.end, name, SIGNATURE_LINES_MAX)


def read_source(rows: Rows, file: int) -> Source:
    """Read the file with the ordinal `file` among the paths."""
    file_rows = rows.lines_of(file)
    firsts = np.maximum(rows.columns["start_line"][file_rows], 1).tolist()
    pieces: list[str] = []
    sections: list[Unit] = []
    definitions: list[dict[str, Any]] = []
    begin, last = (firsts[0] if firsts else 1), 0
    for raw, raw_chunk, first in zip(
        rows.cuts("text", file_rows), rows.cuts("chunk", file_rows), firsts, strict=True
    ):
        text = raw[:-1].decode()
        if first > FILE_LINES_MAX:
            break
        lines = text.count("\n")
        pieces.append(continue_text(text, first, last) if pieces else text)
        last = max(last, first + lines)
        defined, headings = read_definitions(raw_chunk)
        definitions += filter(is_definition, defined)
        sections.append(Unit(first, first + lines, first, str(headings[-1]) if headings else ""))
    file_lines = Lines.of("".join(pieces), begin)
    units = _units(file_lines, definitions) if definitions else _sections(file_lines, sections)
    return Source.of(
        rows.path_names[file], file_lines, list(units), tuple(zip(firsts, file_rows.tolist(), strict=True))
    )


def _sections(lines: Lines, sections: Sequence[Unit]) -> Iterator[Unit]:
    for section in sections:
        for start, end in _pieces(lines, section.start, section.end):
            yield Unit(start, end, start, section.symbol)


def _units(lines: Lines, definitions: Sequence[dict[str, Any]]) -> list[Unit]:
    """One unit for each innermost definition with the comments above it, then the lines between."""
    owner = np.full(lines.last - lines.first + 1, -1, np.int64)
    order = sorted(definitions, key=lambda definition: (definition["start_line"], -definition["end_line"]))
    for at, definition_entry in enumerate(order):
        if (
            definition_entry.get("kind") in DATA_KINDS
            and definition_entry["end_line"] - definition_entry["start_line"] < GAP_LINES_MAX
        ):
            continue  # belongs to its neighbours' unit
        owner[
            max(0, definition_entry["start_line"] - lines.first) : max(
                0, definition_entry["end_line"] - lines.first + 1
            )
        ] = at
    units: list[Unit] = []
    ends = [*np.flatnonzero(owner[1:] != owner[:-1]).tolist(), len(owner) - 1]
    for (begin, end), number in zip(pairwise([-1, *ends]), owner[ends].tolist(), strict=True):
        first, last = begin + 1 + lines.first, end + lines.first
        long = number < 0 or last - first >= 3 * GAP_LINES_MAX
        for start, stop in _pieces(lines, first, last) if long else ((first, last),):
            if not lines.is_blank(start, stop):
                units.append(Unit(start, stop, start) if number < 0 else _unit(order[number], start, stop))
    return _attach_heads(lines, units)


def _unit(definition: dict[str, Any], start: int, end: int) -> Unit:
    scope = str(definition.get("scope") or "")
    symbol = f"{scope}.{definition['name']}" if scope else str(definition["name"])
    return Unit(start, end, int(definition["start_line"]), symbol, str(definition.get("kind") or ""))


def _attach_heads(lines: Lines, units: list[Unit]) -> list[Unit]:
    """Move comments and attributes at the end of a unit to the definition that begins below it."""
    out: list[Unit] = []
    for unit in units:
        start = unit.start
        if out and unit.symbol and start == unit.head and out[-1].end == start - 1:
            before = out[-1]
            while start - 1 >= before.start and lines.match(_ABOVE, start - 1):
                start -= 1
            if start <= before.start:
                out.pop()
            elif start < unit.start:
                out[-1] = Unit(before.start, start - 1, before.head, before.symbol, before.kind)
        out.append(unit if start == unit.start else unit._replace(start=start))
    return out


def _pieces(lines: Lines, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Divide `start` to `end` at blank lines into pieces of about GAP_LINES_MAX lines."""
    begin = start
    while begin <= end:
        latest = min(end, begin + 2 * GAP_LINES_MAX)
        cuts = (number for number in range(begin + GAP_LINES_MAX, latest) if not lines[number].strip())
        last = next(cuts, latest)
        yield begin, last
        begin = last + 1
