"""Lists of routes, and loops over literal lists, for read.py: each element is read by itself."""

import re
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.frameworks.reading.loops import Loop, values_of
from cortex.graph.frameworks.reading.rows import Call, Rows

#: nesting that is read: parsers of hostile files nest without an end
DEPTH_MAX = 220
#: bytes that a file's loops read again for their further elements
REPEATED_BYTES_MAX = 1_000_000
#: the name space of a list of routes
_APP_NAME = re.compile(r"""(?m)^app_name\s*=\s*["'](\w+)["']""")
#: variables in the pattern of a loop
NAMES = re.compile(r"[\w$]+")


class Lists(Rows, ABC):
    @abstractmethod
    def visit(self, node: Node, holder: str = "", depth: int = 0) -> str:
        """Read a node; return the key or chain of the router that is its value, "" for none.

        `holder`: the variable that gets the value.
        """

    def _repeat(self, loop: Loop, depth: int) -> bool:
        """Read a loop over a literal list once for each element; return False for another loop."""
        rows = values_of(loop, self.list_of, self.grown) if len(self.frames) + depth <= DEPTH_MAX else []
        if not rows:
            return False
        self.repeated += len(rows) * (loop.body.end_byte - loop.body.start_byte)
        if self.repeated > REPEATED_BYTES_MAX:
            return False
        self.visit(loop.iterated, "", depth)
        around, count = self.looped, len(self.fragments)
        names = {name for row in rows for name in row} | set(NAMES.findall(text_of(loop.pattern)[:200]))
        outer = self.literals.hide(names)
        for row in rows:
            values = {name: self.meant(value) for name, value in row.items()}
            self.literals.restore(names, {})
            for name, value in values.items():
                self.literals.give(name, value)
                self.looped_values.add(value.id)
            self.looped, self.body = around | values, loop.body.id
            self.visit(loop.body, "", depth)
        self.looped = around
        self.literals.restore(names, outer)
        self.fragments[count:] = dict.fromkeys(self.fragments[count:])  # unknown paths are one
        return True

    def _with_values(self, call: Call) -> Call:
        """Return a call with the present values of variables of loops."""
        if not self.looped:
            return call
        keywords = {name: self.meant(node) for name, node in call.keywords.items()}
        return replace(call, positional=[*map(self.meant, call.positional)], keywords=keywords)

    def _read_list(self, node: Node, holder: str, depth: int) -> str:
        """Read a list of routes: the key of the list, "" without routes."""
        around, count = self.list, len(self.fragments)
        if node.type != "tuple" or not around:
            self.list = self.key(holder, in_parts=True)
        key = self.list
        was_known = key in self.known_routers
        self.known_routers.setdefault(key, None)
        for child in node.named_children:
            inner = self.visit(child, "", depth)
            if child.type == "list_splat" and inner and inner != key:
                self.add("mount", key, child, target=inner)
        self.list = around
        if not any(fragment.router == key for fragment in self.fragments[count:]):
            if not was_known:
                del self.known_routers[key]
            return ""
        return key if was_known else self._list_of_routes(holder, node, key)

    def _list_of_routes(self, holder: str, node: Node, key: str = "") -> str:
        """Add the router that a list of routes is; its key is new without one."""
        key = key or self.key(holder, in_parts=True)
        self.known_routers.setdefault(key, None)
        flags: tuple[str, ...] = ("app",) if holder and holder in self._roots else ()
        if flags and (match := _APP_NAME.search(text_of(self.root))):
            flags = (*flags, f"names={match[1]}:")
        self.add("router", key, node, flags=flags)
        return key

    @cached_property
    def _roots(self) -> set[str]:
        return {framework.root for framework in self.frameworks}

    def _grow(self, node: Node) -> None:
        """Note that a literal list gets further elements."""
        if (listed := self.list_of(node)) is not None:
            self.grown.add(listed.id)
