"""Fixtures that pytest's marks name in strings: `usefixtures("disk")`, `parametrize("disk", …,
indirect=True)`. Without `indirect`, the parameter gets the listed values and no fixture.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of

#: last names of the marks that name fixtures
MARKS = ("usefixtures", "parametrize")
#: kind of a reference from a mark: to a fixture, and to a parameter that gets no fixture
FIXTURE, NO_FIXTURE = "fixture", "no fixture"
_STRINGS = frozenset(("list", "tuple"))


def fixtures_of_mark(call: Node, mark: str) -> Iterator[tuple[str, str, Node]]:
    """Yield (FIXTURE or NO_FIXTURE, name, node of its string) for a call of one of MARKS."""
    arguments = call.child_by_field_name("arguments")
    children = arguments.named_children if arguments is not None else []
    if mark == "usefixtures":
        yield from ((FIXTURE, name, node) for child in children for name, node in _names_in(child))
        return
    keywords = {text_of(key): child for child in children if (key := child.child_by_field_name("name"))}
    first = keywords.get("argnames") or next(iter(children), None)
    indirect = keywords["indirect"].child_by_field_name("value") if "indirect" in keywords else None
    is_plain = indirect is None or indirect.type in ("false", "none")
    listed = {name for name, _ in _names_in(indirect)} if indirect is not None else set()
    if first is None or not (is_plain or listed or (indirect is not None and indirect.type == "true")):
        return
    for name, node in _names_in(first.child_by_field_name("value") or first):
        is_used = not is_plain and (not listed or name in listed)
        yield (FIXTURE if is_used else NO_FIXTURE), name, node


def _names_in(node: Node) -> Iterator[tuple[str, Node]]:
    """Yield (name, node) of the names in a string, or in the strings of a list."""
    for child in node.named_children if node.type in _STRINGS else [node]:
        if child.type == "string":
            for name in text_of(child).strip("\"'").split(","):
                if name.strip().isidentifier():
                    yield name.strip(), child
