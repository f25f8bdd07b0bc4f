"""Types of parameters with the mark of a default, as several languages write it."""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.facts import DEFAULT


def with_default(name: Node, declared: str) -> str:
    """Return a parameter's type, with the mark of a default: `save(disk: Disk = first)`."""
    parameter = name.parent
    if parameter is None:
        return declared
    after = parameter.next_sibling
    has_default = any(child.type == "=" for child in parameter.children)
    return f"{declared}{DEFAULT}" if has_default or (after is not None and after.type == "=") else declared
