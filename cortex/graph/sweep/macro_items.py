"""Types that Rust's macros define: `bitflags! { struct Flags … }`, and `id_type!(UserId)` where a
macro of the file has `struct $name`. Other items inside macros are read as if outside of them
(facts/repairs/macros.py); these are no items of the language.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.sweep.frames import OpenDefinition
from cortex.graph.sweep.sweep import Sweep

#: words before a type's name → its kind
_KINDS = {"struct": "struct", "enum": "type"}
#: nodes that hold items
_ITEMS = frozenset({"source_file", "declaration_list"})


def define_types(sweep: Sweep, invocation: Node, macro: str) -> None:
    """Define the types of a macro that is called in place of an item."""
    around = invocation.parent
    if around is not None and around.type == "expression_statement":
        around = around.parent
    group = invocation.children[-1]
    if around is None or around.type not in _ITEMS or group.type != "token_tree":
        return
    named = [*_named_types(group)]
    frame = sweep.stack[-1]
    for kind, name in named or _made_types(sweep.macros.get(macro), group):
        node = group if len(named) == 1 else name  # its members are in the group
        sweep.keep(OpenDefinition(text_of(name), kind, frame.qualified, frame.index, node, name))


def _named_types(group: Node) -> Iterator[tuple[str, Node]]:
    """Yield (kind, name) of each `struct Name` among tokens."""
    for word, name in pairwise(group.children):
        if word.type in _KINDS and name.type == "identifier":
            yield _KINDS[word.type], name


def _made_types(macro: Node | None, group: Node) -> Iterator[tuple[str, Node]]:
    """Yield (kind, name) of the type for which a macro of the file has `struct $name`: the first
    name among the arguments.
    """
    name = next((child for child in group.children if child.type == "identifier"), None)
    if macro is None or name is None:
        return
    for rule in macro.named_children:
        body = rule.child_by_field_name("right") if rule.type == "macro_rule" else None
        for word, variable in pairwise(body.children if body is not None else ()):
            if word.type in _KINDS and variable.type == "metavariable":
                yield _KINDS[word.type], name
                return
