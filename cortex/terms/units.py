"""The units of a source file: whole definitions, and the pieces between them. Pure.

A unit is a named definition with its body and the comments right above it. A type is a unit without
its functions, which are units of their own. A definition of NESTED_LINES_MIN lines or more inside a
function of more than OUTER_LINES_MAX lines is a unit of its own, and the function is the rest.
Short data, and functions without a body, belong to the lines around them. The lines without a
definition are a unit for each covering chunk, as are the sections of a document, configuration, and
the chunks of other programs. Each line with text is in one unit.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import orjson

from cortex.terms.kinds import DATA_KINDS, FUNCTION_KINDS, WHOLE_KINDS
from cortex.terms.languages import LANGUAGES

#: lines from which on data is a unit of its own, and not a part of the lines around it
DATA_LINES_MIN = 30
#: lines from which on a definition inside a function is a unit, if the function has more than
#: OUTER_LINES_MAX
NESTED_LINES_MIN, OUTER_LINES_MAX = 5, 60
#: lines of a signature, of a comment, or of an attribute that are read
_STATEMENT_LINES_MAX = 60
#: characters of a signature that are shown; a minified file has one line
SIGNATURE_CHARS_MAX = 600
#: lines below the first line of a definition that may hold its name, below attributes
NAME_LINES_MAX = 6

#: the kind of a unit of a document
SECTION = "section"
#: data as units see it: an enum is a type
_DATA = DATA_KINDS - {"enum"}
#: configuration formats, and the kind of their blocks, which are no units of any length
_CONFIGURATION = frozenset(language.name for language in LANGUAGES if language.kind == "data")
_KEY = "key"
#: a comment, decorator or attribute: a line about the one below it
_ABOVE = re.compile(
    r"\s*(?://|/\*|\*|#(?!(?:include|define|undef|pragma|error|if|el|end)|\w+\s*(?:[=;(:]|$))|--|@|;;|%%)"
)
_ATTRIBUTE = re.compile(r"\s*(?:@|#!?\[|\[)")
_LETTER = re.compile(r"[^\W_]")


class Unit(NamedTuple):
    """The lines of `ranges`, which are in the lines `start` to `end`. The definition `name` in
    `owner` begins at `head`. `blocks`: (first line, last line, depth) of those of a long one.
    """

    start: int
    end: int
    head: int
    name: str
    owner: str
    kind: str
    signature: str
    ranges: tuple[tuple[int, int], ...]
    blocks: tuple[tuple[int, int, int], ...]
    #: the lines of `ranges`
    text: str
    #: names defined in a unit that is no definition
    names: tuple[str, ...] = ()

    @property
    def symbol(self) -> str:
        """The name with its owner; of a section its heading, "" for other pieces."""
        return f"{self.owner}.{self.name}" if self.owner and self.name else self.name

    def to_json(self, path: str) -> bytes:
        """Return the unit as `ipc.messages.UnitHits` has it."""
        fields = {
            "path": path,
            "start": self.start,
            "end": self.end,
            "head": self.head,
            "symbol": self.symbol,
            "kind": self.kind,
            "signature": self.signature,
            "ranges": self.ranges,
            "blocks": self.blocks,
        }
        return orjson.dumps({name: value for name, value in fields.items() if value})


@dataclass(slots=True)
class _Piece:
    """The lines of one covering chunk in its file."""

    first: int
    last: int
    heading: str
    kind: str


class _Definition(NamedTuple):
    start: int
    end: int
    name: str
    owner: str
    kind: str
    blocks: tuple[tuple[int, int, int], ...]

    @property
    def lines(self) -> int:
        return self.end - self.start + 1


def find_units(chunks: Sequence[Mapping[str, Any]]) -> list[Unit]:
    """Return a file's units by first line; `chunks`: its covering chunks' JSON, likewise."""
    pieces: list[_Piece] = []
    texts: list[str] = []
    definitions: dict[_Definition, None] = {}
    for chunk in chunks:
        metadata = chunk.get("metadata") or {}
        text = str(chunk.get("text") or "")
        first = max(1, line) if isinstance(line := metadata.get("start_line"), int) else 1
        headings = metadata.get("headings") or ()
        kind = SECTION if chunk.get("chunk_type") == "documentation" else ""
        heading = str(headings[-1]) if headings else ""
        pieces.append(_Piece(first, first + text.count("\n"), heading, kind))
        texts.append(text)
        as_kind = _KEY if metadata.get("language") in _CONFIGURATION else ""
        for entry in metadata.get("definitions") or ():
            if is_definition(entry):
                definitions.setdefault(_read_definition(entry, as_kind))
    if not definitions:
        return [unit for unit in map(_piece_unit, pieces, texts) if unit is not None]
    return _File(pieces, _join(pieces, texts), list(definitions)).units()


def is_definition(entry: object) -> bool:
    """Return whether an entry of a chunk's `definitions` has a name and lines."""
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("name"), str)
        and isinstance(entry.get("start_line"), int)
        and isinstance(entry.get("end_line"), int)
    )


def continue_text(text: str, first: int, last: int) -> str:
    """Return what `text`, a chunk that begins at the line `first`, adds to a file's text that ends
    in the line `last`: chunks of a foreign program may overlap.
    """
    if first > last:
        return "\n" * (first - last) + text
    if first < last:
        return "\n".join(["", *text.split("\n")[last - first + 1 :]])
    return text


def find_signature(line_at: Callable[[int], str], head: int, end: int, name: str, most: int) -> range:
    """Return the numbers of the lines from the one with `name` to the beginning of the body, of a
    definition in the lines `head` to `end`; the first line alone if the brackets close more than
    `most` lines below.
    """
    start = head
    for number in range(head, min(end, head + NAME_LINES_MAX) + 1):
        if name and name in line_at(number):
            start = number
            break
    depth = 0
    for number in range(start, min(end, start + most) + 1):
        text = line_at(number)
        depth += text.count("(") - text.count(")")
        if depth <= 0:
            return range(start, number + 1)
    return range(start, start + 1)


def _read_definition(entry: Mapping[str, Any], as_kind: str) -> _Definition:
    start = entry["start_line"]
    blocks = entry.get("blocks")
    return _Definition(
        start,
        max(start, entry["end_line"]),
        entry["name"],
        str(entry.get("scope") or ""),
        as_kind or str(entry.get("kind") or ""),
        tuple(map(tuple, blocks)) if isinstance(blocks, list) else (),
    )


def _piece_unit(piece: _Piece, text: str) -> Unit | None:
    stripped = text.rstrip()
    if not stripped:
        return None
    end = piece.first + stripped.count("\n")
    lines = ((piece.first, end),)
    return Unit(piece.first, end, piece.first, piece.heading, "", piece.kind, "", lines, (), stripped)


def _join(pieces: Sequence[_Piece], texts: Sequence[str]) -> list[str]:
    joined = [texts[0]]
    last = pieces[0].last
    for piece, text in zip(pieces[1:], texts[1:], strict=True):
        joined.append(continue_text(text, piece.first, last))
        last = max(last, piece.last)
    return "".join(joined).split("\n")


class _File:
    """A file while it is divided. `owners`: each line's unit as a definition's number, or -1."""

    def __init__(
        self, pieces: Sequence[_Piece], lines: list[str], definitions: Sequence[_Definition]
    ) -> None:
        self._pieces, self._lines = pieces, lines
        self._first = pieces[0].first
        self._last = self._first + len(lines) - 1
        self._owners = [-1] * len(lines)
        #: places in `owners` where another definition may begin
        self._edges: set[int] = set()
        #: definitions that are units, and the lines of their signatures
        self._chosen: list[_Definition] = []
        self._signatures: list[range] = []
        #: (line, name) of the definitions that are none
        self._small: list[tuple[int, str]] = []
        for definition in sorted(definitions, key=lambda entry: (entry.start, -entry.end)):
            self._place(definition)

    def units(self) -> list[Unit]:
        ranges: dict[int, list[tuple[int, int]]] = {}
        owners, first = self._owners, self._first
        inner = sorted(at for at in self._edges if 0 < at < len(owners) and owners[at] != owners[at - 1])
        for begin, end in pairwise((0, *inner, len(owners))):
            ranges.setdefault(owners[begin], []).append((begin + first, end - 1 + first))
        defined = [self._definition_unit(number, lines) for number, lines in ranges.items() if number >= 0]
        units = [unit for unit in (*defined, *self._gaps(ranges.get(-1, ()))) if unit is not None]
        units.sort(key=lambda unit: (unit.start, -unit.end))
        return units

    def _line(self, number: int) -> str:
        at = number - self._first
        return self._lines[at] if 0 <= at < len(self._lines) else ""

    def _place(self, definition: _Definition) -> None:
        """Give the definition its lines, unless it belongs to the lines around it."""
        start, end = max(definition.start, self._first), min(definition.end, self._last)
        if start > end:
            return
        number = self._owners[start - self._first]
        outer = self._chosen[number] if number >= 0 else None
        signature = find_signature(
            self._line, definition.start, definition.end, definition.name, _STATEMENT_LINES_MAX
        )
        if not self._is_unit(definition, outer, signature):
            self._small.append((definition.start, definition.name))
            return
        above = self._find_above(start, number)
        number = len(self._chosen)
        self._chosen.append(definition)
        self._signatures.append(signature)
        begin, behind = above - self._first, end - self._first + 1
        self._owners[begin:behind] = [number] * (behind - begin)
        self._edges |= {begin, behind}

    def _is_unit(self, definition: _Definition, outer: _Definition | None, signature: range) -> bool:
        if outer is not None and (definition.start, definition.end) == (outer.start, outer.end):
            return False  # a second name of the same lines
        if definition.kind == _KEY or (definition.kind in _DATA and definition.lines < DATA_LINES_MIN):
            return False
        if outer is not None and outer.kind in FUNCTION_KINDS:
            return definition.lines >= NESTED_LINES_MIN and outer.lines > OUTER_LINES_MAX
        if definition.kind in WHOLE_KINDS and definition.lines == 1:
            return False  # `mod name;`
        return definition.kind not in FUNCTION_KINDS or not self._is_declaration(definition, signature)

    def _is_declaration(self, definition: _Definition, signature: range) -> bool:
        """Return whether a function has no body: an abstract one, or an overload's signature."""
        if signature.stop <= definition.end:
            return False
        text = self._line(definition.end).rstrip()
        return "{" not in text and "=>" not in text and (text.endswith(";") or "=" not in text)

    def _find_above(self, start: int, owner: int) -> int:
        """Return the first line of the comments and attributes right above the line `start`, among
        the lines of `owner`; `start` if there are none.
        """
        floor = self._chosen[owner].start + 1 if owner >= 0 else self._first
        top = start
        while top > floor and self._owners[top - 1 - self._first] == owner:
            line = self._line(top - 1)
            if line.rstrip().endswith("*/"):
                above = self._find_opening(top - 1, floor, lambda text: "/*" in text)
            elif _ABOVE.match(line):
                above = top - 1
            elif line.lstrip()[:1] in (")", "]"):
                above = self._find_opening(top - 1, floor, lambda text: _ATTRIBUTE.match(text) is not None)
            else:
                break
            if not above:
                break
            top = above
        return top

    def _find_opening(self, last: int, floor: int, opens: Callable[[str], bool]) -> int:
        """Return the line of a comment or attribute that ends in the line `last`; 0 if none."""
        for number in range(last, max(floor, last - _STATEMENT_LINES_MAX) - 1, -1):
            line = self._line(number)
            if opens(line):
                return number
            if not line.strip() and not self._line(last).rstrip().endswith("*/"):
                return 0
        return 0

    def _definition_unit(self, number: int, ranges: Iterable[tuple[int, int]]) -> Unit | None:
        definition = self._chosen[number]
        lines = self._trim(ranges)
        if not lines:
            return None
        return Unit(
            lines[0][0],
            max(lines[-1][1], min(definition.end, self._last)),
            definition.start,
            definition.name,
            definition.owner,
            definition.kind,
            _to_signature(self._line(line) for line in self._signatures[number]),
            lines,
            definition.blocks,
            self._text(lines),
        )

    def _gaps(self, ranges: Sequence[tuple[int, int]]) -> Iterator[Unit | None]:
        """Return a unit of the lines in `ranges` for each covering chunk."""
        if not ranges:
            return
        last = 0
        at = 0
        for piece in self._pieces:
            first, last = max(piece.first, last + 1), max(piece.last, last)
            inside: list[tuple[int, int]] = []
            while at < len(ranges) and ranges[at][1] < first:
                at += 1
            for number in range(at, len(ranges)):
                begin, end = ranges[number]
                if begin > last:
                    break
                inside.append((max(begin, first), min(end, last)))
            if not inside:
                continue
            lines = self._trim(inside)
            text = self._text(lines)
            if _LETTER.search(text):
                yield Unit(
                    lines[0][0],
                    lines[-1][1],
                    lines[0][0],
                    piece.heading,
                    "",
                    piece.kind,
                    "",
                    lines,
                    (),
                    text,
                    self._names(lines),
                )

    def _names(self, lines: Sequence[tuple[int, int]]) -> tuple[str, ...]:
        names: dict[str, None] = {}
        for first, last in lines:
            begin = bisect_right(self._small, (first,))
            end = bisect_left(self._small, (last + 1,))
            names.update((name, None) for _, name in self._small[begin:end])
        return tuple(names)

    def _trim(self, ranges: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
        """Return the ranges without blank lines at their ends, and without blank ranges."""
        trimmed: list[tuple[int, int]] = []
        lines, origin = self._lines, self._first
        for start, end in ranges:
            first, last = start, end
            while first <= last and not lines[last - origin].strip():
                last -= 1
            while first <= last and not lines[first - origin].strip():
                first += 1
            if first <= last:
                trimmed.append((first, last))
        return tuple(trimmed)

    def _text(self, ranges: Iterable[tuple[int, int]]) -> str:
        origin, lines = self._first, list[str]()
        for first, last in ranges:
            lines += self._lines[first - origin : last - origin + 1]
        return "\n".join(lines)


def _to_signature(lines: Iterable[str]) -> str:
    text = " ".join(" ".join(lines).split()).removesuffix("{").rstrip()
    return text if len(text) <= SIGNATURE_CHARS_MAX else f"{text[:SIGNATURE_CHARS_MAX]}…"
