"""Swift's library types that a file extends. Of no project."""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.declared.types import alternatives
from cortex.graph.facts.expressions.chains import text_of

_SHORT = {"array_type": "Array", "dictionary_type": "Dictionary"}


def extended_type(name: Node) -> str:
    """Return the name of the container in an extension such as `extension [Disk]`; "" for
    others.
    """
    if name.type in _SHORT:
        return _SHORT[name.type]
    holds = alternatives(text_of(name))
    return text_of(name).partition("<")[0].strip() if holds and holds[0].endswith("*") else ""


def property_of(accessor: Node) -> tuple[Node, Node, None] | None:
    """Return (property, its name, None) for an accessor or observer; a subscript has the name
    `subscript`.
    """
    around = accessor.parent
    while around is not None and not around.type.endswith("_declaration"):
        around = around.parent
    if around is not None and around.type == "subscript_declaration":
        word = next((child for child in around.children if child.type == "subscript"), None)
        return None if word is None else (around, word, None)
    pattern = around.child_by_field_name("name") if around is not None else None
    name = pattern.child_by_field_name("bound_identifier") if pattern is not None else None
    return (around, name, None) if around is not None and name is not None else None
