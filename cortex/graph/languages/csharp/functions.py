"""C#'s unnamed functions as arguments, and the function types that take them."""

import re

from tree_sitter import Node

from cortex.graph.facts.expressions.arguments import describe_argument
from cortex.graph.facts.expressions.chains import UNKNOWN
from cortex.graph.facts.facts import GIVES
from cortex.graph.facts.grammars import Syntax
from cortex.graph.resolution.types.overloads import Overloads
from cortex.graph.resolution.types.plain_types import ANY_RESULT, NO_RESULT, PRIMITIVES, TASKS, WITH_RESULT

#: an unnamed function as an argument: the count of its parameters, and the result of its body: a
#: value (`+`), nothing (`!`), a task with a value (`*+`), without (`*!`) or of either kind (`*`);
#: after GIVES its type
_FUNCTION = re.compile(r"fn(\d+)(\*?[+!]?)(?:>(.*))?")
#: a parameter's function type: the count of its parameters, and its result
_WANTED = re.compile(r"fn(\d+):(.*)")
#: expressions that may be statements
_STATEMENTS = frozenset(
    "invocation_expression object_creation_expression implicit_object_creation_expression assignment_expression "
    "postfix_unary_expression prefix_unary_expression await_expression throw_expression "
    "conditional_access_expression parenthesized_expression".split()
)
#: expressions with a type that their chain tells
_TYPED = frozenset({"invocation_expression", "object_creation_expression"})
#: statements at the end of a body after which nothing follows
_ENDLESS = frozenset("throw_statement while_statement do_statement for_statement".split())
#: bytes of the longest body that is read for its results: an outer body has all inner ones
_BODY_MAX = 4_000
#: fits: of the very result, of a result that may be it, of a value for nothing
_SAME, _POSSIBLE, _DROPPED = 5.0, 4.5, 3.0


def describe_function(node: Node, syntax: Syntax, depth: int) -> str | None:
    """Return the description of an unnamed function; None for other arguments."""
    if node.type != "lambda_expression":
        return None
    body = node.child_by_field_name("body")
    is_async = any(child.type == "modifier" and child.text == b"async" for child in node.children[:2])
    mark = _mark(body) if body is not None else ""
    described = f"#fn{_parameter_count(node)}{'*' * is_async}{mark}"
    value = None if body is None or is_async else _value_of(body)
    if value is None:
        return described
    chain = describe_argument(value, syntax, depth + 1)
    if chain[:1] in (UNKNOWN, "") or chain.startswith("#fn"):
        return described
    return f"{described}{GIVES}{value.end_byte - 1}{GIVES}{chain}"


def _value_of(body: Node) -> Node | None:
    """Return the expression that a body gives, which may be a call of nothing's; None for several
    and for others whose type no chain tells.
    """
    if body.type != "block":
        return None if body.type in _STATEMENTS - _TYPED else body
    is_short = body.end_byte - body.start_byte <= _BODY_MAX
    last = next((child for child in reversed(body.named_children) if not child.is_extra), None)
    if last is None or last.type != "return_statement" or not is_short or not last.named_child_count:
        return None
    return last.named_children[0] if (body.text or b"").count(b"return") == 1 else None


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
    """Return the fit of an unnamed function, or of a value of a function type; None if it does not
    fit.
    """
    taken = _WANTED.fullmatch(wanted)
    if value_type := _WANTED.fullmatch(actual):
        if taken is None:
            return 0.5 if wanted == "Object" else overloads.fit_of_function(wanted)
        is_same = ANY_RESULT in (value_type[2], taken[2]) and NO_RESULT not in (value_type[2], taken[2])
        fits = value_type[1] == taken[1] and (is_same or value_type[2] == taken[2] or len(value_type[2]) == 1)
        return _SAME if fits else None
    match = _FUNCTION.fullmatch(actual)
    if match is None:  # a method by its name
        return 0.5 if taken is not None else overloads.fit_of_function(wanted)
    count, mark, result = match.groups()
    if taken is None:
        return None if wanted == "Object" and count != "0" else overloads.fit_of_function(wanted)
    if taken[1] != count:
        return None
    return _fit_of_result(overloads, taken[2], mark, result or "")


def _fit_of_result(overloads: Overloads, wanted: str, mark: str, actual: str) -> float | None:
    if mark[:1] == "*":
        return _fit_of_task(wanted, mark)
    if mark and (mark == "!") != (wanted == NO_RESULT):
        return None
    if actual == "void" or mark == "!":
        return _SAME if wanted == NO_RESULT else None
    if wanted == NO_RESULT:
        return _DROPPED if actual else _SAME
    if not actual:
        return _SAME
    if wanted == ANY_RESULT:
        return _POSSIBLE
    fit = overloads.fit(wanted, actual)
    if fit == 0.0 and wanted.removesuffix(WITH_RESULT) in TASKS:
        is_known = actual in PRIMITIVES or actual == "String" or overloads.project_type(actual) is not None
        fit = None if is_known else fit
    return fit and _DROPPED + fit * (_SAME - _DROPPED) / _SAME if fit != 0.0 else _DROPPED


def _fit_of_task(wanted: str, mark: str) -> float | None:
    """Return the fit of the task that an asynchronous function gives."""
    if wanted == ANY_RESULT:  # `async () => await x` may give a task without a value: of none a `Task<T>`
        return _POSSIBLE if mark == "*" else _DROPPED
    if wanted == NO_RESULT:
        return None if mark == "*+" else 0.1
    if wanted.removesuffix(WITH_RESULT) not in TASKS:
        return None
    if mark == "*":
        return _POSSIBLE
    return _SAME if (mark == "*+") == wanted.endswith(WITH_RESULT) else None
