"""Which definitions of one name are one function that is written several times (for each system, in
the branches of a condition): those that one and the same call is a call of each of.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cortex.engines.graph.arrays import Graph

#: meanings of a target that are compared; resolution makes no more twins of one call
TWINS_MAX = 12


def joined(graph: Graph, groups: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """`groups` (a meaning of a target → its nodes) with those of twins made one, by the first of
    their names.
    """
    if not 1 < len(groups) <= TWINS_MAX:
        return dict(groups)
    found: dict[str, list[int]] = {}
    first: dict[tuple[object, ...], str] = {}
    for meaning in sorted(groups):
        places = _calls(graph, meaning, groups[meaning])
        known = next((first[place] for place in places if place in first), meaning)
        found.setdefault(known, []).extend(groups[meaning])
        first |= dict.fromkeys(places, known)
    return found


def _calls(graph: Graph, meaning: str, numbers: list[int]) -> set[tuple[object, ...]]:
    """(name inside the file, caller, file, line, column) of the sure calls of `numbers`."""
    rows = graph.incoming.of(np.array(numbers, dtype="<i8"))
    edges = graph.edges[rows]
    edges = edges[(edges[:, 7] == 0) & (edges[:, 5] > 0)]
    scope = meaning.partition(":")[2]
    return {(scope, *edge) for edge in edges[:, [0, 4, 5, 6]].tolist()}
