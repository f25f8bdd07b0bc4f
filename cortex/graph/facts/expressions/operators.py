"""Operators that call a method of their operand: `disk + 1`, `disk[0]`, `item in disk`.

Not Python's and Kotlin's `==`: it is frequent, and most often means no method of the project.
"""

import re
from collections.abc import Callable, Iterator

from tree_sitter import Node

from cortex.graph.facts.expressions.arguments import CallArguments, describe_argument, read_arguments
from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN, chain_of, text_of, unwrap_node
from cortex.graph.facts.facts import OPERATOR
from cortex.graph.facts.grammars import Syntax

#: operators that call a method of their right operand
_OF_RIGHT = frozenset({"in", "!in", "not in"})
#: operators that mean no method of the project beside a literal
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})
#: keys of reading and of assigning an element in a language's table of operators
ELEMENT, SET_ELEMENT = "[", "[="
#: begins the name of a conversion to a type; and the conversion that a condition makes
CONVERSION, TEST = "operator ", "operator bool"
_ASSIGNMENTS = frozenset({"assignment", "operator_assignment", "assignment_expression"})
#: nodes of Swift: an operator that a project declares, the target of an assignment
_OWN_SIGN, _TARGET = "custom_operator", "directly_assignable_expression"
#: ends of a chain without a type; the last two are those of a name that is missing
_UNKNOWN_ENDS = frozenset({UNKNOWN, LITERAL, ".", ""})
#: begins of a description that is no chain
_NO_CHAIN = frozenset(":#?")
#: nodes of signs that are named: Swift's `!` and a project's own
_NAMED_SIGNS = frozenset({"bang", _OWN_SIGN})
#: the blank before the mark of a pointer or reference
_BEFORE_MARK = re.compile(r" +(?=[*&])")
#: an operand that is a literal text
_TEXT = "#String"

OperatorReader = Callable[[Node, Syntax], tuple[str, Node, CallArguments] | None]


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
    if is_element and syntax.labels:  # which select the subscript
        arguments = read_arguments(node, operand, syntax, overloads=False)
        return f"{receiver}.{name}", sign, CallArguments(*arguments[:2], OPERATOR)
    return f"{receiver}.{name}", sign, CallArguments(-1 if is_element else 1, (), OPERATOR)


def _unary_operator(node: Node, syntax: Syntax) -> tuple[str, Node, CallArguments] | None:
    """Return `read_operator` for `-disk`, `disk++` and Kotlin's `by disk`. A `_` in its key stands
    for the operand.
    """
    first, last = node.child(0), node.child(1)
    is_prefix = not first.is_named or first.type in _NAMED_SIGNS
    sign, operand = (first, last) if is_prefix else (last, first)
    text = text_of(sign) if sign.is_named else sign.type
    name = syntax.operators.get(f"{text}_" if is_prefix else f"_{text}", text * (sign.type == _OWN_SIGN))
    if not name:
        return None
    if syntax.static_operators:
        more = () if is_prefix else syntax.postfix_operands
        return _on_operand(operand, sign, name, syntax, more)
    receiver = chain_of(operand, syntax, 1)
    if receiver[:1] == ":" or receiver[-1:] in _UNKNOWN_ENDS:
        return None
    return f"{receiver}.{name}", sign, CallArguments(-1, (), OPERATOR)


def read_test(node: Node, syntax: Syntax) -> tuple[str, Node, CallArguments] | None:
    """Return `read_operator` for a name that is a condition: C++ converts it."""
    return _on_operand(node, node, TEST, syntax)


def tested_operands(node: Node, syntax: Syntax) -> Iterator[Node]:
    """Yield the names in `first && second`, which are conditions."""
    if syntax.tested_signs and node.child_count > 2 and node.child(1).type in syntax.tested_signs:
        operands = node.child(0), node.child(2)
        yield from (child for child in operands if child.type in syntax.names or child.type in syntax.members)


def read_conversion(node: Node, syntax: Syntax) -> tuple[str, Node, CallArguments] | None:
    """Return `read_operator` for C#'s `(Disk)item`: either type may have the conversion."""
    target, value = node.child_by_field_name("type"), node.child_by_field_name("value")
    if target is None or value is None or not _is_named(value, syntax):
        return None
    operand, name = describe_argument(value, syntax, 0), text_of(target)
    if operand[:1] in _NO_CHAIN or operand[-1:] in _UNKNOWN_ENDS:
        return None
    chain = f"{name}().{CONVERSION}{name}" if name.isidentifier() else f"{operand}.{CONVERSION}{name}"
    return chain, value, CallArguments(1, (operand,), OPERATOR)


def conversion_name(node: Node) -> str:
    """Return the name of C++'s `operator bool() const`, without its parameters."""
    inner = node.child_by_field_name("declarator")
    while inner is not None and inner.type != "abstract_function_declarator":
        inner = inner.child_by_field_name("declarator") or next(reversed(inner.named_children), None)
    end = len(node.text or b"") if inner is None else inner.start_byte - node.start_byte
    return _BEFORE_MARK.sub("", " ".join((node.text or b"")[:end].decode("utf-8", "replace").split()))


def _on_operand(
    operand: Node, sign: Node, name: str, syntax: Syntax, more: tuple[str, ...] = ()
) -> tuple[str, Node, CallArguments] | None:
    """Return `read_operator` for a function of one operand, and of `more` that nobody writes."""
    if not _is_named(operand, syntax):
        return None  # the usual case
    chain = describe_argument(operand, syntax, 0)
    if chain[:1] in _NO_CHAIN or chain[-1:] in _UNKNOWN_ENDS:
        return None
    return f"{chain}.{name}", sign, CallArguments(1 + len(more), (chain, *more), OPERATOR)


def _is_named(operand: Node, syntax: Syntax) -> bool:
    """Return True for an operand whose declaration may tell its type."""
    kind = operand.type
    return kind in syntax.names or kind in syntax.members or kind in syntax.readers


def _static_operator(
    node: Node, sign: Node, name: str, syntax: Syntax
) -> tuple[str, Node, CallArguments] | None:
    """Return `read_operator` for a function of both operands, which the type of either may have."""
    nodes = _unwrap_target(node.child(0), syntax), node.child(2)
    kinds = nodes[0].type, nodes[1].type
    are_named = [_is_named(operand, syntax) for operand in nodes]
    if not any(are_named) or (sign.type in _COMPARISONS and not all(are_named)):
        return None  # the usual case
    operands = tuple(
        (describe_argument(operand, syntax, 0) if is_named or kind in syntax.literals else "") or UNKNOWN
        for operand, kind, is_named in zip(nodes, kinds, are_named, strict=True)
    )
    chains = [chain for chain in operands if chain[0] not in _NO_CHAIN and chain[-1] not in _UNKNOWN_ENDS]
    if not chains or (_TEXT in operands and sign.type[0] == "+"):
        return None
    return f"{chains[0]}.{name}", sign, CallArguments(2, operands, OPERATOR)


def _unwrap_target(operand: Node, syntax: Syntax) -> Node:
    """Return the name in Swift's target of an assignment."""
    return unwrap_node(operand, syntax) if operand.type == _TARGET else operand


def is_assigned(node: Node) -> bool:
    """Return True for `disk.size` in `disk.size = 1`, `disk[0]` in `disk[0] = 1`."""
    around = node.parent
    if around is not None and around.type == _TARGET:
        node, around = around, around.parent
    if around is None or around.type not in _ASSIGNMENTS:
        return around is not None and around.type == "left_assignment_list"
    return around.start_byte == node.start_byte
