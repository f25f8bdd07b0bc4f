"""Files with syntax that a grammar does not know: its lines are blanked, so that the parser reads
the rest, and definitions that it still misses are found line by line.

One unknown word can cost the parser all lines behind it. A blanked line keeps its bytes' count:
places in the tree are those of the file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple, Protocol

from tree_sitter import Node, Tree

from cortex.graph.facts.repairs.conditionals import drop_inner_conditionals
from cortex.indexer.syntax.outline import Span
from cortex.indexer.syntax.source import Source
from cortex.terms.languages import Language
from cortex.terms.records import Symbol

#: bytes to parse in search of the lines, as a multiple of the file and at least, and at most
PARSED_SHARE, PARSED_BYTES_MIN, PARSED_BYTES_MAX = 20, 200_000, 1_500_000
#: bytes that a parse counts for besides its own
PARSE_BYTES = 500
#: lines to blank in one piece of a file
BLANKED_MAX = 4
#: lines after the first from which an error is not one of single lines, and lines of attributes
#: above the name of a definition
ERROR_LINES_MIN, ATTRIBUTES_MAX = 4, 8
#: characters of a line that is looked at
LINE_CHARS_MAX = 400


class Parse(Protocol):
    def __call__(self, source: Source, /, *, with_text: bool = True) -> Tree:
        """Return the tree of a file; without `with_text` its nodes have places only."""


class _Construct(NamedTuple):
    """Syntax that a grammar lacks. `blank` finds its text; its group, else all of it, is blanked.
    `is_block`: the braces behind it, too, and not their content.
    """

    name: str
    blank: str
    is_block: bool = False


_CONSTRUCTS: dict[str, tuple[_Construct, ...]] = {
    "kotlin": (
        _Construct("Kotlin guard", r"^\s*(?:(?:is|in|!is|!in)\s|else\b|[\w.\"']).*?(\sif\s.*?)\s*->"),
        _Construct("Kotlin context parameters", r"^\s*(context\s*\(.*?:.*\))\s*$"),
        _Construct("Kotlin context parameters", r"^\s*(context\s*\([^()]*:[^()]*\))\s+(?=[a-z@])"),
        _Construct("Kotlin explicit backing field", r"^\s+(field\s*(?::[^=]*)?=.*)$"),
        _Construct("Kotlin named destructuring", r"^\s*((?:va[lr]\s*)?[(\[]\s*va[lr]\s.*[)\]]\s*=)"),
    ),
    "csharp": (
        _Construct("C# extension block", r"^\s*(extension\s*(?:<[^>]*>)?\s*\(.*\)[^{;=]*)", is_block=True),
    ),
}

_WORDS = r"(?:(?:%s)\s+)*"
_JVM = _WORDS % (
    "public|private|protected|internal|static|final|abstract|sealed|non-sealed|strictfp|default|synchronized|native|"
    "virtual|override|async|partial|extern|unsafe|new|readonly|ref|file"
)
_TYPED = (
    rf"\s*(?:@\w+(?:\([^)]*\))?\s+)*{_JVM}(?P<kind>class|struct|interface|enum|record(?:\s+(?:class|struct))?)\s+(?P<name>\w+)"
    rf"|\s*(?=(?:public|private|protected|internal|static)\s){_JVM}(?:<[^>]*>\s*)?[\w.]+(?:<.*?>)?[\w\[\]?]*\s+"
    r"(?P<method>\w+)\s*(?:<[^>]*>)?\((?!.*;\s*$)"
)
#: language → the beginning of a definition in a line: its `kind` and `name`
_HEADS: dict[str, str] = {
    "kotlin": r"\s*(?:@\w+(?:\([^)]*\))?\s+)*"
    + _WORDS
    % (
        "public|private|protected|internal|open|abstract|final|override|suspend|inline|tailrec|operator|infix|"
        "external|data|sealed|enum|annotation|inner|value|expect|actual|companion|fun(?=\\s+interface)"
    )
    + r"(?P<kind>fun|class|interface|object|typealias)\s+(?:<[^>]*>\s*)?(?:[\w.<>?*, ]+\.)?(?P<name>`[^`]+`|\w+)",
    "csharp": _TYPED,
    "java": _TYPED,
    "swift": r"\s*(?:@\w+(?:\([^)]*\))?\s+)*"
    + _WORDS % "public|private|fileprivate|internal|open|static|final|override|mutating|async|indirect|package|nonisolated"
    + r"(?P<kind>func|class|struct|enum|protocol|actor|typealias)\s+(?P<name>`?\w+`?)",
    "scala": r"\s*(?:@\w+(?:\([^)]*\))?\s+)*"
    + _WORDS % "private(?:\\[\\w+\\])?|protected(?:\\[\\w+\\])?|final|sealed|abstract|override|implicit|inline|lazy|case|open|transparent"
    + r"(?P<kind>def|class|trait|object|enum)\s+(?P<name>`[^`]+`|\w+)",
    "rust": r"\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:default|const|async|unsafe|extern(?:\s+\"[^\"]*\")?|gen|safe)\s+)*"
    r"(?P<kind>fn|struct|enum|trait|mod|union)\s+(?P<name>\w+)",
    "go": r"(?:(?P<kind>func)\s+(?:\([^)]*\)\s*)?|type\s+)(?P<name>\w+)",
    "python": r"\s*(?:async\s+)?(?P<kind>def|class)\s+(?P<name>\w+)",
    "php": r"\s*" + _WORDS % "public|private|protected|static|final|abstract|readonly"
    + r"(?P<kind>function|class|interface|trait|enum)\s+&?(?P<name>\w+)",
    "ruby": r"\s*(?P<kind>def|class|module)\s+(?:self\.)?(?:\w+::)*(?P<name>\w+[?!=]?)",
    "javascript": r"\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?"
    r"(?P<kind>function\s*\*?|class|interface|enum|namespace)\s+(?P<name>[\w$]+)",
}  # fmt: skip
_HEADS["typescript"] = _HEADS["tsx"] = _HEADS["javascript"]
#: languages whose files are repaired
REPAIRED = frozenset(_HEADS)
_KINDS = {"fun": "function", "func": "function", "fn": "function", "def": "function", "actor": "class"} | {
    kind: kind for kind in ("function", "class", "struct", "interface", "enum", "trait")
}
_KINDS |= {
    "object": "class",
    "protocol": "interface",
    "record": "class",
    "union": "struct",
    "typealias": "type",
}
_KINDS |= {"mod": "module", "module": "module", "namespace": "module"}
_CONTAINERS = frozenset(("class", "struct", "interface", "enum", "trait", "module"))
#: an attribute of JSX whose name is a word of JavaScript, `<label for="x" class={y}>`, which its
#: grammar refuses (tree-sitter-javascript 0.25); in capitals it is any name
_RESERVED_ATTRIBUTE = re.compile(
    r"(?:(?<=\s)|(?<=^)|(?<=[\w-]:))(?:case|class|default|do|else|export|for|function|if|import|in|new|return|switch|this|"
    r"throw|try|typeof|var|void|while|with)(?==[\"'{])"
)
_QUIET = ("comment", "string", "heredoc", "template")
_STRINGS = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)'|//.*")


@dataclass(frozen=True, slots=True)
class Repair:
    """A file with errors as the parser reads it best, and its tree. `unread` are the lines that it
    does not read, each with the name of the syntax, if known; `symbols`: the definitions found line
    by line.
    """

    source: Source
    tree: Tree
    unread: tuple[Span, ...] = ()
    symbols: tuple[Symbol, ...] = ()

    @property
    def remark(self) -> str:
        """Describe the first unread lines; "" for none."""
        if not self.unread:
            return ""
        first = self.unread[0]
        name = next((f" ({span.text})" for span in self.unread if span.text), "")
        if self.symbols or first.end - first.start >= ERROR_LINES_MIN:
            return f"from line {first.start} on this file was not understood{name}"
        numbers = [number for span in self.unread for number in range(span.start, span.end + 1)]
        if len(numbers) == 1:
            return f"line {numbers[0]} of this file was not understood{name}"
        more = f" and {len(numbers) - 3} more" if len(numbers) > 3 else ""
        return f"lines {', '.join(map(str, numbers[:3]))}{more} of this file were not understood{name}"


class _Head(NamedTuple):
    line: int
    indent: int
    kind: str
    name: str


def repair(source: Source, language: Language, tree: Tree, parse: Parse, named: Names) -> Repair:
    """Return the repair of a file with errors. `named`: (name, line) of a tree's definitions."""
    trial = _Trial(source, parse)
    if language.name == "csharp":
        source, tree = trial.improve(source, tree, blank_conditionals(source.lines, csharp=True))
    if language.name == "javascript":
        lines = [_RESERVED_ATTRIBUTE.sub(lambda match: match[0].upper(), line) for line in source.lines]
        source, tree = trial.improve(source, tree, lines)
    lines, unread = _blank_constructs(source, language.name)
    mended, tree = trial.improve(source, tree, lines)
    if mended is source:
        unread = []
    source = mended
    heads = list(_heads(source.lines, language.name, tree)) if tree.root_node.has_error else []
    if lost := _lost(heads, named(tree)):
        lines, blanked = trial.blank_lines(source, heads)
        if blanked:
            other = replace(source, lines=tuple(lines))
            other_tree = parse(other)
            still_lost = _lost(heads, named(other_tree))
            if len(still_lost) < len(lost):
                source, tree, lost = other, other_tree, still_lost
                unread += [Span(number, number) for number in blanked]
    if tree.root_node.has_error:
        unread += _errors(tree.root_node)
    return Repair(source, tree, tuple(_join(unread)), tuple(_symbols(lost, heads, source.lines)))


def unrepaired(source: Source, tree: Tree) -> Repair:
    """Return a file with the errors of its `tree` as its own repair."""
    return Repair(source, tree, tuple(_join(_errors(tree.root_node))))


Names = Callable[[Tree], set[tuple[str, int]]]


@dataclass(slots=True)
class _Trial:
    """Parses a file with blanked lines, within a budget of bytes."""

    source: Source
    parse: Parse
    left: int = 0
    #: lines → bytes of the errors in them, and the rows of these
    errors: dict[tuple[str, ...], tuple[int, list[int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        size = sum(map(len, self.source.lines)) + len(self.source.lines)
        self.left = min(PARSED_BYTES_MAX, max(PARSED_BYTES_MIN, PARSED_SHARE * size))

    def improve(self, source: Source, tree: Tree, lines: Sequence[str]) -> tuple[Source, Tree]:
        """Return the file with these lines if they have fewer errors; else as it is."""
        if list(source.lines) == lines:
            return source, tree
        other = replace(source, lines=tuple(lines))
        other_tree = self.parse(other)
        fewer = _error_bytes(other_tree.root_node) < _error_bytes(tree.root_node)
        return (other, other_tree) if fewer else (source, tree)

    def blank_lines(self, source: Source, heads: Sequence[_Head]) -> tuple[list[str], list[int]]:
        """Return the lines with the unknown syntax blanked, and the numbers of these. A piece from
        one outermost definition to the next that stays unreadable is blanked as a whole.
        """
        lines, blanked = list(source.lines), list[int]()
        for begin, end in _pieces(lines, heads):
            piece = lines[begin:end]
            if self.left <= 0 or not self._errors_of(piece):
                continue
            piece, numbers = self._blank_in(piece)
            if self._errors_of(piece):
                numbers = [at for at, line in enumerate(lines[begin:end]) if line.strip()]
                piece = [_blank(line) for line in piece]
            lines[begin:end] = piece
            blanked += [begin + at + 1 for at in numbers]
        return lines, blanked

    def _blank_in(self, piece: list[str]) -> tuple[list[str], list[int]]:
        numbers: list[int] = []
        errors = self._errors_of(piece)
        while errors and len(numbers) < BLANKED_MAX:
            best = (errors, -1, piece)
            for at in self._order(piece):
                if self.left <= 0:
                    break
                other = [*piece[:at], _blank_balanced(piece[at]), *piece[at + 1 :]]
                if (count := self._errors_of(other)) < best[0]:
                    best = count, at, other
                    if not count:
                        break
            if best[1] < 0:
                break
            errors, at, piece = best
            numbers.append(at)
        return piece, numbers

    def _order(self, piece: Sequence[str]) -> list[int]:
        """Return the lines of a piece, those with an error first; its head comes last."""
        rows = self._read(piece)[1]
        others = [at for at in range(1, len(piece)) if at not in rows]
        first = [at for at in rows if 0 < at < len(piece)]
        return [at for at in (*first, *others, 0) if at < len(piece) and piece[at].strip()]

    def _errors_of(self, piece: Sequence[str]) -> int:
        return self._read(piece)[0]

    def _read(self, piece: Sequence[str]) -> tuple[int, list[int]]:
        lines = tuple(piece)
        self.left -= sum(map(len, piece)) + len(piece) + PARSE_BYTES
        if lines not in self.errors:  # error recovery is slow, and a piece is read up to four times
            root = self.parse(replace(self.source, lines=lines), with_text=False).root_node
            rows = list(dict.fromkeys(node.start_point[0] for node in _error_nodes(root)))
            self.errors[lines] = _error_bytes(root), rows
        return self.errors[lines]


def blank_conditionals(lines: Sequence[str], *, csharp: bool = False) -> list[str]:
    """Return lines without the conditions that split a construct, with as many bytes."""
    plain = drop_inner_conditionals(lines, csharp=csharp)
    return [line if line == other else _blank(line) for line, other in zip(lines, plain, strict=True)]


def _blank_constructs(source: Source, language: str) -> tuple[list[str], list[Span]]:
    """Return the lines without the known constructs, and their places."""
    lines, places = list(source.lines), list[Span]()
    for construct in _CONSTRUCTS.get(language, ()):
        pattern = re.compile(construct.blank)
        for at, line in enumerate(lines):
            match = pattern.match(line) if len(line) <= LINE_CHARS_MAX else None
            if match is None:
                continue
            begin, end = match.span(1)
            if construct.is_block:
                braces = _block(lines, at, end)
                if braces is None:
                    continue
                for row, column in braces:
                    lines[row] = f"{lines[row][:column]} {lines[row][column + 1 :]}"
            lines[at] = f"{lines[at][:begin]}{_blank(lines[at][begin:end])}{lines[at][end:]}"
            places.append(Span(at + 1, at + 1, construct.name))
    return lines, places


def _block(lines: Sequence[str], row: int, column: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the places of the first `{` from a place on and of its `}`."""
    depth, first = 0, None
    for at in range(row, len(lines)):
        text = _STRINGS.sub(lambda match: " " * len(match[0]), lines[at])
        for place in range(column if at == row else 0, len(text)):
            letter = text[place]
            if first is None and not (letter.isspace() or letter == "{"):
                return None
            if letter == "{":
                first = first or (at, place)
                depth += 1
            elif letter == "}":
                depth -= 1
                if not depth and first is not None:
                    return first, (at, place)
    return None


def _heads(lines: Sequence[str], language: str, tree: Tree) -> Iterator[_Head]:
    pattern = re.compile(_HEADS[language])
    for at, line in enumerate(lines):
        match = pattern.match(line) if len(line) <= LINE_CHARS_MAX else None
        if match is None:
            continue
        groups = match.groupdict()
        name = groups["name"] or groups.get("method") or ""
        place = (at, len(line[: match.end() - 1].encode("utf-8", "surrogatepass")))
        node = tree.root_node.descendant_for_point_range(place, place)
        if node is not None and any(word in node.type for word in _QUIET):
            continue
        if name in _KINDS:
            continue
        kind = _KINDS.get((groups["kind"] or "").split(" ")[0].rstrip("*"), "")
        kind = kind or ("function" if groups.get("method") else "type")
        yield _Head(at + 1, len(line) - len(line.lstrip()), kind, name.strip("`"))


def _lost(heads: Iterable[_Head], named: set[tuple[str, int]]) -> list[_Head]:
    """Return heads that are no definition of the tree, up to some lines of attributes above."""
    lines: dict[str, list[int]] = {}
    for name, line in sorted(named, key=lambda pair: pair[1]):
        lines.setdefault(name.strip("`"), []).append(line)
    lost = []
    for head in heads:
        starts = lines.get(head.name, [])
        at = bisect_right(starts, head.line)
        if not at or head.line - starts[at - 1] > ATTRIBUTES_MAX:
            lost.append(head)
    return lost


def _pieces(lines: Sequence[str], heads: Sequence[_Head]) -> list[tuple[int, int]]:
    """Return (begin, end) from one outermost definition to the next, with lines right above."""
    outermost = min(head.indent for head in heads)
    starts = [0]
    for head in heads:
        if head.indent == outermost:
            at = head.line - 1
            while at > starts[-1] and _belongs_below(lines[at - 1], outermost):
                at -= 1
            if at > starts[-1]:
                starts.append(at)
    return list(pairwise([*starts, len(lines)]))


def _belongs_below(line: str, indent: int) -> bool:
    stripped = line.strip()
    return bool(stripped) and not stripped.endswith(("}", ";")) and len(line) - len(line.lstrip()) == indent


def _symbols(lost: Sequence[_Head], heads: Sequence[_Head], lines: Sequence[str]) -> Iterator[Symbol]:
    """Yield the lost definitions; one ends before the next line that is no deeper than its own."""
    above: list[tuple[_Head, int]] = []
    wanted = set(lost)
    for head in heads:
        while above and (above[-1][1] < head.line or above[-1][0].indent >= head.indent):
            above.pop()
        end = _end_of(lines, head)
        if head in wanted:
            scopes = [outer for outer, _ in above if outer.kind in _CONTAINERS]
            kind = "method" if head.kind == "function" and scopes else head.kind
            yield Symbol(
                name=head.name,
                kind=kind,
                scope=".".join(outer.name for outer in scopes),
                start_line=head.line,
                end_line=end,
                signature=lines[head.line - 1].strip().removesuffix("{").rstrip(),
            )
        above.append((head, end))


def _end_of(lines: Sequence[str], head: _Head) -> int:
    last = head.line
    for number in range(head.line + 1, len(lines) + 1):
        line = lines[number - 1]
        if not line.strip():
            continue
        if len(line) - len(line.lstrip()) <= head.indent:
            closes = line.strip()[0] in "})]" or line.strip() in ("end", "end;")
            return number if closes else last
        last = number
    return last


def _errors(root: Node) -> list[Span]:
    """Return the lines of the errors that are left."""
    spans = []
    for node in _error_nodes(root):
        first, (last, column) = node.start_point[0], node.end_point
        spans.append(Span(first + 1, max(first, last - (not column)) + 1))
    return spans


def _join(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        if joined and span.start <= joined[-1].end + 1 and span.text in ("", joined[-1].text):
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end), joined[-1].text)
        else:
            joined.append(span)
    return joined


def _error_nodes(root: Node) -> Iterator[Node]:
    """Yield the outermost errors."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            yield node
        elif node.has_error:
            stack += reversed(node.children)


def _error_bytes(root: Node) -> int:
    if not root.has_error:
        return 0
    return sum(1 + node.end_byte - node.start_byte for node in _error_nodes(root))


def _blank(text: str) -> str:
    """Return as many spaces as the text has bytes."""
    return " " * len(text.encode("utf-8", "surrogatepass"))


def _blank_balanced(line: str) -> str:
    """Return a blank line that keeps the braces which the line opens or closes."""
    text = _STRINGS.sub(lambda match: " " * len(match[0]), line)
    if text.count("{") == text.count("}"):
        return _blank(line)
    return "".join(letter if letter in "{}" else _blank(letter) for letter in line)
