"""Nodes of a query's tree, all frozen. parse.py makes them, engines search them."""

from __future__ import annotations

from dataclasses import dataclass

#: field of a term without a field
DEFAULT_FIELD = "text"
#: every field that a query may name
FIELDS = tuple("text title symbols file_path tags chunk_type language start_line case word".split())
#: names of fields in other search engines (GitHub's, zoekt's) → names here
OTHER_NAMES = {
    "path": "file_path", "file": "file_path", "lang": "language", "symbol": "symbols",
    "sym": "symbols", "tag": "tags", "content": "text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Term:
    """Words as written, searched as one: an identifier, a qualified name. `position`: 0-based."""

    field: str
    text: str
    position: int = 0


@dataclass(frozen=True, slots=True)
class Phrase:
    """Quoted words next to each other; `slop` allows that many moves of a word."""

    field: str
    text: str
    slop: int = 0
    position: int = 0


@dataclass(frozen=True, slots=True)
class Wildcard:
    """Text with "*" (anything) and "?" (one character) as pieces between: ("get", "*", "Name")."""

    field: str
    pieces: tuple[str, ...]
    position: int = 0

    @property
    def is_prefix(self) -> bool:
        return len(self.pieces) == 2 and self.pieces[1] == "*"


@dataclass(frozen=True, slots=True)
class Fuzzy:
    """A word within `distance` edits (0–2; a swap of neighbours is one)."""

    field: str
    text: str
    distance: int
    position: int = 0


@dataclass(frozen=True, slots=True)
class Range:
    """Whole numbers from `low` to `high`, both included; None is open."""

    field: str
    low: int | None
    high: int | None
    position: int = 0


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression (RE2) over the text of files."""

    pattern: str
    case: bool = False
    position: int = 0


@dataclass(frozen=True, slots=True)
class Anything:
    """Every chunk."""


@dataclass(frozen=True, slots=True)
class Not:
    """Chunks that do not match `child`."""

    child: Node


@dataclass(frozen=True, slots=True)
class Boost:
    """`child` with its score multiplied."""

    child: Node
    factor: float


@dataclass(frozen=True, slots=True)
class And:
    """Chunks that match every child."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Chunks that match a child, all of `required`, and none of `excluded` (+ and - next to OR)."""

    children: tuple[Node, ...]
    required: tuple[Node, ...] = ()
    excluded: tuple[Node, ...] = ()


Leaf = Term | Phrase | Wildcard | Fuzzy | Range | Regex
Node = Leaf | Anything | Not | Boost | And | Or


def leaves(node: Node, *, excluded: bool = False) -> list[Leaf]:
    """Return leaves that a match may hold, left to right; with `excluded` also excluded ones."""
    match node:
        case Boost(child=child):
            return leaves(child, excluded=excluded)
        case Not(child=child):
            return leaves(child, excluded=True) if excluded else []
        case And(children=children):
            return [leaf for child in children for leaf in leaves(child, excluded=excluded)]
        case Or():
            children = (*node.children, *node.required, *(node.excluded if excluded else ()))
            return [leaf for child in children for leaf in leaves(child, excluded=excluded)]
        case Anything():
            return []
    return [node]


def conjoin(nodes: list[Node]) -> Node:
    """Return a node that matches all of `nodes`, with nested lists flattened."""
    flat: list[Node] = []
    for node in nodes:
        flat.extend(node.children if isinstance(node, And) else [node])
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def negate(node: Node) -> Node:
    return node.child if isinstance(node, Not) else Not(node)
