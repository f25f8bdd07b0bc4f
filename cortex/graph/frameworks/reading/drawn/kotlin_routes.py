"""The routes of Spring's language in Kotlin: `router { GET("/orders", handler::list) }`.

The router of a function is the one that it returns, `=Routes.orders()`; a bean is served.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.frameworks.reading.drawn.functional import DEPTH_MAX, FunctionalReader, Path
from cortex.graph.frameworks.tables.framework import ANY, METHODS

_ROUTERS = frozenset({"router", "coRouter"})
_LAMBDA = "annotated_lambda"


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
    block = next((node for node in rest if node.type == _LAMBDA), None)
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
