"""Value of a binding: from its declared type, from the node of the value, or from the context of
the name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tree_sitter import Node

from cortex.graph.facts.arguments import literal_type
from cortex.graph.facts.blocks import block_parameter, component_of
from cortex.graph.facts.captures import Captures
from cortex.graph.facts.chains import UNKNOWN, chain_of, type_text
from cortex.graph.facts.generics import constructed_type
from cortex.graph.facts.grammars import Syntax
from cortex.graph.facts.kotlin_values import KOTLIN_TEXTS
from cortex.graph.facts.results import DESTRUCTURERS
from cortex.graph.facts.scala_values import for_element_chain, lambda_parameter_chain, pattern_component


def value_of(captures: Captures, syntax: Syntax, language: str) -> str:
    """Return the chain or declared type that `@bind.name` gets."""
    if types := captures.get("bind.type"):
        return ":" + type_text(types[0])
    if values := captures.get("bind.value"):
        for read in _TYPES.get(language, ()):
            if type_name := read(values[0]):
                return f":{type_name}"
        return chain_of(values[0], syntax)
    if items := captures.get("bind.item"):
        return f"{chain_of(items[0], syntax)}[]"
    if instances := captures.get("bind.made"):
        return f"{chain_of(instances[0], syntax)}()"
    if iterables := captures.get("bind.each"):  # Scala's `for (one <- all)`
        return for_element_chain(chain_of(iterables[0], syntax))
    name = captures["bind.name"][0]
    if parts := captures.get("bind.part"):  # Kotlin's `val (a, b) = x`
        return component_of(name, chain_of(parts[0], syntax))
    if patterns := captures.get("bind.whole"):  # Scala's `case Disk(store) =>`
        return pattern_component(name, patterns[0])
    place = _PLACES.get(language)
    return place(name, syntax) if place is not None else UNKNOWN


def _text_of_kotlin(value: Node) -> str:
    return "String" if value.type in KOTLIN_TEXTS else ""


#: language → functions that read a value's type from its text, in this order
_TYPES: Mapping[str, Sequence[Callable[[Node], str]]] = {
    "csharp": (literal_type, constructed_type),
    "java": (constructed_type,),
    "kotlin": (_text_of_kotlin, constructed_type),
    "scala": (constructed_type,),
}
#: language → function that reads a value from the context of the name
_PLACES: Mapping[str, Callable[[Node, Syntax], str]] = {
    **DESTRUCTURERS,
    "kotlin": block_parameter,
    "scala": lambda name, syntax: lambda_parameter_chain(name, lambda node: chain_of(node, syntax)),
}
