"""Index of Kotlin's and C#'s extensions by receiver."""

import bisect
from collections.abc import Mapping, Sequence

from cortex.graph.facts.facts import BOUND, MANY, Definition
from cortex.graph.facts.grammars import Rules
from cortex.graph.facts.tables import Ref
from cortex.graph.resolution.language import Language

#: a receiver of any type, or of any type within a type parameter's bound
ANY_RECEIVER = "*"
#: name of Kotlin's companion object without a name
COMPANION_NAME = "Companion"

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

    def add(self, definition: Definition, ref: Ref, home: str, language: Language) -> None:
        if language.rules.extension_functions and definition.kind == "type":
            self.aliases[definition.name] = self.aliases.get(definition.name, 0) + 1
        if language.extended is not None and (receiver := language.extended(definition)) is not None:
            receivers = self._by_receiver.setdefault(
                (extension_home(home, language.rules), definition.name), {}
            )
            bisect.insort(receivers.setdefault(receiver, []), ref)

    def remove(self, definition: Definition, ref: Ref, home: str, language: Language) -> None:
        if language.rules.extension_functions and definition.kind == "type":
            self.aliases[definition.name] -= 1
            if not self.aliases[definition.name]:
                del self.aliases[definition.name]
        if language.extended is not None and (receiver := language.extended(definition)) is not None:
            key = extension_home(home, language.rules), definition.name
            self._by_receiver[key][receiver].remove(ref)
            if not self._by_receiver[key][receiver]:
                del self._by_receiver[key][receiver]
            if not self._by_receiver[key]:
                del self._by_receiver[key]


def extension_home(home: str, rules: Rules) -> str:
    """Return the package by which the extensions of a package are indexed."""
    return f"{rules.family}:" if rules.extension_methods else home


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
