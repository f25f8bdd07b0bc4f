"""The eight operations over an assembled graph: bounded walks, level by level, that count the
omitted results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.engines.graph.members import IS_A
from cortex.engines.graph.steps import DIRECT, DISPATCH, StepFinder, Steps
from cortex.engines.graph.targets import Targets
from cortex.generation.graph import CONFIDENCES, EDGE_TYPES
from cortex.system.arrays import Array
from cortex.terms.kinds import WHOLE_KINDS
from cortex.terms.paths import is_test

_TYPE = {name: number for number, name in enumerate(EDGE_TYPES)}
#: numbers of the edge types whose source runs code
_RUNNING = (_TYPE["calls"], _TYPE["references"])
_KINDS: dict[str, tuple[str, ...]] = {
    "implementations": IS_A,
    "callers": ("calls", "references"),
    "callees": ("calls",),
    "dependencies": ("imports", "calls", "uses_type", "implements", "extends", "embeds", "references"),
    "dependents": ("imports", "calls", "uses_type", "implements", "extends", "embeds", "references"),
    "type_usages": ("uses_type", "implements", "extends", "embeds"),
    "impact": ("calls", "implements", "extends", "embeds", "references", "uses_type"),
}
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
    the beginning of a path). `kind`: of the step (steps.py); `before`: the definition that it leads
    to, one level nearer, -1 for unknown. `further`: rows of the edges at the other places of a
    caller; `dispatched`: of those by dispatch, if the row itself is none.
    """

    number: int
    depth: int
    edge: int
    impact_type: str = ""
    severity: str = ""
    kind: int = DIRECT
    before: int = -1
    further: tuple[int, ...] = ()
    dispatched: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Walk:
    """The results of a walk from the first on; `page` selects some. `total` includes results beyond
    the limits, independent of the page. An impact visits up to WALKED_MAX definitions: `every`
    holds them (of callers one step for each direct one by dispatch), and `ended` says that there were more.
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
        self.finder = StepFinder(graph, self.members)
        self._tests: dict[int, bool] = {}

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
        if operation == "impact":
            return self._impact_of(start, begin, limits, scope)
        if operation == "callers":
            return self._walk_levels(begin, _KINDS[operation], limits, scope, backward=True, every_place=True)
        return self._walk_levels(begin, _KINDS[operation], limits, scope, backward=backward)

    def _impact_of(
        self, targets: Sequence[int], start: list[int], limits: WalkLimits, scope: WalkScope
    ) -> Walk:
        """All definitions that a change may reach, the worst first, tests behind shipped code and
        importers last, within the limits per level and in all.
        """
        most = WalkLimits(limits.depth, WALKED_MAX - 1, WALKED_MAX)
        overriding = self.members.overriding(targets)
        overridden = self.members.overridden(targets)
        walk = self._walk_levels(
            start, _KINDS["impact"], most, scope, backward=True, impact=True, joining=tuple(overriding)
        )
        walk = self._with_overrides(overriding | overridden, targets, walk, scope)
        walk = self._with_importers(start, walk, limits.depth, scope)
        if len(walk.steps) > WALKED_MAX:
            walk = replace(walk, steps=walk.steps[:WALKED_MAX], truncated=True)
        at_level = Counter[int]()
        steps: list[Step] = []
        for step in walk.steps:
            at_level[step.depth] += 1
            if at_level[step.depth] <= limits.level and len(steps) < limits.most:
                steps.append(step)
        truncated = walk.truncated or len(steps) < walk.total
        return Walk(tuple(steps), walk.total, truncated, walk.steps, walk.truncated)

    def _with_overrides(
        self, others: Mapping[int, int], targets: Sequence[int], walk: Walk, scope: WalkScope
    ) -> Walk:
        """Put overrides and overridden methods of the targets before `walk`: a change of one
        signature changes all of them.
        """
        visited = {step.number for step in walk.steps if step.depth == 1} | set(targets)
        steps = tuple(
            Step(number, 1, edge, "override", "high")
            for number, edge in others.items()
            if number not in visited and scope.shows(self.graph, number)
        )
        new = {step.number for step in steps}
        walked = tuple(step for step in walk.steps if step.number not in new)
        return Walk(steps + walked, walk.total + len(steps) + len(walked) - len(walk.steps), walk.truncated)

    def _with_importers(self, start: list[int], walk: Walk, depth: int, scope: WalkScope) -> Walk:
        """Append what only imports the targets, or imports an importer."""
        most = WalkLimits(depth, WALKED_MAX - 1, WALKED_MAX)
        imports = self._walk_levels(start, ("imports",), most, scope, backward=True, impact=True)
        visited = {step.number for step in walk.steps}
        steps = tuple(step for step in imports.steps if step.number not in visited)
        truncated = walk.truncated or imports.truncated
        return Walk((*walk.steps, *steps), walk.total + len(steps), truncated)

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
        begin = self.targets.members(start)
        goal = set(self.targets.members(end))
        if both := [number for number in begin if number in goal]:
            return Walk((Step(both[0], 0, -1),), 1)
        for kinds in (("calls",), tuple(EDGE_TYPES)):
            steps = self._shortest_path(begin, goal, kinds, scope)
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
        joining: tuple[int, ...] = (),
    ) -> Walk:
        """Walk level by level. `joining`: definitions that the second level starts from, too."""
        ranks = np.array([kinds.index(kind) if kind in kinds else -1 for kind in EDGE_TYPES])
        visited = np.zeros(len(self.graph.names), dtype=bool)
        frontier = np.array(start, dtype="<i8")
        running = np.zeros(len(frontier), dtype=bool)
        visited[frontier] = not limits.recursive
        steps: list[Step] = []
        total, cut, dispatched = 0, False, tuple[Step, ...]()
        for depth in range(1, limits.depth + 1):
            found = self._steps_from(frontier, running, ranks >= 0, backward=backward, every=every_place or impact)
            entered = self._first_steps(found, ranks, visited, scope)
            visible, _ = scope.of(self.graph, entered.sources)
            fresh, passed = entered.take(visible), entered.take(~visible)
            if not len(entered) or len(steps) >= max(limits.most, WALKED_MAX):
                cut = cut or len(fresh) > 0
                break
            total += len(fresh)
            if every_place and depth == 1:
                rows = fresh.rows[fresh.kinds == DISPATCH]
                dispatched = tuple(Step(-1, 1, row, kind=DISPATCH) for row in rows.tolist())
            selected = fresh.take(np.arange(min(len(fresh), limits.level)))
            cut = cut or len(selected) < len(fresh)
            further = self._further_places(found, selected) if every_place else {}
            unsure = self.finder.are_unsure[selected.rows] if impact else selected.rows
            for row, number, before, kind, doubt in zip(
                *(column.tolist() for column in (selected.rows, selected.sources, selected.ends, selected.kinds)),
                unsure.tolist(),
                strict=True,
            ):
                rated = self._rate_impact(row, depth, kind, unsure=doubt) if impact else ("", "")
                steps.append(Step(number, depth, row, *rated, kind, before, *further.get(number, ())))
            visited[entered.sources] = True
            frontier = np.concatenate((selected.sources, passed.sources))
            rows = np.concatenate((selected.rows, passed.rows))
            running = np.isin(self.graph.edges[rows, 2], _RUNNING)
            if depth == 1 and joining:
                frontier = np.concatenate((frontier, [number for number in joining if not visited[number]]))
                running = np.append(running, np.zeros(len(frontier) - len(running), dtype=bool))
                visited[list(joining)] = True
        if impact:
            steps.sort(key=self._order_of_impact)
        return Walk(tuple(steps[: limits.most]), total, cut or len(steps) > limits.most, dispatched)

    def _steps_from(
        self, frontier: Array, running: Array, wanted: Array, *, backward: bool, every: bool
    ) -> Steps:
        """The edges of the frontier. `every`: with constructions and calls by dispatch."""
        if every:
            return self.finder.into(frontier, running, wanted)
        lists, near, far = (self.graph.incoming, 1, 0) if backward else (self.graph.outgoing, 0, 1)
        rows = lists.of(frontier)
        rows = rows[wanted[self.graph.edges[rows, 2]]]
        edges = self.graph.edges[rows]
        return Steps(rows, edges[:, far], edges[:, near], np.zeros(len(rows), "<i1"))

    def _order_of_impact(self, step: Step) -> tuple[bool, int, int]:
        return self._is_test(step.number), _SEVERITIES.index(step.severity), step.depth

    def _is_test(self, number: int) -> bool:
        """Whether a definition is in a file of tests."""
        node = int(self.graph.node_of[number])
        if node < 0:
            return False
        file = int(self.graph.nodes[node, 2])
        if file not in self._tests:
            self._tests[file] = is_test(self.graph.names[file])
        return self._tests[file]

    def _further_places(self, found: Steps, chosen: Steps) -> dict[int, tuple[tuple[int, ...], ...]]:
        """For each source of `chosen` the rows of its edges at other places, by file and line, as
        (further, dispatched); of several edges at one place the surest.
        """
        mates = found.take(np.isin(found.sources, chosen.sources))
        edges = self.graph.edges[mates.rows]
        places = np.column_stack((mates.sources, edges[:, 4:7]))
        order = np.lexsort((edges[:, 7] > 0, mates.kinds == DISPATCH, *places.T[::-1]))
        _, first = np.unique(places[order], axis=0, return_index=True)
        mates = mates.take(order[first])
        by_source: dict[int, list[tuple[int, bool]]] = {}
        for source, row, kind in zip(
            mates.sources.tolist(), mates.rows.tolist(), mates.kinds.tolist(), strict=True
        ):
            by_source.setdefault(source, []).append((row, kind == DISPATCH))
        further = {}
        for source, row, kind in zip(
            chosen.sources.tolist(), chosen.rows.tolist(), chosen.kinds.tolist(), strict=True
        ):
            place = self.graph.edges[row, 4:7].tolist()
            others = [pair for pair in by_source[source] if self.graph.edges[pair[0], 4:7].tolist() != place]
            plain = tuple(other for other, by_dispatch in others if kind == DISPATCH or not by_dispatch)
            further[source] = (plain, tuple(other for other, _ in others if other not in plain))
        return further

    def _first_steps(self, steps: Steps, ranks: Array, visited: Array, scope: WalkScope) -> Steps:
        """The surest step to each unvisited node; steps by dispatch last, then unsure edges, then by
        file and line.
        """
        steps = steps.take(~visited[steps.sources])
        edges = self.graph.edges[steps.rows]
        rank = np.where(steps.kinds == DIRECT, ranks[edges[:, 2]], 0) + 1.5 * (steps.kinds == DISPATCH)
        order = np.lexsort((edges[:, 6], edges[:, 5], edges[:, 3], steps.kinds, rank, edges[:, 7] > 0))
        _, first = np.unique(steps.sources[order], return_index=True)
        steps = steps.take(order[first])
        steps = steps.take(scope.of(self.graph, steps.sources)[1])
        edges = self.graph.edges[steps.rows]
        places = (steps.rows, edges[:, 6], edges[:, 5], self.graph.file_ranks[edges[:, 4]])
        are_last = (edges[:, 2] == _TYPE["references"], steps.kinds == DISPATCH)
        return steps.take(np.lexsort((*places, edges[:, 7] > 0, *are_last)))

    def _rate_impact(self, row: int, depth: int, kind: int, *, unsure: bool) -> tuple[str, str]:
        edge_type, confidence = self.graph.edges[row, 2:4].tolist()
        impact_type, severity = _IMPACT["calls" if kind != DIRECT else EDGE_TYPES[edge_type]]
        unsure = unsure or CONFIDENCES[confidence] == "name"
        lower = _SEVERITIES.index(severity) + (depth > 1) + (depth > 2) + unsure
        return impact_type, _SEVERITIES[min(lower, len(_SEVERITIES) - 1)]

    def _shortest_path(
        self, start: list[int], goal: set[int], kinds: tuple[str, ...], scope: WalkScope
    ) -> list[Step]:
        """Walk from the goal back to the start, over sure edges."""
        wanted = np.array([kind in kinds for kind in EDGE_TYPES])
        ranks = np.arange(len(EDGE_TYPES))
        frontier = np.array(sorted(goal), dtype="<i8")
        frontier = frontier[scope.of(self.graph, frontier)[0]]
        visited = np.zeros(len(self.graph.names), dtype=bool)
        visited[frontier] = True
        begins = np.zeros(len(visited), dtype=bool)
        begins[start] = True
        running = np.zeros(len(frontier), dtype=bool)
        levels: list[Steps] = []
        while frontier.size:
            steps = self.finder.into(frontier, running, wanted)
            steps = steps.take(self.graph.edges[steps.rows, 7] == 0)
            steps = self._first_steps(steps, ranks, visited, WalkScope())
            shown, _ = scope.of(self.graph, steps.sources)
            steps = steps.take(shown | begins[steps.sources])
            levels.append(steps)
            if begins[steps.sources].any():
                return self._trace_path(levels, begins)
            visited[steps.sources] = True
            frontier = steps.sources
            running = np.isin(self.graph.edges[steps.rows, 2], _RUNNING)
        return []

    @staticmethod
    def _trace_path(levels: Sequence[Steps], begins: Array) -> list[Step]:
        """The path through the steps of each level, from the last level's first beginning."""
        number = int(levels[-1].sources[np.flatnonzero(begins[levels[-1].sources])[0]])
        path = [Step(number, 0, -1)]
        for depth, level in enumerate(reversed(levels), start=1):
            at = int(np.flatnonzero(level.sources == number)[0])
            number = int(level.ends[at])
            path.append(Step(number, depth, int(level.rows[at]), kind=int(level.kinds[at])))
        return path

    def _limit_steps(self, steps: list[Step], limits: WalkLimits, scope: WalkScope) -> Walk:
        allowed = [step for step in steps if scope.shows(self.graph, step.number)]
        selected = allowed[: min(limits.most, limits.level)]
        return Walk(tuple(selected), len(allowed), len(selected) < len(allowed))

    def _are_modules(self, numbers: Iterable[int]) -> bool:
        return all(self.graph.kind(number) in WHOLE_KINDS for number in numbers)
