"""Arguments of a call, as far as the text shows them, for languages with overloads.

`#String` is a literal, `:Disk` a cast, anything else a chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tree_sitter import Node

from cortex.graph.facts.chains import UNKNOWN, arguments_of, chain_of, name_of, text_of
from cortex.graph.facts.facts import DEFAULT, LATER, MANY
from cortex.graph.facts.grammars import Syntax
from cortex.graph.facts.labels import passed_labels
from cortex.graph.facts.scala_values import argument_of_scala, is_later

#: arguments that are read, and the depth of nested nodes
ARGUMENTS_MAX, DEPTH_MAX = 10, 4
_LITERALS = {
    "string_literal": "String",
    "string": "String",  # Scala
    "multiline_string_literal": "String",
    "concatenated_string": "String",
    "char_literal": "char",
    "character_literal": "char",
    "true": "boolean",
    "false": "boolean",
    "boolean_literal": "boolean",
    "null_literal": "null",
    "null": "null",
    "class_literal": "Class",
    "lambda_expression": "fn",
    "lambda_literal": "fn",
    "anonymous_function": "fn",
    "method_reference": "fn",
    "case_block": "fn",  # Scala's `{ case x => … }`
    "callable_reference": "fn",
    "interpolated_string_expression": "String",
    "verbatim_string_literal": "String",
    "raw_string_literal": "String",
    "instanceof_expression": "boolean",
    "is_pattern_expression": "boolean",
    "anonymous_object_creation_expression": "anonymous",
    "typeof_expression": "Type",
}
_INTEGERS = frozenset(
    "decimal_integer_literal hex_integer_literal octal_integer_literal binary_integer_literal integer_literal "
    "number_literal hex_literal bin_literal".split()
)
_REALS = frozenset(
    {"decimal_floating_point_literal", "real_literal", "float_literal", "floating_point_literal"}
)
_NAMED_TYPES = {"String": "string", "boolean": "bool", "char": "char"}
_TRUTHS = frozenset("== != < > <= >= && ||".split())
_POINTERS = frozenset({"pointer_declarator", "array_declarator"})
#: follows C++'s parameters where a function takes further arguments
ANYTHING_MORE = "..."
#: between the name of a parameter and its argument
NAME_MARK = "="
#: number types, the narrower first
WIDENING = ("byte", "short", "char", "int", "long", "float", "double")


class CallArguments(NamedTuple):
    """A call's arguments, as the fields of facts.Reference have them."""

    arguments: int = -1
    passed: tuple[str, ...] = ()
    types: int = 0


def read_arguments(call: Node, callee: Node, syntax: Syntax, *, overloads: bool) -> CallArguments:
    """Return the arguments of a call; with `overloads` also a description of each.

    `overloads`: the language has functions that differ only by their parameters' types.
    """
    arguments, closures = arguments_of(call)
    count = len(arguments) + closures if arguments is not None else closures or -1
    if "swift" in syntax.queries and count >= 0:
        return CallArguments(count, passed_labels(arguments or (), closures))
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
    return (*[_describe_argument(argument, syntax, 0) for argument in arguments], *("#fn",) * closures)


def _describe_argument(node: Node, syntax: Syntax, depth: int) -> str:
    kind = node.type
    if depth > DEPTH_MAX:
        return UNKNOWN
    if kind in syntax.names:  # the usual case
        return name_of(node)
    if kind == "lambda_expression" and "csharp" in syntax.queries:
        return f"#fn{_parameter_count(node)}"
    if "scala" in syntax.queries and (scala_argument := argument_of_scala(node)) is not None:
        return scala_argument
    if kind in _LITERALS:
        return f"#{_LITERALS[kind]}"
    if kind == "number_literal" and "cpp" in syntax.queries:
        return f"#{_number_type(text_of(node).lower())}"
    if kind in _INTEGERS:
        return "#long" if text_of(node)[-1:] in "lL" else "#int"
    if kind in _REALS:
        return "#float" if text_of(node)[-1:] in "fF" else "#double"
    if (name := _argument_name(node)) and not depth:
        return f"{name}{NAME_MARK}{_describe_argument(node.named_children[-1], syntax, depth + 1)}"
    if kind in ("argument", "value_argument", "parenthesized_expression") and node.named_children:
        return _describe_argument(node.named_children[-1], syntax, depth + 1)
    if kind == "array_creation_expression":
        of, dimensions = node.child_by_field_name("type"), node.child_by_field_name("dimensions")
        levels = text_of(dimensions).count("[") if dimensions is not None else 1
        return f":{text_of(of)}{'[]' * levels}" if of is not None else UNKNOWN
    if kind == "binary_expression":
        return _operator_type(node, syntax, depth)
    if kind in ("unary_expression", "prefix_unary_expression", "prefix_expression"):
        return (
            "#boolean"
            if text_of(node)[:1] == "!"
            else _describe_argument(node.named_children[-1], syntax, depth + 1)
            if node.named_children
            else UNKNOWN
        )
    if kind == "range_expression" and "kotlin" in syntax.queries:
        return ":IntRange"
    if kind == "infix_expression" and "kotlin" in syntax.queries and node.named_child_count == 3:
        return ":Pair" if text_of(node.named_children[1]) == "to" else UNKNOWN
    if kind == "assignment_expression" and "scala" in syntax.queries and not depth:
        sides = [node.child_by_field_name(side) for side in ("left", "right")]
        if sides[0] is not None and sides[1] is not None and sides[0].type == "identifier":
            return f"{text_of(sides[0])}{NAME_MARK}{_describe_argument(sides[1], syntax, depth + 1)}"
    if kind == "navigation_expression" and any(child.type == "::" for child in node.children):
        return "#KClass" if text_of(node).endswith("::class") else "#fn"
    return chain_of(node, syntax)


def _number_type(text: str) -> str:
    """Return the type of C++'s literal."""
    if "." in text or ("e" in text and not text.startswith("0x")):
        return "float" if text.endswith("f") else "double"
    ending = text[-3:].lstrip("0123456789abcdefx'")
    if "l" in ending or "z" in ending:
        return "unsigned long" if "u" in ending else "long"
    return "unsigned" if "u" in ending else "int"


def _parameter_count(function: Node) -> int:
    """Return the number of parameters of C#'s unnamed function."""
    parameters = function.child_by_field_name("parameters")
    if parameters is None or parameters.type != "parameter_list":
        return 1
    return sum(child.type == "parameter" for child in parameters.named_children)


def literal_type(value: Node) -> str:
    """Return the C# type of a literal; "" for other nodes."""
    type_name = "int" if value.type in _INTEGERS else "double" if value.type in _REALS else ""
    return type_name or _NAMED_TYPES.get(_LITERALS.get(value.type, ""), "")


def _type_argument_count(callee: Node) -> int:
    """Return the number of type arguments written after the callee's name (C#)."""
    while callee.type in (
        "member_access_expression",
        "conditional_access_expression",
        "member_binding_expression",
        "qualified_name",
    ):
        callee = callee.named_children[-1]
    if callee.type != "generic_name":
        return 0
    return callee.named_children[-1].named_child_count


def _argument_name(node: Node) -> str:
    """Return the name in Kotlin's `f(x = 1)` and C#'s `f(x: 1)`; "" for an argument without a
    name.
    """
    if node.type == "argument":
        name = node.child_by_field_name("name")
        return text_of(name) if name is not None else ""
    has_name = node.type == "value_argument" and any(child.type == "=" for child in node.children)
    return text_of(node.named_children[0]) if has_name else ""


def declared_type(name: Node, declared: str, language: str) -> str:
    """Return a parameter's type, with the marks of a default and of a variadic parameter."""
    parameter = name.parent
    if language == "cpp":
        return _declared_type_cpp(name, declared)
    if (
        parameter is not None and parameter.type == "rest_pattern" and declared
    ):  # TypeScript's `...disks: Disk[]`
        return f"...{declared}"
    if parameter is None or language not in ("kotlin", "csharp", "scala", "swift"):
        return declared
    if language == "kotlin":
        before = parameter.prev_sibling
        if before is not None and before.type == "parameter_modifiers" and b"vararg" in (before.text or b""):
            return f"{MANY}{declared}"
    if language == "csharp" and parameter.type == "parameter_list":  # `params Disk[] disks`
        return f"{MANY}{declared.rstrip('?').removesuffix('[]')}"
    if language == "scala" and declared.endswith("*"):
        return f"{MANY}{declared[:-1]}"
    if language == "scala" and is_later(parameter):
        return f"{declared}{LATER}"
    after = parameter.next_sibling
    has_default = any(child.type == "=" for child in parameter.children)
    return f"{declared}{DEFAULT}" if has_default or (after is not None and after.type == "=") else declared


def _declared_type_cpp(name: Node, declared: str) -> str:
    """Return the type with the pointers of the declarator as stars; `()` for a function."""
    node, stars = name, ""
    while node.parent is not None and "parameter" not in node.type:
        stars += "*" * (node.type in _POINTERS) or "()" * (node.type == "function_declarator")
        node = node.parent
    if declared == ANYTHING_MORE or node.type == "variadic_parameter_declaration":
        return MANY + declared
    default = DEFAULT if node.type == "optional_parameter_declaration" else ""
    return f"{declared}{'()' if '()' in stars else stars}{default}"


def _operator_type(node: Node, syntax: Syntax, depth: int) -> str:
    """Return the type of `a + b`: a text if either side is one, else the wider of two numbers."""
    operator = node.child_by_field_name("operator")
    if operator is not None and text_of(operator) in _TRUTHS:
        return "#boolean"
    sides = [_describe_argument(side, syntax, depth + 1) for side in node.named_children[:2]]
    if "#String" in sides:
        return "#String"
    if all(side.lstrip("#") in WIDENING for side in sides) and len(sides) == 2:
        return max((*sides, "#int"), key=lambda side: WIDENING.index(side[1:]))
    return UNKNOWN
