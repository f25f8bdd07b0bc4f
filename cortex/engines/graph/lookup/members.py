"""Owners of the methods of a graph: by their ids, or, for methods in other files than their type
(Go, C++, Rust), by the references in those files. Overrides.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from cortex.engines.graph.arrays import Graph, Lists
from cortex.generation.graph import EDGE_TYPES
from cortex.system.arrays import Array
from cortex.terms.ids import key_of, strip_overload
from cortex.terms.kinds import CALLABLE_KINDS, MEMBER_KINDS, TYPE_KINDS
from cortex.terms.languages import language_of

#: edges from a type to a type that it implements, extends or embeds
IS_A = ("implements", "extends", "embeds")
#: bool [edge types]: those in IS_A
ARE_IS_A = np.array([kind in IS_A for kind in EDGE_TYPES])
#: ending of files whose methods belong to types of the same folder
_BY_FOLDER = ".go"


class Members:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def owner(self, number: int) -> int:
        """The type that a method belongs to; -1 without one."""
        name = self._graph.names[number]
        own_type = self._node(strip_overload(name).rpartition(".")[0]) if ":" in name else -1
        return own_type if own_type >= 0 else self.owners_elsewhere.get(number, -1)

    def method(self, owner: int, name: str) -> int:
        """The type's method with this name; -1 when it defines none."""
        own_method = self._node(f"{self._graph.names[owner]}.{name}")
        names = ((number, last_name(self._graph.names[number])) for number in self.methods_elsewhere(owner))
        return (
            own_method if own_method >= 0 else next((number for number, other in names if other == name), -1)
        )

    def declaration_and_bodies(self, method: int) -> list[int]:
        """The declaration and the definitions of a C++ method, itself included, the declaration in
        the type first; empty for a method that is written in one place.
        """
        if not language_of(self._graph.file_of(method)).headers:
            return []
        owner = self.owner(method) if self._graph.kind(method) == "method" else -1
        name = last_name(self._graph.names[method])
        bodies = [
            number for number in self.methods_elsewhere(owner) if last_name(self._graph.names[number]) == name
        ]
        declared = self._node(f"{self._graph.names[owner]}.{name}") if bodies else -1
        return [declared, *bodies] if declared >= 0 else []

    def methods_elsewhere(self, owner: int) -> Sequence[int]:
        """The methods of a type that are in other files."""
        return self._methods_elsewhere.get(owner, ())

    def overridden(self, methods: Iterable[int]) -> dict[int, int]:
        """Methods that `methods` implement or override → the edge between the types. Empty for
        other kinds of nodes.
        """
        return self._find_related(methods, up=True)

    def overriding(self, methods: Iterable[int]) -> dict[int, int]:
        """Methods that implement or override `methods` → the edge between the types."""
        return self._find_related(methods, up=False)

    def holders(self, methods: Iterable[int]) -> dict[int, int]:
        """Definitions that give an unnamed function for one of `methods` → the edge to its type."""
        graph, holders = self._graph, dict[int, int]()
        functions = self.overriding(methods)
        for method in methods:
            owner = self.owner(method)
            if owner < 0 or self._called(owner) != last_name(graph.names[method]):
                continue
            for row in self._is_a_rows(owner, graph.incoming):
                source = int(graph.edges[row, 0])
                if graph.kind(source) not in TYPE_KINDS and source not in functions:
                    holders.setdefault(source, row)
        return holders

    def _called(self, owner: int) -> str:
        """The name of the method for which a function may stand, if it can stand for the type."""
        (node,) = self._graph.nodes_json([int(self._graph.node_of[owner])])
        return str(node.get("called", ""))

    def _is_a_rows(self, number: int, lists: Lists) -> list[int]:
        rows = lists.of(np.array([number], dtype="<i8"))
        selected: list[int] = rows[ARE_IS_A[self._graph.edges[rows, 2]]].tolist()
        return selected

    def _find_related(self, methods: Iterable[int], *, up: bool) -> dict[int, int]:
        graph, start = self._graph, tuple(methods)
        lists, end_column = (graph.outgoing, 1) if up else (graph.incoming, 0)
        related: dict[int, int] = {}
        for number in start:  # functions that are given for a method
            for row in self._is_a_rows(number, lists):
                ends = number, int(graph.edges[row, end_column])
                if graph.kind(ends[up]) in MEMBER_KINDS and graph.kind(ends[not up]) in CALLABLE_KINDS:
                    related.setdefault(ends[1], row)
        for number in start:
            if graph.kind(number) not in MEMBER_KINDS or (owner := self.owner(number)) < 0:
                continue
            name, visited, frontier = last_name(graph.names[number]), {owner}, [owner]
            while frontier:
                rows = lists.of(np.array(frontier, dtype="<i8"))
                rows = rows[ARE_IS_A[graph.edges[rows, 2]]]
                types = [(int(graph.edges[row, end_column]), row) for row in rows.tolist()]
                frontier = list(
                    dict.fromkeys(type_number for type_number, _ in types if type_number not in visited)
                )
                visited.update(frontier)
                for type_number, row in types:
                    if (counterpart := self.method(type_number, name)) >= 0 and counterpart not in start:
                        related.setdefault(counterpart, row)
        return related

    def _node(self, name: str) -> int:
        """The number of the node with the id `name`; -1 without one."""
        number = self._graph.names.number(name)
        return number if number >= 0 and self._graph.node_of[number] >= 0 else -1

    @cached_property
    def _methods_elsewhere(self) -> dict[int, list[int]]:
        methods: dict[int, list[int]] = {}
        for number, owner in self.owners_elsewhere.items():
            methods.setdefault(owner, []).append(number)
        return methods

    @cached_property
    def owners_elsewhere(self) -> dict[int, int]:
        """Method → type, of methods with their type in another file."""
        graph, scope_types, owners = self._graph, dict[tuple[str, int], int](), dict[int, int]()
        for number, _, file, *_ in graph.nodes[self._rows_without_owner()].tolist():
            above = strip_overload(graph.names[number]).rpartition(".")[0]
            if (above, file) not in scope_types:
                scope_types[above, file] = self._find_type(above.partition(":")[2], file)
            if (owner := scope_types[above, file]) >= 0:
                owners[number] = owner
        return owners

    def _rows_without_owner(self) -> Array:
        """The rows of methods without an enclosing node in their file."""
        graph = self._graph
        around = graph.names.numbers(graph.by_above.keys)
        rows = graph.by_above.rows[(around < 0) | (graph.node_of[around] < 0)]
        return np.sort(rows[graph.nodes[rows, 1] == graph.kinds.get("method", -1)])

    def _find_type(self, scope: str, file: int) -> int:
        """The type with this name that a file means; -1 without a clear one."""
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
            types = [
                candidate for candidate in types if graph.file_of(candidate).rpartition("/")[0] == folder
            ]
        referred = [candidate for candidate in types if self._refers_to(file, candidate)] or types
        return (
            referred[0]
            if len({strip_overload(graph.names[candidate]) for candidate in referred}) == 1
            else -1
        )

    def _refers_to(self, file: int, owner: int) -> bool:
        """Whether a file has a reference to a type, or imports the type's file."""
        graph = self._graph
        near = (owner, self._node(graph.names[owner].partition(":")[0]))
        rows = graph.incoming.of(np.array([number for number in near if number >= 0], dtype="<i8"))
        return bool((graph.edges[rows, 4] == file).any())


def last_name(name: str) -> str:
    """The last name of an id, without the number of an overload."""
    return strip_overload(name).rpartition(".")[2]
