"""Edges as the graph files have them, and a writer of those of one file."""

from collections.abc import Sequence

import msgspec

from cortex.graph.facts.declared.unnamed_types import UNNAMED
from cortex.graph.facts.facts import Reference
from cortex.graph.resolution.project import Project, Ref


class Location(msgspec.Struct, frozen=True, gc=False):
    file: str
    line: int
    column: int


class Edge(msgspec.Struct, frozen=True, omit_defaults=True, rename={"source": "from", "target": "to"}):
    """An edge of the graph files. `target` is "" for an ambiguous call, which lists its
    `candidates`.
    """

    source: str
    target: str
    type: str
    location: Location
    confidence: str = ""
    candidates: tuple[str, ...] = ()


class Edges:
    """Builder of one file's edges, by the definitions in which they begin."""

    def __init__(self, project: Project, path: str) -> None:
        self._project, self._path = project, path
        self.module = project.module_id(path)

    def source(self, scope: int) -> str:
        return self._project.ids(self._path)[scope] if scope >= 0 else self.module

    def _caller(self, scope: int) -> int:
        """Return the scope that runs a call: the initialisers of an unnamed class run in the
        function around it.
        """
        definitions = self._project.index(self._path).facts.definitions
        while scope >= 0 and definitions[scope].name.endswith(UNNAMED):
            scope = definitions[scope].parent
        return scope

    def edge_to(self, scope: int, target: str, kind: str, place: tuple[int, int], confidence: str) -> Edge:
        return Edge(self.source(scope), target, kind, Location(self._path, *place), confidence)

    def call(self, reference: Reference, ref: Ref, confidence: str) -> Edge:
        place = reference.line, reference.column
        return self.edge_to(
            self._caller(reference.scope), self._project.id_of(ref), "calls", place, confidence
        )

    def ambiguous(self, reference: Reference, refs: Sequence[Ref], confidence: str) -> Edge:
        return Edge(
            self.source(self._caller(reference.scope)),
            "",
            "calls",
            Location(self._path, reference.line, reference.column),
            confidence,
            tuple(sorted(self._project.id_of(ref) for ref in refs)),
        )
