"""Getters and setters of properties: methods beside the field that has the property's type."""

from tree_sitter import Node

from cortex.graph.facts.declared.types import alternatives
from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.facts.expressions.labels import labels_flag
from cortex.graph.facts.facts import ACCESSOR
from cortex.graph.sweep.frames import Frame, OpenDefinition
from cortex.graph.sweep.sweep import Sweep
from cortex.terms.kinds import TYPE_KINDS

_MODIFIERS = frozenset({"modifier", "modifiers"})


def enter_accessor(sweep: Sweep, node: Node) -> None:
    """Open an accessor: the calls in it are its own."""
    property_of, frame = sweep.syntax.property_of, sweep.stack[-1]
    around = property_of(node) if property_of is not None else None
    is_member = frame.kind in TYPE_KINDS or frame.kind == "container"
    if around is None or frame.block or not (is_member or frame.index < 0):
        return
    declaration, name_node, extended = around
    word = node.child_by_field_name("name") if node.type not in sweep.syntax.accessors else None
    ending = sweep.syntax.accessors.get(node.type if word is None else text_of(word))
    if ending is None:  # a word that is being written
        return
    name = text_of(name_node) + ACCESSOR if ending else ACCESSOR + text_of(name_node)
    same = [
        at
        for at in range(max(0, len(sweep.opened) - 2), len(sweep.opened))
        if sweep.opened[at].name_node == name_node
    ]
    index = next((at for at in same if sweep.opened[at].name == name), -1)
    scope = frame.qualified if extended is None else type_scope(extended)
    flags = (ACCESSOR, *("static",) * _is_static(declaration), *labels_flag(declaration))
    if extended is not None and sweep.syntax.flags is not None:
        flags += sweep.syntax.flags(declaration, extended, scope)
    if index < 0:
        index = sweep.keep(
            OpenDefinition(
                name,
                "method" if is_member or extended is not None else "function",
                scope,
                -1 if frame.kind == "container" or extended is not None else frame.index,
                node if same else declaration,
                name_node,
                flags=flags,
            )
        )
    place = node.start_byte, node.end_byte, index, f"{scope}.{name}".lstrip("."), sweep.opened[index].kind
    sweep.stack.append(Frame(*place, block=False, node=node))


def type_scope(owner: Node) -> str:
    """Return the name of the type that a definition names as its own: `Disk` of `Disk<T>?`."""
    target = alternatives(text_of(owner))
    return target[0].rstrip("*") if target else text_of(owner)


def _is_static(declaration: Node) -> bool:
    return any(
        child.type in _MODIFIERS and b"static" in (child.text or b"").split()
        for child in declaration.children
    )


def has_accessors(sweep: Sweep, declaration: Node) -> bool:
    """Return True if a property has an accessor with a body, or with one in another type."""
    listed, value = (declaration.child_by_field_name(place) for place in ("accessors", "value"))
    if listed is None:
        return value is not None and value.type in sweep.syntax.accessors
    return (
        sweep.stack[-1].kind == "interface"
        or any(accessor.child_by_field_name("body") is not None for accessor in listed.named_children)
        or any(child.text == b"abstract" for child in declaration.children if child.type in _MODIFIERS)
    )
