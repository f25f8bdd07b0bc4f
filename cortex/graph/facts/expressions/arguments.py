"""Arguments of a call, as far as the text shows them, for languages with overloads.

`#String` is a literal, `:Disk` a cast, anything else a chain.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import (
    HOLD_ARGUMENTS,
    LITERAL,
    PLAIN_CALL,
    UNKNOWN,
    arguments_of,
    chain_of,
    name_of,
    text_of,
)
from cortex.graph.facts.expressions.labels import NAMED, passed_labels
from cortex.graph.facts.grammars import Syntax

#: arguments that are read, and the depth of nested nodes
ARGUMENTS_MAX, DEPTH_MAX = 10, 4
LITERALS = {
    **dict.fromkeys(
        "string_literal string multiline_string_literal concatenated_string interpolated_string_expression "
        "verbatim_string_literal raw_string_literal".split(),
        "String",
    ),
    **dict.fromkeys(("char_literal", "character_literal"), "char"),
    **dict.fromkeys(
        "true false boolean_literal instanceof_expression is_pattern_expression".split(), "boolean"
    ),
    **dict.fromkeys(("null_literal", "null"), "null"),
    # a `case_block` is Scala's `{ case x => … }`
    **dict.fromkeys(
        "lambda_expression lambda_literal anonymous_function method_reference case_block "
        "callable_reference".split(),
        "fn",
    ),
    "class_literal": "Class",
    "anonymous_object_creation_expression": "anonymous",
    "typeof_expression": "Type",
}
INTEGERS = frozenset(
    "decimal_integer_literal hex_integer_literal octal_integer_literal binary_integer_literal integer_literal "
    "number_literal hex_literal bin_literal".split()
)
REALS = frozenset(
    {"decimal_floating_point_literal", "real_literal", "float_literal", "floating_point_literal"}
)
#: nodes with a name at their end, and such names with type arguments: of C#, of C++
_MEMBERS = frozenset(
    "member_access_expression conditional_access_expression member_binding_expression qualified_name "
    "qualified_identifier field_expression dependent_name".split()
)
_WITH_TYPES = frozenset({"generic_name", "template_function", "template_method"})
_CONDITIONALS = frozenset({"conditional_expression", "ternary_expression"})
_TRUTHS = frozenset("== != < > <= >= && ||".split())
#: the size in a type of an array, `Disk[2]`
_SIZE = re.compile(r"\[[^\],]*\]")
#: between the name of a parameter and its argument
NAME_MARK = "="
#: number types, the narrower first
WIDENING = ("byte", "short", "char", "int", "long", "float", "double")


class CallArguments(NamedTuple):
    """A call's arguments, as the fields of facts.Reference have them."""

    arguments: int = -1
    passed: tuple[str, ...] = ()
    types: int = 0


_NOT_WRITTEN = CallArguments()


def read_arguments(
    call: Node, callee: Node, syntax: Syntax, *, overloads: bool, blocks: int = 0
) -> CallArguments:
    """Return the arguments of a call; with `overloads` also a description of each.

    `overloads`: the language has functions that differ only by their parameters' types. `blocks` as
    in `arguments_of`.
    """
    if call.type == PLAIN_CALL and not overloads:  # on one line without comments, in both languages
        written = call.child_by_field_name("arguments")
        if written is None:
            return _NOT_WRITTEN
        if written.start_point[0] == written.end_point[0] and written.type in HOLD_ARGUMENTS:
            return CallArguments(written.named_child_count)
    arguments, closures = arguments_of(call, blocks)
    count = len(arguments) + closures if arguments is not None else closures or -1
    if syntax.labels and count >= 0:
        passed = passed_labels(arguments or (), closures)
        return CallArguments(len(passed) - 1 if passed[-1:] == (NAMED,) else count, passed)
    if not overloads:
        return CallArguments(count)
    return CallArguments(
        count, describe_arguments(arguments or (), closures, syntax), _type_argument_count(callee)
    )


def describe_arguments(arguments: Sequence[Node], closures: int, syntax: Syntax) -> tuple[str, ...]:
    """Return a description of each argument, trailing blocks included; () for none, and for too
    many.
    """
    if len(arguments) > ARGUMENTS_MAX:
        return ()
    return (*[describe_argument(argument, syntax, 0) for argument in arguments], *("#fn",) * closures)


def describe_argument(node: Node, syntax: Syntax, depth: int) -> str:
    """Return the description of one argument; UNKNOWN below DEPTH_MAX."""
    kind = node.type
    if depth > DEPTH_MAX:
        return UNKNOWN
    if kind in syntax.names:  # the usual case
        return name_of(node)
    if syntax.argument is not None and (described := syntax.argument(node, syntax, depth)) is not None:
        return described
    if kind in LITERALS:
        return f"#{LITERALS[kind]}"
    if kind in INTEGERS:
        return "#long" if text_of(node)[-1:] in "lL" else "#int"
    if kind in REALS:
        return "#float" if text_of(node)[-1:] in "fF" else "#double"
    if (name := _argument_name(node)) and not depth:
        return f"{name}{NAME_MARK}{describe_argument(node.named_children[-1], syntax, depth + 1)}"
    if kind in ("argument", "value_argument", "parenthesized_expression") and node.named_children:
        return describe_argument(node.named_children[-1], syntax, depth + 1)
    if kind == "array_creation_expression":
        of, dimensions = node.child_by_field_name("type"), node.child_by_field_name("dimensions")
        if of is not None and of.type == "array_type":  # C#'s `new Disk[2]`
            return f":{_SIZE.sub('[]', text_of(of))}"
        levels = text_of(dimensions).count("[") if dimensions is not None else 1
        return f":{text_of(of)}{'[]' * levels}" if of is not None else UNKNOWN
    if kind in _CONDITIONALS:  # `x ? "a" : "b"`
        sides = [describe_argument(side, syntax, depth + 1) for side in node.named_children[-2:]]
        return sides[0] if sides[0][:1] == LITERAL and sides[0] == sides[-1] else UNKNOWN
    if kind == "binary_expression":
        return _operator_type(node, syntax, depth)
    if kind in ("unary_expression", "prefix_unary_expression", "prefix_expression"):
        return (
            "#boolean"
            if text_of(node)[:1] == "!"
            else describe_argument(node.named_children[-1], syntax, depth + 1)
            if node.named_children
            else UNKNOWN
        )
    if kind == "navigation_expression" and any(child.type == "::" for child in node.children):
        return "#KClass" if text_of(node).endswith("::class") else "#fn"
    return chain_of(node, syntax)


def _type_argument_count(callee: Node) -> int:
    """Return the number of type arguments written after the callee's name (C#, C++)."""
    while (kind := callee.type) in _MEMBERS:
        callee = callee.named_children[-1]
    return callee.named_children[-1].named_child_count if kind in _WITH_TYPES else 0


def _argument_name(node: Node) -> str:
    """Return the name in Kotlin's `f(x = 1)` and C#'s `f(x: 1)`; "" for an argument without a
    name.
    """
    if node.type == "argument":
        name = node.child_by_field_name("name")
        return text_of(name) if name is not None else ""
    has_name = node.type == "value_argument" and any(child.type == "=" for child in node.children)
    return text_of(node.named_children[0]) if has_name else ""


def _operator_type(node: Node, syntax: Syntax, depth: int) -> str:
    """Return the type of `a + b`: a text if either side is one, else the wider of two numbers."""
    operator = node.child_by_field_name("operator")
    if operator is not None and text_of(operator) in _TRUTHS:
        return "#boolean"
    sides = [describe_argument(side, syntax, depth + 1) for side in node.named_children[:2]]
    if "#String" in sides:
        return "#String"
    if all(side[:1] == LITERAL and side[1:] in WIDENING for side in sides) and len(sides) == 2:
        return max((*sides, "#int"), key=lambda side: WIDENING.index(side[1:]))
    return UNKNOWN
