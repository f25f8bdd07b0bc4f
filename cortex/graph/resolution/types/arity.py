"""Numbers of arguments that a definition takes: parameters may have a default or be variadic.
Pure.
"""

import re
from collections.abc import Sequence

from cortex.graph.facts.facts import DEFAULT, GENERIC, LATER, MANY, Definition, Parameter

_WORD = re.compile(r"\w+")


def accepts_count(definition: Definition, count: int, defaults: bool = True) -> bool:
    """Return True if a call of `definition` may have `count` arguments.

    `defaults`: the facts have marks of defaults and of variadic parameters.
    """
    if not defaults:
        return len(definition.parameters) == count
    parameters = leading_parameters(definition)
    if count == len(parameters):
        return True
    if count > len(parameters):
        return any(is_many(parameter) for parameter in parameters)
    return sum(1 for parameter in parameters if is_required(parameter)) <= count


def leading_parameters(definition: Definition) -> Sequence[Parameter]:
    """Return the parameters of the first parameter list: without Scala's later lists."""
    if definition.parameters and definition.parameters[-1].type.endswith(LATER):
        return [parameter for parameter in definition.parameters if not parameter.type.endswith(LATER)]
    return definition.parameters


def type_parameter_names(definition: Definition) -> list[str]:
    return next((flag[1:].split(",") for flag in definition.flags if flag.startswith(GENERIC)), [])


def is_inferred(definition: Definition) -> bool:
    """Return True if C#'s call may omit the type arguments.

    That holds if the definition has no type parameters, or each of them is in a parameter's type.
    """
    names = type_parameter_names(definition)
    words = (
        {word for parameter in definition.parameters for word in _WORD.findall(parameter.type)}
        if names
        else ()
    )
    return all(name.rpartition(" ")[2] in words for name in names)


def has_conditional_result(definition: Definition) -> bool:
    """Return True for a template of C++ that takes arguments only if they make the expression valid
    which is its result, `-> decltype(left / right)`.
    """
    return "decltype(" in definition.returns and bool(type_parameter_names(definition))


def is_many(parameter: Parameter) -> bool:
    return parameter.type.startswith(MANY)


def is_required(parameter: Parameter) -> bool:
    return not parameter.type.endswith(DEFAULT) and not is_many(parameter)


def match_parameters(
    parameters: Sequence[Parameter], arguments: Sequence[str], names: Sequence[str]
) -> list[Parameter] | None:
    """Return the parameter of each argument, by position or name; None if they do not match.

    An argument after a named one takes the parameter after that one.
    """
    matched: list[Parameter] = []
    at = 0
    for number, (argument, name) in enumerate(zip(arguments, names, strict=True)):
        if name:
            place = next((at for at, p in enumerate(parameters) if p.name == name), None)
            parameter = None if place is None else parameters[place]
            at = at if place is None else place + 1
        elif argument == "fn" and number == len(arguments) - 1 and parameters and "->" in parameters[-1].type:
            parameter = parameters[-1]  # Kotlin's trailing block belongs to the last parameter
        else:
            parameter = parameters[at] if at < len(parameters) else None
            at += parameter is not None and not is_many(parameter)
        if parameter is None:
            return None
        matched.append(parameter)
    left = [p for p in parameters if p not in matched and is_required(p)]
    return None if left else matched
