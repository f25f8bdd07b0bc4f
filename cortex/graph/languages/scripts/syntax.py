"""Parameters of scripts in the syntax tree."""

from __future__ import annotations

from tree_sitter import Node


def parameter_type(name: Node, declared: str) -> str:
    """Return a parameter's type, with the mark of TypeScript's `...disks: Disk[]`."""
    is_rest = name.parent is not None and name.parent.type == "rest_pattern" and declared
    return f"...{declared}" if is_rest else declared
