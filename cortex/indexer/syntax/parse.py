"""Text → Outline: symbols, comments, imports and places to cut, from one tree-sitter pass. No
chunks.

Captures of a query file (queries/<name>.scm):

* `@definition.<kind>` with `@name`, and `@body` where the signature ends (without it the signature
  is the whole node); `@scope` when the enclosing type is only named (Go receivers, C++ qualifiers).
  Kinds as in records.Symbol.
* `@container` with `@name`: encloses definitions without being one (Rust impl blocks, C++
  namespaces).
* `@import`, `@package`, `@comment`, `@doc` (a docstring inside its definition), `@attach` (belongs
  to the next line, as does every comment on a line of its own).
* `@split`: a node that is better not cut; the fewer of them a cut crosses, the better.
* `(#set! statements "…")`, once: the types of the nodes that hold statements or members, for the
  blocks of long definitions.
* `@heading`, `@fence`: for documents. `@embedded`: a part in another language, which the tag before
  it names.

If several patterns match one name, the widest node wins, then the pattern further down in the file.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from itertools import chain
from typing import Any

from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser, Query, QueryCursor, Range, Tree

from cortex.graph.facts.expressions.wrapped_values import FUNCTIONS, wrapped_functions
from cortex.graph.facts.repairs.macros import unmark
from cortex.graph.facts.repairs.qt import read_qt
from cortex.graph.facts.repairs.unknown_words import blank_unknown_words
from cortex.indexer.syntax.blocks import LONG_LINES, Block, Layout, blocks_of
from cortex.indexer.syntax.keys import key_outline
from cortex.indexer.syntax.outline import SIGNATURE_CHARS_MAX, Outline, Span, dedent, plain_comment
from cortex.indexer.syntax.repair import REPAIRED, Repair, blank_conditionals, repair, unrepaired
from cortex.indexer.syntax.source import Source
from cortex.system.installation import extra_of, how_to_add
from cortex.terms.kinds import DATA_KINDS, TYPE_KINDS
from cortex.terms.languages import Language, embedded_language
from cortex.terms.records import Symbol

#: steps of a parser (each a hundred of its operations) for any file, and for each byte of it. A
#: megabyte of usual code takes 15 000; one kilobyte has kept a grammar busy for an hour
PARSE_STEPS_MIN, PARSE_STEPS_PER_BYTE = 1_000, 0.2
#: bytes per read of a parser
READ_BYTES = 1 << 16
#: characters of a file of C or C++ in which unknown words are sought: it is parsed several times
WORDS_CHARS_MAX = 800_000
#: longest import in characters
IMPORT_CHARS_MAX = 200
#: grammars that often meet text that they cannot read (macros): their trees with errors are reused.
#: Where a token depends on earlier text, error recovery differs in the second pass
_TAKEN_OVER = frozenset(("tree_sitter_c", "tree_sitter_cpp"))
#: nodes of names that end in a "=" of the syntax: Ruby's `def size=`, the shell's `alias ll=`. An
#: operator's "=" belongs to its name
_WRITTEN_WITH_EQUALS = frozenset(("setter", "word"))
#: in-progress matches of a query: bounds the time for a deeply nested file
MATCHES_MAX = 4096


_UPPER = re.compile(r"[A-Z][A-Z0-9_]*$")


def parse(source: Source, language: Language) -> Outline:
    """Return the outline of `source`: empty without a grammar, partial after syntax errors."""
    if language.keys:
        return key_outline(source, language)
    if language.grammar is None or not source.lines:
        return Outline()
    plain = without_marks(source, language)
    raw, tree = syntax_tree(plain, language)
    if plain is not source and len(text := _encode(source)) == len(raw):
        raw = text  # all bytes keep their places: signatures as they are written
    reader = _read_tree(raw, tree, language)
    if reader.errors and language.name in REPAIRED:
        return _read_repaired(source, raw, language)
    inner = [_read_embedded(raw, place, inside) for place, inside in reader.embedded]
    return (
        _merge([reader.outline(), *(inner_reader.outline() for inner_reader in inner)])
        if inner
        else reader.outline()
    )


@functools.lru_cache(maxsize=1)
def without_marks(source: Source, language: Language) -> Source:
    """Return a file of C or C++ without what its grammar cannot read, with as many lines: marks
    around names, and conditions inside a construct. Other files as they are.
    """
    if language.name not in {"c", "cpp"}:
        return source
    text = "\n".join(blank_conditionals(source.lines))
    lines = tuple(unmark(read_qt(text) if language.name == "cpp" else text).split("\n"))
    plain = source if lines == source.lines else replace(source, lines=lines)
    return _without_unknown_words(plain, language)


def _without_unknown_words(source: Source, language: Language) -> Source:
    """Return a file of C or C++ without the macros that its parser stumbles over."""
    text = "\n".join(source.lines)

    def view(other: str) -> Source:
        return replace(source, lines=tuple(other.split("\n")))

    def parse_text(other: str) -> Node:  # the best tree is one of two that are cached
        return syntax_tree(view(other), language)[1].root_node

    root, other = syntax_tree(source, language)[1].root_node, text
    if root.has_error and len(text) <= WORDS_CHARS_MAX:
        with contextlib.suppress(TooComplex):
            other = blank_unknown_words(text, root, parse_text)
    return source if other is text else view(other)


def _read_repaired(source: Source, raw: bytes, language: Language) -> Outline:
    """Read the outline of a file with errors, from its repair and its own text."""
    mended = repaired(source, language)
    outline = _read_tree(raw, mended.tree, language).outline()
    symbols = sorted((*outline.symbols, *mended.symbols), key=lambda symbol: symbol.start_line)
    return replace(outline, symbols=tuple(symbols), errors=bool(mended.unread), unread=mended.remark)


@functools.lru_cache(maxsize=1)
def repaired(source: Source, language: Language) -> Repair:
    """Return a file's repair in a language of REPAIRED, or itself. Raises as `syntax_tree`."""
    raw, tree = syntax_tree(source, language)
    if not tree.root_node.has_error:
        return Repair(source, tree)
    parser = _tools(language)[0]
    assert language.grammar is not None
    module = language.grammar[0]

    def parse_lines(other: Source, *, with_text: bool = True) -> Tree:
        text = _encode(other)
        if not with_text:
            return _parse_places(parser, text, len(text))
        return _parse_tree(parser, text, len(text), module)

    def names(other: Tree) -> set[tuple[str, int]]:
        symbols = _read_tree(raw, other, language).outline().symbols
        return {(symbol.name, symbol.start_line) for symbol in symbols}

    try:
        return repair(source, language, tree, parse_lines, names)
    except TooComplex:
        return unrepaired(source, tree)


def _read_tree(raw: bytes, tree: Tree, language: Language) -> _Reader:
    cursor = QueryCursor(_tools(language)[1], match_limit=MATCHES_MAX)
    reader = _Reader(raw, language, errors=tree.root_node.has_error)
    for pattern, captures in cursor.matches(tree.root_node):
        nodes = captures.get("split")
        if nodes is not None:  # two of three matches are only a split
            reader.split(nodes)
        if nodes is None or len(captures) > 1:
            reader.take(pattern, captures)
    return reader


def _read_embedded(raw: bytes, place: Range, language: Language) -> _Reader:
    """Read a part of a file in another language; its nodes have positions in the complete file."""
    assert language.grammar is not None
    parser = Parser(_grammar(language.grammar), included_ranges=[place])
    count = place.end_byte - place.start_byte
    return _read_tree(raw, _parse_tree(parser, raw, count, language.grammar[0]), language)


def _merge(outlines: Sequence[Outline]) -> Outline:
    def collect(name: str) -> Any:
        return tuple(
            sorted((span for outline in outlines for span in getattr(outline, name)), key=_first_line)
        )

    return replace(
        outlines[0],
        symbols=tuple(
            sorted(
                chain.from_iterable(outline.symbols for outline in outlines),
                key=lambda symbol: symbol.start_line,
            )
        ),
        comments=collect("comments"),
        attached=collect("attached"),
        splits=collect("splits"),
        imports=tuple(chain.from_iterable(outline.imports for outline in outlines)),
        imports_count=sum(outline.imports_count for outline in outlines),
    )


def _outer_first(place: tuple[int, int]) -> tuple[int, int]:
    return place[0], -place[1]


def _first_line(span: Span) -> tuple[int, int]:
    return span.start, -span.end


class Unparsed(Exception):  # noqa: N818 - errors name the condition
    """A file must be cut without a parser; the message is the reason, as a remark of the file."""


class TooComplex(Unparsed):
    """A parser was cancelled: no grammar may take minutes for one file."""


class NoGrammar(Unparsed):
    """The grammar belongs to an extra that is not installed."""


@functools.lru_cache(maxsize=2)
def syntax_tree(source: Source, language: Language) -> tuple[bytes, Tree]:
    """Return (text, tree) of a file in a language with a grammar; cached for the next reader of the
    same file.

    Raises TooComplex when the parser takes too many steps for a file of this size, and NoGrammar.
    It counts steps, not seconds, so the result is the same on every machine.
    """
    raw = _encode(source)
    assert language.grammar is not None
    return raw, _parse_tree(_tools(language)[0], raw, len(raw), language.grammar[0])


def _encode(source: Source) -> bytes:
    return ("\n".join(source.lines) + "\n").encode("utf-8", "surrogatepass")


def _parse_tree(parser: Parser, raw: bytes, count: int, module: str) -> Tree:
    """Parse the first `count` bytes of `raw` with the grammar of `module`. Raises TooComplex."""
    tree = _parse_places(parser, raw, count)
    # Nodes of a tree that was read through a callback call it for their text byte by byte; a
    # second pass over the tree costs little.
    is_reusable = not tree.root_node.has_error or module in _TAKEN_OVER
    return parser.parse(raw, tree) if is_reusable else parser.parse(raw)


def _parse_places(parser: Parser, raw: bytes, count: int) -> Tree:
    """Parse the first `count` bytes into nodes of places without text. Raises TooComplex."""
    steps, most = itertools.count(1), PARSE_STEPS_MIN + int(PARSE_STEPS_PER_BYTE * count)
    views: list[memoryview] = []

    def read(start: int, _: object) -> memoryview:
        views.append(memoryview(raw)[start : start + READ_BYTES])
        return views[-1]

    try:
        return parser.parse(read, progress_callback=lambda *_: next(steps) > most)
    except ValueError as error:  # the error of a cancelled parser
        parser.reset()
        raise TooComplex("cut without a parser, which took too long") from error
    finally:
        for view in views:  # the binding never releases the result of a callback
            view.release()


@functools.cache
def _grammar(place: tuple[str, str]) -> Grammar:
    module, function = place
    try:
        return Grammar(getattr(importlib.import_module(module), function)())
    except ImportError:
        if not (extra := extra_of(module)):
            raise
        raise NoGrammar(
            f"cut without a parser, which needs the extra `{extra}`: {how_to_add(extra)}"
        ) from None


@functools.cache
def _tools(language: Language) -> tuple[Parser, Query]:
    assert language.grammar is not None
    grammar = _grammar(language.grammar)
    text = (
        resources.files("cortex.indexer.syntax")
        .joinpath("queries", f"{language.query}.scm")
        .read_text("utf-8")
    )
    return Parser(grammar), Query(grammar, text)


def compile_query(language: Language) -> Grammar | None:
    """Compile the query of `parse`; return the grammar, None without one. Raises NoGrammar."""
    if language.keys or language.grammar is None:
        return None
    _tools(language)
    return _grammar(language.grammar)


@functools.cache
def _statement_lists(language: Language) -> frozenset[str]:
    """Return the types of the nodes that hold statements."""
    query = _tools(language)[1]
    settings = [query.pattern_settings(pattern) for pattern in range(query.pattern_count)]
    return frozenset(kind for setting in settings for kind in (setting.get("statements") or "").split())


@dataclass(slots=True)
class _Definition:
    """A definition or container, before its scope is known."""

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
    #: its nodes and its body, for blocks: () unless it is long
    nodes: tuple[Node, ...] = ()
    body_node: Node | None = None


@dataclass(slots=True)
class _Reader:
    raw: bytes
    language: Language
    definitions: dict[int, _Definition] = field(default_factory=dict)
    spans: dict[str, dict[tuple[int, int], Span]] = field(default_factory=dict)
    splits: set[tuple[int, int]] = field(default_factory=set)
    imports: dict[int, str] = field(default_factory=dict)
    package: str = ""
    errors: bool = False
    embedded: list[tuple[Range, Language]] = field(default_factory=list)
    #: for blocks, once a definition is long
    layout: Layout | None = None

    def split(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            first = node.start_point[0]
            last, column = node.end_point
            if last > first:
                self.splits.add((first + 1, last + (column > 0)))

    def take(self, pattern: int, captures: dict[str, list[Node]]) -> None:
        for capture, nodes in captures.items():
            if capture in ("comment", "doc", "heading"):
                for node in nodes:
                    text = self._text(node.start_byte, node.end_byte)
                    self._span(capture, *_lines(node), text=text)
                    if capture == "comment" and self._owns_line(node):
                        self._span("attach", *_lines(node), text=text)
            elif capture in ("attach", "fence"):
                for node in nodes:
                    self._span(capture, *_lines(node))
            elif capture == "import":
                for node in nodes:
                    self.imports[node.start_byte] = self._text(node.start_byte, node.end_byte)
            elif capture == "embedded":
                self._embed(nodes[0])
            elif capture == "package" and not self.package:
                self.package = self._text(nodes[0].start_byte, nodes[0].end_byte)
            elif capture == "valued":
                self._define_wrapped(pattern, nodes[0], captures["name"][0])
            elif capture.startswith("definition.") or capture == "container":
                self._define(pattern, capture.removeprefix("definition."), nodes[0], captures)

    def _span(self, kind: str, start: int, end: int, text: str = "") -> None:
        self.spans.setdefault(kind, {}).setdefault((start, end), Span(start, end, text))

    def _embed(self, node: Node) -> None:
        tag = node.prev_sibling
        language = embedded_language(self._text(tag.start_byte, tag.end_byte)) if tag is not None else None
        if language is not None:
            place = Range(node.start_point, node.end_point, node.start_byte, node.end_byte)
            self.embedded.append((place, language))

    def _blank_lines_at_end(self, node: Node) -> int:
        """Return a node's lines after its last word: indented ones end where the next begins."""
        text = self.raw[node.start_byte : node.end_byte]
        tail = text[len(text.rstrip()) :]
        return tail.count(b"\n") - (tail.endswith(b"\n"))

    def _owns_line(self, node: Node) -> bool:
        return not self.raw[node.start_byte - node.start_point[1] : node.start_byte].strip()

    def _text(self, start: int, end: int) -> str:
        return self.raw[start:end].decode("utf-8", "replace")

    def _define_wrapped(self, pattern: int, value: Node, name: Node) -> None:
        """Define the functions and classes of the value of an assignment or default export."""
        direct = value.type in FUNCTIONS
        functions = (value,) if direct else wrapped_functions(value)
        called = self._text(name.start_byte, name.end_byte)
        for function in functions:
            kind = "class" if function.type == "class" else "function"
            body, label = function.child_by_field_name("body"), function.child_by_field_name("name")
            named = label if label is not None and called in ("default", "exports") else None
            captures = {"name": [label or (name if len(functions) == 1 else function)]}
            if body is not None:
                captures["body"] = [body]
            node = _statement_of(value) if direct else function
            text = called if named is None else self._text(named.start_byte, named.end_byte)
            self._define(pattern, kind, node, captures, text)

    def _define(
        self, pattern: int, kind: str, node: Node, captures: dict[str, list[Node]], called: str = ""
    ) -> None:
        """Define each name of a match. `called`: the name, if the name's node has another text."""
        names = captures.get("name")
        if not names:
            return
        body = captures.get("body")
        inner = node
        while node.parent is not None and node.parent.type in self.language.wrappers:
            node = node.parent
        scope = captures.get("scope")
        start, end = _lines(node)
        end = max(start, end - self._blank_lines_at_end(node))
        body_node = body[0] if body else None
        if not body and end - start + 1 >= LONG_LINES:
            body_node = inner.child_by_field_name("body")
        for name in names:
            rank = (node.end_byte - node.start_byte, pattern)
            old = self.definitions.get(name.start_byte)
            if old is None or rank > old.rank:
                self.definitions[name.start_byte] = _Definition(
                    name=called or self._name(name),
                    kind=kind,
                    first=node.start_byte,
                    last=node.end_byte,
                    start=start,
                    end=end,
                    body=body[0].start_byte if body else node.end_byte,
                    body_line=body[0].start_point[0] + 1 if body else 0,
                    scope=".".join(
                        _one_line(self._text(scope_node.start_byte, scope_node.end_byte))
                        for scope_node in scope or ()
                    ),
                    rank=rank,
                    nodes=(node,),
                    body_node=body_node,
                )

    def _name(self, node: Node) -> str:
        text = _one_line(self._text(node.start_byte, node.end_byte))
        if node.type == "simple_symbol":
            return text.lstrip(":")
        return text.removesuffix("=") if node.type in _WRITTEN_WITH_EQUALS else text

    def outline(self) -> Outline:
        comments = sorted(
            [*self.spans.get("comment", {}).values(), *self.spans.get("doc", {}).values()],
            key=lambda span: span.start,
        )
        return Outline(
            symbols=tuple(self._symbols()),
            comments=tuple(Span(span.start, span.end, plain_comment(span.text)) for span in comments),
            attached=self._sorted("attach"),
            splits=tuple(Span(start, end) for start, end in sorted(self.splits, key=_outer_first)),
            headings=self._sorted("heading"),
            fences=self._sorted("fence"),
            imports=tuple(_one_line(text)[:IMPORT_CHARS_MAX] for _, text in sorted(self.imports.items())),
            imports_count=len(self.imports),
            package=_one_line(self.package),
            errors=self.errors,
        )

    def _sorted(self, kind: str) -> tuple[Span, ...]:
        return tuple(sorted(self.spans.get(kind, {}).values(), key=_first_line))

    def _symbols(self) -> Iterable[Symbol]:
        above = {span.end: span for span in self.spans.get("attach", {}).values()}
        inside = {span.start: span for span in self.spans.get("doc", {}).values()}
        stack: list[tuple[int, int, str, str]] = []  # (first byte, last byte, qualified name, kind)
        for definition in self._in_order():
            # several names of one node (selectors of a CSS rule) do not enclose each other
            while stack and (
                stack[-1][1] <= definition.first or stack[-1][:2] == (definition.first, definition.last)
            ):
                stack.pop()
            outer = stack[-1][2] if stack else ""
            scope = f"{outer}.{definition.scope}" if outer and definition.scope else outer or definition.scope
            qualified = f"{scope}.{definition.name}" if scope else definition.name
            in_type = bool(definition.scope) or (bool(stack) and stack[-1][3] in (*TYPE_KINDS, "container"))
            if definition.kind not in DATA_KINDS or definition.kind == "enum":
                stack.append((definition.first, definition.last, qualified, definition.kind))
            if definition.kind == "container":
                continue
            yield Symbol(
                name=definition.name,
                kind=_kind(definition, in_type),
                scope=scope,
                start_line=definition.start,
                end_line=definition.end,
                signature=self._signature(definition),
                doc=self._doc(definition, above, inside),
                blocks=self._blocks(definition),
            )

    def _blocks(self, definition: _Definition) -> tuple[Block, ...]:
        if definition.end - definition.start + 1 < LONG_LINES:
            return ()
        lists = _statement_lists(self.language)
        if not lists or (definition.kind in DATA_KINDS and definition.kind != "enum"):
            return ()
        if self.layout is None:
            definitions = frozenset((entry.first, entry.last) for entry in self.definitions.values())
            self.layout = Layout(self.raw.split(b"\n"), lists, definitions, self.spans.get("attach", {}))
        return blocks_of(self.layout, definition.nodes, definition.body_node)

    def _in_order(self) -> list[_Definition]:
        """Return the definitions by position, with the clauses of one function merged."""
        ordered = sorted(self.definitions.values(), key=lambda entry: (entry.first, -entry.last))
        if not self.language.clauses:
            return ordered
        merged: list[_Definition] = []
        last: dict[tuple[str, str, int], _Definition] = {}  # same column: siblings
        for definition in ordered:
            column = definition.first - self.raw.rfind(b"\n", 0, definition.first)
            before = merged[-1] if merged else None
            open_one = last.get((definition.name, definition.kind, column))
            if open_one is not None and open_one is before:
                open_one.last, open_one.end = definition.last, definition.end
                open_one.nodes += definition.nodes
                if open_one.body >= open_one.last:
                    open_one.body = definition.first
                continue
            merged.append(definition)
            last[definition.name, definition.kind, column] = definition
        return merged

    def _signature(self, definition: _Definition) -> str:
        first = self.raw.rfind(b"\n", 0, definition.first) + 1
        if self.raw[first : definition.first].strip():
            first = definition.first
        body = definition.body if definition.body > definition.first else definition.last
        text = self._text(first, min(body, first + SIGNATURE_CHARS_MAX))
        return dedent(text).rstrip().removesuffix("{").rstrip().removesuffix(" =")

    def _doc(self, definition: _Definition, above: dict[int, Span], inside: dict[int, Span]) -> str:
        parts: list[str] = []
        line = definition.start - 1
        while line in above and above[line].start <= line:
            parts.insert(0, above[line].text)
            line = above[line].start - 1
        text = "\n".join(parts)
        if not text and definition.body_line:  # on the body's first line, or the line after `do`
            text = next(
                (inside[at].text for at in (definition.body_line, definition.body_line + 1) if at in inside),
                "",
            )
        return plain_comment(text)


def _statement_of(value: Node) -> Node:
    """Return the assignment, as a statement, or the export that holds `value`."""
    around = value.parent or value
    outer = around.parent
    return outer if outer is not None and outer.type == "expression_statement" else around


def _lines(node: Node) -> tuple[int, int]:
    first, (last, column) = node.start_point[0], node.end_point
    return first + 1, max(first + 1, last + (column > 0))


def _kind(definition: _Definition, in_type: bool) -> str:
    if definition.kind == "function" and in_type:
        return "method"
    if definition.kind == "variable" and _UPPER.match(definition.name):
        return "constant"
    return definition.kind


def _one_line(text: str) -> str:
    return " ".join(text.split())
