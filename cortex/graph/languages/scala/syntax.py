"""Scala's expressions, arguments, parameters and packages in the syntax tree."""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.declared.generics import parameters_flag
from cortex.graph.facts.expressions.arguments import NAME_MARK
from cortex.graph.facts.expressions.arguments import describe_argument as describe_any
from cortex.graph.facts.expressions.chains import chain_of, package_name, text_of
from cortex.graph.facts.expressions.scala_values import (
    argument_of_scala,
    is_later,
    lambda_parameter_chain,
    scala_flags,
    wildcard_chain,
)
from cortex.graph.facts.facts import LATER, MANY, UNCALLED
from cortex.graph.facts.grammars import Syntax
from cortex.graph.languages.defaults import with_default

_FUNCTIONS = frozenset({"function_definition", "function_declaration"})


def placeholder_chain(node: Node, syntax: Syntax, depth: int) -> str:
    """Return the chain of `_`, a parameter without a name."""
    return wildcard_chain(node, lambda child: chain_of(child, syntax, depth + 1))


def value_of_name(name: Node, syntax: Syntax) -> str:
    """Return the chain of a parameter of an unnamed function."""
    return lambda_parameter_chain(name, lambda node: chain_of(node, syntax))


def describe_argument(node: Node, syntax: Syntax, depth: int) -> str | None:
    """Return the description of an argument that only Scala has; a named one with its name."""
    if (described := argument_of_scala(node)) is not None:
        return described
    if node.type == "assignment_expression" and not depth:
        sides = [node.child_by_field_name(side) for side in ("left", "right")]
        if sides[0] is not None and sides[1] is not None and sides[0].type == "identifier":
            return f"{text_of(sides[0])}{NAME_MARK}{describe_any(sides[1], syntax, depth + 1)}"
    return None


def parameter_type(name: Node, declared: str) -> str:
    """Return a parameter's type, with the marks of `Disk*`, a later list, and a default."""
    if name.parent is None:
        return declared
    if declared.endswith("*"):
        return f"{MANY}{declared[:-1]}"
    return f"{declared}{LATER}" if is_later(name.parent) else with_default(name, declared)


def flags(node: Node, _receiver: Node | None, _scope: str) -> tuple[str, ...]:
    """Return the flags of a definition: `case`, its type parameters, and UNCALLED."""
    own_flags = (*scala_flags(node), *parameters_flag(node))
    return (*own_flags, UNCALLED) if node.type in _FUNCTIONS and not _takes_calls(node) else own_flags


def _takes_calls(function: Node) -> bool:
    """Return True if a function has a parameter list that its callers write."""
    lists = (child for child in function.children if child.type == "parameters")
    return any(not (child.text or b"").startswith((b"(implicit", b"(using")) for child in lists)


def read_package(node: Node, name: str, size: int) -> tuple[str, int]:
    """Read a package clause; each further clause is a package inside the last."""
    if not name:
        return package_name(node), size
    if node.parent is not None and node.parent.child_by_field_name("body") is None:
        return f"{name}.{text_of(node).strip()}", size
    return name, size
