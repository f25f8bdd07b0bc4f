"""Values of compound expressions in Kotlin: `if`, `when`, `try`, getters, `lazy`, and functions
that return their block's value.

A block counts only if it holds a single expression: earlier statements could bind its names.
"""

import re
from collections.abc import Callable

from tree_sitter import Node

from cortex.graph.facts.declared.types import alternatives
from cortex.graph.facts.facts import DEFAULT, MANY, Parameter

_UNKNOWN, _LITERAL = "?", "#"  # as chains have them
KOTLIN_TEXTS = frozenset({"string_literal", "multiline_string_literal"})
#: nodes of such expressions
VALUES = frozenset({"if_expression", "when_expression", "try_expression", "getter", "property_delegate"})
#: functions that return their block's value: called on the block's argument, or on no receiver
_OF_RECEIVER, _ALONE = frozenset({"let", "use"}), frozenset({"run", "synchronized", "lazy"})
#: branches without a value
_LEAVES = frozenset({"return_expression", "throw_expression", "null"})
_FIRST = re.compile(r"\w+")
#: children of an `if` with `else`: the condition, and both branches
_IF_PARTS = 3
#: stored characters of a type
TYPE_MAX = 400
Chain = Callable[[Node], str]


def branch_chains(node: Node, of: Chain) -> list[str]:
    """Return the chains of the branches, one of which is the value of `node`; [] if one is
    unknown.
    """
    if node.type == "property_delegate":
        call = node.named_children[0] if node.named_children else None
        lazy_chain = (
            block_result(call, of) if call is not None and _callee_names(call) == (False, "lazy") else ""
        )
        return [lazy_chain] if lazy_chain else []
    chains = []
    for branch in _branches(node):
        value = _single_expression(branch)
        if value is None:
            return []
        if value.type in _LEAVES or value.text == b"null":
            continue
        if (chain := of(value)) in (_UNKNOWN, _LITERAL):
            return []
        chains.append(chain)
    return chains


def block_result(call: Node, of: Chain) -> str:
    """Return the chain of a call that returns its block's value; "" for any other call."""
    has_receiver, name = _callee_names(call)
    if name not in (_OF_RECEIVER if has_receiver else _ALONE):
        return ""
    around = call.named_children[-1] if call.named_children else None
    block = around.named_children[0] if around is not None and around.named_children else None
    if around is None or around.type != "annotated_lambda" or block is None:
        return ""
    parameters = next((child for child in block.named_children if child.type == "lambda_parameters"), None)
    value = _single_expression(block)
    chain = of(value) if value is not None else _UNKNOWN
    if chain in (_UNKNOWN, _LITERAL):
        return ""
    parameter_name = _text(parameters) if parameters is not None else "it"
    first = _FIRST.match(chain)
    if not has_receiver or first is None or first[0] != parameter_name:
        return chain
    on = of(call.children[0].children[0])
    return "" if on in (_UNKNOWN, _LITERAL) else on + chain[first.end() :]


def parameters_of_class(node: Node) -> list[Parameter]:
    """Return the parameters of a class's constructor; a variadic one if it has several
    constructors.
    """
    children = {child.type: child for child in node.named_children}
    body, primary = children.get("class_body"), children.get("primary_constructor")
    if body is not None and any(member.type == "secondary_constructor" for member in body.named_children):
        return [Parameter("_", MANY)]
    listed = primary.named_children[-1].named_children if primary and primary.named_children else []
    return [_parameter(parameter) for parameter in listed if parameter.type == "class_parameter"]


def replace_root(chain: str, name: str, declared: str) -> str:
    """Return a chain with an instance of `declared` (a binding's value) in place of `name` at its
    start.
    """
    if chain == name:
        return declared
    if not chain.startswith((f"{name}.", f"{name}[")):
        return chain
    kinds = alternatives(declared[1:]) if declared.startswith(":") else ()
    is_known = len(kinds) == 1 and kinds[0].replace(".", "").isalnum()
    return f"{kinds[0]}(){chain[len(name) :]}" if is_known else _UNKNOWN


def _parameter(node: Node) -> Parameter:
    at = next((at for at, child in enumerate(node.children) if child.type == ":"), -2)
    name, kind = node.children[at - 1], node.children[at + 1]
    many = any(child.type == "modifiers" and b"vararg" in (child.text or b"") for child in node.children)
    has_default = any(child.type == "=" for child in node.children)
    return Parameter(_text(name), MANY * many + _text(kind)[:TYPE_MAX] + DEFAULT * has_default)


def _callee_names(call: Node) -> tuple[bool, str]:
    """Return (True for a call with a receiver, name of the function or "")."""
    callee = call.children[0] if call.child_count else call
    if callee.type == "call_expression":  # `synchronized(x) { … }`
        callee = callee.children[0]
        if callee.type == "navigation_expression":
            return False, ""
    if callee.type == "navigation_expression":
        return True, _text(callee.children[-1])
    return False, _text(callee) if callee.type == "identifier" else ""


def _branches(node: Node) -> list[Node]:
    children = node.named_children
    if node.type == "if_expression":
        return children[1:] if len(children) == _IF_PARTS else []
    if node.type == "when_expression":
        entries = [child for child in children if child.type == "when_entry"]
        return [entry.named_children[-1] for entry in entries if entry.named_children]
    if node.type == "try_expression":
        caught = [
            child.named_children[-1]
            for child in children
            if child.type == "catch_block" and child.named_children
        ]
        return [*children[:1], *caught]
    body = next((child for child in children if child.type == "function_body"), None)
    return body.named_children[:1] if body is not None and body.children[0].type == "=" else []


def _single_expression(branch: Node) -> Node | None:
    """Return the single expression of a branch or block, None for more."""
    if branch.type not in ("block", "lambda_literal"):
        return branch
    expressions = [
        child for child in branch.named_children if child.type != "lambda_parameters" and not child.is_extra
    ]
    return expressions[0] if len(expressions) == 1 else None


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
