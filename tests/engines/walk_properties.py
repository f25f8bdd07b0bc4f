"""Properties of walks over any graph: callers, impact and paths take the same steps."""

import functools
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from cortex.engines.graph.arrays import Graph
from cortex.engines.graph.lookup.targets import Targets
from cortex.engines.graph.results import Step, WalkLimits, WalkScope
from cortex.engines.graph.walks import Walker
from cortex.terms.ids import strip_overload
from cortex.terms.kinds import WHOLE_KINDS

#: results of a level and in all: so many that nothing is left out
EVERY = 20_000


def find_faults(graph: Graph, numbers: Sequence[int], depth: int = 2) -> Iterator[str]:
    """Yield a sentence for each property that does not hold for one of the definitions."""
    walker = Walker(graph, Targets(graph))
    callers_of = functools.cache(functools.partial(_callers, walker))  # most are asked for many times
    for number in numbers:
        name = graph.names[number]
        impact = {level: _impact(walker, number, level) for level in range(1, depth + 2)}
        inside = set(walker.targets.members([number]))
        affected = {level: {step.number for step in steps} | inside for level, steps in impact.items()}
        if missing := callers_of(number) - affected[1]:
            yield f"impact of {name} lacks callers {_named(graph, missing)}"
        for level in range(1, depth + 1):
            if missing := affected[level] - affected[level + 1]:
                yield f"impact of {name} at {level + 1} lacks those at {level}: {_named(graph, missing)}"
            for step in impact[level]:
                if step.impact_type == "importer" or graph.kind(step.number) in WHOLE_KINDS:
                    continue
                callers = callers_of(step.number)
                if step.impact_type == "override":
                    # a call of the base's body reaches no other override, and an overload of one
                    # calls the body of its base
                    callers -= set(walker.members.overriding([step.number]))
                    name_of = _bare_name(graph, step.number)
                    callers = {caller for caller in callers if _bare_name(graph, caller) != name_of}
                if missing := callers - affected[level + 1]:
                    above = graph.names[step.number]
                    yield f"impact of {name} at {level + 1} lacks callers of {above}: {_named(graph, missing)}"
        for caller in _draw_callers(graph, callers_of, number, depth):
            if not walker.path([caller], [number], WalkScope()).steps:
                yield f"no path leads from {graph.names[caller]} to {name}"


def _bare_name(graph: Graph, number: int) -> str:
    return strip_overload(graph.names[number]).rpartition(".")[2]


def _impact(walker: Walker, number: int, depth: int) -> list[Step]:
    steps = walker.walk("impact", [number], WalkLimits(depth, EVERY, EVERY), WalkScope()).steps
    return list(steps)


def _callers(walker: Walker, number: int) -> frozenset[int]:
    """Callers by sure edges."""
    steps = walker.walk("callers", [number], WalkLimits(1, EVERY, EVERY), WalkScope()).steps
    return frozenset(step.number for step in steps if not walker.finder.are_unsure[step.edge])


def _draw_callers(
    graph: Graph, callers_of: Callable[[int], frozenset[int]], number: int, depth: int
) -> list[int]:
    """A caller of each level, by sure edges."""
    drawn, level = list[int](), {number}
    for _ in range(depth):
        above = {caller for callee in sorted(level)[:5] for caller in callers_of(callee)}
        level = {caller for caller in above if graph.kind(caller) not in WHOLE_KINDS}
        drawn += sorted(level)[:2]
    return drawn


def _named(graph: Graph, numbers: AbstractSet[int]) -> str:
    return ", ".join(graph.names[number] for number in sorted(numbers)[:3])
