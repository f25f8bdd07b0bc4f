"""Scala, with its expressions, arguments, parameters and packages in the syntax tree."""

from dataclasses import replace
from functools import partial

from tree_sitter import Node

from cortex.graph.facts.declared.generics import constructed_type, parameters_flag
from cortex.graph.facts.expressions.arguments import NAME_MARK
from cortex.graph.facts.expressions.arguments import describe_argument as describe_any
from cortex.graph.facts.expressions.chains import chain_of, infix_of, package_name, text_of
from cortex.graph.facts.expressions.scala_values import (
    argument_of_scala,
    is_constant_pattern,
    is_later,
    lambda_parameter_chain,
    parameters_of_scala,
    scala_flags,
    wildcard_chain,
)
from cortex.graph.facts.facts import LATER, MANY, UNCALLED
from cortex.graph.facts.grammars import Syntax
from cortex.graph.facts.imports import read_dotted
from cortex.graph.languages.defaults import JVM, read_names, with_default
from cortex.graph.languages.scala.calls import Scala
from cortex.graph.languages.scala.steps import (
    call_apply,
    call_bare_apply,
    copied,
    function_type,
    import_value,
    keys_around,
    member_of_object,
    parameter_types,
    plain_type,
    special_fit,
    take_constructor,
    uncalled,
)
from cortex.graph.languages.steps import called_by_method, take_block_member
from cortex.graph.resolution.language import Language

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


SCALA = Language(
    "scala",
    rules=replace(
        JVM,
        suffixes=(".scala",),
        platform_methods=read_names(__package__, "methods"),
        counted_arguments=True,
        components=True,
        companions=True,
        value_imports=True,
        outer_packages="last",
        package_objects=True,
        calls_without_arguments=True,
        abstract_types=True,
    ),
    syntax=Syntax(
        package=__package__,
        queries=("scala",),
        imports=read_dotted,
        value_types=(constructed_type,),
        value_of_name=value_of_name,
        flags=flags,
        head_parameters=("class_definition", parameters_of_scala),
        argument=describe_argument,
        parameter_type=parameter_type,
        readers={"infix_expression": infix_of, "wildcard": placeholder_chain},
        is_constant_pattern=is_constant_pattern,
        read_package=read_package,
        counts=True,
        reads_properties=True,
        casters={"asInstanceOf": "cast", "TableQuery": "list"},  # Slick's
        names=frozenset({"identifier", "type_identifier"}),
        members={
            "field_expression": ("value", "field"),
            "stable_type_identifier": ("0", "-1"),
            "stable_identifier": ("0", "-1"),
        },
        calls={"call_expression": "function"},
        news={"instance_expression": "0"},
        wraps={
            "parenthesized_expression": "",
            "generic_type": "type",
            "generic_function": "function",
            "compound_type": "base",
        },
        literals=frozenset(
            "string interpolated_string_expression integer_literal floating_point_literal boolean_literal "
            "character_literal null_literal unit".split()
        ),
    ),
    import_first=import_value,
    keys_around=keys_around,
    applied=lambda evaluator, *call: evaluator.helper(Scala).applied_values(*call),
    uncalled=uncalled,
    passed_to=lambda evaluator, *call: evaluator.helper(Scala).passed_to(*call),
    function_takers=lambda evaluator, *call: evaluator.helper(Scala).function_takers(*call),
    function_type=function_type,
    missing_member=(member_of_object, copied),
    call_operator=partial(called_by_method, "apply"),
    bare_call=(take_constructor, take_block_member, call_bare_apply),
    called_member_values=(call_apply,),
    bare_type=plain_type,
    parameter_types=parameter_types,
    special_fit=special_fit,
)
