"""Completion of paths and symbols of a graph from the beginning of a name."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.system.arrays import Array
from cortex.terms.bounds import clamp
from cortex.terms.kinds import ROUTE_KINDS, WHOLE_KINDS
from ipc.messages import GraphHits, NameSearch

#: names of one answer
NAMES_MAX = 100
#: most symbols, by references: their names are decoded at once
SYMBOLS_MAX = 50_000


def list_symbols(graph: Graph, users: Array) -> list[str]:
    """The distinct names of definitions (`Store.save`), most referenced first."""
    wholes = [graph.kinds[kind] for kind in WHOLE_KINDS | ROUTE_KINDS if kind in graph.kinds]
    numbers = np.unique(graph.nodes[~np.isin(graph.nodes[:, 1], wholes), 0])
    numbers = numbers[np.argsort(-users[numbers], kind="stable")][:SYMBOLS_MAX]
    names = (graph.names[number].rpartition(":")[2] for number in numbers.tolist())
    return list(dict.fromkeys(names))


def complete(names: Iterable[str], request: NameSearch, generation: int) -> GraphHits:
    """The matching names as `candidates`: first names with the prefix, then names with a later part
    with the prefix.
    """
    if request.within and request.kind == "path":
        inside = f"{request.within}/"
        names = [name.removeprefix(inside) for name in names if name.startswith(inside)]
    typed = request.prefix.strip().lower()
    mark = "/" if request.kind == "path" else "."
    first, later = [], []
    for name in names:
        lower = name.lower()
        if lower.startswith(typed):
            first.append(name)
        elif f"{mark}{typed}" in lower:
            later.append(name)
    matches = [*first, *later]
    page = matches[: clamp(request.limit, 1, NAMES_MAX)]
    return GraphHits(
        generation, total_found=len(matches), truncated=len(page) < len(matches), candidates=tuple(page)
    )
