"""The fragments of classes whose attributes, annotations or decorators declare routes.

The router of a class `Orders` is `=Orders`. Its routes belong to `=Orders(routes)`, which heirs
mount too: they inherit routes, and the prefix if they have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tree_sitter import Node

from cortex.graph.facts.chains import text_of
from cortex.graph.frameworks.framework import METHODS, Attributes, Places, Route
from cortex.graph.frameworks.scopes import Scopes
from cortex.terms.kinds import TYPE_KINDS

DEPTH_MAX = 120
_KINDS = frozenset({"annotation", "marker_annotation", "attribute", "decorator"})
#: nodes around attributes
_AROUND = frozenset({"modifiers", "attribute_list"})
_NAME = re.compile(r"@?\s*(?:\w+:)?\s*([\w.]+)")
_LISTS = re.compile(r"array|collection|initializer|^list$")
_METHODS = re.compile(rf"\b(?:{'|'.join(METHODS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Attribute:
    name: str
    node: Node
    positional: list[Node] = field(default_factory=list)
    keywords: dict[str, Node] = field(default_factory=dict)

    def at(self, places: Places) -> Node | None:
        for place in places:
            if isinstance(place, str):
                if (node := self.keywords.get(place)) is not None:
                    return node
            elif -len(self.positional) <= place < len(self.positional):
                return self.positional[place]
        return None


class AttributeReader(Scopes):
    def read(self, node: Node, depth: int = 0) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            at = self.definition_at(name.start_byte)
            definition = self.facts.definitions[at] if at >= 0 else None
            if definition is not None and definition.name == text_of(name):
                if definition.kind not in TYPE_KINDS:
                    return
                self._read_class(node, at)
        if depth < DEPTH_MAX:
            for child in node.named_children:
                self.read(child, depth + 1)

    def _read_class(self, node: Node, at: int) -> None:
        definition = self.facts.definitions[at]
        attributes = list(attributes_of(node))
        names = {attribute.name for attribute in attributes}
        body = node.child_by_field_name("body") or node.named_children[-1]
        self._read_constants(body, definition.name)
        for row in (framework.attributes for framework in self.frameworks if framework.attributes):
            if names & row.clients:
                continue
            routes = [
                (declared, member)
                for member in body.named_children
                for declared in attributes_of(member)
                if declared.name in row.methods
            ]
            prefixes = [attribute for attribute in attributes if attribute.name in row.prefixes]
            is_controller = not names.isdisjoint(row.controllers)
            if not (routes or prefixes or is_controller):
                continue
            name = definition.qualified
            is_served = is_controller and not _is_abstract(node)
            self._add_class(name, node, row, prefixes, is_served=is_served)
            if routes:
                if is_served:
                    self.add("mount", f"={name}", node, target=f"={name}(routes)")
                for base in definition.bases:
                    self.add("mount", f"={name}(routes)", node, target=f"{base.chain}(routes)")
            elif is_served:
                for base in definition.bases:
                    self.add("mount", f"={name}", node, target=f"{base.chain}(routes)")
            for declared, member in routes:
                self._add_route(name, row.methods[declared.name], declared, member)

    def _add_class(
        self, name: str, node: Node, row: Attributes, prefixes: list[Attribute], *, is_served: bool
    ) -> None:
        """Add the class's router: mounted for each prefix, or under the prefix of its bases."""
        flags = ("app",) if is_served else ()
        templates = [
            template
            for attribute in prefixes
            for template in self._templates(attribute.at(row.prefixes[attribute.name]))
        ]
        if len(templates) > 1:
            around = f"={name}(prefixes)"
            self.add("router", around, node, flags=flags)
            for template, computed in templates:
                self.add("mount", around, node, template=template, target=f"={name}", flags=computed)
            return
        template, computed = templates[0] if templates else ("", ())
        self.add("router", f"={name}", node, template=template, flags=(*flags, *computed))
        if not templates:
            definition = self.facts.definitions[self.definition_at(_name_of(node).start_byte)]
            for base in definition.bases:
                self.add("mount", base.chain, node, target=f"={name}", flags=flags)

    def _add_route(self, name: str, row: Route, declared: Attribute, member: Node) -> None:
        at = self.definition_at(_name_of(member).start_byte)
        methods = row.methods
        flags: tuple[str, ...] = ()
        if (listed := declared.at(row.methods_at)) is not None:
            methods = tuple(method.upper() for method in _METHODS.findall(text_of(listed)))
            flags = () if methods else ("methods",)
        for template, computed in self._templates(declared.at(row.path)) or [("", ())]:
            self.add(
                "route",
                f"={name}(routes)",
                declared.node,
                template=template,
                methods=methods,
                target=f"#{at}" if at >= 0 else "",
                flags=(*flags, *computed),
            )

    def _templates(self, node: Node | None) -> list[tuple[str, tuple[str, ...]]]:
        """Return the texts of an argument, with the flag of computed ones; [] without one."""
        if node is None:
            return []
        nodes = node.named_children if _LISTS.search(node.type) else [node]
        return [self.prefix(child) for child in nodes]

    def _read_constants(self, body: Node, owner: str) -> None:
        """Keep the texts of a class's fields, also of its companion's."""
        for member in body.named_children:
            for node in (member, *member.named_children):
                name = node.child_by_field_name("name")
                value = node.child_by_field_name("value")
                if value is None and node.named_child_count > 1 and node.type in _DECLARATORS:
                    name = name or node.named_children[-2]
                    value = node.named_children[-1]
                if name is not None and value is not None and "string" in value.type + _children(value):
                    self.literals.add(text_of(name), value)
                    self.literals.add(f"{owner}.{text_of(name)}", value)
            if member.type == "companion_object":
                self._read_constants(member.named_children[-1], owner)


_DECLARATORS = frozenset({"variable_declarator", "property_declaration"})


def _children(node: Node) -> str:
    return " ".join(child.type for child in node.named_children)


def _name_of(node: Node) -> Node:
    return node.child_by_field_name("name") or node


def _is_abstract(node: Node) -> bool:
    words = [text_of(child) for child in node.children if child.type == "modifier"]
    words += [
        text_of(word)
        for child in node.children
        if child.type == "modifiers"
        for word in child.children
        if word.type not in _KINDS
    ]
    return "interface" in node.type or "abstract" in node.type or "abstract" in words


def attributes_of(node: Node) -> Iterator[Attribute]:
    """Yield the attributes of a class or member: inside of it, or before it."""
    nodes = [*node.named_children]
    around = node.parent
    if around is not None and around.type == "export_statement":
        nodes += around.named_children
    before = node.prev_named_sibling
    while before is not None and before.type in ("decorator", "comment"):
        nodes.append(before)
        before = before.prev_named_sibling
    for child in nodes:
        for inner in child.named_children if child.type in _AROUND else (child,):
            if inner.type in _KINDS and (match := _NAME.match(text_of(inner))):
                name = match[1].rpartition(".")[2].removesuffix("Attribute")
                attribute = Attribute(name, inner)
                _add_arguments(attribute, inner)
                yield attribute


def _add_arguments(attribute: Attribute, node: Node) -> None:
    listed = next(
        (
            child
            for outer in (node, *node.named_children)
            for child in outer.named_children
            if "argument" in child.type and "type" not in child.type
        ),
        None,
    )
    for argument in listed.named_children if listed is not None else ():
        if argument.is_extra:
            continue
        pairs = argument.named_children if argument.type == "object" else [argument]
        for pair in pairs:
            _add_argument(attribute, pair)


def _add_argument(attribute: Attribute, node: Node) -> None:
    key = node.child_by_field_name("key") or node.child_by_field_name("name")
    value = node.child_by_field_name("value")
    if node.type in ("value_argument", "attribute_argument"):
        value = node.named_children[-1] if node.named_children else None
        if key is None and node.named_child_count == 2:
            key = node.named_children[0]
    if value is None:
        attribute.positional.append(node)
    elif key is None:
        attribute.positional.append(value)
    else:
        attribute.keywords[text_of(key).strip("\"'")] = value
