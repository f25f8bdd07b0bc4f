"""How many arguments a definition takes: parameters with a default may be left out, one may stand
for many. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cortex.graph.facts.facts import DEFAULT, GENERIC, LATER, MANY, Definition, Parameter

_WORD = re.compile(r"\w+")
#: languages whose facts say which parameters have a default and which stand for many
_WITH_DEFAULTS = frozenset({"java", "kotlin", "csharp", "scala", "swift", "cpp"})


def accepts_count(definition: Definition, language: str, count: int) -> bool:
    """Whether a call of `one` may have `count` arguments."""
    if language not in _WITH_DEFAULTS:
        return len(definition.parameters) == count
    parameters = leading_parameters(definition)
    if count == len(parameters):
        return True
    if count > len(parameters):
        return any(is_many(parameter) for parameter in parameters)
    return sum(1 for parameter in parameters if is_required(parameter)) <= count


def leading_parameters(definition: Definition) -> Sequence[Parameter]:
    """The parameters that a call's first arguments are for: not those of Scala's later lists."""
    if definition.parameters and definition.parameters[-1].type.endswith(LATER):
        return [parameter for parameter in definition.parameters if not parameter.type.endswith(LATER)]
    return definition.parameters


def type_parameter_names(definition: Definition) -> list[str]:
    """The names of C#'s type parameters."""
    return next((flag[1:].split(",") for flag in definition.flags if flag.startswith(GENERIC)), [])


def is_inferred(definition: Definition) -> bool:
    """Whether C#'s call need not write the type arguments: a type has none, each of a function's
    stands in the type of a parameter.
    """
    names = type_parameter_names(definition)
    words = (
        {word for parameter in definition.parameters for word in _WORD.findall(parameter.type)}
        if names
        else ()
    )
    return all(name.rpartition(" ")[2] in words for name in names)


def is_many(parameter: Parameter) -> bool:
    return parameter.type.startswith(MANY)


def is_required(parameter: Parameter) -> bool:
    return not parameter.type.endswith(DEFAULT) and not is_many(parameter)


def match_parameters(
    parameters: Sequence[Parameter], arguments: Sequence[str], names: Sequence[str]
) -> list[Parameter] | None:
    """The parameter that each argument is for, by its place (the one after a named one's) or its
    name; None when they do not fit.
    """
    matched: list[Parameter] = []
    at = 0
    for number, (argument, name) in enumerate(zip(arguments, names, strict=True)):
        if name:
            place = next((at for at, p in enumerate(parameters) if p.name == name), None)
            parameter = None if place is None else parameters[place]
            at = at if place is None else place + 1
        elif argument == "fn" and number == len(arguments) - 1 and parameters and "->" in parameters[-1].type:
            parameter = parameters[-1]  # Kotlin's block behind the parentheses is for the last
        else:
            parameter = parameters[at] if at < len(parameters) else None
            at += parameter is not None and not is_many(parameter)
        if parameter is None:
            return None
        matched.append(parameter)
    left = [p for p in parameters if p not in matched and is_required(p)]
    return None if left else matched
