"""The routes of a graph with their full paths, joined for the first question about one."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import orjson

from cortex.engines.graph.arrays import Graph
from cortex.generation.graph import EDGE_TYPES
from cortex.graph.frameworks.join import FullRoute, find_routes, join_routes, read_asked
from cortex.terms.budget import first_fitting
from cortex.terms.ids import split_id
from cortex.terms.kinds import OPEN_END, ROUTE_KINDS
from cortex.terms.paths import is_example, is_test

#: share of an outline for its entry points
ENTRIES_SHARE = 0.2
_ROUTES_TO = EDGE_TYPES.index("routes_to")


class Routes:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def every(self) -> list[FullRoute]:
        """All routes, by path and method; [] at once for a project without frameworks."""
        kinds = [self._graph.kinds[kind] for kind in ROUTE_KINDS if kind in self._graph.kinds]
        if not kinds:
            return []
        rows = np.flatnonzero(np.isin(self._graph.nodes[:, 1], kinds))
        return join_routes(self._graph.nodes_json(rows.tolist()))

    @cached_property
    def _by_id(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        for route in self.every:
            names.setdefault(route.id, []).append(route.name)
        return names

    def names(self, node: dict[str, Any]) -> str:
        """The methods and full paths of a route's node: `POST /api/orders`."""
        return ", ".join(self._by_id.get(node["id"], [str(node.get("name", ""))]))

    def meant(self, target: str, *, with_method: bool) -> list[FullRoute]:
        """The routes that a target such as `POST /orders` means."""
        method_and_path = read_asked(target)
        if method_and_path is None or bool(method_and_path[0]) != with_method:
            return []
        return self._find(target, *method_and_path)

    def _find(self, target: str, method: str, path: str) -> list[FullRoute]:
        """The routes of a method and a path. Where the target is `GET …/orders`, those with an
        unknown begin, else those that end in `/orders`, come first.
        """
        if OPEN_END not in target or not (end := path.rstrip("/")):
            return find_routes(self.every, method, path)
        unknown = find_routes([route for route in self.every if not route.is_whole], method, path)
        ending = [route for route in self.every if route.path.rstrip("/").endswith(end)]
        return (
            unknown
            or [route for route in ending if method in ("", route.method)]
            or find_routes(self.every, method, path)
        )

    def is_route(self, target: str) -> bool:
        """Whether a target names a method and a path, in a project with routes."""
        return bool((read_asked(target) or ("", ""))[0] and self.every)

    def around(self, target: str) -> list[FullRoute]:
        """The mounts without known routes that may serve a target."""
        _, path = read_asked(target) or ("", "")
        return [
            route
            for route in self.every
            if route.path.endswith(OPEN_END) and path.startswith(route.path.removesuffix(OPEN_END))
        ]

    def filtered(self, text: str) -> list[FullRoute]:
        """The routes of a path, or of all paths that contain it; all for "". A text without a slash
        at its beginning is no path: a parameter does not match it.
        """
        if not (text := text.strip()):
            return self.every
        question = read_asked(text)
        method, path = question or ("", text)
        if question and (matches := self._find(text, method, path)):
            return matches
        low = path.lower()
        return [route for route in self.every if low in route.path.lower() and method in ("", route.method)]

    def describe_nearest(self, target: str, most: int) -> tuple[list[str], str]:
        """Return the names of at most `most` routes near an unknown one, `POST /orders`, with a
        sentence: those that contain its path, else its path with other methods, else those that
        begin as it does. If there is none, the sentence has the mounts that may serve it, else the
        first routes of the project.
        """
        _, path = read_asked(target) or ("", target)
        first = path.strip("/").partition("/")[0].lower()
        closed = [route for route in self.every if not route.is_open]
        near = self.filtered(target) or find_routes(closed, "", path)
        near = near or [route for route in closed if route.path.lower().split("/")[1:2] == [first]]
        names = [route.name for route in near[:most]]
        mounts = describe_routes(self.around(target), most)
        if names or mounts:
            return names, " ".join(filter(None, (f"Nearest: {', '.join(names)}." if names else "", mounts)))
        names = [route.name for route in self.every[:most]]
        rest = len(self.every) - len(names)
        return [], f"Routes: {', '.join(names)}{f' and {rest} more' if rest else ''}."

    def describe_request(self, ids: Iterable[str], file: str) -> dict[str, Any]:
        """The routes that a request leads to, and whether a test sends it."""
        names = ", ".join(name for route in ids for name in self._by_id.get(route, [route]))
        return {"requests": names} | ({"test": True} if is_test(file) else {})

    def entry_points(self, folder: str, max_bytes: int) -> dict[str, Any]:
        """The first routes of a folder with their handlers, without those of tests and examples, as
        many as fit into their share of an outline of `max_bytes`, and the number of all; of a file
        those whose handlers have no line in its outline. {} without routes.
        """
        prefix = f"{folder}/" if folder else ""
        served = [
            route
            for route in self.every
            if (route.file == folder and not self._has_own_handler(route))
            or (route.file.startswith(prefix) and not (is_test(route.file) or is_example(route.file)))
        ]
        rows, left = map(self._entry_point, served), int(ENTRIES_SHARE * max_bytes)
        listed = first_fitting(rows, lambda row: len(orjson.dumps(row)), left)
        return {"entry_points": listed, "entry_points_total": len(served)} if served else {}

    def _has_own_handler(self, route: FullRoute) -> bool:
        """Whether a definition with a name in the file of a route handles it."""
        names, module = map(self._graph.names.__getitem__, self.handlers(route)), route.id.partition(":")[0]
        return any(name != route.id and name.partition(":")[0] == module for name in names)

    def _entry_point(self, route: FullRoute) -> dict[str, str]:
        names = [self._graph.names[number] for number in self.handlers(route)]
        handler = ", ".join(split_id(name)[-1] for name in names if name != route.id)
        return {"route": route.name, "at": f"{route.file}:{route.line}", "handler": handler}

    def handlers(self, route: FullRoute) -> list[int]:
        """The numbers of a route's handlers; of a handler without a name, that of the route.

        A class that inherits a route may override its handler.
        """
        graph = self._graph
        number = graph.names.number(route.id)
        edges = graph.edges[graph.outgoing.of(np.array([number]))]
        ends = edges[edges[:, 2] == _ROUTES_TO, 1].tolist()
        ends = [end for end in ends if graph.node_of[end] >= 0]
        overrides = [graph.names.number(route.override_of(graph.names[end])) for end in ends]
        return [
            override if override >= 0 and graph.node_of[override] >= 0 else end
            for end, override in zip(ends, overrides, strict=True)
        ] or [number]


def describe_route(route: FullRoute) -> str:
    """The sentence on a route whose full path is unknown."""
    if route.path.endswith(OPEN_END):
        return f"Paths below {route.path.removesuffix(OPEN_END)} are computed at {route.computed}."
    prefix = f", behind a prefix that is computed at {route.computed}" if route.computed else ""
    mounted = "" if route.served else ", on a router without a known mount"
    return (
        f"{route.name} is declared at {route.file}:{route.line}{prefix}{mounted}."
        if prefix or mounted
        else ""
    )


def describe_routes(routes: Iterable[FullRoute], most: int) -> str:
    return " ".join(filter(None, dict.fromkeys(map(describe_route, list(routes)[:most]))))
