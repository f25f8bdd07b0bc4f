"""The routes of Spring's functions: chains of calls on `RouterFunctions.route()` in Java, and
`router { GET("/orders", handler::list) }` in Kotlin.

The router of a method is the one that it returns, `=Routes.orders()`; a bean is served.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.frameworks.join import join_path
from cortex.graph.frameworks.reading.attributes import attributes_of
from cortex.graph.frameworks.reading.scopes import Frame, Scopes
from cortex.graph.frameworks.tables.framework import ANY, METHODS

#: nesting that is read
DEPTH_MAX = 100
_CALL = "method_invocation"
#: functions without a name, in Java and Kotlin
_LAMBDAS = frozenset({"lambda_expression", "annotated_lambda"})
#: calls whose first argument is the condition of a route, or of the routes inside
_ROUTES, _NESTS = frozenset({"route", "andRoute"}), frozenset({"nest", "andNest", "path"})
#: calls that add other routers
_ADDS = frozenset({"add", "and", "andOther"})
#: conditions beside the path
_CONDITIONS = frozenset("accept contentType headers param queryParam version method all".split())
#: (path, flags of a computed one)
Path = tuple[str, tuple[str, ...]]
#: Kotlin's functions whose block has the routes, and a block
_ROUTERS, _BLOCK = frozenset({"router", "coRouter"}), "annotated_lambda"


class FunctionalReader(Scopes):
    #: variables that hold the builder of routes inside a path
    builders: frozenset[str] = frozenset()
    router = ""

    def read(self, node: Node, path: Path = ("", ()), depth: int = 0) -> None:
        """Read the chains below a node, under a path."""
        if depth > DEPTH_MAX or not self.go_on():
            return
        body, name = node.child_by_field_name("body"), node.child_by_field_name("name")
        if body is not None and name is not None and "class" in node.type:
            self.read_constants(body, text_of(name))
        if node.type == "method_declaration":
            self.begin(node)
        if node.type == _CALL and (links := self._links(node)):
            for link in links:
                self._read_link(link, path, depth + 1)
            return
        for child in node.named_children:
            self.read(child, path, depth + 1)

    def begin(self, node: Node) -> None:
        """Begin to read the router that a method returns."""
        name = node.child_by_field_name("name")
        at = self.definition_at(name.start_byte) if name is not None else -1
        self.frames = [Frame(definition=at)]
        self.router = f"={self.facts.definitions[at].qualified}()" if at >= 0 else ""
        if at >= 0 and any(attribute.name == "Bean" for attribute in attributes_of(node)):
            self.add("router", self.router, node, flags=("app",))

    def _links(self, node: Node) -> list[Node]:
        """Return the calls of a chain on `route`, `nest` or a builder; [] for another."""
        links: list[Node] = []
        inner: Node | None = node
        while inner is not None and inner.type == _CALL:
            links.insert(0, inner)
            inner = inner.child_by_field_name("object")
        first, root = _name_of(links[0]), text_of(inner) if inner is not None else ""
        entries = self.names if inner is not None or not self._has_star else {"route", "nest"}
        is_root = first in ("route", "nest") and (root or first) in entries
        return links if is_root or root in self.builders else []

    @cached_property
    def _has_star(self) -> bool:
        """True if the file imports all static members of a class of routes."""
        return any(row.member == "*" and "RouterFunctions" in row.module for row in self.facts.imports)

    def _read_link(self, call: Node, path: Path, depth: int) -> None:
        name, arguments = _name_of(call), _arguments(call)
        if name in METHODS and arguments:
            is_handler = len(arguments) == 1 or (
                arguments[0].type == _CALL and _name_of(arguments[0]) in _CONDITIONS
            )
            self._add_route((name,), None if is_handler else arguments[0], arguments, path)
        elif name in _ROUTES and len(arguments) > 1:
            for methods, template in self._conditions(arguments[0]) or [((ANY,), None)]:
                self._add_route(methods, template, arguments, path)
        elif name in _NESTS and len(arguments) > 1:
            rows = [((), arguments[0])] if name == "path" else self._conditions(arguments[0])
            for _, template in rows or [((), None)]:
                self._read_inside(arguments[1], self.below(path, template), depth)
        elif name in _ADDS and arguments:
            self._read_inside(arguments[0], path, depth)

    def _add_route(
        self, methods: tuple[str, ...], template: Node | None, arguments: Sequence[Node], path: Path
    ) -> None:
        handlers = [node for node in arguments if node != template and not _is_condition(node)]
        if handlers and self.router:
            self.declare(methods, self.below(path, template), handlers[0], arguments[0])

    def declare(self, methods: tuple[str, ...], path: Path, handler: Node, node: Node | None = None) -> None:
        """Add a route to a handler, at a node, or around the handler."""
        template, flags = path
        target = text_of(handler).replace("::", ".") if handler.type not in _LAMBDAS else ""
        self.add(
            "route",
            self.router,
            node or handler.parent or handler,
            template=template,
            methods=methods,
            target=target,
            argument=handler,
            flags=flags,
        )

    def mount(self, called: Node, path: Path, node: Node) -> None:
        """Mount the router that a function returns."""
        template, flags = path
        target = f"{text_of(called).partition('(')[0].replace('::', '.')}()"
        self.add("mount", self.router, node, template=template, target=target, argument=called, flags=flags)

    def _read_inside(self, node: Node, path: Path, depth: int) -> None:
        """Read the routes that an argument adds: a chain, a function, or a call."""
        body, parameter = node.child_by_field_name("body"), node.child_by_field_name("parameters")
        if body is not None:
            around = self.builders
            self.builders |= {text_of(parameter).strip("()")} if parameter is not None else set()
            self._read_inside(body, path, depth)
            self.builders = around
        elif (node.type == _CALL and not self._links(node)) or node.type == "method_reference":
            self.mount(node, path, node)
        else:
            self.read(node, path, depth)

    def _conditions(self, node: Node, depth: int = 0) -> list[tuple[tuple[str, ...], Node | None]]:
        """Return the methods and path of each alternative: `GET("/x").or(path("/y")).and(…)`."""
        rows: list[tuple[tuple[str, ...], Node | None]] = []
        inner: Node | None = node
        while inner is not None and inner.type == _CALL and depth < DEPTH_MAX and self.go_on():
            name, arguments = _name_of(inner), _arguments(inner)
            if arguments and (name in METHODS or name == "path"):
                rows.append(((name,) if name in METHODS else (ANY,), arguments[0]))
            elif arguments and name == "or":
                rows += self._conditions(arguments[0], depth + 1)
            inner = inner.child_by_field_name("object")
        return rows

    def below(self, path: Path, template: Node | None) -> Path:
        """Return a path under another."""
        text, flags = self.prefix(template)
        return join_path(path[0], text) if path[0] else text, (*path[1], *flags)


def _name_of(call: Node) -> str:
    name = call.child_by_field_name("name")
    return text_of(name) if name is not None else ""


def _arguments(call: Node) -> list[Node]:
    listed = call.child_by_field_name("arguments")
    return [child for child in listed.named_children if not child.is_extra] if listed is not None else []


def _is_condition(node: Node) -> bool:
    return node.type == _CALL and _name_of(node) in _CONDITIONS | {*METHODS, "path", "and"}


class KotlinReader(FunctionalReader):
    #: True in the block of a router
    is_inside = False

    def read(self, node: Node, path: Path = ("", ()), depth: int = 0) -> None:
        """Read the routes below a node, under a path."""
        if depth > DEPTH_MAX or not self.go_on():
            return
        if node.type == "function_declaration":
            self.begin(node)
        elif node.type == "property_declaration" and node.named_child_count > 1:
            name, value = node.named_children[-2:]
            self.literals.add(text_of(name).partition(":")[0].strip(), value)
        is_call = node.type == "call_expression" and node.named_child_count > 0
        if not is_call or not self._read_call(node, path, depth):
            for child in node.named_children:
                self.read(child, path, depth + 1)

    def _read_call(self, node: Node, path: Path, depth: int) -> bool:
        """Read a call of a router's block; return False for another."""
        callee, arguments, block = _parts_of(node)
        name = text_of(callee) if callee.type == "identifier" else ""
        if not self.is_inside:
            self.is_inside = bool(name in _ROUTERS and name in self.names and block and self.router)
            if self.is_inside and block is not None:
                self.read(block, path, depth + 1)
                self.is_inside = False
                return True
            return False
        if callee.type == "navigation_expression" and callee.named_child_count:
            name = text_of(callee.named_children[-1])
            callee = callee.named_children[0]
        handlers = [*arguments[-1:], *([block] if block is not None else [])]
        if name == "nest" and block is not None:
            templates: list[Node | None] = [template for _, template in _conditions(callee)]
            for template in templates or [None]:
                self.read(block, self.below(path, template), depth + 1)
        elif name == "add" and arguments:
            self.mount(arguments[0], path, node)
        elif name in (*METHODS, "path") and len(arguments) + (block is not None) > 1:
            self.declare((name if name in METHODS else ANY,), self.below(path, arguments[0]), handlers[-1])
        elif name in ("invoke", "") and handlers:
            for method, condition in _conditions(callee):
                self.declare((method,), self.below(path, condition), handlers[-1])
        else:
            return False
        return True


def _parts_of(call: Node) -> tuple[Node, list[Node], Node | None]:
    """Return the callee, the arguments, and the block behind them."""
    callee, *rest = call.named_children
    block = next((node for node in rest if node.type == _BLOCK), None)
    if block is not None and callee.type == "call_expression" and callee.named_child_count > 1:
        callee, *rest = callee.named_children
    listed = next((node for node in rest if node.type == "value_arguments"), None)
    passed = listed.named_children if listed is not None else []
    return callee, [node.named_children[-1] for node in passed if node.named_child_count], block


def _conditions(node: Node, depth: int = 0) -> Iterator[tuple[str, Node]]:
    """Yield the method and path of each alternative: `GET("/x") or path("/y")`."""
    if node.type == "string_literal":
        yield ANY, node
    elif node.type == "call_expression" and node.named_child_count:
        callee, arguments, _ = _parts_of(node)
        if arguments and (name := text_of(callee)) in (*METHODS, "path"):
            yield name if name in METHODS else ANY, arguments[0]
    elif depth < DEPTH_MAX:
        for child in node.named_children:
            yield from _conditions(child, depth + 1)
