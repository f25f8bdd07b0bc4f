"""Kotlin's expressions, arguments, parameters and definitions in the syntax tree."""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.declared.flags import kotlin_flags, platform_flags
from cortex.graph.facts.declared.generics import parameters_flag
from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN, chain_of, text_of, union_link
from cortex.graph.facts.expressions.kotlin_values import KOTLIN_TEXTS, branch_chains
from cortex.graph.facts.expressions.operators import ELEMENT, SET_ELEMENT
from cortex.graph.facts.facts import ABSTRACT, MANY
from cortex.graph.facts.grammars import Syntax
from cortex.graph.languages.defaults import with_default

#: operators, and the functions that they call
_OPERATORS = {"+": "plus", "-": "minus", "*": "times", "/": "div", "%": "rem", "?:": ""}
OPERATORS = _OPERATORS | dict.fromkeys(("<", ">", "<=", ">="), "compareTo")
OPERATORS |= {"in": "contains", "!in": "contains"}
OPERATORS |= {ELEMENT: "get", SET_ELEMENT: "set", "..": "rangeTo", "..<": "rangeUntil", "by_": "getValue"}
OPERATORS |= {"-_": "unaryMinus", "+_": "unaryPlus", "!_": "not"}
OPERATORS |= dict.fromkeys(("++_", "_++"), "inc") | dict.fromkeys(("--_", "_--"), "dec")
OPERATORS |= {f"{sign}=": f"{_OPERATORS[sign]}Assign" for sign in "+-*/%"}
#: an assignment's function → the one that is called if a type lacks it
FALLBACK_OPERATORS = {f"{_OPERATORS[sign]}Assign": _OPERATORS[sign] for sign in "+-*/%"}
#: in an abstract property a getter, as it is outside of the node with the name and the type
COLON = ":"
#: children of an infix call: two operands and the function's name
_INFIX_PARTS = 3


def operator_chain(node: Node, syntax: Syntax, depth: int) -> str:
    """Return the chain of an operator expression: `base / name` is `base.div(name)`.

    `a ?: b` is `a`, or `b` if `a` is unknown.
    """
    operator = text_of(node.children[1]) if node.child_count == 3 else ""
    left = chain_of(node.children[0], syntax, depth + 1) if operator in _OPERATORS else UNKNOWN
    if operator == "?:":
        is_known = left not in (UNKNOWN, LITERAL)
        return left if is_known else chain_of(node.children[2], syntax, depth + 1)
    return UNKNOWN if left[-1:] in (UNKNOWN, LITERAL) else f"{left}.{_OPERATORS[operator]}(_1)"


def branches_chain(node: Node, syntax: Syntax, depth: int) -> str:
    """Return the chain of an `if`, `when` or `try`, with an alternative for each branch."""
    return union_link(branch_chains(node, lambda child: chain_of(child, syntax, depth + 1)))


def describe_argument(node: Node, _syntax: Syntax, _depth: int) -> str | None:
    """Return the type of a range and of `a to b`."""
    if node.type == "range_expression":
        return ":IntRange"
    if node.type == "infix_expression" and node.named_child_count == _INFIX_PARTS:
        return ":Pair" if text_of(node.named_children[1]) == "to" else UNKNOWN
    return None


def parameter_type(name: Node, declared: str) -> str:
    """Return a parameter's type, with the marks of `vararg` and of a default."""
    before = name.parent.prev_sibling if name.parent is not None else None
    if before is not None and before.type == "parameter_modifiers" and b"vararg" in (before.text or b""):
        return f"{MANY}{declared}"
    return with_default(name, declared)


def flags(node: Node, receiver: Node | None, scope: str) -> tuple[str, ...]:
    """Return the flags of a definition: its extended type, its platforms, its type parameters."""
    if node.type in ("function_declaration", "property_declaration"):
        own_flags = (*kotlin_flags(node, receiver, scope), *parameters_flag(node))
        return (*own_flags, *(ABSTRACT,) * _is_abstract(node))
    return (*platform_flags(node), *parameters_flag(node))


def _is_abstract(node: Node) -> bool:
    """Return True for a function without a body in an interface."""
    if node.type != "function_declaration" or any(child.type == "function_body" for child in node.children):
        return False
    body = node.parent  # slow to look up
    around = body.parent if body is not None else None
    return around is not None and any(child.type == "interface" for child in around.children)


def text_type(value: Node) -> str:
    return "String" if value.type in KOTLIN_TEXTS else ""


def property_of(accessor: Node) -> tuple[Node, Node, Node | None] | None:
    """Return (property, its name, the type that it extends) for an accessor with a body, or the
    `var` or colon of an abstract property.
    """
    around = accessor.parent
    if around is not None and accessor.type == COLON:
        around = around.parent
    is_short = accessor.type in ("getter", "setter")
    if around is None or (is_short and not any(child.type == "function_body" for child in accessor.children)):
        return None
    declared = next((child for child in around.named_children if child.type == "variable_declaration"), None)
    if declared is None:
        return None
    before = declared.prev_named_sibling
    is_extended = before is not None and before.type in ("user_type", "nullable_type")
    return around, declared.named_children[0], before if is_extended else None
