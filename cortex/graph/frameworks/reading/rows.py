"""Declarations that need no reading of other nodes: settings, views, handlers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from tree_sitter import Node

from cortex.graph.facts.expressions.chains import child_of, text_of
from cortex.graph.frameworks.join import ACTIONS, CONVENTIONS, DEFAULT_CONVENTION, EXCLUDED
from cortex.graph.frameworks.reading.literals import names_in_list
from cortex.graph.frameworks.reading.scopes import Arguments, Scopes, last_of
from cortex.graph.frameworks.tables.framework import ANY, Convention, Framework, Places, Route, Setting, Views

_TYPE_WORDS = re.compile(r"[A-Za-z_][\w.]*")
#: the methods of the path of a list, in a router
_LIST_ROUTE = re.compile(r"\broutes\[0\]\.mapping\.update$")
#: ends `Annotated[Paging, Depends()]`
_BARE = re.compile(r",\s*([\w.]+)\(\)\s*\]$")
#: paths without a global prefix
EXCLUDED_MAX = 100
_ANONYMOUS = "anonymous_object_creation_expression"
#: nesting of types around the call that injects a value
_INJECTED_MAX = 6

#: wrappers between a call and the name that gets its value
WRAPS = frozenset(
    "await await_expression parenthesized_expression as_expression satisfies_expression with_item "
    "expression_list yield".split()
)


@dataclass(frozen=True, slots=True)
class Call(Arguments):
    """`holder`: the variable that gets the value of a call; `depth`: nesting."""

    holder: str
    depth: int

    @property
    def decorator(self) -> Node | None:
        """The decorator that the call is."""
        parent = self.node.parent
        return parent if parent is not None and parent.type == "decorator" else None

    @property
    def decorated(self) -> Node | None:
        """The function that gets the decorator: `app.route("/orders")(show)`."""
        parent = self.node.parent
        if parent is None or parent.child_by_field_name("function") != self.node:
            return None
        return read_call(parent, "", 0).at((0,))


def holder_of(node: Node) -> str:
    """Return the name that gets the value of a call, "default" for a default export."""
    inner, around = node, node.parent
    while around is not None and around.type in WRAPS:
        inner, around = around, around.parent
    if around is None:
        return ""
    if around.type == "as_pattern":
        alias = around.child_by_field_name("alias")
        return text_of(alias) if alias is not None else ""
    if around.type == "export_statement":
        return "default"
    left = around.child_by_field_name("left") or around.child_by_field_name("name")
    right = around.child_by_field_name("right") or around.child_by_field_name("value")
    if left is None or right is None or right.start_byte != inner.start_byte:
        return ""
    if around.type in ("keyword_argument", "pair"):
        return ""
    is_field = "field" in around.type or "property" in around.type
    return f"this.{text_of(left)}" if is_field else text_of(left)


def read_call(node: Node, holder: str, depth: int) -> Call:
    listed = node.child_by_field_name("arguments")
    arguments = Call(node, [], {}, holder, depth)
    for child in listed.named_children if listed is not None else ():
        name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
        if child.type == "argument":
            value = last_of(child)
            if name is None:
                arguments.positional.append(value)
                continue
        if child.type in ("argument", "keyword_argument") and name is not None and value is not None:
            arguments.keywords[text_of(name)] = value
        elif not child.is_extra:
            arguments.positional.append(child)
    return arguments


def options_of(node: Node) -> dict[str, Node]:
    """Return the values of an object by their keys."""
    options: dict[str, Node] = {}
    for pair in node.named_children:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key is not None and value is not None:
            options[text_of(key)] = value
    return options


class Rows(Scopes):
    root: Node

    def _default_router(self, framework: Framework, node: Node) -> str:
        key = f"={framework.name}"
        if key not in self.known_routers:
            self.known_routers[key] = framework
            self.add("router", key, node, flags=("app",))
        return key

    def _set(self, call: Call, row: Setting | Convention, key: str) -> None:
        """Change the fragment of a router, or mount the methods that it serves by a convention."""
        if isinstance(row, Convention):
            path, area = call.at(row.path), call.at(row.area)
            template, flags = self.prefix(path) if path is not None else (DEFAULT_CONVENTION, ())
            flags = (*flags, f"area={self.literals.text(area) or '?'}") if area is not None else flags
            if (node := call.at(row.defaults)) is not None and node.type == _ANONYMOUS:
                pairs = zip(node.named_children[::2], node.named_children[1::2], strict=False)
                texts = (f"{text_of(name)}:{self.literals.text(value)}" for name, value in pairs)
                flags = (*flags, f"defaults={','.join(texts)}")
            self.add("mount", key, call.node, template=template, target=CONVENTIONS, flags=flags)
            return
        for at, fragment in enumerate(self.fragments):
            if fragment.kind == "router" and fragment.router == key:
                template, flags = fragment.template, fragment.flags
                if row.prefix:
                    template, computed = self.prefix(call.at(row.prefix))
                    flags = (*flags, *computed, *self._excluded(call.at(row.options)))
                if row.serves:
                    flags = (*flags, "app")
                if row.versions:
                    flags = (*flags, *self._versions(call))
                self.fragments[at] = msgspec.structs.replace(fragment, template=template, flags=flags)

    def _excluded(self, options: Node | None) -> tuple[str, ...]:
        """Return the flag of paths without the prefix, each behind its method if it has one."""
        paths = list[str]()
        listed = options_of(options).get("exclude") if options is not None else None
        for node in listed.named_children[:EXCLUDED_MAX] if listed is not None else ():
            row = options_of(node)
            path = self.literals.text(row.get("path", node))
            method = text_of(row["method"]).rpartition(".")[2] if "method" in row else ANY
            paths += [f"{ANY if method == 'ALL' else method} {path}"] if path is not None else []
        return (f"exclude={EXCLUDED.join(paths)}",) if paths else ()

    def _versions(self, call: Call) -> tuple[str, ...]:
        """Return the flags of the versions that a router reads from paths."""
        options = options_of(call.positional[0]) if call.positional else {}
        if "type" in options and not text_of(options["type"]).endswith("URI"):
            return ()
        mark = self.literals.text(options["prefix"]) if "prefix" in options else "v"
        default = self.literals.text(options["defaultVersion"]) if "defaultVersion" in options else ""
        return (
            ("computed",) if mark is None or default is None else (f"versions={mark}", f"default={default}")
        )

    def _own_prefix(self, call: Call, path: Places, label: Places) -> tuple[str, tuple[str, ...]]:
        """Return the prefix of a router, by its path or by its name."""
        prefix, flags = self.prefix(call.at(path))
        if prefix or (named := call.at(label)) is None:
            return prefix, flags
        name, flags = self.prefix(named)
        return (name if flags else f"/{name}"), flags

    def _own_router(self, call: Call, framework: Framework) -> str:
        """Read `DefaultRouter()`, `NestedRouter(router, "orders", lookup="order")`."""
        key = self.key(call.holder)
        self.known_routers[key] = framework
        prefix, flags = self.prefix(call.at((1,)))
        lookup, _ = self.prefix(call.keywords.get("lookup"))
        if prefix:
            prefix = f"{prefix}/<{lookup}_pk>"
        if (slash := call.keywords.get("trailing_slash")) is not None and text_of(slash) == "False":
            self.bare.add(key)
        self.add("router", key, call.node, template=prefix, target=self._handler(call.node), flags=flags)
        return key

    def _extend_list(self, call: Call, callee: Node) -> None:
        """Read further methods that a class of routers gives the path of a list:
        `self.routes[0].mapping.update({"put": "bulk_update"})`.
        """
        if _LIST_ROUTE.search(text_of(callee)) and self.frames[-1].definition >= 0:
            owner = self.facts.definitions[self.frames[-1].definition].scope
            for method, member in self._members(call.node):
                methods = (method.upper(),)
                self.add("maps", f"={owner}{ACTIONS}", call.node, methods=methods, target=member)

    def _begin_of_names(self, call: Call, places: Places, key: str) -> tuple[str, ...]:
        named = call.at(places)
        name = self.literals.text(named) if named is not None else ""
        joint = next((row.joint for row in self.frameworks_of(key) if row.joint), "")
        return (f"names={name}{joint}",) if name else ()

    def _name_of_route(self, call: Call, row: Route, key: str, target: str) -> tuple[str, ...]:
        """Return the flag with the name of a route: the argument's, else that of its function."""
        named = call.at(row.name)
        name = self.literals.text(named) if named is not None else ""
        if named is None and row.name and any(row.joint for row in self.frameworks_of(key)):
            is_definition, target_node = target.startswith("#"), call.at(row.target)
            name = (
                self.facts.definitions[int(target[1:])].name if is_definition else target.rpartition(".")[2]
            )
            if target.endswith(".as_view()") and target_node is not None:
                named = read_call(target_node, "", 0).at((0, "name"))
                name = self.literals.text(named) if named is not None else ""
        return (f"named={name}",) if name else ()

    def _listed_injections(self, call: Call, key: str) -> list[Node]:
        """Return the lists of functions that are called before the routes of a call or router."""
        every = [call.keywords.get(framework.injected) for framework in self.frameworks]
        return [listed for listed in (*every, self.injected.get(key)) if listed is not None]

    def _inject(self, node: Node, user: str, depth: int = 0, flags: tuple[str, ...] = ()) -> None:
        """Add the functions that the framework calls for an alias, a handler or a router."""
        is_injection, target = self._injection(node)
        if is_injection and target is not None:
            self.add("injects", user, node, target=self._handler(target), argument=target, flags=flags)
        elif not is_injection and depth < _INJECTED_MAX:
            for child in node.named_children:
                self._inject(child, user, depth + 1, flags)

    def _injection(self, node: Node) -> tuple[bool, Node | None]:
        """Return whether a node is `Depends(…)`, and the function or class there."""
        callee = node.child_by_field_name("function") if node.type in self.syntax.calls else None
        framework, member = self.imported_member(self.dotted(callee)) if callee is not None else (None, "")
        is_injection = framework is not None and member in framework.injects
        return is_injection, read_call(node, "", 0).at((0, "dependency")) if is_injection else None

    def _inject_parameter(self, parameter: Node, at: int) -> None:
        """Read `paging: Paging = Depends()`, `paging: Annotated[Paging, Depends()]`, and
        `store=Depends(make_store)`, whose value has the type that the function returns.
        """
        typed, value = parameter.child_by_field_name("type"), parameter.child_by_field_name("value")
        name = parameter.child_by_field_name("name")
        words = _TYPE_WORDS.findall(text_of(typed)[:200]) if typed is not None else []
        is_injection, target = self._injection(value) if value is not None else (False, None)
        if typed is not None and (match := _BARE.search(text_of(typed)[-60:])):
            framework, member = self.imported_member(match[1])
            is_injection, words = framework is not None and member in framework.injects, words[1:]
        if not is_injection:
            return
        if target is None and words:
            self.add("injects", f"#{at}", parameter, target=words[0])
        elif target is not None and typed is None and name is not None:
            owner = self.facts.definitions[at].qualified
            result = f"{self._handler(target)}()"
            self.add("wants", f"={owner}.{text_of(name)}", parameter, target=result, flags=("value",))

    def _views(self, call: Call, row: Views, key: str) -> str:
        path, target = call.at(row.path), call.at(row.target)
        if (
            path is not None
            and target is not None
            and self.literals.is_text(path) | (key in self.known_routers)
        ):
            template, flags = self.prefix(path)
            chain = self.dotted(target)
            flags = (*flags, "views", *(("bare",) if key in self.bare else ()))
            at = call.node
            self.add("route", key, at, template=template, target=chain, argument=target, flags=flags)
        return key

    def _action(self, call: Call, decorator: Node) -> str:
        """Read a further route of a class: it belongs to the router `=Orders(actions)`."""
        target = self._decorated(decorator)
        if not target:
            return ""
        definition = self.facts.definitions[int(target[1:])]
        key = f"={definition.scope}{ACTIONS}"
        template, flags = self.prefix(call.at(("url_path",)))
        if "url_path" not in call.keywords:
            template = definition.name
        detail = call.at(("detail",))
        if detail is not None and text_of(detail) == "True":
            template = f"<pk>/{template}"
        listed = call.at(("methods", 0))
        methods = tuple(names_in_list(listed)) if listed is not None else ("GET",)
        flags = flags if methods else (*flags, "methods")
        self.add(
            "route", key, decorator, template=f"{template}/", methods=methods, target=target, flags=flags
        )
        return ""

    def _decorated(self, decorator: Node) -> str | None:
        """Return the definition that a decorator is above, `#3`; "" if the facts lack it."""
        around = decorator.parent
        definition = around.child_by_field_name("definition") if around is not None else None
        if definition is None:
            return None
        name = definition.child_by_field_name("name")
        at = self.definition_at(name.start_byte) if name is not None else -1
        return f"#{at}" if at >= 0 else ""

    def _handler(self, target: Node) -> str:
        """Return the chain of a handler; "" for a function without a name."""
        if _is_unnamed(target):
            return ""
        if target.type in self.syntax.calls:
            callee = child_of(target, self.syntax.calls[target.type])
            chain = self.dotted(callee) if callee is not None else ""
            return f"{chain}()"
        return self.dotted(target) or "?"

    def _members(self, target: Node) -> Iterator[tuple[str, str]]:
        """Yield (method, member) of `Orders.as_view({"get": "list"})`."""
        passed = target.child_by_field_name("arguments")
        first = passed.named_child(0) if passed is not None and passed.named_child_count else None
        for pair in first.named_children if first is not None and first.type == "dictionary" else ():
            texts = [self.literals.text(child) for child in pair.named_children]
            if len(texts) == 2 and texts[0] and texts[1]:
                yield texts[0], texts[1]

    def _is_listed(self, node: Node) -> bool:
        """Return True for the list of a router's routes: `router.urls`."""
        return self.dotted(node).endswith(self.listed)

    def _name_space(self, target: Node) -> str:
        """Return the name space of `include(("orders.urls", "orders"), namespace="shop")`."""
        call = read_call(target, "", 0)
        first, node = call.at((0,)), call.keywords.get("namespace")
        if node is None and first is not None and first.type == "tuple" and first.named_child_count > 1:
            node = first.named_children[1]
        return (self.literals.text(node) or "") if node is not None else ""

    def _is_include(self, target: Node) -> bool:
        place = self.syntax.calls.get(target.type)
        callee = child_of(target, place) if place is not None else None
        framework, member = self.imported_member(self.dotted(callee)) if callee is not None else (None, "")
        return framework is not None and member == framework.includes[0]


def _is_unnamed(node: Node, depth: int = 0) -> bool:
    """Return True for a function without a name, also in a call: `wrap(async () => {})`."""
    if node.child_by_field_name("body") is not None:
        return True
    listed = node.child_by_field_name("arguments") if depth < _INJECTED_MAX else None
    return listed is not None and any(_is_unnamed(child, depth + 1) for child in listed.named_children)
