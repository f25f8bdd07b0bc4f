"""The eight operations over an assembled graph: bounded walks, level by level, with what was left out counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from pathspec import GitIgnoreSpec

from cortex.engines.graph_segments import CONFIDENCES, EDGE_TYPES, Graph
from cortex.engines.graph_targets import Targets
from ipc.messages import Array

#: what a type is made by: its callers count as callers of these methods
CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor", "__construct", "initialize", "init", "new"})
#: nodes that a path may visit
VISITED_MAX = 200_000

_TYPE = {name: number for number, name in enumerate(EDGE_TYPES)}
_KINDS: dict[str, tuple[str, ...]] = {
    "implementations": ("implements", "extends", "embeds"),
    "callers": ("calls",),
    "callees": ("calls",),
    "dependencies": ("imports", "calls", "uses_type", "implements", "extends", "embeds"),
    "dependents": ("imports", "calls", "uses_type", "implements", "extends", "embeds"),
    "type_usages": ("uses_type", "implements", "extends", "embeds"),
    "impact": ("calls", "implements", "extends", "embeds", "uses_type", "imports"),
}
#: edge type → (impact type, severity at depth 1)
_IMPACT = {
    "calls": ("caller", "high"),
    "implements": ("implementation", "high"),
    "extends": ("subtype", "high"),
    "embeds": ("subtype", "high"),
    "uses_type": ("type_usage", "medium"),
    "imports": ("importer", "low"),
    "other": ("reference", "low"),
}
_SEVERITIES = ("high", "medium", "low")


@dataclass(frozen=True, slots=True)
class Limits:
    depth: int = 1
    max_results: int = 100
    max_per_level: int = 50


@dataclass(frozen=True, slots=True)
class Step:
    """One result: the node `number`, `depth` levels away, reached by the edge in row `edge` (-1: where a path begins)."""

    number: int
    depth: int
    edge: int
    impact_type: str = ""
    severity: str = ""


@dataclass(frozen=True, slots=True)
class Walk:
    """What was found. `total` counts what the limits left out too, as far as was walked."""

    steps: tuple[Step, ...] = ()
    total: int = 0
    truncated: bool = False


@dataclass(slots=True)
class Scope:
    """Which files a walk may enter. Globs as in .gitignore."""

    scope: str = ""
    exclude: tuple[str, ...] = ()
    _memo: dict[int, bool] = field(default_factory=dict)
    _inside: GitIgnoreSpec | None = None
    _outside: GitIgnoreSpec | None = None

    def __post_init__(self) -> None:
        self._inside = GitIgnoreSpec.from_lines([self.scope]) if self.scope else None
        self._outside = GitIgnoreSpec.from_lines(self.exclude) if self.exclude else None

    def allows(self, graph: Graph, number: int) -> bool:
        if self._inside is None and self._outside is None:
            return True
        row = int(graph.node_of[number])
        file = int(graph.nodes[row, 2]) if row >= 0 else -1
        if file not in self._memo:
            path = graph.names[file] if file >= 0 else ""
            inside = self._inside is None or (bool(path) and self._inside.match_file(path))
            self._memo[file] = inside and not (
                self._outside is not None and path and self._outside.match_file(path)
            )
        return self._memo[file]


class Walker:
    """Walks over one graph."""

    def __init__(self, graph: Graph, targets: Targets) -> None:
        self.graph = graph
        self.targets = targets

    def walk(self, operation: str, start: Sequence[int], limits: Limits, scope: Scope) -> Walk:
        """All operations but `path`. `start` are the numbers that the target means."""
        backward = operation not in ("callees", "dependencies")
        if operation == "implementations" and (methods := self._method_implementations(start)) is not None:
            return self._cut([Step(number, 1, edge) for number, edge in methods], limits, scope)
        kinds = _KINDS[operation]
        begin = list(start)
        if operation in ("callees", "dependencies", "dependents", "impact"):
            begin = self.targets.members(start)
        elif operation == "callers":
            begin += self._owners_of_constructors(start)
        if operation in ("dependencies", "dependents") and self._are_modules(start):
            kinds = ("imports",)
        return self._levels(begin, kinds, limits, scope, backward=backward, impact=operation == "impact")

    def path(self, start: Sequence[int], end: Sequence[int], limits: Limits, scope: Scope) -> Walk:
        """A shortest way from `start` to `end` over calls; over any edge when there is none."""
        goal = set(self.targets.members(end))
        for kinds in (("calls",), tuple(EDGE_TYPES)):
            steps = self._shortest(self.targets.members(start), goal, kinds, limits, scope)
            if steps:
                return Walk(tuple(steps), len(steps))
        return Walk()

    def _levels(
        self,
        start: list[int],
        kinds: tuple[str, ...],
        limits: Limits,
        scope: Scope,
        *,
        backward: bool,
        impact: bool,
    ) -> Walk:
        lists, far = (self.graph.incoming, 0) if backward else (self.graph.outgoing, 1)
        wanted = np.array([_TYPE[kind] for kind in kinds])
        visited = set(start)
        frontier = np.array(start, dtype="<i8")
        steps: list[Step] = []
        total, cut = 0, False
        for depth in range(1, limits.depth + 1):
            rows = lists.of(frontier)
            rows = rows[np.isin(self.graph.edges[rows, 2], wanted)]
            fresh = self._first_edges(rows, far, kinds, visited, scope)
            total += len(fresh)
            kept = fresh[: limits.max_per_level]
            cut = cut or len(kept) < len(fresh)
            visited.update(number for number, _ in fresh)
            for number, row in kept:
                kind, severity = self._impact(row, depth) if impact else ("", "")
                steps.append(Step(number, depth, row, kind, severity))
            if not kept or len(steps) >= limits.max_results:
                cut = cut or bool(kept and len(steps) > limits.max_results)
                break
            frontier = np.array([number for number, _ in kept], dtype="<i8")
        if impact:
            steps.sort(key=lambda step: (_SEVERITIES.index(step.severity), step.depth))
        return Walk(tuple(steps[: limits.max_results]), total, cut or len(steps) > limits.max_results)

    def _first_edges(
        self, rows: Array, far: int, kinds: tuple[str, ...], visited: set[int], scope: Scope
    ) -> list[tuple[int, int]]:
        """(node, edge) of each node not visited yet: by the surest edge, in the order of files and lines."""
        edges = self.graph.edges
        rank = np.array([kinds.index(kind) if kind in kinds else len(kinds) for kind in EDGE_TYPES])
        chosen = edges[rows]
        order = np.lexsort((chosen[:, 6], chosen[:, 5], rank[chosen[:, 2]], chosen[:, 3], chosen[:, 7] > 0))
        found: dict[int, int] = {}
        for at in order.tolist():
            number = int(chosen[at, far])
            if number not in visited and number not in found and scope.allows(self.graph, number):
                found[number] = int(rows[at])
        place = [(*self._place(row), number, row) for number, row in found.items()]
        return [(number, row) for *_, number, row in sorted(place)]

    def _place(self, row: int) -> tuple[bool, str, int]:
        """Where a result stands among others: sure ones first, then by file and line."""
        edge = self.graph.edges[row]
        return (bool(edge[7]), self.graph.names[int(edge[4])], int(edge[5]))

    def _impact(self, row: int, depth: int) -> tuple[str, str]:
        edge = self.graph.edges[row]
        kind, severity = _IMPACT[EDGE_TYPES[int(edge[2])]]
        unsure = bool(edge[7]) or CONFIDENCES[int(edge[3])] == "name"
        lower = _SEVERITIES.index(severity) + (depth > 1) + (depth > 2) + unsure
        return kind, _SEVERITIES[min(lower, len(_SEVERITIES) - 1)]

    def _shortest(
        self, start: list[int], goal: set[int], kinds: tuple[str, ...], limits: Limits, scope: Scope
    ) -> list[Step]:
        wanted = np.array([_TYPE[kind] for kind in kinds])
        came: dict[int, tuple[int, int]] = dict.fromkeys(start, (-1, -1))
        if goal & came.keys():
            return [Step(next(iter(goal & came.keys())), 0, -1)]
        frontier = np.array(start, dtype="<i8")
        edges = self.graph.edges
        while len(frontier) and len(came) < VISITED_MAX:
            rows = self.graph.outgoing.of(frontier)
            rows = rows[np.isin(edges[rows, 2], wanted) & (edges[rows, 7] == 0)]
            fresh: list[int] = []
            for source, target, row in zip(
                edges[rows, 0].tolist(), edges[rows, 1].tolist(), rows.tolist(), strict=True
            ):
                if target in came or not scope.allows(self.graph, target):
                    continue
                came[target] = (source, row)
                if target in goal:
                    return self._way(target, came)[: limits.max_results]
                fresh.append(target)
            frontier = np.array(fresh, dtype="<i8")
        return []

    def _way(self, end: int, came: dict[int, tuple[int, int]]) -> list[Step]:
        back = [(end, came[end][1])]
        while came[back[-1][0]][0] >= 0:
            before = came[back[-1][0]][0]
            back.append((before, came[before][1]))
        return [Step(number, depth, row) for depth, (number, row) in enumerate(reversed(back))]

    def _cut(self, steps: list[Step], limits: Limits, scope: Scope) -> Walk:
        allowed = [step for step in steps if scope.allows(self.graph, step.number)]
        kept = allowed[: min(limits.max_results, limits.max_per_level)]
        return Walk(tuple(kept), len(allowed), len(kept) < len(allowed))

    def _kind(self, number: int) -> str:
        row = int(self.graph.node_of[number])
        return self.graph.names[int(self.graph.nodes[row, 1])] if row >= 0 else ""

    def _are_modules(self, numbers: Iterable[int]) -> bool:
        return all(self._kind(number) in ("module", "package") for number in numbers)

    def _owner(self, number: int) -> int:
        """The type that a method belongs to, by its id; -1 when there is none."""
        name = self.graph.names[number]
        owner = self.graph.numbers.get(name.rpartition(".")[0], -1) if ":" in name else -1
        return owner if owner >= 0 and self.graph.node_of[owner] >= 0 else -1

    def _owners_of_constructors(self, numbers: Iterable[int]) -> list[int]:
        owners = [
            self._owner(number)
            for number in numbers
            if self.graph.names[number].rpartition(".")[2].partition("~")[0] in CONSTRUCTORS
        ]
        return [owner for owner in owners if owner >= 0]

    def _method_implementations(self, start: Sequence[int]) -> list[tuple[int, int]] | None:
        """(method, edge) of those that implement or override a method; None when the target is no method."""
        if not start or any(self._kind(number) != "method" for number in start):
            return None
        found: dict[int, int] = {}
        wanted = np.array([_TYPE[kind] for kind in _KINDS["implementations"]])
        for number in start:
            name = self.graph.names[number].rpartition(".")[2].partition("~")[0]
            seen, frontier = {self._owner(number)} - {-1}, [self._owner(number)]
            while frontier:
                rows = self.graph.incoming.of(np.array([n for n in frontier if n >= 0], dtype="<i8"))
                rows = rows[np.isin(self.graph.edges[rows, 2], wanted)]
                frontier = []
                for row in rows.tolist():
                    subtype = int(self.graph.edges[row, 0])
                    if subtype in seen:
                        continue
                    seen.add(subtype)
                    frontier.append(subtype)
                    own = self.graph.numbers.get(f"{self.graph.names[subtype]}.{name}", -1)
                    if own >= 0 and self.graph.node_of[own] >= 0:
                        found.setdefault(own, row)
        return list(found.items())
