"""C++'s pointers, arguments and parameters in the syntax tree."""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import POINTED, chain_of, child_of, text_of
from cortex.graph.facts.facts import DEFAULT, MANY
from cortex.graph.facts.grammars import Syntax

_POINTERS = frozenset({"pointer_declarator", "array_declarator"})
#: follows a function's parameters where it takes further arguments
ANYTHING_MORE = "..."


def pointee_chain(node: Node, syntax: Syntax, depth: int) -> str | None:
    """Return the chain of `*x`; None for `&x`."""
    if node.children[0].type != "*":
        return None
    return f"{chain_of(child_of(node, 'argument'), syntax, depth + 1)}{POINTED}"


def describe_argument(node: Node, _syntax: Syntax, _depth: int) -> str | None:
    """Return the type of a number by its ending."""
    return f"#{_number_type(text_of(node).lower())}" if node.type == "number_literal" else None


def _number_type(text: str) -> str:
    """Return the type of a number."""
    if "." in text or ("e" in text and not text.startswith("0x")):
        return "float" if text.endswith("f") else "double"
    ending = text[-3:].lstrip("0123456789abcdefx'")
    if "l" in ending or "z" in ending:
        return "unsigned long" if "u" in ending else "long"
    return "unsigned" if "u" in ending else "int"


def parameter_type(name: Node, declared: str) -> str:
    """Return the type with the pointers of the declarator as stars; `()` for a function."""
    node, stars = name, ""
    while node.parent is not None and "parameter" not in node.type:
        stars += "*" * (node.type in _POINTERS) or "()" * (node.type == "function_declarator")
        node = node.parent
    if declared == ANYTHING_MORE or node.type == "variadic_parameter_declaration":
        return MANY + declared
    default = DEFAULT if node.type == "optional_parameter_declaration" else ""
    return f"{declared}{'()' if '()' in stars else stars}{default}"
