"""C#'s literals, arguments, parameters and packages in the syntax tree."""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.expressions.arguments import INTEGERS, LITERALS, REALS
from cortex.graph.facts.expressions.chains import LITERAL, package_name
from cortex.graph.facts.expressions.operators import ELEMENT, SET_ELEMENT
from cortex.graph.facts.facts import ACCESSOR, MANY
from cortex.graph.facts.grammars import Syntax
from cortex.graph.facts.imports import has_more_types_outside
from cortex.graph.languages.defaults import with_default

_NAMED_TYPES = {"String": "string", "boolean": "bool", "char": "char"}
#: literals → the names of their types, as arguments have them
_TEXTS_AND_NUMBERS = {
    **dict.fromkeys("string_literal verbatim_string_literal raw_string_literal".split(), "String"),
    "interpolated_string_expression": "String",
    "integer_literal": "int",
    "real_literal": "double",
    "character_literal": "char",
    "boolean_literal": "boolean",
}
#: literals → chains on which extensions are called
LITERAL_CHAINS = {kind: LITERAL + name for kind, name in _TEXTS_AND_NUMBERS.items()}


#: operators, and the methods that they call
OPERATORS = {sign: f"operator{sign}" for sign in "+ - * / % == != < > <= >= & | ^ << >> ! ~ ++ --".split()}
OPERATORS |= {f"{sign}=": f"operator{sign}" for sign in "+-*/"}
OPERATORS |= {f"{sign}_": f"operator{sign}" for sign in "- + ! ~ ++ --".split()}
OPERATORS |= {f"_{sign}": f"operator{sign}" for sign in ("++", "--")}
OPERATORS |= {truth: f"operator {truth}" for truth in ("true", "false")}
OPERATORS |= {ELEMENT: f"{ACCESSOR}this", SET_ELEMENT: f"this{ACCESSOR}"}


def describe_argument(node: Node, _syntax: Syntax, _depth: int) -> str | None:
    """Return the description of an unnamed function, with the number of its parameters."""
    return f"#fn{_parameter_count(node)}" if node.type == "lambda_expression" else None


def _parameter_count(function: Node) -> int:
    parameters = function.child_by_field_name("parameters")
    if parameters is None or parameters.type != "parameter_list":
        return 1
    return sum(child.type == "parameter" for child in parameters.named_children)


def literal_type(value: Node) -> str:
    """Return the type of a literal; "" for other nodes."""
    type_name = "int" if value.type in INTEGERS else "double" if value.type in REALS else ""
    return type_name or _NAMED_TYPES.get(LITERALS.get(value.type, ""), "")


def parameter_type(name: Node, declared: str) -> str:
    """Return a parameter's type, with the marks of `params Disk[] disks` and of a default."""
    if name.parent is not None and name.parent.type == "parameter_list":
        return f"{MANY}{declared.rstrip('?').removesuffix('[]')}"
    return with_default(name, declared)


def read_package(node: Node, name: str, size: int) -> tuple[str, int]:
    """Read a name space; of several in a file the longest is the file's package."""
    around = node.parent
    if around is not None and has_more_types_outside(around):  # the file itself has no package
        return name, size
    own_size = around.end_byte - around.start_byte if around is not None else 0
    return (name, size) if name and own_size <= size else (package_name(node), own_size)


#: declarations with accessors
_PROPERTIES = frozenset({"property_declaration", "indexer_declaration", "event_declaration"})


def property_of(accessor: Node) -> tuple[Node, Node, None] | None:
    """Return (property, its name, None) for an accessor; an indexer has the name `this`."""
    around = accessor.parent
    if around is not None and around.type == "accessor_list":
        around = around.parent
    if around is None or around.type not in _PROPERTIES:
        return None
    name = around.child_by_field_name("name")
    name = next((child for child in around.children if child.type == "this"), None) if name is None else name
    return (around, name, None) if name is not None else None
