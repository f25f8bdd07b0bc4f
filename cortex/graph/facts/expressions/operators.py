"""Operators that call a method of their operand: `disk + 1`, `disk[0]`, `item in disk`.

Not Python's and Kotlin's `==`: it is frequent, and most often means no method of the project.
"""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.expressions.arguments import CallArguments, describe_argument
from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN, chain_of, text_of
from cortex.graph.facts.facts import OPERATOR
from cortex.graph.facts.grammars import Syntax

#: operators that call a method of their right operand
_OF_RIGHT = frozenset({"in", "!in", "not in"})
#: operators that mean no method of the project beside a literal
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
#: keys of reading and of assigning an element in a language's table of operators
ELEMENT, SET_ELEMENT = "[", "[="
_ASSIGNMENTS = frozenset({"assignment", "operator_assignment", "assignment_expression"})
#: an operand that is a literal text
_TEXT = "#String"


def read_operator(node: Node, syntax: Syntax) -> tuple[str, Node, CallArguments] | None:
    """Return (chain of the called method, node of the operator, arguments), None if no type can be
    known.
    """
    if node.child_count < 2:
        return None
    is_element = node.type in syntax.elements
    if node.child_count == 2 and not is_element:
        return _unary_operator(node, syntax)
    sign = node.child(1)
    written = ELEMENT if is_element else text_of(sign) if sign.is_named else sign.type
    if is_element and is_assigned(node):
        written = SET_ELEMENT
    name = syntax.operators.get(written, written if sign.is_named else "")
    if syntax.static_operators and name and not is_element:
        return _static_operator(node, sign, name, syntax)
    right = written in _OF_RIGHT or name[-1:] == ":"  # Scala's `item :: items`
    operand = node.child(2 if right else 0) if name else None
    receiver = chain_of(operand, syntax, 1)
    if receiver[0] == ":" or receiver[-1] in (UNKNOWN, LITERAL):
        return None
    if receiver[-1] != ")" and receiver.rpartition(".")[2][0].isupper():  # a type: `Pair[int]`
        return None
    return f"{receiver}.{name}", sign, CallArguments(-1 if is_element else 1, (), OPERATOR)


def _unary_operator(node: Node, syntax: Syntax) -> tuple[str, Node, CallArguments] | None:
    """Return `read_operator` for `-disk`, `disk++` and Kotlin's `by disk`; its key ends in `_`."""
    sign, operand = node.children if not node.children[0].is_named else reversed(node.children)
    name, receiver = syntax.operators.get(f"{sign.type}_", ""), chain_of(operand, syntax, 1)
    if not name or receiver[0] == ":" or receiver[-1] in (UNKNOWN, LITERAL):
        return None
    return f"{receiver}.{name}", sign, CallArguments(-1, (), OPERATOR)


def _static_operator(
    node: Node, sign: Node, name: str, syntax: Syntax
) -> tuple[str, Node, CallArguments] | None:
    """Return `read_operator` for a function of both operands, which the type of either may have."""
    nodes = node.child(0), node.child(2)
    if sign.type in _COMPARISONS and not syntax.literals.isdisjoint((nodes[0].type, nodes[1].type)):
        return None
    operands = tuple(describe_argument(operand, syntax, 0) for operand in nodes)
    chains = [chain for chain in operands if chain[0] not in "#:?" and chain[-1] not in (UNKNOWN, LITERAL)]
    if not chains or _TEXT in operands or (len(chains) < 2 and sign.type in _COMPARISONS):
        return None
    return f"{chains[0]}.{name}", sign, CallArguments(2, operands, OPERATOR)


def is_assigned(node: Node) -> bool:
    """Return True for `disk.size` in `disk.size = 1`, `disk[0]` in `disk[0] = 1`."""
    around = node.parent
    if around is None or around.type not in _ASSIGNMENTS:
        return around is not None and around.type == "left_assignment_list"
    return around.start_byte == node.start_byte
