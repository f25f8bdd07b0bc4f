"""Value of a binding: from its declared type, from the node of the value, or from the context of
the name.
"""

from __future__ import annotations

from cortex.graph.facts.captures import Captures
from cortex.graph.facts.expressions.blocks import component_of
from cortex.graph.facts.expressions.chains import UNKNOWN, chain_of, type_text
from cortex.graph.facts.expressions.scala_values import for_element_chain, pattern_component
from cortex.graph.facts.grammars import Syntax


def value_of(captures: Captures, syntax: Syntax) -> str:
    """Return the chain or declared type that `@bind.name` gets."""
    if types := captures.get("bind.type"):
        return ":" + type_text(types[0])
    if values := captures.get("bind.value"):
        for read in syntax.value_types:
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
    return syntax.value_of_name(name, syntax) if syntax.value_of_name is not None else UNKNOWN
