"""C#'s unnamed functions as arguments, and the function types that take them."""

from __future__ import annotations

import re

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN, chain_of
from cortex.graph.facts.facts import GIVES
from cortex.graph.facts.grammars import Syntax
from cortex.graph.resolution.types.overloads import Overloads
from cortex.graph.resolution.types.plain_types import ANY_RESULT, NO_RESULT, PRIMITIVES, TASKS, WITH_RESULT

#: an unnamed function as an argument: the count of its parameters, and what its body gives: a value
#: (`+`), nothing (`!`), or a task with a value (`*+`), without (`*!`) or of either kind (`*`); after
#: GIVES its type
_FUNCTION = re.compile(r"fn(\d+)(\*?[+!]?)(?:>(.*))?")
#: a parameter's function type: the count of its parameters, and its result
_WANTED = re.compile(r"fn(\d+):(.*)")
#: expressions that may be statements
_STATEMENTS = frozenset(
    "invocation_expression object_creation_expression implicit_object_creation_expression assignment_expression "
    "postfix_unary_expression prefix_unary_expression await_expression throw_expression "
    "conditional_access_expression parenthesized_expression".split()
)
#: expressions whose type their chain tells
_TYPED = frozenset({"invocation_expression", "object_creation_expression"})
#: statements at the end of a body after which nothing follows
_ENDLESS = frozenset("throw_statement while_statement do_statement for_statement".split())
#: bytes of the longest body that is read for its results: an outer body has all inner ones
_BODY_MAX = 4_000
#: fits: of the very result, of a result that may be it, of a value for nothing
_SAME, _POSSIBLE, _DROPPED = 5.0, 4.5, 4.0


def describe_argument(node: Node, syntax: Syntax, depth: int) -> str | None:
    """Return the description of an unnamed function; None for other arguments."""
    if node.type != "lambda_expression":
        return None
    body = node.child_by_field_name("body")
    is_async = any(child.type == "modifier" and child.text == b"async" for child in node.children[:2])
    mark = _mark(body) if body is not None else ""
    described = f"#fn{_parameter_count(node)}{'*' * is_async}{mark}"
    if body is None or is_async or body.type not in _TYPED:
        return described
    chain = chain_of(body, syntax, depth + 1)
    if not chain or chain[0] in (UNKNOWN, LITERAL, ":"):
        return described
    return f"{described}{GIVES}{body.end_byte - 1}{GIVES}{chain}"


def _parameter_count(function: Node) -> int:
    parameters = function.child_by_field_name("parameters")
    if parameters is None or parameters.type != "parameter_list":
        return 1
    return sum(child.type == "parameter" for child in parameters.named_children)


def _mark(body: Node) -> str:
    if body.type != "block":
        return "" if body.type in _STATEMENTS else "+"
    last = next((child for child in reversed(body.named_children) if not child.is_extra), None)
    if last is None:
        return "!"
    if last.type == "return_statement":
        return "+" if last.named_child_count else "!"
    if last.type in _ENDLESS or body.end_byte - body.start_byte > _BODY_MAX:
        return ""
    text = body.text or b""
    return "" if b"return" in text or b"throw" in text or b"while" in text or b"for" in text else "!"


def function_fit(overloads: Overloads, wanted: str, actual: str) -> float | None:
    """Return the fit of an unnamed function; None if it does not fit."""
    match, taken = _FUNCTION.fullmatch(actual), _WANTED.fullmatch(wanted)
    if match is None:  # a method by its name
        return 0.5 if taken is not None else overloads.fit_of_function(wanted)
    count, mark, result = match.groups()
    if taken is None:
        return None if wanted == "Object" and count != "0" else overloads.fit_of_function(wanted)
    if taken[1] != count:
        return None
    return _fit_of_result(overloads, taken[2], mark, result or "")


def _fit_of_result(overloads: Overloads, wanted: str, mark: str, actual: str) -> float | None:
    is_task = wanted.removesuffix(WITH_RESULT) in TASKS
    if mark[:1] == "*":
        if wanted in (NO_RESULT, ANY_RESULT):
            return _DROPPED if wanted == ANY_RESULT or mark != "*+" else None
        if not is_task or mark == ("*!" if wanted.endswith(WITH_RESULT) else "*+"):
            return None
        return _SAME if mark != "*" else _POSSIBLE
    if mark:
        return _SAME if (mark == "!") == (wanted == NO_RESULT) else None
    if not actual:
        return _SAME
    if actual == "void":
        return _SAME if wanted == NO_RESULT else None
    if wanted == NO_RESULT:
        return _DROPPED
    if wanted == ANY_RESULT:
        return _POSSIBLE
    if wanted == actual or (is_task and actual in TASKS and wanted.startswith(actual)):
        return _SAME
    known = actual in PRIMITIVES or actual == "String" or overloads.project_type(actual) is not None
    return None if is_task and (known or actual in TASKS) else _POSSIBLE
