"""The queries over a syntax tree, and what they capture.

Captures of a query file (queries/<name>.scm; those of queries/values/ capture `@value` alone,
mentions.py):

* `@def.<kind>` with `@name`; `@owner` where the type of a method is only named (Go, Rust, C++).
  `@container` with `@name` encloses members of a type that is defined elsewhere (Rust's impl,
  Swift's extension).
* `@base.extends`, `@base.implements`, `@base.embeds`, `@returns` (a type), `@return.value`,
  `@param.name` with `@param.type`, `@param.item` or `@param.value`: of the innermost definition
  around them. `@field`: the parameter is a field too.
* `@bind.name` with `@bind.type`, `@bind.value`, `@bind.item` (an element of the value) or
  `@bind.made` (an instance of it).
* `@bound.name` (a type parameter) with `@bound.type`; `@tokens` with `@group`, a name before a
  group in a macro's arguments (Rust); `@macro.body`, the text of a macro (C).
* `@narrow` (a name) is of `@narrow.type` in `@narrow.block`, without one from there on (after
  `@narrow.after`). `@told`: a comment that says a variable's type.
* `@delegated` (a name) is a method of `@delegated.to`.
* `@block`: bindings inside do not hold outside.
* `@call` with `@callee`; `@jsx`; `@type`; `@import`; `@package`.

Of several definitions with one name node the first pattern wins.

Each process compiles the queries of the languages that it meets, tens of milliseconds each. Most of
that finds out which children a step may have, for each step by its own: so patterns that differ by
one name alone are one, with alternatives, and a step inside one that its fields or words tell
already, `(_ operator: "instanceof")`, names no kind: of a node of any kind nothing is found out.
"""

from __future__ import annotations

import functools
from importlib import resources

from tree_sitter import Language as Grammar
from tree_sitter import Node, Query, QueryCursor

#: a match: name → nodes
Captures = dict[str, list[Node]]
#: in-progress matches of a query: bounds the time that a deeply nested file can take
MATCHES_MAX = 4096
#: captures that say what a match is, where none defines, calls, imports or is a base
_MAIN = ("bind.name", "bound.name", "tokens", "delegated", "param.name", "param.type", "param.item")


@functools.cache
def query_of(grammar: Grammar, names: tuple[str, ...], *subfolders: str) -> Query:
    """The query files of those names as one query; `within`: the folder that they are in."""
    folder = resources.files("cortex.graph.facts").joinpath("queries", *subfolders)
    return Query(grammar, "\n".join(folder.joinpath(f"{name}.scm").read_text("utf-8") for name in names))


@functools.cache
def main_capture(captures: tuple[str, ...]) -> tuple[str, bool]:
    """The capture that names what a match is, of all that it has; whether it defines."""
    for capture in captures:
        if capture.startswith("def."):
            return capture, True
        if capture in ("container", "call", "import", "narrow"):
            return capture, False
    for capture in captures:
        if capture.startswith("base."):
            return capture, False
    return next((capture for capture in _MAIN if capture in captures), captures[0]), False


def ordered_matches(root: Node, query: Query) -> list[tuple[int, int, int, str, Captures]]:
    """Matches in the order of the text; what encloses comes before what it holds."""
    cursor = QueryCursor(query, match_limit=MATCHES_MAX)
    matches: list[tuple[int, int, int, str, Captures]] = []
    defined_at: set[int] = set()
    types: list[tuple[int, int, Captures]] = []
    for pattern, captures in sorted(cursor.matches(root), key=lambda match: match[0]):
        capture, defines = main_capture(tuple(captures))
        start, end = captures[capture][0].byte_range
        if defines:
            name = captures["name"][0].start_byte
            if name in defined_at:
                continue
            defined_at.add(name)
        if capture == "type":
            types.append((start, -end, captures))
            continue
        matches.append((start, -end, pattern, capture, captures))
    last = -1
    for start, end, captures in sorted(types, key=lambda span: span[:2]):
        if start >= last and start not in defined_at:  # not a part of another, nor a definition's own name
            matches.append((start, end, 1 << 20, "type", captures))
            last = -end
    matches.sort(key=lambda event: event[:3])
    return matches
