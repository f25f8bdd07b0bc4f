"""The queries over a syntax tree, and their captures.

Captures of a query file (graph/languages/*/<name>.scm; those in values/ capture only `@value` and
`@function`, function_values.py):

* `@def.<kind>` with `@name`; `@owner` if a method only names its type (Go, Rust, C++). `@container`
  with `@name` encloses members of a type that is defined elsewhere (Rust's impl, Swift's
  extension).
* `@base.extends`, `@base.implements`, `@base.embeds`, `@returns` (a type), `@return.value`,
  `@param.name` with `@param.type`, `@param.item` or `@param.value`: of the innermost definition
  around them. `@field`: the parameter is a field too.
* `@bind.name` with `@bind.type`, `@bind.value`, `@bind.item` (an element of the value) or
  `@bind.made` (an instance of it).
* `@bound.name` (a type parameter) with `@bound.type`; `@tokens` with `@group`, a name before a
  group in a macro's arguments (Rust); `@macro.body`, the text of a macro (C).
* `@narrow` (a name) has `@narrow.type` in `@narrow.block`, without a block from there on (after
  `@narrow.after`). `@told`: a comment with a variable's type.
* `@delegated` (a name) is a method of `@delegated.to`.
* `@block`: bindings inside do not hold outside.
* `@call` with `@callee`; `@given`, an object literal among its arguments; `@jsx`; `@type`;
  `@import`; `@package`.

Of several definitions with one name node the first pattern wins.

A pattern's outer node has a capture, `@_in`, if it may be nested in itself: only matches with a
capture count as in progress.

Each process compiles the queries of the languages that it meets, in tens of milliseconds each. Most
of that time goes into the analysis of possible children, separately for each step of a pattern. So
patterns that differ by one name are one pattern with alternatives, and a step whose fields or words
already select the node, `(_ operator: "instanceof")`, names no kind: a wildcard needs no analysis.
"""

import functools
from collections.abc import Iterator
from importlib import resources
from operator import itemgetter

from tree_sitter import Language as Grammar
from tree_sitter import Node, Query, QueryCursor

#: a match: name → nodes
Captures = dict[str, list[Node]]
#: in-progress matches of a query: each node below is compared with each of them. Source code has
#: less than 128; a file with more is searched in layers of this depth
MATCHES_MAX, LAYER = 512, 100
#: the order of matches: begin, end, pattern
_PLACE = itemgetter(0, 1, 2)
#: capture of an outer node; main captures of a match that has no definition, call, import or base
OUTER = "_in"
_MAIN = (
    "bind.name", "bound.name", "tokens", "delegated", "described", "yielded", "evaluated", "run", "listed", "derived",
    "param.name", "param.type", "param.item",
)  # fmt: skip


@functools.cache
def query_of(grammar: Grammar, package: str, names: tuple[str, ...], *subfolders: str) -> Query:
    """Return the query files of these names, in a package or a subfolder of it, as one query."""
    folder = resources.files(package).joinpath(*subfolders)
    return Query(grammar, "\n".join(folder.joinpath(f"{name}.scm").read_text("utf-8") for name in names))


@functools.cache
def main_capture(captures: tuple[str, ...]) -> tuple[str, bool]:
    """Return the main capture among all captures of a match, and whether it is a definition."""
    for capture in captures:
        if capture.startswith("def."):
            return capture, True
        if capture in ("container", "call", "import", "narrow"):
            return capture, False
    for capture in captures:
        if capture.startswith("base."):
            return capture, False
    named = (capture for capture in captures if capture != OUTER)
    return next((capture for capture in _MAIN if capture in captures), next(named)), False


def matches_of(root: Node, query: Query) -> list[tuple[int, Captures]]:
    """Return the matches of a query, in time linear in the depth of the tree."""
    cursor = QueryCursor(query, match_limit=MATCHES_MAX)
    matches = cursor.matches(root)
    if not cursor.did_exceed_match_limit:
        return matches
    return [match for layer in _layers(root) for node in layer for match in _of_layer(query).matches(node)]


def captures_of(root: Node, query: Query) -> Captures:
    """Return the captures of a query, as `matches_of` does."""
    cursor = QueryCursor(query, match_limit=MATCHES_MAX)
    captures = cursor.captures(root)
    if not cursor.did_exceed_match_limit:
        return captures
    captures = {}
    for node in (node for layer in _layers(root) for node in layer):
        for name, nodes in _of_layer(query).captures(node).items():
            captures.setdefault(name, []).extend(nodes)
    return captures


def _of_layer(query: Query) -> QueryCursor:
    cursor = QueryCursor(query)
    cursor.set_max_start_depth(LAYER - 1)
    return cursor


def _layers(root: Node) -> Iterator[list[Node]]:
    """Yield the nodes at each LAYER-th level of a tree."""
    nodes = [root]
    while nodes:
        yield nodes
        for _ in range(LAYER):
            nodes = [child for node in nodes for child in node.children]


def ordered_matches(root: Node, query: Query) -> list[tuple[int, int, int, str, Captures]]:
    """Return the matches in text order; an enclosing match comes before its contents."""
    matches: list[tuple[int, int, int, str, Captures]] = []
    definitions: list[tuple[int, int, int, str, Captures]] = []
    types: list[tuple[int, int, int, str, Captures]] = []
    for pattern, captures in matches_of(root, query):
        capture, defines = main_capture(tuple(captures))
        start, end = captures[capture][0].byte_range
        group = definitions if defines else types if capture == "type" else matches
        group.append((start, -end, pattern, capture, captures))
    defined_at: set[int] = set()
    for match in sorted(definitions, key=itemgetter(2)):
        name = match[4]["name"][0].start_byte
        if name not in defined_at:
            defined_at.add(name)
            matches.append(match)
    last = -1
    for start, end, _, capture, captures in sorted(types, key=_PLACE):
        if start >= last and start not in defined_at:  # not a part of another type, nor a definition's name
            matches.append((start, end, 1 << 20, capture, captures))
            last = -end
    matches.sort(key=_PLACE)
    return matches
