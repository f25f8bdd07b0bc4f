"""Nodes and edges of a file's fragments. Ids and nodes hold the file's own templates; join.py makes
full paths.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from cortex.graph.facts.facts import Definition, Fragment
from cortex.graph.frameworks.join import CONVENTIONS
from cortex.graph.frameworks.names import Injected, Routers, Texts
from cortex.graph.frameworks.reading.files import path_of
from cortex.graph.frameworks.reading.scopes import frameworks_of
from cortex.graph.frameworks.services import service_edges
from cortex.graph.frameworks.tables.framework import ANY
from cortex.graph.frameworks.views import Views
from cortex.graph.resolution.calling.fixtures import fixture_of
from cortex.graph.resolution.edges import Edge, Location
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import CALLABLE_KINDS, OPEN_END, TYPE_KINDS

#: names in the type of a parameter
_TYPE = re.compile(r"[A-Za-z_][\w.]*")
#: lines of the target of a route, and of a function without a name
_TARGET_LINES_MAX, _LINES_MAX = 50, 600
#: routers below one that a file includes
_ROUTERS_MAX = 500
_HANDLERS = CALLABLE_KINDS | TYPE_KINDS | {"constant"}  # `const list = wrap(async () => …)`


def routes_of(
    project: Project, evaluator: Evaluator, path: str, edges: Sequence[Edge]
) -> tuple[list[dict[str, Any]], list[Edge]]:
    """Return the nodes of a file's routes and mounts, and all edges of the file: `edges`, those
    from routes to handlers, and those to services. The edges of a handler without a name are those
    of its route.
    """
    fragments = project.index(path).facts.fragments
    if not fragments:
        return [], [*edges, *service_edges(project, evaluator, path, edges, set())]
    builder = _Nodes(project, evaluator, path, edges)
    for fragment in fragments:
        builder.add(fragment)
    builder.inject()
    ids = project.ids(path)
    routed = {edge.target for edge in builder.edges if edge.type == "routes_to"}
    handlers = {at for at, name in enumerate(ids) if name in routed} if routed else set[int]()
    passed = service_edges(project, evaluator, path, edges, handlers)
    return builder.nodes, [*builder.move_inner([*edges, *passed]), *builder.edges]


class _Nodes:
    def __init__(self, project: Project, evaluator: Evaluator, path: str, edges: Sequence[Edge]) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[Edge] = []
        self._routers = Routers(project, evaluator)
        self._texts, self._injected = Texts(project, evaluator), Injected(project, evaluator)
        self._views = Views(project, evaluator)
        self._project, self._evaluator, self._path = project, evaluator, path
        self._facts = project.index(path).facts
        self._stem = project.module_id(path)
        self._taken: Counter[str] = Counter()
        self._requests: dict[tuple[Any, ...], str] = {}
        #: routes to functions without a name
        self._inner: list[tuple[str, Fragment]] = []
        self._by_line: dict[int, list[Edge]] = {}
        for edge in edges:
            if edge.target and edge.type in ("calls", "references"):
                self._by_line.setdefault(edge.location.line, []).append(edge)
        self._frameworks = frameworks_of(path, self._facts.imports)
        #: no import tells the framework: only a router of another file does
        self._is_by_text = path.endswith(".py") and not self._frameworks
        self._class_methods = self._is_by_text or any(row.class_methods for row in self._frameworks)

    def add(self, fragment: Fragment) -> None:
        if fragment.kind in ("binds", "wants", "exposes", "maps"):
            return
        if "computed" in fragment.flags:
            fragment = self._texts.fill(self._path, fragment)
        if fragment.kind == "injects":
            if fragment.router.startswith("#"):
                self._add_injected(int(fragment.router[1:]), self._handlers(fragment))
            elif "mount" in fragment.flags:
                router = self._routers.find(self._path, fragment.router, fragment.scope)
                targets = self._handlers(fragment)
                for handler in self._routed(router, set()):
                    self._link(handler, targets, fragment, "references")
            return
        router = self._routers.find(self._path, fragment.router, fragment.scope)
        flags: dict[str, Any] = {}
        for flag in fragment.flags:
            name, marks, text = flag.partition("=")
            flags[name] = text if marks else True
        if fragment.kind == "route":
            self._add_route(fragment, router, flags)
            return
        if fragment.kind in ("client", "request"):
            called = self._called(fragment) if flags.pop("called", False) else ""
            self._add_client(
                fragment, router or called or self._fixture(fragment.router, fragment.scope), flags
            )
            return
        fields = {"router": router, "prefix": fragment.template, **flags}
        if fragment.kind == "mount":
            mounted = self._mounted(fragment)
            if not router or not (mounted or "open" in flags) or router == mounted:
                return
            fields["mounted"] = mounted
        name = f"{fragment.kind} {' '.join(filter(None, (fragment.router, fragment.target)))}"
        self._add_node(fragment, name, fields)

    def inject(self) -> None:
        """Add edges from functions to those that are called for the types of their parameters."""
        if not any(framework.injects for framework in self._frameworks):
            return
        for at, definition in enumerate(self._facts.definitions):
            for parameter in definition.parameters if definition.kind in CALLABLE_KINDS else ():
                for name in _TYPE.findall(parameter.type):
                    self._add_injected(at, self._injected.find_targets(self._path, name))

    def _routed(self, router: str, seen: set[str]) -> Iterator[str]:
        """Yield the handlers of a router's routes, and of those that it mounts."""
        path, name = self._file_of(router)
        if router in seen or len(seen) > _ROUTERS_MAX:
            return
        seen.add(router)
        for fragment in self._project.index(path).facts.fragments if path else ():
            if fragment.router == f"={name}" and fragment.kind == "route" and fragment.target[:1] == "#":
                yield self._project.id_of((path, int(fragment.target[1:])))
            elif fragment.router == f"={name}" and fragment.kind == "mount":
                yield from self._routed(self._routers.find(path, fragment.target, fragment.scope), seen)

    def _file_of(self, name: str) -> tuple[str, str]:
        """Return the file of an id, and the rest of it; "" for an unknown file."""
        stem, _, rest = name.rpartition(":")
        path = next(iter(self._project.stems.get(stem, ())), stem)
        return (path, rest) if path in self._project.packed else ("", rest)

    def _called(self, fragment: Fragment) -> str:
        """Return the id of the function of the project that a call means, if it sends requests."""
        for edge in self._by_line.get(fragment.line, ()):
            if edge.type == "calls" and edge.location.column == fragment.column:
                path, name = self._file_of(edge.target)
                fragments = self._project.index(path).facts.fragments if path else ()
                if any(row.kind == "client" and row.router == f"={name}" for row in fragments):
                    return edge.target
        return ""

    def _add_injected(self, at: int, targets: Mapping[str, str]) -> None:
        self._link(self._project.ids(self._path)[at], targets, self._facts.definitions[at], "references")

    def _link(self, source: str, targets: Mapping[str, str], at: Fragment | Definition, kind: str) -> None:
        """Add an edge to each target, with its confidence."""
        place = Location(self._path, at.line, at.column)
        self.edges += (Edge(source, target, kind, place, name) for target, name in targets.items())

    def _add_route(self, fragment: Fragment, router: str, flags: dict[str, Any]) -> None:
        is_declared = fragment.router.startswith(("=", "?")) or fragment.target.startswith("#")
        if not router and (self._is_by_text or not is_declared):
            return  # a call on something else: `client.get("/orders", done)`
        template = fragment.template
        if "computed" in flags:
            template = template.partition(OPEN_END)[2] or "?"
        if flags.pop("place", False):
            path = path_of(self._path, self._project.packed)
            if path is None:
                return
            template = path
        if flags.pop("views", False):
            self._add_views(fragment, router, template, flags)
            return
        handlers = self._handlers(fragment)
        if fragment.router == "=app" and "#" in fragment.target[1:]:  # drawn: a test may name the action
            flags["to"] = fragment.target
        methods, is_listed = fragment.methods, flags.pop("listed", False)
        views: list[Ref] = []
        if self._class_methods:
            views = [view for handler in handlers for view in self._views_of(handler)]
            if not is_listed and "methods" not in flags:
                methods = next(filter(None, map(self._views.members, views)), methods)
        elif fragment.target.endswith(".as_view()"):
            views = self._evaluator.types_of(fragment.target[:-10], self._path, fragment.scope)
            methods = next(filter(None, map(self._views.methods, views)), methods)
        for method in methods or (ANY,):
            if views and "#" not in fragment.target[1:]:
                handlers = {self._views.member(view, method.lower()): "import" for view in views}
            node = self._add_node(
                fragment,
                f"{method} {template}",
                {"method": method, "path": template, "router": router, **flags},
            )
            if not handlers and not fragment.target and fragment.span[0]:
                self._inner.append((node, fragment))
            self._link(node, handlers, fragment, "routes_to")

    def move_inner(self, edges: Sequence[Edge]) -> Sequence[Edge]:
        """Return edges with the routes as sources of those in their functions without a name, but
        not of those in named functions inside.
        """
        if not self._inner:
            return edges
        starts = dict(zip(self._project.ids(self._path), self._facts.definitions, strict=True))
        by_line: dict[int, list[Edge]] = {}
        for edge in edges:
            if edge.type in ("calls", "references"):
                by_line.setdefault(edge.location.line, []).append(edge)
        routes: dict[Edge, list[str]] = {}
        for node, fragment in self._inner:
            for edge in _within(fragment.span, by_line, _LINES_MAX):
                around = starts.get(edge.source)
                if around is None or around.kind not in CALLABLE_KINDS or around.start_line < fragment.line:
                    routes.setdefault(edge, []).append(node)
        return [
            msgspec.structs.replace(edge, source=source)
            for edge in edges
            for source in routes.get(edge, [edge.source])
        ]

    def _add_views(self, fragment: Fragment, router: str, template: str, flags: dict[str, Any]) -> None:
        """Add the routes of a class that a router registers."""
        slash = "" if flags.pop("bare", False) else "/"
        extended = tuple(self._extended(router))
        for view in self._evaluator.types_of(fragment.target, self._path, fragment.scope):
            for method, parameter, handler in self._views.actions(view, extended):
                path = template if template == "?" else f"{template}{parameter}{slash}"
                fields = {"method": method, "path": path, "router": router, **flags}
                node = self._add_node(fragment, f"{method} {path}", fields)
                self._link(node, {handler: "import"}, fragment, "routes_to")
            owner = self._project.id_of(view)
            for mounted in self._views.routers(view):
                fields = {"router": router, "prefix": template, "mounted": mounted, "owner": owner, **flags}
                mount = msgspec.structs.replace(fragment, kind="mount")
                self._add_node(mount, f"mount {mounted}", fields)

    def _extended(self, router: str) -> Iterator[tuple[str, str]]:
        """Yield (member, method) that the class of a router adds to the path of a list."""
        path, name = self._file_of(router)
        for fragment in self._project.index(path).facts.fragments if path else ():
            if fragment.kind == "router" and fragment.router == f"={name}":
                for view in self._evaluator.types_of(fragment.target.removesuffix("()"), path):
                    yield from self._views.extended(view)

    def _add_client(self, fragment: Fragment, client: str, flags: dict[str, Any]) -> None:
        """Add a client, or a request and the edge from its function."""
        fragment = self._texts.fill_url(self._path, fragment)
        app, scope = fragment.target, fragment.scope
        application = self._routers.find(self._path, app, scope) or self._fixture(app, scope) if app else ""
        family = self._project.rules(self._path).family
        if fragment.kind == "client":
            fields = {"router": client, "prefix": fragment.template, "app": application, **flags}
            fields |= {"method": fragment.methods[0]} if fragment.methods else {}
            self._add_node(fragment, f"client {fragment.router}", fields)
            return
        if "client" in flags and not client:
            return  # a call on something else
        fields = {"path": fragment.template, "router": client, "app": application, "family": family, **flags}
        for method in fragment.methods:
            name = f"request {method} {fragment.template}"
            key = (name, *fields.values())
            if key not in self._requests:
                self._requests[key] = self._add_node(fragment, name, {"method": method, **fields})
            node = self._requests[key]
            source = self._project.ids(self._path)[scope] if scope >= 0 else self._stem
            self._link(source, {node: "exact"}, fragment, "requests")

    def _fixture(self, name: str, scope: int) -> str:
        """Return the id of the client or application that pytest passes under a name."""
        while scope >= 0 and name.isidentifier():
            if (ref := fixture_of(self._project, name, self._path, scope)) is not None:
                return f"{self._project.module_id(ref[0])}:{self._project.definition(ref).qualified}()"
            scope = self._facts.definitions[scope].parent
        return ""

    def _add_node(self, fragment: Fragment, name: str, fields: dict[str, Any]) -> str:
        node = f"{self._stem}:<{name}>"
        self._taken[node] += 1
        if self._taken[node] > 1:
            node = f"{node}~{self._taken[node]}"
        lines = {"start_line": fragment.line, "end_line": fragment.end_line}
        self.nodes.append(
            {"id": node, "name": name, "kind": fragment.kind, "file": self._path, **lines, **fields}
        )
        return node

    def _mounted(self, fragment: Fragment) -> str:
        if fragment.target == CONVENTIONS:
            return CONVENTIONS
        router_id = self._routers.find(self._path, fragment.target, fragment.scope)
        if router_id or not fragment.target.endswith(")"):
            return router_id
        # a function that gets or returns a router, by the call's edge
        mark = fragment.target[fragment.target.rindex("(") :]
        return next(
            (f"{edge.target}{mark}" for edge in _within(fragment.span, self._by_line, _TARGET_LINES_MAX)), ""
        )

    def _handlers(self, fragment: Fragment) -> dict[str, str]:
        """Return the handlers of a route: id → confidence."""
        if fragment.target.startswith("#"):
            return {self._project.id_of((self._path, int(fragment.target[1:]))): "exact"}
        if not fragment.target:
            return {}
        owner, hash_mark, member = fragment.target.partition("#")
        if hash_mark:
            around, _, owner = owner.rpartition("/")
            outer = around.split(".") if around else []
            for count in range(len(outer), -1, -1):  # an engine's name space may be a part of its name
                chain = ".".join([*outer[:count], owner])
                if views := self._evaluator.types_of(chain, self._path, fragment.scope):
                    return {self._views.member(view, member): "import" for view in views}
            return {}
        edges_inside = list(_within(fragment.span, self._by_line, _TARGET_LINES_MAX))
        passed = [edge for edge in edges_inside if edge.type == "references"] or edges_inside
        if passed:
            last = passed[-1]
            same = [edge for edge in passed if edge.location == last.location]
            return {edge.target: edge.confidence for edge in same}
        chain = fragment.target.removesuffix("()").removesuffix(".as_view").removesuffix(".bind")
        values = self._evaluator.evaluate(chain, self._path, fragment.scope)
        refs = [value.ref for value in values if value.tag == "def"]
        for value in values:  # an instance that is called
            members = self._evaluator.member(value.ref, "__call__") if value.tag == "inst" else ()
            refs += [member.ref for member in members if member.tag == "def"]
        return {
            self._project.id_of(ref): "import"
            for ref in refs
            if self._project.definition(ref).kind in _HANDLERS
        }

    def _views_of(self, handler: str) -> Iterator[Ref]:
        """Yield the class that a handler is."""
        path, name = self._file_of(handler)
        for ref in self._evaluator.types_of(name, path) if path else ():
            if self._project.id_of(ref) == handler:
                yield ref


def _within(
    span: tuple[int, int, int, int], by_line: Mapping[int, Sequence[Edge]], lines_max: int
) -> Iterator[Edge]:
    """Yield the edges inside of a text; none for one with too many lines."""
    line, column, end_line, end_column = span
    for number in range(line, end_line + 1) if end_line - line <= lines_max else ():
        for edge in by_line.get(number, ()):
            if (line, column) <= (number, edge.location.column) < (end_line, end_column):
                yield edge
