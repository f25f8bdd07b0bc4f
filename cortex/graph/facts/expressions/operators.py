"""Operators that call a method of their operand: `disk + 1`, `disk[0]`, `item in disk`.

Not Python's and Kotlin's `==`: it is frequent, and most often means no method of the project.
"""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.expressions.arguments import CallArguments, describe_argument
from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN, chain_of, text_of, unwrap_node
from cortex.graph.facts.facts import OPERATOR
from cortex.graph.facts.grammars import Syntax

#: operators that call a method of their right operand
_OF_RIGHT = frozenset({"in", "!in", "not in"})
#: operators that mean no method of the project beside a literal
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
#: keys of reading and of assigning an element in a language's table of operators
ELEMENT, SET_ELEMENT = "[", "[="
_ASSIGNMENTS = frozenset({"assignment", "operator_assignment", "assignment_expression"})
#: node of an operator that a Swift project declares
_OWN_SIGN = "custom_operator"
#: ends of a chain without a type; the last two are those of a name that is missing
_UNKNOWN_ENDS = frozenset({UNKNOWN, LITERAL, ".", ""})
#: an operand that is a literal text
_TEXT = "#String"


def read_operator(node: Node, syntax: Syntax) -> tuple[str, Node, CallArguments] | None:
    """Return (chain of the called method, node of the operator, arguments), None if no type can be
    known.
    """
    count, is_element = node.child_count, node.type in syntax.elements
    if count == 2 and not is_element:
        return _unary_operator(node, syntax)
    if count < 2:
        return None
    sign = node.child(1)
    if is_element:
        written = SET_ELEMENT if is_assigned(node) else ELEMENT
    else:
        written = text_of(sign) if sign.is_named else sign.type
    is_own = sign.type == _OWN_SIGN or (sign.is_named and not syntax.static_operators)
    name = syntax.operators.get(written, written if is_own else "")
    if not name:
        return None
    if syntax.static_operators and not is_element:
        return _static_operator(node, sign, name, syntax) if count > 2 else None
    right = written in _OF_RIGHT or name[-1:] == ":"  # Scala's `item :: items`
    operand = node.child(2 if right else 0)
    receiver = chain_of(operand, syntax, 1)
    if receiver[:1] == ":" or receiver[-1:] in _UNKNOWN_ENDS:
        return None
    if receiver[-1] != ")" and receiver.rpartition(".")[2][0].isupper():  # a type: `Pair[int]`
        return None
    return f"{receiver}.{name}", sign, CallArguments(-1 if is_element else 1, (), OPERATOR)


def _unary_operator(node: Node, syntax: Syntax) -> tuple[str, Node, CallArguments] | None:
    """Return `read_operator` for `-disk`, `disk++` and Kotlin's `by disk`; its key ends in `_`."""
    at = int(node.child(0).is_named)  # behind the operand or before it
    sign = node.child(at)
    name = syntax.operators.get(f"{sign.type}_")
    receiver = chain_of(node.child(1 - at), syntax, 1) if name else UNKNOWN
    if receiver[:1] == ":" or receiver[-1:] in _UNKNOWN_ENDS:
        return None
    return f"{receiver}.{name}", sign, CallArguments(-1, (), OPERATOR)


def _static_operator(
    node: Node, sign: Node, name: str, syntax: Syntax
) -> tuple[str, Node, CallArguments] | None:
    """Return `read_operator` for a function of both operands, which the type of either may have."""
    nodes = _unwrap_target(node.child(0), syntax), node.child(2)
    kinds = nodes[0].type, nodes[1].type
    are_named = [kind in syntax.names or kind in syntax.members or kind in syntax.readers for kind in kinds]
    if not any(are_named) or (sign.type in _COMPARISONS and not all(are_named)):
        return None  # the usual case
    operands = tuple(
        (describe_argument(operand, syntax, 0) if is_named or kind in syntax.literals else "") or UNKNOWN
        for operand, kind, is_named in zip(nodes, kinds, are_named, strict=True)
    )
    chains = [chain for chain in operands if chain[0] not in "#:?" and chain[-1] not in _UNKNOWN_ENDS]
    if not chains or (_TEXT in operands and sign.type[0] == "+"):
        return None
    return f"{chains[0]}.{name}", sign, CallArguments(2, operands, OPERATOR)


def _unwrap_target(operand: Node, syntax: Syntax) -> Node:
    """Return the name in Swift's target of an assignment."""
    return unwrap_node(operand, syntax) if operand.type.startswith("directly") else operand


def is_assigned(node: Node) -> bool:
    """Return True for `disk.size` in `disk.size = 1`, `disk[0]` in `disk[0] = 1`."""
    around = node.parent
    if around is None or around.type not in _ASSIGNMENTS:
        return around is not None and around.type == "left_assignment_list"
    return around.start_byte == node.start_byte
