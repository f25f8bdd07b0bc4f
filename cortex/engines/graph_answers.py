"""A question about structure → its answer: finds the target, walks, and renders each result with its context lines."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from cortex.engines.graph_segments import CONFIDENCES, EDGE_TYPES, Graph, GraphOpener
from cortex.engines.graph_targets import Targets
from cortex.engines.graph_walks import Limits, Scope, Step, Walk, Walker
from ipc.errors import BadRequest
from ipc.messages import GraphHits, GraphSearch

#: bounds of the arguments: out of them they are clamped
DEPTH_MAX, RESULTS_MAX, LEVEL_MAX, CONTEXT_MAX = 10, 500, 100, 20
#: bytes of a file that context is cut from, and files that are kept
FILE_BYTES_MAX = 2 * 1024 * 1024
FILES_KEPT = 128
#: characters of one context line
LINE_CHARS_MAX = 240

#: operations whose results are shown where the edge is written; the others where the result is defined
_AT_EDGE = frozenset({"callers", "dependents", "type_usages", "impact"})


class Sources:
    """Reads context lines: current content, of plain files inside the root only."""

    def __init__(self, root: Path) -> None:
        self._root = os.path.realpath(root)
        self._kept: dict[str, tuple[tuple[int, int], list[str]]] = {}

    def lines(self, path: str, line: int, around: int) -> list[dict[str, Any]]:
        """`around` lines on each side of `line`, with their numbers; none when the file cannot be shown."""
        text = self._read(path)
        first, last = max(1, line - around), min(len(text), line + around)
        return [{"line": n, "text": text[n - 1][:LINE_CHARS_MAX]} for n in range(first, last + 1)]

    def _read(self, path: str) -> list[str]:
        whole = os.path.realpath(os.path.join(self._root, path))
        if not whole.startswith(self._root.rstrip("/") + "/"):
            return []
        try:
            descriptor = os.open(whole, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return []
        with os.fdopen(descriptor, "rb") as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode) or info.st_size > FILE_BYTES_MAX:
                return []
            known = self._kept.get(whole)
            identity = (info.st_mtime_ns, info.st_size)
            if known is None or known[0] != identity:
                text = file.read(FILE_BYTES_MAX).decode("utf-8", "replace")
                lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
                known = (identity, lines)
            self._kept.pop(whole, None)
            self._kept[whole] = known
            if len(self._kept) > FILES_KEPT:
                del self._kept[next(iter(self._kept))]
            return known[1]


class GraphSnapshot:
    """One generation's graph, opened."""

    def __init__(self, graph: Graph, number: int, sources: Sources) -> None:
        self.graph = graph
        self._number = number
        self._sources = sources
        self._targets = Targets(graph)
        self._walker = Walker(graph, self._targets)

    def search(self, request: GraphSearch) -> GraphHits:
        """Raises BadRequest for a question that cannot be asked."""
        found = self._targets.find(request.target)
        if not found.nodes:
            return self._nothing(found.suggestion, found.candidates)
        limits = Limits(
            depth=_clamp(request.depth, 1, DEPTH_MAX),
            max_results=_clamp(request.max_results, 1, RESULTS_MAX),
            max_per_level=_clamp(request.max_per_level, 1, LEVEL_MAX),
        )
        scope = _scope(request)
        if request.operation == "path":
            if not request.to:
                raise BadRequest("The operation path needs `to`: the name where the path ends.")
            ends = self._targets.find(request.to)
            if not ends.nodes:
                return self._nothing(ends.suggestion, ends.candidates)
            walk = self._walker.path(found.nodes, ends.nodes, limits, scope)
        else:
            walk = self._walker.walk(request.operation, found.nodes, limits, scope)
        results = [self._result(step, request) for step in walk.steps]
        suggestion = "" if results else self._why_nothing(request, self.graph.names[found.nodes[0]])
        return GraphHits(
            generation=self._number,
            target=self.graph.names[found.nodes[0]],
            paths=tuple(path for path, _ in results),
            total_found=walk.total,
            truncated=walk.truncated,
            suggestion=suggestion,
            candidates=(),
            summary=self._summary(walk) if request.operation == "impact" else {},
            results=tuple(raw for _, raw in results),
        )

    def _nothing(self, suggestion: str, candidates: tuple[str, ...]) -> GraphHits:
        return GraphHits(
            generation=self._number,
            target="",
            paths=(),
            total_found=0,
            truncated=False,
            suggestion=suggestion,
            candidates=candidates,
            summary={},
            results=(),
        )

    def _why_nothing(self, request: GraphSearch, name: str) -> str:
        if request.scope or request.exclude_patterns:
            return f"Nothing for {name} within scope and exclude_patterns; loosen them."
        if request.operation == "path":
            return f"No chain of calls or other edges leads from {name} to {request.to}."
        return (
            f"The graph has no {request.operation} of {name}. Calls through values that syntax cannot follow "
            "(callbacks, reflection, untyped receivers) are not in it; cortex_exact finds every mention of the name."
        )

    def _result(self, step: Step, request: GraphSearch) -> tuple[str, bytes]:
        """(path whose age decides whether the result is stale, the result's JSON)."""
        graph = self.graph
        row = int(graph.node_of[step.number])
        node = graph.node_json(row) if row >= 0 else {"id": graph.names[step.number], "kind": "external"}
        result: dict[str, Any] = {"node": node, "depth": step.depth}
        path, line = str(node.get("file", "")), int(node.get("start_line", 0))
        if step.edge >= 0:
            edge = graph.edges[step.edge].tolist()
            place = {"file": graph.names[edge[4]], "line": edge[5], "column": edge[6]}
            result |= {"edge": EDGE_TYPES[edge[2]], "confidence": CONFIDENCES[edge[3]], "location": place}
            if edge[7]:
                same = graph.edges[graph.edges[:, 7] == edge[7], 1]
                result["candidates"] = [graph.names[number] for number in same.tolist()]
            if request.operation in _AT_EDGE:
                path, line = place["file"], place["line"]
        if step.impact_type:
            result |= {"impact_type": step.impact_type, "severity": step.severity}
        if request.include_context and path and line:
            result["context"] = self._sources.lines(path, line, _clamp(request.context_lines, 0, CONTEXT_MAX))
        return path, orjson.dumps(result)

    def _summary(self, walk: Walk) -> dict[str, Any]:
        files = {
            int(self.graph.nodes[row, 2])
            for s in walk.steps
            if (row := int(self.graph.node_of[s.number])) >= 0
        }
        return {
            "affected": len(walk.steps),
            "files": len(files),
            "by_severity": dict(Counter(step.severity for step in walk.steps)),
            "by_type": dict(Counter(step.impact_type for step in walk.steps)),
            "max_depth": max((step.depth for step in walk.steps), default=0),
        }


def open_graph(opener: GraphOpener, names: Mapping[str, str], number: int, sources: Sources) -> GraphSnapshot:
    """Raises NotFound or Damaged."""
    return GraphSnapshot(opener.open(names), number, sources)


def _scope(request: GraphSearch) -> Scope:
    try:
        return Scope(request.scope, request.exclude_patterns)
    except ValueError as error:
        raise BadRequest(f"A glob of scope or exclude_patterns cannot be read: {error}.") from error


def _clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)
