"""The content of a graph shard: nodes and edges of its files, resolved over the complete project.
Reads and writes no file.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import orjson

from cortex.generation.contract import GRAPH_BYTES_MAX
from cortex.graph.facts.tables import Packed
from cortex.graph.frameworks.nodes import routes_of
from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.calling.common_names import COMMON
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project, home_of
from cortex.graph.resolution.render import nodes_of
from cortex.graph.resolution.resolve import resolve_file
from cortex.graph.resolution.types.structural_types import MethodSets
from cortex.system import zstd

log = logging.getLogger(__name__)

#: path → (nodes, edges, unresolved uses)
Body = Mapping[str, tuple[list[Any], list[Any], list[Any]]]


class Tools:
    """A project with its evaluator and method sets."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.renew()

    def renew(self) -> None:
        """Drop all results, also of evaluations in progress."""
        self.evaluator = Evaluator(self.project)
        self.sets = MethodSets(self.project, self.evaluator)


def order_by_location(packed: Mapping[str, Packed], paths: Iterable[str]) -> list[str]:
    """Sort `paths` so that files that refer to the same files are neighbours."""

    def location(path: str) -> tuple[str, str, str]:
        language = packed[path].language
        return language, home_of(packed[path], LANGUAGES[language].rules), path

    return sorted(paths, key=location)


@dataclass(frozen=True, slots=True)
class Bodies:
    """The content of shards; files not `affected` (None: all are) keep what they had.

    `structural`: path → its edges of `structural_types`, which are added to those of its text.
    """

    tools: Tools
    affected: Collection[str] | None
    structural: Mapping[str, list[Edge]]
    #: path → its part of a Body, packed JSON, until its shard is written
    ahead: dict[str, bytes | memoryview] = field(default_factory=dict)

    def resolve_ahead(self, paths: Iterable[str]) -> None:
        """Resolve the affected ones of `paths`, in order of location."""
        affected = self.affected
        affected_paths = [path for path in paths if affected is None or path in affected]
        for path in order_by_location(self.tools.project.packed, affected_paths):
            self.ahead[path] = zstd.pack(self._resolve(path))

    def build_body(self, files: Iterable[str], before: Body) -> Body:
        """Return the content of `files`, a shard's."""
        body: dict[str, tuple[list[Any], list[Any], list[Any]]] = {}
        for path in files:
            if self.affected is None or path in self.affected or path not in before:
                packed = self.ahead.pop(path, None)
                raw = self._resolve(path) if packed is None else zstd.unpack(packed, GRAPH_BYTES_MAX)
                nodes, edges, unresolved = orjson.loads(raw)
                structural = msgspec.to_builtins(self.structural.get(path, ()))
                body[path] = nodes, [*edges, *structural], unresolved
            else:
                body[path] = before[path]
        return body

    def _resolve(self, path: str) -> bytes:
        tools = self.tools
        edges, unresolved, routes = self._edges(path)
        tools.sets.relax()
        uses = [_describe_unresolved(path, name, unresolved[name]) for name in sorted(unresolved)]
        nodes = nodes_of(tools.project, tools.sets, path)
        return msgspec.json.encode(([*nodes, *routes], edges, uses))

    def _edges(self, path: str) -> tuple[list[Edge], dict[str, list[int]], list[dict[str, Any]]]:
        """Return a file's edges, its unresolved uses, and the nodes of its routes."""
        tools = self.tools
        try:
            edges, unresolved = resolve_file(tools.project, tools.evaluator, path)
            routes, edges = routes_of(tools.project, tools.evaluator, path, edges)
        except MemoryError:
            raise
        except Exception:  # one file must not keep the others from the graph
            log.exception("%s has no edges in the graph", path)
            tools.renew()
            return [], {}, []
        return edges, unresolved, routes


def _describe_unresolved(path: str, name: str, lines: list[int]) -> dict[str, Any]:
    """Return a file's unresolved uses of a name; of a library's name their number alone."""
    entry = {"file": path, "name": name, "count": len(lines)}
    return entry if name in COMMON else entry | {"lines": sorted(set(lines))}
