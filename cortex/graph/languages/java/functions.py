"""Java's unnamed functions: the types for which they stand, and their parameters."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from cortex.graph.facts.grammars import Syntax
from cortex.graph.languages.kotlin import extensions
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import Value, Values
from cortex.graph.resolution.types.function_types import stands_for
from cortex.graph.resolution.types.lambda_parameters import passed_parameter
from cortex.graph.resolution.types.overloads import Overloads
from cortex.graph.resolution.types.plain_types import PRIMITIVES

#: library's function type → (type arguments of its parameters, whether it gives a result)
_TYPES: dict[str, tuple[tuple[int, ...], bool]] = {
    **dict.fromkeys(("Runnable", "AutoCloseable", "Closeable"), ((), False)),
    **dict.fromkeys("Supplier Callable BooleanSupplier IntSupplier LongSupplier DoubleSupplier".split(), ((), True)),
    "Consumer": ((0,), False),
    "BiConsumer": ((0, 1), False),
    **dict.fromkeys(
        "Function Predicate UnaryOperator ToIntFunction ToLongFunction ToDoubleFunction".split(), ((0,), True)
    ),
    **dict.fromkeys("BiFunction BiPredicate ToIntBiFunction ToLongBiFunction ToDoubleBiFunction".split(), ((0, 1), True)),
    **dict.fromkeys(("Comparator", "BinaryOperator"), ((0, 0), True)),
}  # fmt: skip
#: an unnamed function as an argument: the count of its parameters, and whether its body gives a
#: result (`=`) or none (`!`); neither mark if it may do both
_FUNCTION = re.compile(r"fn(\d+)([=!]?)")
#: the library's types for which no function stands
_NO_FUNCTIONS = frozenset("Object String Class Number Integer Long Duration List Set Map Collection".split())
#: the fit of a function for a type for which it may stand
_FIT = 0.5
#: statements that may be an expression's whole body
_STATEMENTS = frozenset(
    {"method_invocation", "object_creation_expression", "assignment_expression", "update_expression"}
)
#: statements at the end of a body after which nothing follows, and those that may hold a `return`
_ENDLESS = frozenset({"throw_statement", "while_statement", "do_statement", "for_statement"})
#: what may keep such a block from completing, at the end of a body
_STOPS = re.compile(rb"\bthrow\b|\bwhile\s*\(\s*true\b|\bfor\s*\(\s*;")
_HOLDERS = frozenset(
    "try_statement try_with_resources_statement switch_expression if_statement synchronized_statement "
    "labeled_statement block".split()
)
_PLAIN = frozenset({"expression_statement", "local_variable_declaration", "assert_statement"})


def describe_function(node: Node, _syntax: Syntax, _depth: int) -> str | None:
    """Return the description of an unnamed function; None for other arguments."""
    if node.type != "lambda_expression":
        return None
    parameters, body = node.child_by_field_name("parameters"), node.child_by_field_name("body")
    count = 1
    if parameters is not None and parameters.type != "identifier":
        count = sum(not child.is_extra for child in parameters.named_children)
    return f"#fn{count}{_result_mark(body) if body is not None else ''}"


def _result_mark(body: Node) -> str:
    if body.type != "block":
        return "" if body.type in _STATEMENTS else "="
    last = next((child for child in reversed(body.named_children) if not child.is_extra), None)
    if last is None or last.type in _PLAIN:
        return "!"
    if last.type == "return_statement":
        return "=" if last.named_child_count else "!"
    if last.type in _ENDLESS or (last.type in _HOLDERS and _STOPS.search(last.text or b"")):
        return ""
    return "" if b"return" in (body.text or b"") else "!"


def function_fit(overloads: Overloads, wanted: str, actual: str) -> float | None:
    """Return the fit of an unnamed function or a method reference; None if it does not fit."""
    if wanted in PRIMITIVES or wanted.endswith("[]"):
        return None
    match = _FUNCTION.fullmatch(actual)
    count, mark = (int(match[1]), match[2]) if match is not None else (-1, "")
    if (own_type := overloads.project_type(wanted, overloads.callee)) is not None:
        stands, method = stands_for(overloads.project, overloads.evaluator, own_type)
        if not stands:
            return None
        if method is None:
            return _FIT
        definition = overloads.project.definition(method)
        taken, gives = len(definition.parameters), definition.returns != ":void"
    elif wanted in _NO_FUNCTIONS:
        return None
    elif wanted in _TYPES:
        arguments, gives = _TYPES[wanted]
        taken = len(arguments)
    else:
        return _FIT
    fits = count in (-1, taken) and mark != ("!" if gives else "=")
    return _FIT if fits else None


def passed_to(
    evaluator: Evaluator, value: Value, link: str, owners: Values, place: tuple[str, int]
) -> Values:
    """Return the parameter of an unnamed function that a method gets."""
    if "_" in link:
        return passed_parameter(evaluator, value, link, owners, place, _parameters)
    return extensions.passed_to(evaluator, value, link, owners, place)


def _parameters(name: str, arguments: Sequence[str]) -> Sequence[str] | None:
    """Return the parameters' types of the library's function types; None for other types."""
    listed = _TYPES.get(name.rpartition(".")[2])
    if listed is None or (listed[0] and len(arguments) <= max(listed[0])):
        return None
    return [arguments[number] for number in listed[0]]
