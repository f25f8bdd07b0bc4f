"""The fragments of classes whose attributes, annotations or decorators declare routes.

The router of a class `Orders` is `=Orders`. Its routes belong to `=Orders(routes)`, which heirs
mount too: they inherit routes, and the prefix if they have none.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import child_of, text_of
from cortex.graph.facts.facts import Definition, Facts
from cortex.graph.facts.grammars import Grammar
from cortex.graph.frameworks.join import ROUTES, join_path
from cortex.graph.frameworks.reading.scopes import Arguments, Scopes, last_of
from cortex.graph.frameworks.tables.framework import METHODS, Attributes, Framework, Route
from cortex.terms.kinds import TYPE_KINDS

DEPTH_MAX = 120
_KINDS = frozenset({"annotation", "marker_annotation", "attribute", "decorator"})
#: methods with such a word are no actions
_NO_ACTIONS = frozenset({"static", "override", "abstract"})
#: nodes around attributes
_AROUND = frozenset({"modifiers", "attribute_list"})
#: nodes between a list of classes and its elements
LISTS_MAX = 12
_PARTS = frozenset("array spread_element ternary_expression arguments parenthesized_expression".split())
_PUSH = re.compile(r"(\w+)\.(?:push|unshift)\(")
_NAME = re.compile(r"@?\s*(?:\w+:)?\s*([\w.]+)")
_LISTS = re.compile(r"array|collection|initializer|^list$")
_METHODS = re.compile(rf"\b(?:{'|'.join(METHODS)})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Attribute(Arguments):
    name: str


@dataclass(frozen=True, slots=True)
class _Class:
    """A class with routes; `is_served`: it serves them itself, without a module."""

    definition: Definition
    node: Node
    row: Attributes
    prefixes: list[Attribute]
    is_served: bool
    area: str

    @property
    def key(self) -> str:
        return f"={self.definition.qualified}"


class AttributeReader(Scopes):
    def __init__(self, facts: Facts, grammar: Grammar, frameworks: Sequence[Framework]) -> None:
        super().__init__(facts, grammar, frameworks)
        #: variable → its values, and arguments that are pushed to it
        self._values: dict[str, list[Node]] = {}

    def read(self, node: Node, depth: int = 0) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None and value is not None:
            self.literals.add(text_of(name), value)
            self._values.setdefault(text_of(name), []).append(value)
        elif node.type in self.syntax.calls and (match := _PUSH.match(text_of(node)[:200])) is not None:
            self._values.setdefault(match[1], []).append(last_of(node))
        elif name is not None:
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
        body = node.child_by_field_name("body") or last_of(node)
        self.read_constants(body, definition.name)
        for row in (framework.attributes for framework in self.frameworks if framework.attributes):
            if names & row.clients:
                continue
            for attribute in attributes:
                for keyword in row.modules.get(attribute.name, ()):
                    self._mount_listed(f"={definition.qualified}", attribute.keywords.get(keyword))
            routes = [
                (declared, member, self._versions_of(declared_all, row))
                for member in body.named_children
                if member.type not in _KINDS
                for declared_all in [list(attributes_of(member))]
                for declared in merge_paths(declared_all, row)
            ]
            prefixes = [attribute for attribute in attributes if attribute.name in row.prefixes]
            is_controller = not names.isdisjoint(row.controllers) or bool(
                row.tokens and (routes or definition.name.endswith("Controller"))
            )
            if row.tokens and is_controller:
                members = (member for member in body.named_children if _is_action(member, row))
                routes += [(Attribute(_name_of(member), [], {}, ""), member, ()) for member in members]
            if routes or prefixes or is_controller:
                label = next((mark.at((0,)) for mark in attributes if mark.name == row.area), None)
                area = (self.literals.text(label) or "?") if label is not None else ""
                is_served = is_controller and not _is_abstract(node)
                served = _Class(definition, node, row, prefixes, is_served, area)
                self._add_class(served, {versions for *_, versions in routes})
                for declared, member, versions in routes:
                    self._add_route(f"{served.key}{_routes_of(versions)}", served, declared, member)

    def _add_class(self, served: _Class, versions: set[tuple[str, ...]]) -> None:
        """Add the class's router, with its prefix or that of its bases, and mount its routes."""
        row, node, key = served.row, served.node, served.key
        flags = ("app",) if served.is_served else ()
        templates = [
            template
            for attribute in served.prefixes
            for template in self._templates(attribute.at(row.prefixes[attribute.name])) or [("", ())]
        ]
        for base in served.definition.bases:
            self.add("mount", f"{key}{ROUTES}", node, target=f"{base.chain}{ROUTES}")
        if row.version or len(templates) > 1:
            self.add("router", key, node, flags=flags)
            common = self._versions_of(served.prefixes, row)
            for version in sorted(versions | {()}):
                target = f"{key}{_routes_of(version)}"
                for template, computed in templates:
                    for number in version or common or ("",):
                        self.add(
                            "mount",
                            key,
                            node,
                            template=template,
                            target=target,
                            flags=(*computed, f"version={number}") if row.version else computed,
                        )
            return
        template, computed = templates[0] if templates else ("", ())
        self.add("router", key, node, template=template, flags=(*flags, *computed))
        if not templates:
            for base in served.definition.bases:
                self.add("mount", base.chain, node, target=key, flags=flags)
        if served.is_served:
            self.add("mount", key, node, target=f"{key}{ROUTES}")

    def _versions_of(self, attributes: list[Attribute], row: Attributes) -> tuple[str, ...]:
        """Return the versions that attributes of a class or method have."""
        for attribute in attributes if row.version else ():
            places = (0,) if attribute.name == row.version else (row.version.lower(),)
            if (listed := attribute.at(places)) is not None and (
                attribute.name == row.version or attribute.name in row.prefixes
            ):
                return tuple(text if not flags else "-" for text, flags in self._templates(listed))
        return ()

    def _elements(self, node: Node, depth: int = 0) -> Iterator[Node]:
        """Yield the elements of a list of classes, also of variables and of both branches."""
        nodes: list[Node] | None = None
        if not self.go_on():
            return
        if node.type == "identifier":
            nodes = self._values.get(text_of(node))
        elif node.type in _PARTS:
            nodes = node.named_children
        elif (callee := node.child_by_field_name("function")) and text_of(callee).endswith(".concat"):
            nodes = [callee.named_children[0], last_of(node)]
        if nodes is None:
            yield node
        elif depth < LISTS_MAX:
            for inner in nodes:
                yield from self._elements(inner, depth + 1)

    def _mount_listed(self, key: str, listed: Node | None) -> None:
        for element in self._elements(listed) if listed is not None else ():
            node = element
            if text_of(node).startswith("RouterModule."):
                self._move_listed(key, last_of(node), "")
                continue
            while node.type in self.syntax.calls:
                passed = last_of(node).named_children[:1]
                body = passed[0].child_by_field_name("body") if passed else None
                called = child_of(node, self.syntax.calls[node.type])
                if body is None and called is not None:  # `Orders.register()`, not `forwardRef(() => Orders)`
                    called = called.child_by_field_name("object")
                node = body or called or last_of(node)
            if chain := self.dotted(node):
                self.add("mount", key, element, target=chain)

    def _move_listed(self, key: str, node: Node, path: str, depth: int = 0) -> None:
        """Read the prefixes of modules: `register([{ path: "admin", module: Admin }])`."""
        for child in node.named_children if depth < LISTS_MAX else ():
            pairs = {
                text_of(name): value
                for pair in child.named_children
                if (name := pair.child_by_field_name("key")) and (value := pair.child_by_field_name("value"))
            }
            template, computed = self.prefix(pairs.get("path"))
            below = join_path(path, template)
            if chain := self.dotted(pairs["module"]) if "module" in pairs else "":
                self.add("mount", key, child, template=below, target=chain, flags=("moves", *computed))
            self._move_listed(key, pairs.get("children", child), below, depth + 1)

    def _add_route(self, router: str, served: _Class, declared: Attribute, member: Node) -> None:
        at, row = self.definition_at(_name_of(member).start_byte), served.row
        route = row.methods.get(declared.name, Route())
        methods = route.methods
        flags: tuple[str, ...] = ()
        if (listed := declared.at(route.methods_at)) is not None:
            nodes = declared.positional if listed in declared.positional else [listed]
            texts = " ".join(map(text_of, nodes))
            methods = tuple(method.upper() for method in _METHODS.findall(texts))
            flags = () if methods else ("methods",)
        if row.tokens and at >= 0:
            flags = (*flags, *self._action(member, at, served))
        for template, computed in self._templates(declared.at(route.path)) or [("", ())]:
            is_whole = row.tokens and template.startswith(("/", "~/"))
            self.add(
                "route",
                "=" if is_whole else router,
                declared.node,
                template=template.removeprefix("~") if is_whole else template,
                methods=methods,
                target=f"#{at}" if at >= 0 else "",
                flags=(*flags, *computed, "app") if is_whole else (*flags, *computed),
            )

    def _action(self, member: Node, at: int, served: _Class) -> Iterator[str]:
        """Yield the flags of an action: its name, the area, and the parameters that it takes."""
        definition = self.facts.definitions[at]
        label = next((row.at((0,)) for row in attributes_of(member) if row.name == served.row.action), None)
        name = self.literals.text(label) if label is not None else None
        yield f"action={name or definition.name.removesuffix('Async')}"
        yield f"takes={','.join(parameter.name for parameter in definition.parameters)}"
        if served.area:
            yield f"area={served.area}"

    def _templates(self, node: Node | None) -> list[tuple[str, tuple[str, ...]]]:
        """Return the texts of an argument, with the flag of computed ones; [] without one."""
        if node is None:
            return []
        nodes = node.named_children if _LISTS.search(node.type) else [node]
        return [self.prefix(child) for child in nodes]


def _routes_of(versions: tuple[str, ...]) -> str:
    """Return the end of the key of a class's routes of some versions."""
    return f"({','.join(versions)}){ROUTES}" if versions else ROUTES


def _name_of(node: Node) -> Node:
    return node.child_by_field_name("name") or node


def _is_action(member: Node, row: Attributes) -> bool:
    """Return True for a public method without an attribute of a route."""
    words = {text_of(child) for child in member.children if child.type == "modifier"}
    if member.type != "method_declaration" or "public" not in words or words & _NO_ACTIONS:
        return False
    names = {attribute.name for attribute in attributes_of(member)}
    is_generic = any(child.type == "type_parameter_list" for child in member.children)
    return not is_generic and row.excluded not in names and names.isdisjoint(row.methods)


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
    for child in {child.start_byte: child for child in nodes}.values():
        for inner in child.named_children if child.type in _AROUND else (child,):
            if inner.type in _KINDS and (match := _NAME.match(text_of(inner))):
                name = match[1].rpartition(".")[2].removesuffix("Attribute")
                attribute = Attribute(inner, [], {}, name)
                _add_arguments(attribute, inner)
                yield attribute


def merge_paths(attributes: list[Attribute], row: Attributes) -> list[Attribute]:
    """Return the attributes of routes: `[HttpGet][Route("x")]` is one of GET at `x`."""
    routes = [attribute for attribute in attributes if attribute.name in row.methods]
    paths = [attribute for attribute in routes if attribute.name in row.prefixes]
    verbs = [attribute for attribute in routes if attribute not in paths]
    if not (row.tokens and paths and verbs):
        return routes
    places = row.prefixes[paths[0].name]
    return [
        verb
        if verb.at(row.methods[verb.name].path) is not None
        else Attribute(verb.node, path.positional, {**path.keywords, **verb.keywords}, verb.name)
        for verb in verbs
        for path in paths
        if path.at(places) is not None
    ]


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
