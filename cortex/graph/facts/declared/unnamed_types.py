"""Unnamed classes in the syntax tree: `new Disk() { … }` (Java, Scala), `object : Disk() { … }`
(Kotlin), `new class extends Disk { … }` (PHP), `Class.new(Disk) do … end` (Ruby), and constants of
an enum with a body (Java, Kotlin).
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of

#: the last name of a type without its arguments
_PLAIN = re.compile(r"(?:\w+\s*[.\\]\s*)*\\?(\w+)")
#: ends the name of an unnamed class, `Disk{}`
UNNAMED = "{}"
#: nodes between an unnamed class and the names of its bases
_HEADS = frozenset(
    "delegation_specifiers delegation_specifier constructor_invocation explicit_delegation "
    "compound_type applied_constructor_type base_clause class_interface_clause".split()
)
_NAMES = frozenset(
    "user_type type_identifier generic_type scoped_type_identifier stable_type_identifier name "
    "qualified_name".split()
)
_CONSTANT_NAMES = frozenset({"constant", "scope_resolution"})
_CREATIONS = frozenset({"object_literal", "anonymous_class"})
_CONSTANTS = frozenset({"enum_constant", "enum_entry"})
#: nodes that give a value its name, and the field with that name; "" where it has none
_HOLDERS = {
    "variable_declarator": "name",
    "property_declaration": "",
    "val_definition": "pattern",
    "var_definition": "pattern",
}


def unnamed_bases(body: Node) -> list[Node]:
    """Return the nodes that name the bases of an unnamed class, in the order of the text."""
    creation = body.parent
    return list(_bases_in(creation, body)) if creation is not None and body.type != "call" else []


def _bases_in(head: Node, body: Node) -> Iterator[Node]:
    for child in head.named_children:
        if child == body:
            return
        if child.type in _NAMES:
            yield child
            if head.type == "explicit_delegation":
                return
        elif child.type in _HEADS:
            yield from _bases_in(child, body)


def is_unnamed_base(name: Node) -> bool:
    around = name.parent
    while around is not None and around.type in _HEADS:
        around = around.parent
    return around is not None and around.type in _CREATIONS


def is_enum_constant(body: Node) -> bool:
    """True for the body of an enum's constant: its base is the enum."""
    return body.parent is not None and body.parent.type in _CONSTANTS


def unnamed_name(body: Node) -> tuple[str, str]:
    """Return the field or variable that holds an unnamed class, "" for none, and the name that it
    gets: `Disk{}` after its first base; after the constant in an enum.
    """
    creation = body.parent
    if creation is None:
        return "", UNNAMED
    if body.type == "call":
        return "", f"{_class_argument(body)}{UNNAMED}"
    if creation.type in _CONSTANTS:
        return "", f"{text_of(creation.named_children[0])}{UNNAMED}"
    first = next(_bases_in(creation, body), None)
    base = _PLAIN.match(text_of(first)) if first is not None else None
    holder, name = creation.parent, None
    if holder is not None and holder.type in _HOLDERS:
        named = _HOLDERS[holder.type]
        name = holder.child_by_field_name(named) if named else _variable_of(holder)
    return text_of(name) if name is not None else "", f"{base[1] if base is not None else ''}{UNNAMED}"


def _class_argument(call: Node) -> str:
    """Return the last name of the base in Ruby's `Class.new(Shop::Disk) do … end`."""
    arguments = call.child_by_field_name("arguments")
    first = next(iter(arguments.named_children), None) if arguments is not None else None
    return text_of(first).rpartition("::")[2] if first is not None and first.type in _CONSTANT_NAMES else ""


def _variable_of(declaration: Node) -> Node | None:
    """Return the name in Kotlin's `val disk = object : Disk() { … }`."""
    variables = (child for child in declaration.named_children if child.type == "variable_declaration")
    variable = next(variables, None)
    return variable.named_child(0) if variable is not None else None
