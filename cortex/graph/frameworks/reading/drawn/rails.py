"""The routes of Rails: `config/routes.rb`, and the files that it draws."""

import re
from dataclasses import dataclass, replace

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.frameworks.join import join_path
from cortex.graph.frameworks.reading.drawn.blocks import APP, DEPTH_MAX, Drawing, Place, singular
from cortex.graph.frameworks.reading.literals import camel
from cortex.graph.frameworks.tables.framework import METHODS

_ROUTES = re.compile(r"^(.*?)config/routes(?:\.rb$|/)")
_ENGINE = re.compile(r"((?:\w+::)*\w+)::Engine\.")
_VERBS = {method.lower(): (method,) for method in METHODS} | {"match": ()}
#: action → (methods, path below the resource, whether it is one of its members)
_ACTIONS = {
    "index": (("GET",), "", False),
    "create": (("POST",), "", False),
    "new": (("GET",), "new", False),
    "edit": (("GET",), "edit", True),
    "show": (("GET",), "", True),
    "update": (("PATCH", "PUT"), "", True),
    "destroy": (("DELETE",), "", True),
}
_NAME = re.compile(r"[a-z_]\w*")
#: blocks that have no routes of requests
_NO_ROUTES = frozenset({"direct", "resolve"})


@dataclass(frozen=True, slots=True)
class _Call:
    node: Node
    name: str
    positional: list[Node]
    options: dict[str, Node]
    #: the first `path => target`
    pair: tuple[Node, Node] | None
    block: Node | None


class RailsReader(Drawing):
    def read(self, root: Node) -> None:
        #: blocks of `concern :name do`
        self.concerns: dict[str, Node] = {}
        #: the name space of the engine whose routes are drawn, with a slash: `Shop.Core/`
        self.engine = ""
        match = _ROUTES.match(self.facts.path)
        self.root = match[1] if match else ""
        is_whole = self.facts.path.endswith("config/routes.rb")
        is_application = is_whole and b"Rails.application" in (root.text or b"")
        self.add("router", APP, root, flags=("app",) if is_application else ())
        self._walk(root, Place(), 0)

    def _walk(self, node: Node, place: Place, depth: int) -> None:
        if depth > DEPTH_MAX or not self.go_on():
            return
        if node.type in ("call", "identifier") and node.child_by_field_name("receiver") is None:
            call = self._read(node)
            if self._declares(call, place, depth + 1):
                return
            if (inner := self._place_inside(call, place)) is not None:
                self._inside(call, inner, depth + 1)
                return
            if call.name in _VERBS:
                self._verb(call, place)
                return
            if call.name in _NO_ROUTES:
                return
        if node.type == "call":
            if (match := _ENGINE.match(text_of(node)[:200])) is not None:
                self.engine = match[1].replace("::", ".") + "/"
            block = node.child_by_field_name("block")
            for child in [block] if block is not None else []:
                self._walk(child, place, depth + 1)
            return
        for child in node.named_children:
            self._walk(child, place, depth + 1)

    def _read(self, node: Node) -> _Call:
        method = node.child_by_field_name("method")
        call = _Call(node, text_of(method if method is not None else node), [], {}, None, None)
        listed = node.child_by_field_name("arguments")
        pair = None
        for child in listed.named_children if listed is not None else ():
            pairs = child.named_children if child.type == "hash" else [child]
            for inner in pairs:
                key, value = inner.child_by_field_name("key"), inner.child_by_field_name("value")
                if inner.type != "pair" or key is None or value is None:
                    call.positional.append(inner)
                elif key.type == "string":
                    pair = pair or (key, value)
                else:
                    call.options[text_of(key).strip(":")] = value
        return replace(call, pair=pair, block=node.child_by_field_name("block"))

    def _inside(self, call: _Call, place: Place, depth: int) -> None:
        for name in self.symbols(call.options.get("concerns")):
            if (block := self.concerns.get(name)) is not None:
                self._walk(block, place, depth + 1)
        if call.block is not None:
            self._walk(call.block, place, depth + 1)

    def _in_options(self, call: _Call, place: Place) -> Place:
        """Return the place inside of a block with these options."""
        if (module := self.symbol(call.options.get("module"))) is not None:
            place = replace(place, module=f"{place.module}{module}/")
        if (controller := self.symbol(call.options.get("controller"))) is not None:
            place = replace(place, controller=controller)
        if "shallow" in call.options:
            place = replace(place, shallow=text_of(call.options["shallow"]) == "true")
        return place

    def _place_inside(self, call: _Call, place: Place) -> Place | None:
        """Return the place inside of a call's block; None for another call."""
        first = self.symbol(call.positional[0]) if call.positional else None
        match call.name:
            case "scope":
                nodes = [*call.positional, *([call.options["path"]] if "path" in call.options else [])]
                for node in nodes:
                    place = place.below(self.symbol(node)) if node.type != "nil" else place
                return self._in_options(call, _named(place, self.symbol(call.options.get("as"))))
            case "namespace":
                if "module" not in call.options:
                    place = replace(place, module=f"{place.module}{first}/")
                place = replace(place.below(self._path(call, first)), controller="", collection="", member="")
                place = _named(place, self.symbol(call.options.get("as", call.positional[0])))
                return self._in_options(call, place)
            case "controller":
                return replace(place, controller=first or "")
            case "shallow":
                return replace(place, shallow=True)
            case "member":
                return self._on(place, "member")
            case "collection":
                return self._on(place, "collection")
            case "new":
                return replace(place, path=join_path(place.collection, "new"), suffix="-")
        return None

    def _on(self, place: Place, part: str) -> Place:
        """Return the place of a resource's member or collection."""
        path, name = (place.member, place.singular) if part == "member" else (place.collection, place.plural)
        return replace(place, path=path, suffix=name)

    def _declares(self, call: _Call, place: Place, depth: int) -> bool:
        """Add the routes of a call other than a verb; return False for another call."""
        first = call.positional[0] if call.positional else None
        match call.name:
            case "resources" | "resource":
                self._resources(call, place, depth, single=call.name == "resource")
            case "concern":
                if call.block is not None and (name := self.symbol(first)):
                    self.concerns[name] = call.block
            case "concerns":
                for name in (name for node in call.positional for name in self.symbols(node)):
                    if (block := self.concerns.get(name)) is not None:
                        self._walk(block, place, depth + 1)
            case "draw" if name := self.symbol(first):
                path = f"/{self.root}config/routes/{name}.rb"
                flags = ("computed",) if place.is_open else ()
                flags = (*flags, f"names={place.names}") if place.names else flags
                self.add("mount", APP, call.node, template=place.path, target=path, flags=flags)
            case "mount":
                named = [node for name, node in call.options.items() if name == "at" or name[:1].isupper()]
                below = place.below(self.symbol(call.pair[1] if call.pair else next(iter(named), None)))
                marks = ("computed", "open") if below.is_open else ("open",)
                self.add("mount", APP, call.node, template=below.path, flags=marks)
            case "root":
                target = self._target(place, call.options.get("to", first))
                self.draw(place, ("GET",), "", target, call.node, name=f"{place.names}root")
            case _:
                return False
        return True

    def _path(self, call: _Call, name: str | None) -> str | None:
        node = call.options.get("path")
        if node is None or node.type == "nil":
            return "" if node is not None else name
        return self.symbol(node)

    def _resources(self, call: _Call, place: Place, depth: int, *, single: bool = False) -> None:
        options = self._in_options(call, replace(place, controller=""))
        for node in call.positional:
            name = self.symbol(node)
            path = self._path(call, name)
            if name is None or path is None:
                self.draw(place, (), None, "", node)
                continue
            around = place.outer if place.shallow else place.path
            collection = join_path(place.path, path.strip("/"))
            parameter = self.symbol(call.options.get("param")) or "id"
            member = collection if single else join_path(join_path(around, path.strip("/")), f":{parameter}")
            controller = options.controller or (_plural(name) if single else name)
            named = self.symbol(call.options.get("as")) or name.strip("/").replace("/", "_").replace("-", "_")
            member_name = (
                f"{place.outer_names if place.shallow else place.names}{named if single else singular(named)}"
            )
            collection_name = f"{place.names}{named}"
            inner = replace(
                options,
                controller=controller,
                collection=collection,
                member=member,
                singular=member_name,
                plural=f"{collection_name}_index"
                if collection_name == member_name and not single
                else collection_name,
                names=f"{member_name}_",
            )
            self._draw_actions(call, inner, single=single)
            nested = member if single else member.replace(f":{parameter}", f":{singular(name)}_{parameter}")
            if "shallow" in call.options or place.shallow:
                inner = replace(inner, shallow=True)
            self._inside(call, replace(inner, path=nested), depth)

    def _draw_actions(self, call: _Call, place: Place, *, single: bool) -> None:
        only, excluded = call.options.get("only"), self.symbols(call.options.get("except"))
        chosen = set(_ACTIONS if only is None else self.symbols(only)) - set(excluded)
        for action, (methods, path, is_member) in _ACTIONS.items():
            if action in chosen and not (single and action == "index"):
                inner = replace(place, path=place.member if is_member else place.collection)
                name = place.singular if is_member else place.plural
                name = f"{action}_{place.singular}" if path else name
                handler = self._handler(place, place.controller, action)
                self.draw(inner, methods, path, handler, call.node, name=name)

    def _verb(self, call: _Call, place: Place) -> None:
        methods: tuple[str, ...] = _VERBS[call.name]
        if "via" in call.options:
            via = [text.upper() for text in self.symbols(call.options["via"])]
            methods = tuple(method for method in via if method != "ALL")
        on = self.symbol(call.options.get("on"))
        if on in ("member", "collection"):
            place = self._on(place, on)
        place = replace(self._in_options(call, place), path=place.path)
        label = self.symbol(call.options.get("as"))
        if call.pair is not None:
            nodes: list[tuple[Node, Node | None]] = [call.pair]
        else:
            to = call.options.get("to")
            nodes = [(node, to) for node in call.positional]
        for node, to in nodes:
            name = self.symbol(node)
            path = self._path(call, name)
            self.draw(
                place,
                methods,
                None if path is None else path.strip("/"),
                self._verb_target(call, place, name, to),
                node,
                name=_name_at(place, label or re.sub(r"[/-]", "_", (name or "").strip("/"))),
                handler=to,
            )

    def _verb_target(self, call: _Call, place: Place, name: str | None, to: Node | None) -> str:
        if to is not None:
            return self._target(place, to)
        action = self.symbol(call.options.get("action"))
        controller = place.controller
        if action is None and name:
            *above, action = name.strip("/").split("/")
            if not controller:
                controller = "/".join(above)
        return self._handler(place, controller, action or "")

    def _target(self, place: Place, node: Node | None) -> str:
        """Return the handler of `to: "orders#index"`, or `to: :index` in a controller."""
        text = self.symbol(node)
        if not text:
            return ""
        controller, hash_mark, action = text.partition("#")
        return self._handler(
            place, controller or place.controller if hash_mark else place.controller, action or text
        )

    def _handler(self, place: Place, controller: str, action: str) -> str:
        if not controller or not action:
            return ""
        path = controller[1:] if controller.startswith("/") else f"{place.module}{controller}"
        names = [camel(name) for name in path.split("/") if name]
        return f"{self.engine}{'.'.join(names)}Controller#{action.replace('-', '_')}"


def _named(place: Place, name: str | None) -> Place:
    """Return the place in a block of routes whose names begin with a further word."""
    return (
        replace(place, names=f"{place.names}{name}_", outer_names=f"{place.outer_names}{name}_")
        if name
        else place
    )


def _name_at(place: Place, name: str) -> str:
    """Return the name of a route by its own name or path."""
    if not _NAME.fullmatch(name) or place.suffix == "-":
        return ""
    return f"{name}_{place.suffix}" if place.suffix else f"{place.names}{name}"


def _plural(name: str) -> str:
    if singular(name) != name:
        return name
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "ch", "sh")) else f"{name}s"
