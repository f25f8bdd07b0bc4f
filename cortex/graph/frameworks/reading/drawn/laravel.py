"""The routes of Laravel: calls of `Route` in files of routes."""

import re
from dataclasses import dataclass, replace

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import dotted_name, text_of
from cortex.graph.frameworks.join import join_path
from cortex.graph.frameworks.reading.drawn.blocks import APP, DEPTH_MAX, Drawing, Place, singular
from cortex.graph.frameworks.reading.scopes import last_of
from cortex.graph.frameworks.tables.framework import METHODS

_VERBS = {method.lower(): (method,) for method in METHODS} | {"any": (), "match": ()}
#: action → (methods, path below the resource, whether it is one of its members)
_ACTIONS = {
    "index": (("GET",), "", False),
    "create": (("GET",), "create", False),
    "store": (("POST",), "", False),
    "show": (("GET",), "", True),
    "edit": (("GET",), "edit", True),
    "update": (("PUT", "PATCH"), "", True),
    "destroy": (("DELETE",), "", True),
}
_RESOURCES = {
    "resource": frozenset(_ACTIONS),
    "apiResource": frozenset(_ACTIONS) - {"create", "edit"},
    "singleton": frozenset({"show", "edit", "update"}),
    "apiSingleton": frozenset({"show", "update"}),
}
_CALLS = frozenset({"member_call_expression", "scoped_call_expression"})
_FILE = re.compile(r"routes/[\w/.-]+\.php")
#: the folder of an application
_ROOT = re.compile(r"(.*?)(?:routes|app|bootstrap)/")
#: the name space of controllers that are named by strings
_CONTROLLERS = "App.Http.Controllers"


@dataclass(frozen=True, slots=True)
class _Link:
    """A call in a chain: `prefix("admin")` of `Route::prefix("admin")->get(…)`."""

    name: str
    arguments: list[Node]
    node: Node


class LaravelReader(Drawing):
    def read(self, root: Node) -> None:
        path = self.facts.path
        match = _ROOT.match(path)
        self.root = match[1] if match else ""
        prefix = "api" if path.endswith("routes/api.php") else ""
        self.add("router", APP, root, template=prefix, flags=("app",))
        self._walk(root, Place(), 0)

    def _walk(self, node: Node, place: Place, depth: int) -> None:
        if depth > DEPTH_MAX or not self.go_on():
            return
        if node.type in _CALLS and (links := self._links(node)):
            self._read(links, place, depth)
            return
        if node.type.startswith(("require", "include")) and (match := _FILE.search(text_of(node))):
            self._mount(place, match[0], node)
        name = node.child_by_field_name("name")
        if name is not None and name.text == b"withRouting":
            self._files(node)
        for child in node.named_children:
            self._walk(child, place, depth + 1)

    def _files(self, node: Node) -> None:
        """Read `withRouting(api: "…/routes/api.php", apiPrefix: "v1")`."""
        listed = node.child_by_field_name("arguments")
        options = {}
        for argument in listed.named_children if listed is not None else ():
            if (key := argument.child_by_field_name("name")) is not None:
                options[text_of(key)] = last_of(argument)
        if "apiPrefix" in options and "api" in options and (match := _FILE.search(text_of(options["api"]))):
            self._mount(Place().below(self.symbol(options["apiPrefix"])), match[0], node)

    def _links(self, node: Node) -> list[_Link]:
        """Return the calls of a chain that begins with `Route::` or `$router->`; [] for another."""
        links: list[_Link] = []
        while node.type in _CALLS:
            name, listed = node.child_by_field_name("name"), node.child_by_field_name("arguments")
            if name is None:
                return []
            every = listed.named_children if listed is not None else []
            arguments = [last_of(child) for child in every if not child.is_extra]
            links.insert(0, _Link(text_of(name), arguments, node))
            inner = node.child_by_field_name("scope") or node.child_by_field_name("object")
            if inner is None:
                return []
            node = inner
        return links if text_of(node).rpartition("\\")[2] in ("Route", "$router", "$app->router") else []

    def _read(self, links: list[_Link], place: Place, depth: int) -> None:
        before, declared, after = place, None, []
        for link in links:
            if declared is not None:
                after.append(link)
            elif link.name in _VERBS or link.name in _RESOURCES or link.name in _OTHERS:
                declared = link
            else:
                before = self._place_inside(link, before)
        if declared is None or not declared.arguments:
            return
        label = ""
        for link in after:
            if link.name == "name":
                label = self.symbol(link.arguments[0] if link.arguments else None) or ""
            if link.name == "prefix":
                before = replace(self._place_inside(link, replace(place, path="")), module=before.module)
                before = replace(before, path=join_path(place.path, before.path), controller=place.controller)
        first, *others = declared.arguments
        if declared.name == "group":
            self._group(declared, before, depth)
        elif declared.name in ("resources", "apiResources"):
            for element in first.named_children:
                if len(pair := element.named_children) == 2:
                    self._resource(declared.name[:-1], [*pair, *others], after, before, declared.node)
        elif declared.name in _RESOURCES:
            self._resource(declared.name, declared.arguments, after, before, declared.node)
        elif declared.name == "fallback":
            self.draw(before, ("GET",), "{fallback}", self._target(before, first), declared.node)
        elif declared.name in ("redirect", "view", "permanentRedirect", "livewire"):
            self._route(before, ("GET",) if declared.name == "view" else (), first, "", declared)
        elif declared.name == "match" and others:
            methods = tuple(text.upper() for text in self.symbols(first))
            target = self._target(before, others[1]) if len(others) > 1 else ""
            self._route(before, methods, others[0], target, declared, name=label)
        elif declared.name in _VERBS:
            target = self._target(before, others[0]) if others else ""
            self._route(before, _VERBS[declared.name], first, target, declared, name=label)

    def _route(
        self, place: Place, methods: tuple[str, ...], path: Node, target: str, link: _Link, *, name: str = ""
    ) -> None:
        text = self.symbol(path)
        named = f"{place.names}{name}" if name else ""
        handler = link.arguments[-1]
        path_text = None if text is None else text.strip("/")
        self.draw(place, methods, path_text, target, link.node, name=named, handler=handler)

    def _place_inside(self, link: _Link, place: Place) -> Place:
        first = link.arguments[0] if link.arguments else None
        if link.name == "prefix":
            return place.below(self.symbol(first))
        if link.name in ("name", "as"):
            return replace(place, names=f"{place.names}{self.symbol(first) or ''}")
        if link.name == "controller" and first is not None:
            return replace(place, controller=self._class(place, first))
        if link.name == "namespace":
            return replace(place, module=self._name_space(place, self.symbol(first)))
        return place

    def _name_space(self, place: Place, name: str | None) -> str:
        chain = dotted_name(name or "").lstrip("\\")
        return (
            chain
            if chain.startswith("App.")
            else ".".join(filter(None, (place.module or _CONTROLLERS, chain)))
        )

    def _group(self, link: _Link, place: Place, depth: int) -> None:
        """Read `group(["prefix" => "x"], function () {…})`, `group(base_path("routes/a.php"))`."""
        *options, body = link.arguments
        for element in options[0].named_children if options else ():
            key = self.symbol(element.named_children[0]) if element.named_child_count == 2 else None
            value = last_of(element)
            if key == "prefix":
                place = place.below(self.symbol(value))
            elif key == "as":
                place = replace(place, names=f"{place.names}{self.symbol(value) or ''}")
            elif key == "namespace":
                place = replace(place, module=self._name_space(place, self.symbol(value)))
            elif key == "controller":
                place = replace(place, controller=self._class(place, value))
        if body.child_by_field_name("body") is not None:
            self._walk(body, place, depth + 1)
        elif (match := _FILE.search(text_of(body))) is not None:
            self._mount(place, match[0], link.node)

    def _mount(self, place: Place, file: str, node: Node) -> None:
        """Mount a file of routes, in place of the prefix that it has without a mount."""
        self.add("router", f"{APP}(files)", node, flags=("app",))
        flags = ("replaces", "computed") if place.is_open else ("replaces",)
        flags = (*flags, f"names={place.names}") if place.names else flags
        target = f"/{self.root}{file}"
        self.add("mount", f"{APP}(files)", node, template=place.path, target=target, flags=flags)

    def _resource(
        self, kind: str, arguments: list[Node], after: list[_Link], place: Place, node: Node
    ) -> None:
        name = self.symbol(arguments[0])
        if name is None or len(arguments) < 2:
            self.draw(place, (), None, "", node)
            return
        chosen = set(_RESOURCES[kind])
        options = {link.name: link.arguments for link in after if link.arguments}
        for element in arguments[2].named_children if len(arguments) > 2 else ():
            if element.named_child_count == 2 and (key := self.symbol(element.named_children[0])):
                options[key] = [element.named_children[1]]
        for key, values in options.items():
            names = {text for value in values for text in self.symbols(value)}
            if key == "only":
                chosen &= names
            elif key == "except":
                chosen -= names
        renamed = self._pairs(options.get("parameters", []))
        *outer, last = name.strip("/").split(".")
        around = "/".join(f"{text}/{_parameter(text, renamed)}" for text in outer)
        if "shallow" in options:
            around = ""
        collection = join_path(around, last)
        single = "ingleton" in kind
        member = collection if single else f"{collection}/{_parameter(last, renamed)}"
        controller = self._class(place, arguments[1])
        for action, (methods, path, is_member) in _ACTIONS.items():
            if action in chosen:
                template = join_path(member if is_member else collection, path)
                handler = f"{controller}#{action}" if controller else ""
                named = f"{place.names}{name.strip('/').rpartition('/')[2]}.{action}"
                self.draw(place, methods, template, handler, node, name=named)

    def _pairs(self, values: list[Node]) -> dict[str, str]:
        pairs = {}
        for element in values[0].named_children if values else ():
            texts = [self.symbol(child) for child in element.named_children]
            if len(texts) == 2 and texts[0] and texts[1]:
                pairs[texts[0]] = texts[1]
        return pairs

    def _class(self, place: Place, node: Node) -> str:
        """Return the chain of `Orders::class`, or of a name in a string."""
        if node.type == "class_constant_access_expression":
            return dotted_name(text_of(node.named_children[0] if node.named_children else node))
        text = self.symbol(node)
        return self._full_name(place, text) if text else ""

    def _full_name(self, place: Place, text: str) -> str:
        """Return the chain of a class in a string: in the name space of the routes around."""
        chain = dotted_name(text).lstrip("\\")
        return f"\\{chain if chain.startswith('App.') else f'{place.module or _CONTROLLERS}.{chain}'}"

    def _target(self, place: Place, node: Node) -> str:
        """Return the handler of `[Orders::class, "show"]`, `"Orders@show"`, `Orders::class`."""
        if node.type == "array_creation_expression":
            parts = [child.named_children[-1] for child in node.named_children if child.named_child_count]
            for part in node.named_children:  # `["uses" => "Orders@show"]`
                if part.named_child_count == 2 and self.symbol(part.named_children[0]) == "uses":
                    return self._target(place, part.named_children[1])
            if len(parts) == 2 and (controller := self._class(place, parts[0])):
                return f"{controller}#{self.symbol(parts[1]) or '__invoke'}"
            return f"{self._class(place, parts[0])}#__invoke" if len(parts) == 1 else ""
        if node.type == "class_constant_access_expression":
            return f"{self._class(place, node)}#__invoke"
        text = self.symbol(node)
        if not text:
            return ""
        controller, at, action = text.partition("@")
        if at:
            return f"{self._full_name(place, controller)}#{action}"
        return f"{place.controller}#{text}" if place.controller else ""


_OTHERS = frozenset("fallback group resources apiResources redirect view permanentRedirect livewire".split())


def _parameter(name: str, renamed: dict[str, str]) -> str:
    word = name.rpartition("/")[2]
    if word in renamed:
        return f"{{{renamed[word]}}}"
    return f"{{{singular(word.replace('-', '_'))}}}"
