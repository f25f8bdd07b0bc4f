"""Swift's own types that a file extends, and what shows that a value is of one. Of no project."""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.chains import text_of
from cortex.graph.facts.types import alternatives

_SHORT = {"array_type": "Array", "dictionary_type": "Dictionary"}


def extended_type(name: Node) -> str:
    """The name of the container that an extension is of, as in `extension [Disk]`; "" where it is
    of anything else.
    """
    if name.type in _SHORT:
        return _SHORT[name.type]
    holds = alternatives(text_of(name))
    return text_of(name).partition("<")[0].strip() if holds and holds[0].endswith("*") else ""
