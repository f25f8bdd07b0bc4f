"""Text → Outline: symbols, comments, imports and places to cut, from one tree-sitter pass. No chunks.

Captures of a query file (queries/<name>.scm):

* `@definition.<kind>` with `@name`, and `@body` where the signature ends (without it the whole node is the signature);
  `@scope` when the enclosing type is only named (Go receivers, C++ qualifiers). Kinds as in records.Symbol.
* `@container` with `@name`: encloses definitions without being one (Rust impl blocks, C++ namespaces).
* `@import`, `@package`, `@comment`, `@doc` (a docstring inside its definition), `@attach` (belongs to the next line, as
  every comment does that has its lines for itself).
* `@split`: a node that is better not cut; the fewer of them a cut goes through, the better.
* `@heading`, `@fence`: for documents.

Of several patterns that match one name the one with the widest node wins, then the one further down in the file.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib import resources

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Tree

from cortex.indexer.languages import Language
from cortex.indexer.source import Source
from cortex.records import Symbol

#: characters of a signature that are kept; a type's whole body counts as one
SIGNATURE_CHARS_MAX = 6000
#: in-progress matches of a query: bounds the time that a deeply nested file can take
MATCHES_MAX = 4096

#: kinds whose functions are methods
TYPES = frozenset({"class", "struct", "interface", "trait", "enum", "type"})
#: kinds that the data chunks show
DATA = frozenset({"constant", "variable", "enum"})

_MARKERS = re.compile(
    r"^\s*(?:///?!?|/\*+!?|\*+/|\*|#+[!:]?|--|;+|\"\"\"|'''|[rbuf]{1,2}\"\"\"|[rbuf]{1,2}''')[ \t]?",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\s*(?:\*+/|\"\"\"|''')\s*$")
_UPPER = re.compile(r"[A-Z][A-Z0-9_]*$")


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of something, 1-based and inclusive, with its text where it is of use."""

    start: int
    end: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Outline:
    """What is known of one file beside its lines. `symbols` are in order of their first line."""

    symbols: tuple[Symbol, ...] = ()
    comments: tuple[Span, ...] = ()
    attached: tuple[Span, ...] = ()
    splits: tuple[Span, ...] = ()
    headings: tuple[Span, ...] = ()
    fences: tuple[Span, ...] = ()
    imports_count: int = 0
    package: str = ""


def parse(source: Source, language: Language) -> Outline:
    """The outline of `source`; an empty one for a language without a grammar. Syntax errors give a partial one."""
    if language.grammar is None or not source.lines:
        return Outline()
    raw, tree = syntax_tree(source, language)
    cursor = QueryCursor(_tools(language)[1], match_limit=MATCHES_MAX)
    reader = _Reader(raw, language)
    for pattern, captures in cursor.matches(tree.root_node):
        reader.take(pattern, captures)
    return reader.outline()


@functools.lru_cache(maxsize=1)
def syntax_tree(source: Source, language: Language) -> tuple[bytes, Tree]:
    """(text, tree) of a file in a language with a grammar; kept for whoever reads the same file next."""
    raw = ("\n".join(source.lines) + "\n").encode("utf-8", "surrogatepass")
    return raw, _tools(language)[0].parse(raw)


@functools.cache
def _grammar(place: tuple[str, str]) -> Grammar:
    module, function = place
    return Grammar(getattr(importlib.import_module(module), function)())


@functools.cache
def _tools(language: Language) -> tuple[Parser, Query]:
    assert language.grammar is not None
    grammar = _grammar(language.grammar)
    text = resources.files("cortex.indexer").joinpath("queries", f"{language.query}.scm").read_text("utf-8")
    return Parser(grammar), Query(grammar, text)


@dataclass(slots=True)
class _Found:
    """A definition or container while its scope is not known yet."""

    name: str
    kind: str
    first: int
    last: int
    start: int
    end: int
    body: int
    body_line: int
    scope: str
    rank: tuple[int, int]


@dataclass(slots=True)
class _Reader:
    raw: bytes
    language: Language
    found: dict[int, _Found] = field(default_factory=dict)
    spans: dict[str, dict[tuple[int, int], Span]] = field(default_factory=dict)
    imports: set[int] = field(default_factory=set)
    package: str = ""

    def take(self, pattern: int, captures: dict[str, list[Node]]) -> None:
        for capture, nodes in captures.items():
            if capture == "split":
                for node in nodes:
                    first, last = node.start_point[0], node.end_point[0]
                    if last > first:
                        self._span("split", first + 1, last + (node.end_point[1] > 0))
            elif capture in ("comment", "doc", "heading"):
                for node in nodes:
                    text = self._text(node.start_byte, node.end_byte)
                    self._span(capture, *_lines(node), text=text)
                    if capture == "comment" and self._owns_line(node):
                        self._span("attach", *_lines(node), text=text)
            elif capture in ("attach", "fence"):
                for node in nodes:
                    self._span(capture, *_lines(node))
            elif capture == "import":
                self.imports.update(node.start_byte for node in nodes)
            elif capture == "package" and not self.package:
                self.package = self._text(nodes[0].start_byte, nodes[0].end_byte)
            elif capture.startswith("definition.") or capture == "container":
                self._define(pattern, capture.removeprefix("definition."), nodes[0], captures)

    def _span(self, kind: str, start: int, end: int, text: str = "") -> None:
        self.spans.setdefault(kind, {}).setdefault((start, end), Span(start, end, text))

    def _scope_name(self, node: Node) -> str:
        return _one_line(self._text(node.start_byte, node.end_byte).partition("<")[0])

    def _owns_line(self, node: Node) -> bool:
        return not self.raw[node.start_byte - node.start_point[1] : node.start_byte].strip()

    def _text(self, start: int, end: int) -> str:
        return self.raw[start:end].decode("utf-8", "replace")

    def _define(self, pattern: int, kind: str, node: Node, captures: dict[str, list[Node]]) -> None:
        names = captures.get("name")
        if not names:
            return
        while node.parent is not None and node.parent.type in self.language.wrappers:
            node = node.parent
        body = captures.get("body")
        scope = captures.get("scope")
        start, end = _lines(node)
        for name in names:
            rank = (node.end_byte - node.start_byte, pattern)
            old = self.found.get(name.start_byte)
            if old is None or rank > old.rank:
                self.found[name.start_byte] = _Found(
                    name=_one_line(self._text(name.start_byte, name.end_byte)),
                    kind=kind,
                    first=node.start_byte,
                    last=node.end_byte,
                    start=start,
                    end=end,
                    body=body[0].start_byte if body else node.end_byte,
                    body_line=body[0].start_point[0] + 1 if body else 0,
                    scope=".".join(
                        _one_line(self._text(part.start_byte, part.end_byte)) for part in scope or ()
                    ),
                    rank=rank,
                )

    def outline(self) -> Outline:
        comments = sorted(
            [*self.spans.get("comment", {}).values(), *self.spans.get("doc", {}).values()],
            key=lambda span: span.start,
        )
        return Outline(
            symbols=tuple(self._symbols()),
            comments=tuple(Span(span.start, span.end, plain_comment(span.text)) for span in comments),
            attached=self._sorted("attach"),
            splits=self._sorted("split"),
            headings=self._sorted("heading"),
            fences=self._sorted("fence"),
            imports_count=len(self.imports),
            package=_one_line(self.package),
        )

    def _sorted(self, kind: str) -> tuple[Span, ...]:
        return tuple(sorted(self.spans.get(kind, {}).values(), key=lambda span: (span.start, -span.end)))

    def _symbols(self) -> Iterable[Symbol]:
        above = {span.end: span for span in self.spans.get("attach", {}).values()}
        inside = {span.start: span for span in self.spans.get("doc", {}).values()}
        stack: list[tuple[int, str, str]] = []  # (last byte, qualified name, kind)
        for found in sorted(self.found.values(), key=lambda one: (one.first, -one.last)):
            while stack and stack[-1][0] <= found.first:
                stack.pop()
            outer = stack[-1][1] if stack else ""
            scope = f"{outer}.{found.scope}" if outer and found.scope else outer or found.scope
            qualified = f"{scope}.{found.name}" if scope else found.name
            in_type = bool(found.scope) or (bool(stack) and stack[-1][2] in (*TYPES, "container"))
            if found.kind not in DATA or found.kind == "enum":
                stack.append((found.last, qualified, found.kind))
            if found.kind == "container":
                continue
            yield Symbol(
                name=found.name,
                kind=_kind(found, in_type),
                scope=scope,
                start_line=found.start,
                end_line=found.end,
                signature=self._signature(found),
                doc=self._doc(found, above, inside),
            )

    def _signature(self, found: _Found) -> str:
        first = self.raw.rfind(b"\n", 0, found.first) + 1
        if self.raw[first : found.first].strip():
            first = found.first
        body = found.body if found.body > found.first else found.last
        text = self._text(first, min(body, first + SIGNATURE_CHARS_MAX))
        return dedent(text).rstrip().removesuffix("{").rstrip()

    def _doc(self, found: _Found, above: dict[int, Span], inside: dict[int, Span]) -> str:
        parts: list[str] = []
        line = found.start - 1
        while line in above and above[line].start <= line:
            parts.insert(0, above[line].text)
            line = above[line].start - 1
        text = "\n".join(parts)
        if not text and found.body_line in inside:
            text = inside[found.body_line].text
        return plain_comment(text)


def _lines(node: Node) -> tuple[int, int]:
    first, (last, column) = node.start_point[0], node.end_point
    return first + 1, max(first + 1, last + (column > 0))


def _kind(found: _Found, in_type: bool) -> str:
    if found.kind == "function" and in_type:
        return "method"
    if found.kind == "variable" and _UPPER.match(found.name):
        return "constant"
    return found.kind


def _one_line(text: str) -> str:
    return " ".join(text.split())


def dedent(text: str) -> str:
    """`text` without the blanks that all its lines begin with (the first line's count where it is the least)."""
    lines = text.split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] if line.strip() else "" for line in lines) if margin else text


def plain_comment(text: str) -> str:
    """The words of a comment or docstring: without markers, blank lines and indentation."""
    lines = (_ENDS.sub("", _MARKERS.sub("", line)).strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
