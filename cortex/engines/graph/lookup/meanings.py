"""Nodes by what they mean: parts, signatures and bodies of one definition are one meaning."""

import re
from collections.abc import Mapping

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.engines.graph.lookup.members import Members
from cortex.generation.graph import EDGE_TYPES
from cortex.terms.ids import strip_overload
from cortex.terms.paths import is_built, is_example, is_foreign, is_test

#: files that only declare definitions of other files, and the beginnings of their ids
_DECLARATIONS = re.compile(r"\.d\.[cm]?ts$|\.pyi$")
_DECLARATION_STEM = re.compile(r"(?:\.d(?:\.[cm]?ts)?|\.pyi)$")
#: kinds of definitions that may only name an import: `const save = require("./save")`
_IMPORTED = frozenset({"constant", "type"})
_IMPORTS = EDGE_TYPES.index("imports")


class Meanings:
    """The meanings of one graph's nodes. `modules`: number of a file's path → its node."""

    def __init__(self, graph: Graph, modules: Mapping[int, int], method_owners: Members) -> None:
        self._graph, self._modules, self._method_owners = graph, modules, method_owners

    def meaning_of(self, number: int) -> str:
        """The id of a node's meaning, without the number of an overload. Parts of one definition
        share it: for a Ruby class opened in several files the name alone, for parts of a C# class
        the folder and the name, for a C++ method defined outside of its type the id of the
        declaration, for a declaration in `store.pyi` or `store.d.ts` the id in the file beside it.
        """
        name = strip_overload(
            self._graph.names[next(iter(self._method_owners.declaration_and_bodies(number)), number)]
        )
        path, kind = self._graph.file_of(number), self._graph.kind(number)
        stem, _, scope = name.partition(":")
        if path.endswith(".rb") and kind in ("class", "trait"):
            return scope
        if path.endswith(".cs") and scope:
            folder = stem.rpartition("/")[0]
            return f"{folder}:{scope}" if folder else scope
        if _DECLARATIONS.search(path):
            body = self._graph.names.number(f"{_DECLARATION_STEM.sub('', stem)}:{scope}")
            return self._graph.names[body] if body >= 0 and self._graph.node_of[body] >= 0 else name
        return name

    def is_signature(self, number: int) -> bool:
        """Whether a node may be a signature beside a body of the same meaning: it is in a file of
        declarations, or numbered as a further overload.
        """
        in_declarations = _DECLARATIONS.search(self._graph.file_of(number)) is not None
        return in_declarations or "~" in self._graph.names[number]

    def order(self, number: int) -> tuple[int, bool, bool]:
        """The place of a node among those of its meaning: generated parts and signatures last, and
        a declaration in a C++ type behind the body elsewhere.
        """
        is_declared = number in self._method_owners.declaration_and_bodies(number)[:1]
        return rank_path(self._graph.file_of(number)), self.is_signature(number), is_declared

    def drop_imports(self, groups: dict[str, list[int]]) -> dict[str, list[int]]:
        """Remove meanings that are only names of an import from a file with another meaning."""
        if len(groups) < 2:
            return groups
        files = {self._graph.file_of(number) for numbers in groups.values() for number in numbers}
        remaining = {
            meaning: numbers
            for meaning, numbers in groups.items()
            if not all(self._imported_file(number) in files for number in numbers)
        }
        return remaining or groups

    def _imported_file(self, number: int) -> str:
        """The file from which the line of a constant or type imports; "" if it is no import."""
        graph = self._graph
        _, _, file, first, last, _ = graph.nodes[graph.node_of[number]].tolist()
        if graph.kind(number) not in _IMPORTED or file not in self._modules:
            return ""
        edges = graph.edges[graph.outgoing.of(np.array([self._modules[file]], dtype="<i8"))]
        on_line = (
            (edges[:, 2] == _IMPORTS) & (edges[:, 4] == file) & (first <= edges[:, 5]) & (edges[:, 5] <= last)
        )
        for target in edges[on_line, 1].tolist():
            if graph.node_of[target] >= 0 and graph.file_of(target) != graph.names[file]:
                return graph.file_of(target)
        return ""

    def find_outstanding(self, groups: dict[str, list[int]], target: str) -> str | None:
        """The only meaning, or the only one in the project's main code, or the one that is `target`
        in full: a Ruby class outside of all others. Else None.
        """
        graph = self._graph
        ranks: dict[str, int] = {}
        for meaning, numbers in groups.items():
            files = graph.nodes[graph.node_of[numbers], 2].tolist()
            ranks[meaning] = min(rank_path(graph.names[file]) for file in files)
        best = [meaning for meaning, rank in ranks.items() if rank == min(ranks.values())]
        return best[0] if len(best) == 1 else target if target in groups else None


def rank_path(path: str) -> int:
    """The rank of a path: 0 for main code, 1 for declarations, tests and examples, 2 for built or
    foreign files.
    """
    if is_foreign(path) or is_built(path):
        return 2
    is_minor = is_test(path) or is_example(path) or _DECLARATIONS.search(path) is not None
    return 1 if is_minor else 0
