"""How many arguments a definition takes: parameters with a default may be left out, one may stand
for many. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cortex.graph.facts.facts import DEFAULT, GENERIC, LATER, MANY, Definition, Parameter

_WORD = re.compile(r"\w+")
#: languages whose facts say which parameters have a default and which stand for many
_TOLD = frozenset({"java", "kotlin", "csharp", "scala", "swift", "cpp"})


def takes(one: Definition, language: str, count: int) -> bool:
    """Whether a call of `one` may have `count` arguments."""
    if language not in _TOLD:
        return len(one.parameters) == count
    parameters = taken(one)
    if count == len(parameters):
        return True
    if count > len(parameters):
        return any(is_many(each) for each in parameters)
    return sum(1 for each in parameters if is_needed(each)) <= count


def taken(one: Definition) -> Sequence[Parameter]:
    """The parameters that a call's first arguments are for: not those of Scala's later lists."""
    if one.parameters and one.parameters[-1].type.endswith(LATER):
        return [each for each in one.parameters if not each.type.endswith(LATER)]
    return one.parameters


def generics(one: Definition) -> list[str]:
    """The names of C#'s type parameters."""
    return next((flag[1:].split(",") for flag in one.flags if flag.startswith(GENERIC)), [])


def is_inferred(one: Definition) -> bool:
    """Whether C#'s call need not write the type arguments: a type has none, each of a function's
    stands in the type of a parameter.
    """
    names = generics(one)
    taken = {word for each in one.parameters for word in _WORD.findall(each.type)} if names else ()
    return all(name.rpartition(" ")[2] in taken for name in names)


def is_many(one: Parameter) -> bool:
    return one.type.startswith(MANY)


def is_needed(one: Parameter) -> bool:
    return not one.type.endswith(DEFAULT) and not is_many(one)


def slots(
    parameters: Sequence[Parameter], given: Sequence[str], names: Sequence[str]
) -> list[Parameter] | None:
    """The parameter that each argument is for, by its place (the one after a named one's) or its
    name; None when they do not fit.
    """
    found: list[Parameter] = []
    at = 0
    for number, (each, name) in enumerate(zip(given, names, strict=True)):
        if name:
            place = next((at for at, p in enumerate(parameters) if p.name == name), None)
            one = None if place is None else parameters[place]
            at = at if place is None else place + 1
        elif each == "fn" and number == len(given) - 1 and parameters and "->" in parameters[-1].type:
            one = parameters[-1]  # Kotlin's block behind the parentheses is for the last
        else:
            one = parameters[at] if at < len(parameters) else None
            at += one is not None and not is_many(one)
        if one is None:
            return None
        found.append(one)
    left = [p for p in parameters if p not in found and is_needed(p)]
    return None if left else found
