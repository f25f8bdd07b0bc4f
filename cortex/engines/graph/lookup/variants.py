"""Variants of one function, written several times (for each system, in branches of a condition):
definitions that share their calls, and static definitions in C files for several systems
(`unix/x.c`, `win/x.c`).
"""

from collections.abc import Mapping
from pathlib import PurePosixPath

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.terms.ids import enclosing_id, key_of, strip_overload
from cortex.terms.paths import is_test, is_unshipped

#: most meanings of a target that are compared; resolution makes no more variants of one call
TWINS_MAX = 12
#: share of a file's names that the variant for another system defines as well
SHARED_MIN = 1 / 3
#: endings of files that are compiled alternatively
_SOURCES = frozenset({".c", ".cc", ".cpp", ".cxx"})


def merge_variants(graph: Graph, groups: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Merge variants in `groups` (a meaning → its nodes), under the first of their names."""
    if not 1 < len(groups) <= TWINS_MAX:
        return dict(groups)
    merged: dict[str, list[int]] = {}
    first: dict[tuple[object, ...], str] = {}
    for meaning in sorted(groups):
        places = _sure_calls(graph, meaning, groups[meaning])
        representative = next((first[place] for place in places if place in first), meaning)
        merged.setdefault(representative, []).extend(groups[meaning])
        first |= dict.fromkeys(places, representative)
    return _merge_system_variants(graph, merged)


def _merge_system_variants(graph: Graph, groups: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Merge groups of definitions alike, in files of one name that define mostly the same."""
    merged: dict[str, list[int]] = {}
    first: dict[tuple[object, ...], str] = {}
    for meaning, numbers in groups.items():
        representative = (
            first.setdefault(form, meaning) if (form := _variant_form(graph, numbers)) else meaning
        )
        if representative != meaning and not _define_the_same(graph, groups[representative][0], numbers[0]):
            representative = meaning
        merged.setdefault(representative, []).extend(numbers)
    return merged


def _variant_form(graph: Graph, numbers: list[int]) -> tuple[object, ...]:
    """A key shared by the variants of a C definition in each system's file. () for other
    definitions, and for those called from outside of their file: such a call decides between
    variants.
    """
    files = {graph.file_of(number) for number in numbers}
    path = PurePosixPath(min(files))
    edges = graph.edges[graph.incoming.of(np.array(numbers, dtype="<i8"))]
    own_file = graph.nodes[graph.node_of[numbers[0]], 2]
    if (
        len(files) > 1
        or path.suffix not in _SOURCES
        or ((edges[:, 7] == 0) & (edges[:, 4] != own_file)).any()
    ):
        return ()
    (node,) = graph.nodes_json([int(graph.node_of[numbers[0]])])
    types = str([parameter.get("type") for parameter in node.get("parameters") or ()])
    scope = strip_overload(graph.names[numbers[0]]).partition(":")[2]
    shipped = is_test(str(path)), is_unshipped(str(path))
    return path.name, shipped, scope, graph.kind(numbers[0]), types


def _define_the_same(graph: Graph, number: int, other: int) -> bool:
    mine, others = _sibling_names(graph, number), _sibling_names(graph, other)
    return len(mine & others) >= SHARED_MIN * min(len(mine), len(others))


def _sibling_names(graph: Graph, number: int) -> set[str]:
    """The names that the file of a definition defines."""
    rows = graph.by_above.of(key_of(enclosing_id(graph.names[number]).partition(":")[0]))
    return {graph.names[sibling].partition(":")[2] for sibling in graph.nodes[rows, 0].tolist()}


def _sure_calls(graph: Graph, meaning: str, numbers: list[int]) -> set[tuple[object, ...]]:
    """(name inside the file, caller, file, line, column) of the sure calls of `numbers`."""
    rows = graph.incoming.of(np.array(numbers, dtype="<i8"))
    edges = graph.edges[rows]
    edges = edges[(edges[:, 7] == 0) & (edges[:, 5] > 0)]
    scope = meaning.partition(":")[2]
    return {(scope, *edge) for edge in edges[:, [0, 4, 5, 6]].tolist()}
