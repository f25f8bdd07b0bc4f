"""What a name is bound to: by a type that is written, by what makes the value, or by where the
name stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tree_sitter import Node

from cortex.graph.facts.arguments import literal_type
from cortex.graph.facts.blocks import parameter_of, part_of
from cortex.graph.facts.captures import Captures
from cortex.graph.facts.chains import UNKNOWN, chain_of, type_text
from cortex.graph.facts.generics import made_with
from cortex.graph.facts.grammars import Syntax
from cortex.graph.facts.kotlin_values import KOTLIN_TEXTS
from cortex.graph.facts.results import SEVERAL
from cortex.graph.facts.scala_values import given_in_for, given_to_parameter, part_of_pattern


def value_of(captures: Captures, syntax: Syntax, language: str) -> str:
    """The chain or the declared type that `@bind.name` gets."""
    if types := captures.get("bind.type"):
        return ":" + type_text(types[0])
    if values := captures.get("bind.value"):
        for read in _TYPES.get(language, ()):
            if said := read(values[0]):
                return f":{said}"
        return chain_of(values[0], syntax)
    if items := captures.get("bind.item"):
        return f"{chain_of(items[0], syntax)}[]"
    if made := captures.get("bind.made"):
        return f"{chain_of(made[0], syntax)}()"
    if each := captures.get("bind.each"):  # Scala's `for (one <- all)`
        return given_in_for(chain_of(each[0], syntax))
    name = captures["bind.name"][0]
    if parts := captures.get("bind.part"):  # Kotlin's `val (a, b) = x`
        return part_of(name, chain_of(parts[0], syntax))
    if whole := captures.get("bind.whole"):  # Scala's `case Disk(store) =>`
        return part_of_pattern(name, whole[0])
    place = _PLACES.get(language)
    return place(name, syntax) if place is not None else UNKNOWN


def _text_of_kotlin(value: Node) -> str:
    return "String" if value.type in KOTLIN_TEXTS else ""


#: language → what tells the type of a value by its text, in this order
_TYPES: Mapping[str, Sequence[Callable[[Node], str]]] = {
    "csharp": (literal_type, made_with),
    "java": (made_with,),
    "kotlin": (_text_of_kotlin, made_with),
    "scala": (made_with,),
}
#: language → what tells a value by where the name stands
_PLACES: Mapping[str, Callable[[Node, Syntax], str]] = {
    **SEVERAL,
    "kotlin": parameter_of,
    "scala": lambda name, syntax: given_to_parameter(name, lambda one: chain_of(one, syntax)),
}
