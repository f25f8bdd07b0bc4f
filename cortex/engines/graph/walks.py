"""The eight operations over an assembled graph: bounded walks, level by level, that count the
omitted results.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cortex.engines.graph.arrays import Graph
from cortex.engines.graph.impact import Files, Impact
from cortex.engines.graph.lookup.members import IS_A
from cortex.engines.graph.lookup.targets import Targets
from cortex.engines.graph.results import Step, Walk, WalkLimits, WalkScope
from cortex.engines.graph.steps import DIRECT, DISPATCH, NO_STEPS, StepFinder, Steps, join_steps
from cortex.generation.graph import EDGE_TYPES
from cortex.system.arrays import Array
from cortex.terms.kinds import MEMBER_KINDS, WHOLE_KINDS

_TYPE = {name: number for number, name in enumerate(EDGE_TYPES)}
#: numbers of the edge types whose source runs code
_RUNNING = (_TYPE["calls"], _TYPE["references"])
_DEPENDS = (
    *("imports", "calls", "uses_type", "implements", "extends", "embeds", "references", "routes_to"),
    "requests",
)
_KINDS: dict[str, tuple[str, ...]] = {
    "implementations": IS_A,
    "callers": ("calls", "references", "routes_to", "requests"),
    "callees": ("calls", "requests"),
    "dependencies": _DEPENDS,
    "dependents": _DEPENDS,
    "type_usages": ("uses_type", "implements", "extends", "embeds"),
    "impact": tuple("calls implements extends embeds references uses_type routes_to requests".split()),
}
_CALLS_AND_REQUESTS = ("calls", "requests", "routes_to")
#: operations that follow edges forward; all others go backward
FORWARD = ("callees", "dependencies")
#: share of the names below which steps are sorted, not spread over an array of all names
_FEW = 16
_NO_NUMBERS = np.zeros(0, "<i8")
#: definitions that a walk for an impact visits, per level and in all
WALKED_MAX = 25_000


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a walk: every step into the level before, the new ones that the scope shows, and
    of those the ones within the limit; `cut`: some are left out.
    """

    depth: int
    reaching: Steps
    fresh: Steps
    selected: Steps
    cut: bool


class Walker:
    def __init__(self, graph: Graph, targets: Targets) -> None:
        self.graph, self.targets = graph, targets
        self.members = targets.method_owners
        self.finder = StepFinder(graph, self.members)
        self._files = Files(graph)

    def walk(self, operation: str, start: Sequence[int], limits: WalkLimits, scope: WalkScope) -> Walk:
        """Run any operation but `path`. `start`: numbers of the target's nodes."""
        backward = operation not in FORWARD
        if operation == "implementations" and all(
            self.graph.kind(number) in MEMBER_KINDS for number in start
        ):
            methods = self.members.overriding(start) | self.members.holders(start)
            return self._limit_steps(
                [Step(number, 1, edge) for number, edge in methods.items()], limits, scope
            )
        are_modules = all(self.graph.kind(number) in WHOLE_KINDS for number in start)
        if are_modules and operation in ("dependencies", "dependents"):
            return self._walk_files(start, limits, scope, backward=backward)
        begin = list(start)
        if are_modules or operation in ("callees", "dependencies", "dependents", "impact"):
            begin = self.targets.members(start)
        if operation == "impact":
            return self._impact_of(start, begin, limits, scope)
        if operation == "callers":
            return self._walk_levels(begin, _KINDS[operation], limits, scope, backward=True, calling=True)
        return self._walk_levels(begin, _KINDS[operation], limits, scope, backward=backward)

    def _impact_of(
        self, targets: Sequence[int], start: list[int], limits: WalkLimits, scope: WalkScope
    ) -> Walk:
        """All definitions that a change may reach, up to WALKED_MAX."""
        impact = Impact(self.graph, self.finder, self._files)
        methods = self.finder.without_constructors(targets)
        below = self.finder.dispatching(self.members.overriding(methods))
        above = self.finder.dispatching(self.members.overridden(methods))
        others = {number: row for number, row in (below | above).items() if number not in targets}
        most = WalkLimits(limits.depth, WALKED_MAX - 1, WALKED_MAX)
        for level in self._levels(start, _KINDS["impact"], most, scope, joining=tuple(below)):
            impact.add(level.depth, level.selected, cut=level.cut)
        shown = scope.of(self.graph, np.array(list(others), dtype="<i8"))[0].tolist()
        impact.add_overrides({n: others[n] for n, visible in zip(others, shown, strict=True) if visible})
        for level in self._levels(start, ("imports",), most, scope):
            impact.add_importers(level.depth, level.selected, cut=level.cut)
        return impact.walk(limits, WALKED_MAX)

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

    def path(self, start: Sequence[int], end: Sequence[int], scope: WalkScope, calls_max: int = 0) -> Walk:
        """A shortest path from `start` to `end` by calls, else with requests, else any edges; with
        `calls_max` one of at most so many calls.
        """
        begin = self.targets.members(start)
        goal = set(self.targets.members(end))
        if both := [number for number in begin if number in goal]:
            return Walk((Step(both[0], 0, -1),), 1)
        with_routes = (_CALLS_AND_REQUESTS,) if "route" in self.graph.kinds else ()
        others = () if calls_max else (*with_routes, tuple(EDGE_TYPES))
        for kinds in (("calls",), *others):
            if steps := self._shortest_path(begin, goal, kinds, scope, calls_max or len(self.graph.names)):
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
        calling: bool = False,
    ) -> Walk:
        """Walk level by level. `calling`: backward with constructions and calls by dispatch, and
        with every place of a caller.
        """
        steps: list[Step] = []
        total, cut, dispatched = 0, False, tuple[int, ...]()
        for level in self._levels(start, kinds, limits, scope, backward=backward, calling=calling):
            chosen, fresh = level.selected, level.fresh
            total, cut = total + len(fresh), cut or level.cut
            further = self._further_places(level.reaching, chosen) if calling else {}
            if level.depth == 1:
                dispatched = tuple(self.graph.edges[fresh.rows[fresh.kinds == DISPATCH], 1].tolist())
            columns = (chosen.sources, chosen.rows, chosen.ends, chosen.kinds)
            for number, row, before, kind in zip(*(column.tolist() for column in columns), strict=True):
                steps.append(Step(number, level.depth, row, "", "", kind, before, *further.get(number, ())))
        return Walk(tuple(steps[: limits.most]), total, cut or len(steps) > limits.most, dispatched)

    def _levels(
        self,
        start: list[int],
        kinds: tuple[str, ...],
        limits: WalkLimits,
        scope: WalkScope,
        *,
        backward: bool = True,
        calling: bool = True,
        joining: tuple[int, ...] = (),
    ) -> Iterator[Level]:
        """Yield each level of a walk. `joining`: further starts of the second level."""
        ranks = np.array([kinds.index(kind) if kind in kinds else -1 for kind in EDGE_TYPES])
        visited = np.zeros(len(self.graph.names), dtype=bool)
        frontier = np.array(start, dtype="<i8")
        running = np.zeros(len(frontier), dtype=bool)
        visited[frontier] = not limits.recursive
        count = 0
        for depth in range(1, limits.depth + 1):
            reaching = self._steps_from(frontier, running, ranks >= 0, backward=backward, calling=calling)
            entered = self._first_steps(reaching, ranks, visited, scope)
            visible, _ = scope.of(self.graph, entered.sources)
            fresh, passed = entered.take(visible), entered.take(~visible)
            is_full = count >= max(limits.most, WALKED_MAX)
            selected = fresh.take(np.arange(0 if is_full else min(len(fresh), limits.level)))
            visited[entered.sources] = True
            further = self._joining(joining, visited) if depth == 1 else _NO_NUMBERS
            if is_full or not (len(entered) or len(further)):
                if len(fresh):
                    yield Level(depth, reaching, NO_STEPS, NO_STEPS, cut=True)
                break
            count += len(selected)
            yield Level(depth, reaching, fresh, selected, cut=len(selected) < len(fresh))
            frontier = np.concatenate((selected.sources, passed.sources, further))
            rows = np.concatenate((selected.rows, passed.rows))
            running = np.zeros(len(frontier), dtype=bool)
            running[: len(rows)] = np.isin(self.graph.edges[rows, 2], _RUNNING)

    @staticmethod
    def _joining(numbers: tuple[int, ...], visited: Array) -> Array:
        """Those of `numbers` that are not visited yet; now they are."""
        joined: Array = np.array(numbers, dtype="<i8")
        joined = joined[~visited[joined]]
        visited[joined] = True
        return joined

    def _steps_from(
        self, frontier: Array, running: Array, wanted: Array, *, backward: bool, calling: bool
    ) -> Steps:
        """The edges of the frontier. `calling`: with constructions and calls by dispatch."""
        if calling:
            steps = self.finder.into(frontier, running, wanted)
            return self._with_requests(steps) if wanted[_TYPE["requests"]] else steps
        lists, near, far = (self.graph.incoming, 1, 0) if backward else (self.graph.outgoing, 0, 1)
        rows = lists.of(frontier)
        rows = rows[wanted[self.graph.edges[rows, 2]]]
        edges = self.graph.edges[rows]
        return Steps(rows, edges[:, far], edges[:, near], np.zeros(len(rows), "<i1"))

    def _with_requests(self, steps: Steps) -> Steps:
        """Add to steps from routes to their handlers those from requests: they are as near."""
        routes = steps.sources[self.graph.edges[steps.rows, 2] == _TYPE["routes_to"]]
        if not len(routes):
            return steps
        at, rows = self.graph.incoming.pairs(routes)
        are_requests = self.graph.edges[rows, 2] == _TYPE["requests"]
        at, rows = at[are_requests], rows[are_requests]
        sources = self.graph.edges[rows, 0]
        return join_steps((steps, Steps(rows, sources, routes[at], np.zeros(len(rows), "<i1"))))

    def _further_places(self, reaching: Steps, chosen: Steps) -> dict[int, tuple[tuple[int, ...], ...]]:
        """For each source of `chosen` the rows of its edges at other places, by file and line, as
        (further, dispatched); of several edges at one place the surest.
        """
        mates = reaching.take(np.isin(reaching.sources, chosen.sources))
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
        further: dict[int, tuple[tuple[int, ...], ...]] = {}
        for source, row, kind in zip(
            chosen.sources.tolist(), chosen.rows.tolist(), chosen.kinds.tolist(), strict=True
        ):
            place = self.graph.edges[row, 4:7].tolist()
            others = [pair for pair in by_source[source] if self.graph.edges[pair[0], 4:7].tolist() != place]
            plain = tuple(other for other, by_dispatch in others if kind == DISPATCH or not by_dispatch)
            further[source] = (plain, tuple(other for other, _ in others if other not in plain))
        return further

    def _first_steps(self, steps: Steps, ranks: Array, visited: Array, scope: WalkScope) -> Steps:
        """The surest step to each unvisited node: dispatch, unsure edges last; by file and line."""
        steps = steps.take(~visited[steps.sources]) if len(steps) else steps
        if not len(steps):
            return NO_STEPS
        order = np.argsort(-self._doubts(steps, ranks), kind="stable")
        if len(steps) < len(visited) // _FEW:
            surest = order[::-1][np.unique(steps.sources[order[::-1]], return_index=True)[1]]
        else:
            surest = np.full(len(visited), -1, "<i8")
            surest[steps.sources[order]] = order  # of several steps the last, which is the surest
            surest = surest[surest >= 0]
        steps = steps.take(surest)
        steps = steps.take(scope.of(self.graph, steps.sources)[1])
        edges = self.graph.edges[steps.rows]
        places = (steps.rows, edges[:, 6], edges[:, 5], self.graph.file_ranks[edges[:, 4]])
        are_last = (edges[:, 2] == _TYPE["references"], steps.kinds == DISPATCH)
        return steps.take(np.lexsort((*places, edges[:, 7] > 0, *are_last)))

    def _doubts(self, steps: Steps, ranks: Array) -> Array:
        """Numbers (i64) that order the steps to one node, the surest first: by ambiguity, type of
        edge, kind, confidence, line and column.
        """
        _, _, types, confidences, _, lines, columns, groups = self.graph.edges[steps.rows].T.astype("<i8")
        rank = 2 * np.where(steps.kinds == DIRECT, ranks[types], 0) + 3 * (steps.kinds == DISPATCH)
        parts = ((groups > 0, 0), (rank, 5), (steps.kinds, 2), (confidences, 3), (lines, 31))
        key: Array = np.zeros(len(steps), "<i8")
        for values, bits in parts:
            key = key << bits | values
        doubts: Array = key << 16 | np.minimum(columns, 65_535)
        return doubts

    def _shortest_path(
        self, start: list[int], goal: set[int], kinds: tuple[str, ...], scope: WalkScope, depth: int
    ) -> list[Step]:
        """Walk at most `depth` steps from the goal back to the start, over sure edges."""
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
        while frontier.size and len(levels) < depth:
            steps = self.finder.into(frontier, running, wanted)
            steps = steps.take(~self.finder.are_unsure[steps.rows])
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
