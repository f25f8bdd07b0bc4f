"""Whose the methods of a graph are: by their ids, or, where they are in other files than their type
(Go, C++, Rust), by what those files refer to. What overrides what.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.generation.graph import EDGE_TYPES
from cortex.system.arrays import Array
from cortex.terms.ids import key_of, strip_overload
from cortex.terms.kinds import TYPE_KINDS
from cortex.terms.languages import language_of

#: edges from a type to what it implements, extends or embeds
IS_A = ("implements", "extends", "embeds")
#: bool [edge types]: those
_IS_A = np.array([kind in IS_A for kind in EDGE_TYPES])
#: how files end whose methods are of types of their own folder alone
_BY_FOLDER = ".go"
#: languages whose methods are declared in the type and defined elsewhere (a `.h` counts as C)
_DECLARING = frozenset({"c", "cpp"})


class Members:
    """The methods of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def owner(self, number: int) -> int:
        """The type that a method belongs to; -1 when there is none."""
        name = self._graph.names[number]
        own = self._node(strip_overload(name).rpartition(".")[0]) if ":" in name else -1
        return own if own >= 0 else self._owners.get(number, -1)

    def method(self, owner: int, name: str) -> int:
        """The method of a type with this name; -1 when it has none of its own."""
        own = self._node(f"{self._graph.names[owner]}.{name}")
        names = ((one, last_name(self._graph.names[one])) for one in self.elsewhere(owner))
        return own if own >= 0 else next((one for one, other in names if other == name), -1)

    def written_apart(self, method: int) -> list[int]:
        """The declaration and the definitions of a method of C++, itself included, the one in its
        type first; nothing for what is written in one place.
        """
        if language_of(self._graph.file_of(method)).name not in _DECLARING:
            return []
        owner = self.owner(method) if self._graph.kind(method) == "method" else -1
        name = last_name(self._graph.names[method])
        bodies = [one for one in self.elsewhere(owner) if last_name(self._graph.names[one]) == name]
        declared = self._node(f"{self._graph.names[owner]}.{name}") if bodies else -1
        return [declared, *bodies] if declared >= 0 else []

    def elsewhere(self, owner: int) -> Sequence[int]:
        """The methods of a type that are in other files."""
        return self._elsewhere.get(owner, ())

    def overridden(self, methods: Iterable[int]) -> dict[int, int]:
        """The methods that `methods` implement or override, each with the edge of the types that
        says so; nothing for what is no method.
        """
        return self._related(methods, up=True)

    def overriding(self, methods: Iterable[int]) -> dict[int, int]:
        """The methods that implement or override `methods`, as `overridden`."""
        return self._related(methods, up=False)

    def _related(self, methods: Iterable[int], *, up: bool) -> dict[int, int]:
        graph, start = self._graph, tuple(methods)
        lists, far = (graph.outgoing, 1) if up else (graph.incoming, 0)
        found: dict[int, int] = {}
        for number in start:
            if graph.kind(number) != "method" or (owner := self.owner(number)) < 0:
                continue
            name, seen, frontier = last_name(graph.names[number]), {owner}, [owner]
            while frontier:
                rows = lists.of(np.array(frontier, dtype="<i8"))
                rows = rows[_IS_A[graph.edges[rows, 2]]]
                types = [(int(graph.edges[row, far]), row) for row in rows.tolist()]
                frontier = list(dict.fromkeys(one for one, _ in types if one not in seen))
                seen.update(frontier)
                for one, row in types:
                    if (own := self.method(one, name)) >= 0 and own not in start:
                        found.setdefault(own, row)
        return found

    def _node(self, name: str) -> int:
        """The number of the node with the id `name`; -1 when there is none."""
        number = self._graph.names.number(name)
        return number if number >= 0 and self._graph.node_of[number] >= 0 else -1

    @cached_property
    def _elsewhere(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, owner in self._owners.items():
            found.setdefault(owner, []).append(number)
        return found

    @cached_property
    def _owners(self) -> dict[int, int]:
        """Method → type, of methods whose type is in another file."""
        graph, known, found = self._graph, dict[tuple[str, int], int](), dict[int, int]()
        for number, _, file, *_ in graph.nodes[self._alone()].tolist():
            above = strip_overload(graph.names[number]).rpartition(".")[0]
            if (above, file) not in known:
                known[above, file] = self._named(above.partition(":")[2], file)
            if (owner := known[above, file]) >= 0:
                found[number] = owner
        return found

    def _alone(self) -> Array:
        """The rows of methods in whose file there is no node around them."""
        graph = self._graph
        around = graph.names.numbers(graph.by_above.keys)
        rows = graph.by_above.rows[(around < 0) | (graph.node_of[around] < 0)]
        return np.sort(rows[graph.nodes[rows, 1] == graph.kinds.get("method", -1)])

    def _named(self, scope: str, file: int) -> int:
        """The type of this name that is meant in a file; -1 when that is none or not evident."""
        graph = self._graph
        rows = graph.by_last.of(key_of(scope.rpartition(".")[2])) if scope else ()
        types = [
            number
            for number in (int(graph.nodes[row, 0]) for row in rows)
            if graph.kind(number) in TYPE_KINDS
            and strip_overload(graph.names[number]).partition(":")[2] == scope
        ]
        folder, _, name = graph.names[file].rpartition("/")
        if name.endswith(_BY_FOLDER):
            types = [one for one in types if graph.file_of(one).rpartition("/")[0] == folder]
        meant = [one for one in types if self._refers(file, one)] or types
        return meant[0] if len({strip_overload(graph.names[one]) for one in meant}) == 1 else -1

    def _refers(self, file: int, owner: int) -> bool:
        """Whether something in a file refers to a type, or the file imports that type's file."""
        graph = self._graph
        near = (owner, self._node(graph.names[owner].partition(":")[0]))
        rows = graph.incoming.of(np.array([one for one in near if one >= 0], dtype="<i8"))
        return bool((graph.edges[rows, 4] == file).any())


def last_name(name: str) -> str:
    """The last name of an id, without the number of an overload."""
    return strip_overload(name).rpartition(".")[2]
