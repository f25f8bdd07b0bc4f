"""Functions and classes of scripts within a larger value: `ready && function save() {}`,
`memo(function Button() {})`. Pure functions of nodes.
"""

from collections.abc import Iterator

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of

FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function", "class"})
_BRANCHES = {"binary_expression": ("left", "right"), "ternary_expression": ("consequence", "alternative")}
_CHOICES = frozenset({"&&", "||", "??"})
_AROUND = frozenset({"parenthesized_expression", "as_expression", "satisfies_expression"})
#: methods that call their argument at once: their result is no function
_AT_ONCE = frozenset(
    "map filter reduce reduceRight forEach find findIndex some every sort flatMap then catch finally "
    "replace replaceAll from".split()
)
#: nested expressions that are searched
_DEPTH_MAX = 6


def wrapped_functions(value: Node) -> tuple[Node, ...]:
    """Return the functions and classes that `value` may be, or that it wraps in a call, in text
    order; () if it is one itself.

    Of a call: each argument with a name of its own, and the first argument also without.
    """
    return () if value.type in FUNCTIONS else tuple(_functions_in(value, _DEPTH_MAX))


def own_name(function: Node) -> str:
    """Return the name that a function or class expression has itself; "" for none."""
    name = function.child_by_field_name("name")
    return text_of(name) if name is not None else ""


def _functions_in(value: Node, depth: int) -> Iterator[Node]:
    if value.type in FUNCTIONS:
        yield value
    elif not depth:
        return
    elif value.type in _BRANCHES:
        operator = value.child_by_field_name("operator")
        if operator is None or operator.type in _CHOICES:
            branches = map(value.child_by_field_name, _BRANCHES[value.type])
            for branch in branches:
                if branch is not None:
                    yield from _functions_in(branch, depth - 1)
    elif value.type in _AROUND:
        for inner in value.named_children[:1]:
            yield from _functions_in(inner, depth - 1)
    elif value.type == "call_expression":
        yield from _functions_of_call(value, depth - 1)


def _functions_of_call(call: Node, depth: int) -> Iterator[Node]:
    callee, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if callee is None or arguments is None or arguments.type != "arguments":
        return
    if callee.type in FUNCTIONS or callee.type in _AROUND:
        return  # called at once: `(function () { … })()`
    method = callee.child_by_field_name("property")
    at_once = method is not None and text_of(method) in _AT_ONCE
    for at, argument in enumerate(arguments.named_children):
        for function in _functions_in(argument, depth):
            if own_name(function) or (at == 0 and not at_once):
                yield function
