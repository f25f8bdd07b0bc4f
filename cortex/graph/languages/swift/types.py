"""Swift's library types that a file extends. Of no project."""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.declared.types import alternatives
from cortex.graph.facts.expressions.chains import text_of

_SHORT = {"array_type": "Array", "dictionary_type": "Dictionary"}


def extended_type(name: Node) -> str:
    """Return the name of the container in an extension such as `extension [Disk]`; "" for
    others.
    """
    if name.type in _SHORT:
        return _SHORT[name.type]
    holds = alternatives(text_of(name))
    return text_of(name).partition("<")[0].strip() if holds and holds[0].endswith("*") else ""
