"""Routes that are drawn by nested blocks in one file, for rails.py and laravel.py.

A block changes the `Place` of the routes inside. All routes of a file belong to the router `=app`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.frameworks.join import join_path
from cortex.graph.frameworks.reading.literals import HOLE
from cortex.graph.frameworks.reading.scopes import Scopes
from cortex.graph.frameworks.tables.framework import ANY

#: nesting that is read
DEPTH_MAX = 60
APP = "=app"
_SYMBOL = re.compile(r":?[\"']?([^\"']*)[\"']?$")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block is: the path so far, the module and the controller of its routes.

    `computed`: a part of the path has no literal text. `outer`: the path without resources around.
    """

    path: str = ""
    module: str = ""
    controller: str = ""
    computed: bool = False
    outer: str = ""
    #: paths of the resource around: its collection and its member, "" outside
    collection: str = ""
    member: str = ""
    shallow: bool = False
    #: begin of the names of routes, also without resources around, and their end in a block of a
    #: member or collection
    names: str = ""
    outer_names: str = ""
    suffix: str = ""
    #: names of the resource around: a member's and its collection's
    singular: str = ""
    plural: str = ""

    @property
    def is_open(self) -> bool:
        """True if a part of the path has no text in this file."""
        return self.computed or HOLE in self.path

    def below(self, path: str | None) -> Place:
        """Return the place under a further prefix, None for a computed one."""
        if path is None:
            return replace(self, path="", outer="", computed=True)
        path = path.strip("/")
        return replace(self, path=join_path(self.path, path), outer=join_path(self.outer, path))


class Drawing(Scopes):
    """The routes of a file of drawn routes."""

    def symbol(self, node: Node | None) -> str | None:
        """Return the text of a string or symbol, with the names of constants between `HOLE`s; None
        for another expression.
        """
        if node is None:
            return None
        if "symbol" in node.type:
            match = _SYMBOL.match(text_of(node))
            return match[1] if match else None
        text = self.literals.text(node)
        return self.literals.template(node) if text is None else text

    def symbols(self, node: Node | None) -> list[str]:
        """Return the texts of a list, or of one string."""
        if node is None:
            return []
        nodes = node.named_children if "array" in node.type else [node]
        return [text for child in nodes if (text := self.symbol(_element(child))) is not None]

    def draw(
        self,
        place: Place,
        methods: Iterable[str],
        path: str | None,
        target: str,
        node: Node,
        *,
        name: str = "",
        handler: Node | None = None,
    ) -> None:
        """Add a route at a place, with the methods and the name. `handler`: the argument that may
        be a function without a name.
        """
        is_unnamed = handler is not None and any(map(handler.child_by_field_name, ("body", "block")))
        template = "" if path is None else join_path(place.path, path)
        self.add(
            "route",
            APP,
            node,
            template=template or "/",
            methods=tuple(methods) or (ANY,),
            target=target,
            argument=handler if is_unnamed else None,
            flags=(
                *(("computed",) if path is None or place.is_open or HOLE in path else ()),
                *((f"named={name}",) if name else ()),
            ),
        )


def _element(node: Node) -> Node:
    return node.named_children[0] if "element" in node.type and node.named_child_count == 1 else node


def singular(name: str) -> str:
    """Return the name of one of a resource's members: `categories` → `category`."""
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    if name.endswith(("sses", "shes", "ches", "xes")):
        return name[:-2]
    return name[:-1] if name.endswith("s") and not name.endswith(("ss", "us", "is")) else name
