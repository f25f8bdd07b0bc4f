"""Expression nodes → chains (facts.py): `self.store.get()` of a syntax tree as text that says what is called on what."""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.grammars import Syntax
from cortex.graph.types import alternatives

#: links of a chain that are kept; a longer one says nothing
LINKS_MAX = 12
UNKNOWN, LITERAL = "?", "#"


def text_of(node: Node) -> str:
    return node.text.decode("utf-8", "replace") if node.text else ""


def chain_of(node: Node | None, syntax: Syntax, depth: int = 0) -> str:
    """The chain of an expression; `?` when it is of no known shape."""
    if node is None or depth > 2 * LINKS_MAX:
        return UNKNOWN
    kind = node.type
    if kind in syntax.names:
        return text_of(node)
    if kind in syntax.members:
        left, right = syntax.members[kind]
        member = node.child_by_field_name(right)
        if member is None or member.type not in syntax.names:
            return f"{chain_of(member, syntax, depth + 1)}" if member is not None else UNKNOWN
        return f"{chain_of(node.child_by_field_name(left), syntax, depth + 1)}.{text_of(member)}"
    if kind in syntax.calls:
        return f"{chain_of(node.child_by_field_name(syntax.calls[kind]), syntax, depth + 1)}()"
    if kind in syntax.news:
        return _made(node.child_by_field_name(syntax.news[kind]), syntax, depth)
    if kind in syntax.elements:
        return f"{chain_of(node.child_by_field_name(syntax.elements[kind]), syntax, depth + 1)}[]"
    if kind in syntax.casts:
        field = syntax.casts[kind]
        target = node.child_by_field_name(field) if field else node.named_child(node.named_child_count - 1)
        return f":{text_of(target)}" if target is not None and depth == 0 else UNKNOWN
    if kind in syntax.wraps:
        field = syntax.wraps[kind]
        inner = node.child_by_field_name(field) if field else node.named_child(0)
        return chain_of(inner, syntax, depth + 1)
    return LITERAL if kind in syntax.literals else UNKNOWN


def _made(node: Node | None, syntax: Syntax, depth: int) -> str:
    """`new Foo<T>()`, `Foo{}`: a call of the type's chain."""
    if node is None:
        return UNKNOWN
    if node.type in syntax.members or node.type in syntax.names:
        return f"{chain_of(node, syntax, depth + 1)}()"
    names = alternatives(text_of(node))
    if len(names) != 1:
        return UNKNOWN
    return (
        LITERAL
        if names[0].endswith("*") and depth
        else f":{text_of(node)}"
        if names[0].endswith("*")
        else f"{names[0]}()"
    )


def split(chain: str) -> tuple[str, str]:
    """(receiver, member) of a callee's chain; the receiver is "" for a bare name."""
    left, dot, right = chain.rpartition(".")
    return (left, right) if dot else ("", chain)
