"""Operators that call a method of their operand: `disk + 1`, `disk[0]`, `item in disk`.

Not `==`: it is frequent, and most often means no method of the project.
"""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN, chain_of, text_of
from cortex.graph.facts.grammars import Syntax

#: operators that call a method of their right operand
_OF_RIGHT = frozenset({"in", "!in", "not in"})
#: keys of reading and of assigning an element in a language's table of operators
ELEMENT, SET_ELEMENT = "[", "[="
_ASSIGNMENTS = frozenset({"assignment", "operator_assignment"})


def read_operator(node: Node, syntax: Syntax) -> tuple[str, Node] | None:
    """Return (chain of the called method, node of the operator), None if no type can be known."""
    if node.child_count < 2:
        return None
    sign = node.child(1)
    written = text_of(sign) if sign.is_named else sign.type
    if written == ELEMENT and is_assigned(node):
        written = SET_ELEMENT
    name = syntax.operators.get(written, written if sign.is_named else "")
    right = written in _OF_RIGHT or name[-1:] == ":"  # Scala's `item :: items`
    operand = node.child(2 if right else 0) if name else None
    receiver = chain_of(operand, syntax, 1)
    if receiver[0] == ":" or receiver[-1] in (UNKNOWN, LITERAL):
        return None
    if receiver[-1] != ")" and receiver.rpartition(".")[2][0].isupper():  # a type: `Pair[int]`
        return None
    return f"{receiver}.{name}", sign


def is_assigned(node: Node) -> bool:
    """Return True for `disk.size` in `disk.size = 1`, `disk[0]` in `disk[0] = 1`."""
    around = node.parent
    if around is None or around.type not in _ASSIGNMENTS:
        return around is not None and around.type == "left_assignment_list"
    return around.start_byte == node.start_byte
