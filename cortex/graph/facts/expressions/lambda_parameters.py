"""Parameters of unnamed functions that a call gets, in Java and C#, as links of a chain."""

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN, chain_of, strip_call
from cortex.graph.facts.grammars import Syntax

_FUNCTION = "lambda_expression"
#: nodes between an unnamed function and its call
_ARGUMENTS = frozenset({"argument", "argument_list", "parenthesized_expression"})
#: parameters of a function and arguments of a call; each reads all of its list
_LISTED_MAX = 16


def lambda_parameter(name: Node, syntax: Syntax) -> str:
    """Return the chain of a parameter without a type, `disks.forEach(~0_0_1)`; UNKNOWN outside of
    a call's arguments, for an argument with a name and in long lists.

    The numbers are those of the argument and of the parameter, and the count of parameters.
    """
    around, function = name, name.parent
    while function is not None and function.type != _FUNCTION and function.start_byte <= name.start_byte:
        around, function = function, function.parent
    if function is None or function.type != _FUNCTION:
        return UNKNOWN
    if around.named_child_count > _LISTED_MAX:
        return UNKNOWN
    is_list = around.named_child_count > 0
    parameters = around.named_children if is_list else [around]
    parameters = [parameter for parameter in parameters if not parameter.is_extra]
    number = next((at for at, parameter in enumerate(parameters) if parameter.end_byte >= name.end_byte), 0)
    argument, listed = function, function.parent
    while listed is not None and listed.type in _ARGUMENTS and listed.type != "argument_list":
        if listed.child_by_field_name("name") is not None:  # C#'s `Use(made: disk => …)`
            return UNKNOWN
        argument, listed = listed, listed.parent
    call = listed.parent if listed is not None and listed.type == "argument_list" else None
    if call is None or listed is None or listed.named_child_count > _LISTED_MAX:
        return UNKNOWN
    callee = strip_call(chain_of(call, syntax))
    if callee[:1] in (UNKNOWN, LITERAL, ":", ""):
        return UNKNOWN
    siblings = [child.start_byte for child in listed.named_children if not child.is_extra]
    return f"{callee}(~{siblings.index(argument.start_byte)}_{number}_{len(parameters)})"
