"""The overload of a function that a target names, by its number or its parameters."""

from dataclasses import replace

from cortex.engines.graph.arrays import Graph
from cortex.engines.graph.lookup.targets import LISTED, TargetMatch
from cortex.engines.graph.outline import signature
from cortex.terms.code.overloads import OVERLOADING, fitting_overloads, names_parameters, overload_number
from cortex.terms.ids import strip_overload
from cortex.terms.kinds import CALLABLE_KINDS
from cortex.terms.languages import language_of


def choose_overload(graph: Graph, target: str, match: TargetMatch) -> TargetMatch:
    """The match with the overload that the target names alone. With several, a remark names their
    places; without the one that is named, the match has no nodes.
    """
    nodes = match.nodes
    if len({strip_overload(graph.names[number]) for number in nodes}) != 1 or len(nodes) < 2:
        return match
    if graph.kind(nodes[0]) not in CALLABLE_KINDS:
        return match
    places = _places(graph, nodes)
    if number := overload_number(target):
        chosen = [node for node in nodes if (overload_number(graph.names[node]) or 1) == number]
        if chosen:
            return replace(match, nodes=tuple(chosen))
        names = tuple(graph.names[node] for node in nodes)[:LISTED]
        return TargetMatch(candidates=names, suggestion=f"There is no {target!r}; {places}.")
    if language_of(graph.file_of(nodes[0])).name not in OVERLOADING:
        return match
    remark = f"{places}; ask for one by its parameters, or its file and line."
    if names_parameters(target):
        present = [int(graph.node_of[node]) for node in nodes]
        fitting = fitting_overloads(target, [signature(node) for node in graph.nodes_json(present)])
        chosen = [nodes[at] for at in fitting]
        if len(chosen) == 1:
            return replace(match, nodes=tuple(chosen))
        if chosen:
            return replace(match, nodes=tuple(chosen), remark=_places(graph, tuple(chosen)) + " take these.")
        remark = f"No overload takes these parameters; these are all: {remark}"
    return replace(match, remark=remark)


def _places(graph: Graph, nodes: tuple[int, ...]) -> str:
    """`3 overloads: Reader.java:4, 6, 8`."""
    rows = sorted((graph.file_of(node), int(graph.nodes[graph.node_of[node], 3])) for node in nodes)
    listed, last = list[str](), ""
    for file, line in rows[:LISTED]:
        listed.append(str(line) if file == last else f"{file}:{line}")
        last = file
    more = f" and {len(rows) - LISTED} more" if len(rows) > LISTED else ""
    return f"{len(rows)} overloads: {', '.join(listed)}{more}"
