"""Index of Kotlin's and C#'s extensions by receiver."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence

from cortex.graph.facts.facts import BOUND, MANY, OUTER, Definition
from cortex.graph.facts.tables import Ref
from cortex.graph.resolution.arity import type_parameter_names

#: a receiver of any type, or of any type within a type parameter's bound
ANY_RECEIVER = "*"
#: name of Kotlin's companion object without a name
COMPANION_NAME = "Companion"
#: characters of the longest name that counts as a type parameter without a declaration
_SHORT = 2

_NONE: Mapping[str, Sequence[Ref]] = {}


class ExtensionIndex:
    """The extensions of a project; it changes with the project."""

    def __init__(self) -> None:
        #: (package, name) → receiver → extensions, in order; C# has one package for all
        self._by_receiver: dict[tuple[str, str], dict[str, list[Ref]]] = {}
        #: Kotlin's type aliases, and how often each is defined
        self.aliases: dict[str, int] = {}

    def by_name(self, home: str, name: str) -> Mapping[str, Sequence[Ref]]:
        return self._by_receiver.get((home, name), _NONE)

    def add(self, definition: Definition, ref: Ref, home: str, language: str) -> None:
        if language == "kotlin" and definition.kind == "type":
            self.aliases[definition.name] = self.aliases.get(definition.name, 0) + 1
        if (receiver := receiver_of(definition, language)) is not None:
            receivers = self._by_receiver.setdefault((_home(home, language), definition.name), {})
            bisect.insort(receivers.setdefault(receiver, []), ref)

    def remove(self, definition: Definition, ref: Ref, home: str, language: str) -> None:
        if language == "kotlin" and definition.kind == "type":
            self.aliases[definition.name] -= 1
            if not self.aliases[definition.name]:
                del self.aliases[definition.name]
        if (receiver := receiver_of(definition, language)) is not None:
            key = _home(home, language), definition.name
            self._by_receiver[key][receiver].remove(ref)
            if not self._by_receiver[key][receiver]:
                del self._by_receiver[key][receiver]
            if not self._by_receiver[key]:
                del self._by_receiver[key]


def _home(home: str, language: str) -> str:
    return "csharp:" if language == "csharp" else home


def receiver_of(definition: Definition, language: str) -> str | None:
    """Return the name of an extension's receiver type; None for other definitions."""
    if language == "csharp":
        if "extension" not in definition.flags or not definition.parameters:
            return None
        name = receiver_name(definition.parameters[0].type)
        free = name in type_parameter_names(definition) or (len(name) <= _SHORT and name.isupper())
        return ANY_RECEIVER if free else name
    if language != "kotlin" or definition.parent >= 0 or not definition.scope or definition.kind != "method":
        return None
    for flag in definition.flags:
        if flag.startswith(BOUND):
            return ANY_RECEIVER
        if flag.startswith(OUTER):
            return flag.removeprefix(OUTER)
    if definition.scope.endswith(f".{COMPANION_NAME}"):
        return of_companion(receiver_name(definition.scope.removesuffix(f".{COMPANION_NAME}")))
    return receiver_name(definition.scope)


def of_companion(name: str) -> str:
    """Return the receiver of an extension on a type's companion: `fun Disk.Companion.make()`."""
    return f"{name}.{COMPANION_NAME}"


def receiver_name(text: str) -> str:
    """Return a type's bare name, without packages, arguments and modifiers."""
    name = text.removeprefix(MANY).partition("<")[0].rstrip("?! []").rpartition(".")[2]
    return name.rpartition(" ")[2]


def bound_of(definition: Definition) -> str:
    """Return the bound of a type parameter that is an extension's receiver; "" without one."""
    bound_flag = next((flag for flag in definition.flags if flag.startswith(BOUND)), "")
    return receiver_name(bound_flag.removeprefix(BOUND))
