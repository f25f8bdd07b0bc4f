"""What a keyword query means: a tree of frozen nodes. Made by parse.py, searched for by engines."""

from __future__ import annotations

from dataclasses import dataclass

#: field that a term without a field is looked for in
DEFAULT_FIELD = "text"
#: every field that a query may name
FIELDS = ("text", "title", "symbols", "file_path", "tags", "chunk_type", "language", "start_line", "case")
#: what the languages of other search engines call a field (GitHub's, zoekt's) → its name here
OTHER_NAMES = {
    "path": "file_path",
    "file": "file_path",
    "lang": "language",
    "symbol": "symbols",
    "sym": "symbols",
    "tag": "tags",
    "content": "text",
}


@dataclass(frozen=True, slots=True)
class Term:
    """Words as written, looked for as one: an identifier, a qualified name. `position`: 0-based."""

    field: str
    text: str
    position: int = 0


@dataclass(frozen=True, slots=True)
class Phrase:
    """Quoted words side by side; with `slop`, near each other: so many moves of a word away."""

    field: str
    text: str
    slop: int = 0
    position: int = 0


@dataclass(frozen=True, slots=True)
class Wildcard:
    """Text pieces with "*" (anything) and "?" (one character) between them as own pieces: ("get",
    "*", "Name").
    """

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
    """What does not match `child`."""

    child: Node


@dataclass(frozen=True, slots=True)
class Boost:
    """`child` with its score multiplied."""

    child: Node
    factor: float


@dataclass(frozen=True, slots=True)
class And:
    """What matches every child."""

    children: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """What matches a child, all of `required`, and none of `excluded` (+ and - beside OR)."""

    children: tuple[Node, ...]
    required: tuple[Node, ...] = ()
    excluded: tuple[Node, ...] = ()


Leaf = Term | Phrase | Wildcard | Fuzzy | Range | Regex
Node = Leaf | Anything | Not | Boost | And | Or


def leaves(node: Node, *, excluded: bool = False) -> list[Leaf]:
    """The leaves that a match may hold, left to right; with `excluded` those it must not, too."""
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
    """What matches all of `nodes`: one list, also of those that are lists."""
    flat: list[Node] = []
    for node in nodes:
        flat.extend(node.children if isinstance(node, And) else [node])
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def negate(node: Node) -> Node:
    return node.child if isinstance(node, Not) else Not(node)


def split_expressions(node: Node) -> tuple[list[Regex], list[Regex], Node | None]:
    """(expressions that must match, expressions that must not, the rest of the query) of a list
    joined by AND.
    """
    wanted: list[Regex] = []
    excluded: list[Regex] = []
    others: list[Node] = []
    for child in node.children if isinstance(node, And) else (node,):
        match child:
            case Regex():
                wanted.append(child)
            case Not(child=Regex() as inner):
                excluded.append(inner)
            case _:
                others.append(child)
    if len(others) > 1:
        return wanted, excluded, And(tuple(others))
    return wanted, excluded, others[0] if others else None
