"""The eight operations over an assembled graph: bounded walks, level by level, that count the
omitted results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.engines.graph.members import IS_A, last_name
from cortex.engines.graph.targets import Targets
from cortex.generation.graph import CONFIDENCES, EDGE_TYPES
from cortex.system.arrays import Array
from cortex.terms.kinds import WHOLE_KINDS

#: constructors: callers of their type count as callers of these methods
CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor", "__construct", "initialize", "init", "new"})

_TYPE = {name: number for number, name in enumerate(EDGE_TYPES)}
_KINDS: dict[str, tuple[str, ...]] = {
    "implementations": IS_A,
    "callers": ("calls", "references"),
    "callees": ("calls",),
    "dependencies": ("imports", "calls", "uses_type", "implements", "extends", "embeds", "references"),
    "dependents": ("imports", "calls", "uses_type", "implements", "extends", "embeds", "references"),
    "type_usages": ("uses_type", "implements", "extends", "embeds"),
    "impact": ("calls", "implements", "extends", "embeds", "references", "uses_type", "imports"),
}
#: kinds of types without method bodies: implementations cannot call those of their base
_BODILESS = frozenset({"interface", "trait"})
#: operations that follow edges forward; all others go backward
FORWARD = ("callees", "dependencies")
#: edge type → (impact type, severity at depth 1)
_IMPACT = {
    "calls": ("caller", "high"),
    "implements": ("implementation", "high"),
    "extends": ("subtype", "high"),
    "embeds": ("subtype", "high"),
    "uses_type": ("type_usage", "medium"),
    "imports": ("importer", "low"),
    "other": ("reference", "low"),
    "references": ("reference", "medium"),
}
_SEVERITIES = ("high", "medium", "low")
#: definitions that a walk for an impact visits, per level and in all: each takes 10 µs
WALKED_MAX = 25_000


@dataclass(frozen=True, slots=True)
class WalkLimits:
    """Bounds of a walk: `offset` results are skipped, and `max_results` shown. With several levels
    each contributes at most `max_per_level`. `recursive`: the walk may come back to its start.
    """

    depth: int = 1
    max_results: int = 100
    max_per_level: int = 50
    offset: int = 0
    recursive: bool = False

    @property
    def last(self) -> int:
        """Results up to the end of the page."""
        return self.offset + self.max_results

    @property
    def most(self) -> int:
        """Results to collect: one after the page proves that another page exists."""
        return self.last + 1

    @property
    def level(self) -> int:
        """Results of one level; the bound per level applies only to several levels."""
        return self.most if self.depth == 1 else self.max_per_level


@dataclass(frozen=True, slots=True)
class Step:
    """One result: the node `number`, `depth` levels away, reached by the edge in row `edge` (-1 at
    the beginning of a path). `via`: the method that the edge calls, if the call may reach the
    target by dispatch; else -1. `further`: rows of the edges at the other places of a
    caller; `dispatched`: of those by dispatch, if the row itself is none.
    """

    number: int
    depth: int
    edge: int
    impact_type: str = ""
    severity: str = ""
    via: int = -1
    further: tuple[int, ...] = ()
    dispatched: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Walk:
    """The results of a walk from the first on; `page` selects some. `total` includes results beyond
    the limits, independent of the page. An impact visits up to WALKED_MAX definitions: `every`
    holds them (of callers those by dispatch), and `ended` says that there were more.
    """

    steps: tuple[Step, ...] = ()
    total: int = 0
    truncated: bool = False
    every: tuple[Step, ...] = ()
    ended: bool = False

    def page(self, limits: WalkLimits) -> tuple[Step, ...]:
        return self.steps[limits.offset : limits.last]

    def following(self, limits: WalkLimits) -> int:
        """The offset of the next page; 0 without one."""
        return limits.last if len(self.steps) > limits.last else 0


@dataclass(frozen=True, slots=True)
class WalkScope:
    """The files that a walk shows and enters: it passes through files that are not in `inside`
    (None: all are) without showing them, and does not enter files in `outside`.
    """

    inside: AbstractSet[str] | None = None
    outside: AbstractSet[str] = frozenset()

    @property
    def is_limited(self) -> bool:
        return self.inside is not None or bool(self.outside)

    def of(self, graph: Graph, numbers: Array) -> tuple[Array, Array]:
        """(shown, entered), bool [n] each, for the nodes `numbers`."""
        if not self.is_limited:
            every = np.ones(len(numbers), dtype=bool)
            return every, every
        rows = graph.node_of[numbers]
        files = np.where(rows >= 0, graph.nodes[rows, 2], -1) if len(graph.nodes) else np.full(len(rows), -1)
        files, at = np.unique(files, return_inverse=True)
        paths = (graph.names[file] if file >= 0 else "" for file in files.tolist())
        flags = np.array([self._file_flags(path) for path in paths], dtype=bool).reshape(-1, 2)[at.ravel()]
        return flags[:, 0], flags[:, 1]

    def shows(self, graph: Graph, number: int) -> bool:
        return bool(self.of(graph, np.array([number]))[0][0])

    def _file_flags(self, path: str) -> tuple[bool, bool]:
        entered = path not in self.outside
        return entered and (self.inside is None or path in self.inside), entered


class Walker:
    """Walks over one graph."""

    def __init__(self, graph: Graph, targets: Targets) -> None:
        self.graph = graph
        self.targets = targets
        self.members = targets.method_owners

    def walk(self, operation: str, start: Sequence[int], limits: WalkLimits, scope: WalkScope) -> Walk:
        """Run any operation but `path`. `start`: numbers of the target's nodes."""
        backward = operation not in FORWARD
        if operation == "implementations" and all(self.graph.kind(number) == "method" for number in start):
            methods = self.members.overriding(start)
            return self._limit_steps(
                [Step(number, 1, edge) for number, edge in methods.items()], limits, scope
            )
        are_modules = self._are_modules(start)
        if are_modules and operation in ("dependencies", "dependents"):
            return self._walk_files(start, limits, scope, backward=backward)
        begin = list(start)
        if are_modules or operation in ("callees", "dependencies", "dependents", "impact"):
            begin = self.targets.members(start)
        elif operation == "callers":
            begin += self._owners_of_constructors(start)
        if operation == "impact":
            return self._impact_of(start, begin, limits, scope)
        if operation == "callers":
            walk = self._walk_levels(begin, _KINDS[operation], limits, scope, backward=True, every_place=True)
            return self._with_dispatch(begin, walk, limits, scope)
        return self._walk_levels(begin, _KINDS[operation], limits, scope, backward=backward)

    def _with_dispatch(
        self, targets: Sequence[int], walk: Walk, limits: WalkLimits, scope: WalkScope
    ) -> Walk:
        """Append callers of the methods that `targets` implement or override, any overload of them.
        Other overrides of the same base are left out: their calls reach the base's body. Interfaces
        have no bodies: there a call by one implementation reaches another.
        """
        overridden = self.members.overridden(targets)
        dispatching = [upper for upper, row in overridden.items() if self._may_dispatch(upper, row)]
        uppers = [copy for upper in dispatching for copy in self.targets.copies(upper)]
        if not uppers:
            return walk
        bases = [
            method for method in dispatching if self.graph.kind(self.members.owner(method)) not in _BODILESS
        ]
        most = WalkLimits(1, WALKED_MAX)
        calls = self._walk_levels(uppers, ("calls",), most, scope, backward=True, every_place=True).steps
        direct = self._walk_levels(list(targets), _KINDS["callers"], most, scope, backward=True).steps
        excluded = {*targets, *(step.number for step in (*direct, *walk.steps))}
        excluded |= self.members.overriding(bases).keys()
        sure = [step for step in calls if not self.graph.is_unsure(step.edge)]
        steps = [
            replace(step, via=int(self.graph.edges[step.edge, 1]))
            for step in sure
            if step.number not in excluded
        ]
        dispatched = {step.number: (step.edge, *step.further) for step in sure}
        callers = (
            replace(step, dispatched=dispatched.get(step.number, ())) if step.depth == 1 else step
            for step in walk.steps
        )
        both = (*callers, *steps)[: limits.most]
        return Walk(both, walk.total + len(steps), walk.truncated, tuple(steps))

    def _may_dispatch(self, upper: int, row: int) -> bool:
        """Whether a call of the method `upper` may reach an override. `row`: the edge between the
        types. Calls of constructors name their type, and an embedded struct calls its methods
        directly.
        """
        edge = self.graph.edges[row]
        embedded = edge[2] == _TYPE["embeds"] and self.graph.kind(int(edge[1])) == "struct"
        return not embedded and last_name(self.graph.names[upper]) not in CONSTRUCTORS

    def _impact_of(
        self, targets: Sequence[int], start: list[int], limits: WalkLimits, scope: WalkScope
    ) -> Walk:
        """All definitions that a change may reach, the worst first, within the limits per level and
        in all.
        """
        most = WalkLimits(limits.depth, WALKED_MAX - 1, WALKED_MAX)
        walk = self._walk_levels(start, _KINDS["impact"], most, scope, backward=True, impact=True)
        walk = self._with_overrides(targets, walk, scope)
        at_level = Counter[int]()
        steps: list[Step] = []
        for step in walk.steps:
            at_level[step.depth] += 1
            if at_level[step.depth] <= limits.level and len(steps) < limits.most:
                steps.append(step)
        truncated = walk.truncated or len(steps) < walk.total
        return Walk(tuple(steps), walk.total, truncated, walk.steps, walk.truncated)

    def _with_overrides(self, targets: Sequence[int], walk: Walk, scope: WalkScope) -> Walk:
        """Put overrides and overridden methods of the targets before `walk`: a change of one
        signature changes all of them.
        """
        others = self.members.overriding(targets) | self.members.overridden(targets)
        visited = {step.number for step in walk.steps} | set(targets)
        steps = tuple(
            Step(number, 1, edge, "override", "high")
            for number, edge in others.items()
            if number not in visited and scope.shows(self.graph, number)
        )
        return Walk(steps + walk.steps, walk.total + len(steps), walk.truncated)

    def _walk_files(
        self, start: Sequence[int], limits: WalkLimits, scope: WalkScope, *, backward: bool
    ) -> Walk:
        """Walk from files (or packages) to files that they refer to, or that refer to them: by an
        import if there is one, else by the first edge, for languages that share names without
        imports.
        """
        frontier = np.array(self.targets.members(start), dtype="<i8")
        visited: set[int] = {*self._units(frontier), *frontier.tolist()}
        steps: list[Step] = []
        total, cut = 0, False
        for depth in range(1, limits.depth + 1):
            neighbours = self._units_across(frontier, visited, scope, backward=backward)
            fresh = [(unit, row) for unit, row, is_shown in neighbours if is_shown]
            if not neighbours:
                break
            total += len(fresh)
            selected = fresh[: limits.level]
            cut = cut or len(selected) < len(fresh)
            steps += [Step(self.targets.module_of(unit), depth, row) for unit, row in selected]
            visited.update(unit for unit, _, _ in neighbours)
            going = [unit for unit, _ in selected] + [
                unit for unit, _, is_shown in neighbours if not is_shown
            ]
            numbers = [self.targets.module_of(unit) for unit in going]
            frontier = np.array(self.targets.members(numbers), dtype="<i8")
        return Walk(tuple(steps[: limits.most]), total, cut or len(steps) > limits.most)

    def _units(self, numbers: Array) -> list[int]:
        """The units of nodes: the number of a node's file, for a package its number."""
        rows = self.graph.node_of[numbers]
        rows = rows[rows >= 0]
        package = self.graph.kinds.get("package", -1)
        nodes = self.graph.nodes[rows]
        units: list[int] = np.where(nodes[:, 1] == package, nodes[:, 0], nodes[:, 2]).tolist()
        return units

    def _units_across(
        self, frontier: Array, visited: set[int], scope: WalkScope, *, backward: bool
    ) -> list[tuple[int, int, bool]]:
        """(unit, row of the edge, whether it is shown) of the files and packages at the other ends
        of the frontier's edges.
        """
        graph = self.graph
        rows = (graph.incoming if backward else graph.outgoing).of(frontier)
        rows = rows[graph.edges[rows, 7] == 0]
        if backward:
            units = graph.edges[rows, 4]
        else:
            rows = rows[graph.node_of[graph.edges[rows, 1]] >= 0]
            units = np.array(self._units(graph.edges[rows, 1]), dtype="<i4")
        fresh = ~np.isin(units, list(visited))
        rows, units = rows[fresh], units[fresh]
        edges = graph.edges[rows]
        order = np.lexsort((edges[:, 5], graph.file_ranks[edges[:, 4]], edges[:, 2] != _TYPE["imports"]))
        units, first = np.unique(units[order], return_index=True)
        rows = rows[order[first]]
        visible, entered = scope.of(
            graph, np.array([self.targets.module_of(u) for u in units.tolist()], "<i8")
        )
        edges = graph.edges[rows]
        order = np.lexsort((rows, edges[:, 5], graph.file_ranks[edges[:, 4]]))
        order = order[entered[order]]
        return list(zip(units[order].tolist(), rows[order].tolist(), visible[order].tolist(), strict=True))

    def path(self, start: Sequence[int], end: Sequence[int], scope: WalkScope) -> Walk:
        """A shortest path from `start` to `end` over calls; without one, over any edges."""
        goal = set(self.targets.members(end))
        for kinds in (("calls",), tuple(EDGE_TYPES)):
            steps = self._shortest_path(self.targets.members(start), goal, kinds, scope)
            if steps:
                return Walk(tuple(steps), len(steps))
        return Walk()

    def _walk_levels(
        self,
        start: list[int],
        kinds: tuple[str, ...],
        limits: WalkLimits,
        scope: WalkScope,
        *,
        backward: bool,
        impact: bool = False,
        every_place: bool = False,
    ) -> Walk:
        lists, end_column = (self.graph.incoming, 0) if backward else (self.graph.outgoing, 1)
        ranks = np.array([kinds.index(kind) if kind in kinds else -1 for kind in EDGE_TYPES])
        visited = np.zeros(len(self.graph.names), dtype=bool)
        frontier = np.array(start, dtype="<i8")
        visited[frontier] = not limits.recursive
        steps: list[Step] = []
        total, cut = 0, False
        for depth in range(1, limits.depth + 1):
            rows = lists.of(frontier)
            rows = rows[ranks[self.graph.edges[rows, 2]] >= 0]
            entered = self._first_edges(rows, end_column, ranks, visited, scope)
            visible, _ = scope.of(self.graph, self.graph.edges[entered, end_column])
            fresh, passed = entered[visible], entered[~visible]
            if not len(entered) or len(steps) >= max(limits.most, WALKED_MAX):
                cut = cut or len(fresh) > 0
                break
            total += len(fresh)
            selected = fresh[: limits.level]
            cut = cut or len(selected) < len(fresh)
            further = self._further_places(rows, selected, end_column) if every_place else {}
            for row in selected.tolist():
                kind, severity = self._rate_impact(row, depth) if impact else ("", "")
                number = int(self.graph.edges[row, end_column])
                steps.append(Step(number, depth, row, kind, severity, further=further.get(row, ())))
            visited[self.graph.edges[entered, end_column]] = True
            frontier = self.graph.edges[np.concatenate((selected, passed)), end_column]
        if impact:
            steps.sort(key=lambda step: (_SEVERITIES.index(step.severity), step.depth))
        return Walk(tuple(steps[: limits.most]), total, cut or len(steps) > limits.most)

    def _further_places(self, rows: Array, chosen: Array, end_column: int) -> dict[int, tuple[int, ...]]:
        """For each of the edges `chosen`, those of `rows` with the same end at other places, by
        file and line; of several edges at one place the surest.
        """
        edges = self.graph.edges
        mates = rows[np.isin(edges[rows, end_column], edges[chosen, end_column])]
        places = edges[mates][:, [end_column, 4, 5, 6]]
        order = np.lexsort((edges[mates, 7] > 0, *places.T[::-1]))
        _, first = np.unique(places[order], axis=0, return_index=True)
        by_end: dict[int, list[int]] = {}
        for row in mates[order[first]].tolist():
            by_end.setdefault(int(edges[row, end_column]), []).append(row)
        further = {}
        for row in chosen.tolist():
            others = by_end[int(edges[row, end_column])]
            place = edges[row, 4:7].tolist()
            further[row] = tuple(other for other in others if edges[other, 4:7].tolist() != place)
        return further

    def _first_edges(
        self, rows: Array, end_column: int, ranks: Array, visited: Array, scope: WalkScope
    ) -> Array:
        """The surest edge to each unvisited node; sure edges first, then by file and line."""
        rows = rows[~visited[self.graph.edges[rows, end_column]]]
        edges = self.graph.edges[rows]
        order = np.lexsort((edges[:, 6], edges[:, 5], edges[:, 3], ranks[edges[:, 2]], edges[:, 7] > 0))
        numbers, first = np.unique(edges[order, end_column], return_index=True)
        rows = rows[order[first]]
        rows = rows[scope.of(self.graph, numbers)[1]]
        edges = self.graph.edges[rows]
        places = (rows, edges[:, 6], edges[:, 5], self.graph.file_ranks[edges[:, 4]])
        return rows[np.lexsort((*places, edges[:, 7] > 0, edges[:, 2] == _TYPE["references"]))]

    def _rate_impact(self, row: int, depth: int) -> tuple[str, str]:
        edge = self.graph.edges[row]
        kind, severity = _IMPACT[EDGE_TYPES[int(edge[2])]]
        unsure = self.graph.is_unsure(row) or CONFIDENCES[int(edge[3])] == "name"
        lower = _SEVERITIES.index(severity) + (depth > 1) + (depth > 2) + unsure
        return kind, _SEVERITIES[min(lower, len(_SEVERITIES) - 1)]

    def _shortest_path(
        self, start: list[int], goal: set[int], kinds: tuple[str, ...], scope: WalkScope
    ) -> list[Step]:
        edges = self.graph.edges
        wanted = np.array([kind in kinds for kind in EDGE_TYPES])
        # The edge by which a node was reached.
        reached_by = np.full(len(self.graph.names), -2, dtype="<i8")
        frontier = np.array(start, dtype="<i8")
        reached_by[frontier] = -1
        ends = np.zeros(len(reached_by), dtype=bool)
        ends[list(goal)] = True
        if (both := frontier[ends[frontier]]).size:
            return [Step(int(both[0]), 0, -1)]
        while frontier.size:
            rows = self.graph.outgoing.of(frontier)
            rows = rows[wanted[edges[rows, 2]] & (edges[rows, 7] == 0) & (reached_by[edges[rows, 1]] == -2)]
            frontier, first = np.unique(edges[rows, 1], return_index=True)
            rows = rows[first]
            allowed, _ = scope.of(self.graph, frontier)
            frontier, rows = frontier[allowed], rows[allowed]
            reached_by[frontier] = rows
            if (reached := frontier[ends[frontier]]).size:
                return self._trace_path(int(reached[0]), reached_by)
        return []

    def _trace_path(self, end: int, reached_by: Array) -> list[Step]:
        back = [(end, int(reached_by[end]))]
        while back[-1][1] >= 0:
            before = int(self.graph.edges[back[-1][1], 0])
            back.append((before, int(reached_by[before])))
        return [Step(number, depth, row) for depth, (number, row) in enumerate(reversed(back))]

    def _limit_steps(self, steps: list[Step], limits: WalkLimits, scope: WalkScope) -> Walk:
        allowed = [step for step in steps if scope.shows(self.graph, step.number)]
        selected = allowed[: min(limits.most, limits.level)]
        return Walk(tuple(selected), len(allowed), len(selected) < len(allowed))

    def _are_modules(self, numbers: Iterable[int]) -> bool:
        return all(self.graph.kind(number) in WHOLE_KINDS for number in numbers)

    def _owners_of_constructors(self, numbers: Iterable[int]) -> list[int]:
        owners = [
            self.members.owner(number)
            for number in numbers
            if last_name(self.graph.names[number]) in CONSTRUCTORS
        ]
        return [owner for owner in owners if owner >= 0]
