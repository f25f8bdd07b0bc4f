"""Loops over lists in the same file, each of whose rounds may mount a router."""

from __future__ import annotations

from collections.abc import Mapping

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of

#: rounds of a file's loops that are read, and bytes of a body: loops inside of loops multiply
ROUNDS_MAX, BODY_BYTES_MAX = 300, 4_000
LISTS = frozenset({"list", "array", "tuple"})
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "array_pattern"})


def rounds_of(left: Node, right: Node, lists: Mapping[str, Node]) -> list[dict[str, Node]]:
    """Return variable → value of each round; [] if the list is in no literal of the file. `lists`:
    variable → its list.
    """
    listed = lists.get(text_of(right)[:200], right)
    while left.type not in _PATTERNS and left.named_child_count == 1:
        left = left.named_children[0]
    elements = [child for child in listed.named_children if not child.is_extra]
    if listed.type not in LISTS:
        return []
    if left.type not in _PATTERNS:
        return [{text_of(left): element} for element in elements]
    names = [text_of(name) for name in left.named_children]
    parts = [element.named_children if element.type in LISTS else [] for element in elements]
    return [dict(zip(names, row, strict=True)) for row in parts if len(row) == len(names)]
