"""The fragments of one file: routers, routes and mounts, read from its syntax tree.

A router is known by a key, `=create_app.app` for a variable of the file, or by a chain that the
file imports: `users.router`. `f(0)` is the router that `f` gets as its first argument, `f()` the
one that it returns.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import child_of, required_module, text_of, unwrap_node
from cortex.graph.facts.facts import Facts, Fragment
from cortex.graph.facts.grammars import Grammar
from cortex.graph.facts.scripts import MODULE_EXPORTS
from cortex.graph.frameworks.reading.attributes import AttributeReader
from cortex.graph.frameworks.reading.files import ROUTE_FILE, read_file
from cortex.graph.frameworks.reading.functional import FunctionalReader
from cortex.graph.frameworks.reading.kotlin_routes import KotlinReader
from cortex.graph.frameworks.reading.laravel import LaravelReader
from cortex.graph.frameworks.reading.literals import HOLE, holes, names_in_list, names_path
from cortex.graph.frameworks.reading.loops import LISTS, Loop, loop_of, unwrap, values_of
from cortex.graph.frameworks.reading.rails import RailsReader
from cortex.graph.frameworks.reading.rows import Call, Rows, options_of, read_call
from cortex.graph.frameworks.reading.scopes import (
    FRAGMENTS_MAX,
    Frame,
    Scopes,
    recognise,
    span_of,
    with_attributes,
    with_calls,
)
from cortex.graph.frameworks.tables.framework import (
    Convention,
    Framework,
    Group,
    Mount,
    Route,
    Router,
    Setting,
    Views,
)
from cortex.terms.kinds import CALLABLE_KINDS

#: nesting that is read: parsers of hostile files nest without an end
DEPTH_MAX = 220
#: paths of one call
PATHS_MAX = 50
#: bytes that a file's loops read again for their further elements
REPEATED_BYTES_MAX = 1_000_000
_LISTS = frozenset({"list", "array", "tuple"})
#: calls that add elements to a list
_GROWS = frozenset("append extend insert push unshift splice add set update".split())
#: names of untyped parameters that may hold a router
_USUAL = frozenset("app router server api blueprint".split())
#: the name space of a list of routes
_APP_NAME = re.compile(r"""(?m)^app_name\s*=\s*["'](\w+)["']""")
#: the call that adds the routes of another file, which then have its functions
_INCLUDES = "include_router"
#: variables in the pattern of a loop
_NAMES = re.compile(r"[\w$]+")
_METHOD_FIRST = re.compile(r"([A-Z]+)\s+(\S+)")

#: readers of files that draw all routes
_DRAWN: dict[str, type[RailsReader | LaravelReader | FunctionalReader | KotlinReader]] = {
    "rails": RailsReader,
    "laravel": LaravelReader,
    "spring functions": FunctionalReader,
    "spring in kotlin": KotlinReader,
}


def _heir_of(chain: str, framework: Framework) -> Router | None:
    """Return the router that a class of the project is by its name: `ShopBlueprint`."""
    name = chain.rpartition(".")[2]
    ends = [end for end in framework.routers if name.endswith(end)] if framework.has_heirs else []
    return framework.routers[max(ends, key=len)] if ends and name[:1].isupper() else None


def read_fragments(root: Node, facts: Facts, grammar: Grammar) -> tuple[Fragment, ...]:
    placed = tuple(read_file(root, facts)) if ROUTE_FILE.search(facts.path) else ()
    frameworks = recognise(facts, root)
    if not frameworks:
        return placed
    readers: list[Scopes] = []
    text = root.text or b""
    if called := with_calls(frameworks, text):
        readers.append(reader := _Reader(facts, grammar, called))
        reader.root = root
        reader.visit(root)
    if attributed := with_attributes(frameworks, text):
        readers.append(attributes := AttributeReader(facts, grammar, attributed))
        attributes.read(root)
    for drawing in (_DRAWN[framework.name] for framework in frameworks if framework.name in _DRAWN):
        readers.append(drawn := drawing(facts, grammar, frameworks))
        drawn.read(root)
    return (*placed, *(fragment for reader in readers for fragment in reader.fragments[:FRAGMENTS_MAX]))


class _Reader(Rows):
    @cached_property
    def _injects(self) -> bool:
        return any(framework.injects for framework in self.frameworks)

    def visit(self, node: Node, holder: str = "", depth: int = 0) -> str:
        """Read a node; return the key or chain of the router that is its value, "" for none.

        `holder`: the variable that gets the value.
        """
        if depth > DEPTH_MAX or len(self.fragments) >= FRAGMENTS_MAX:
            return ""
        kind = node.type
        if kind in self.syntax.calls:
            return self._call(node, holder, depth + 1)
        if kind in self.syntax.news and (key := self._new_router(node, holder, depth)):
            return key
        if kind in self.syntax.names or kind in self.syntax.members:
            if (value := self.meant(node)) is not node:
                return self.visit(value, holder, depth + 1)
            for child in node.named_children if kind in self.syntax.members else ():
                if child.type in self.syntax.calls:
                    self.visit(child, "", depth + 1)
            return self.look_up(self.dotted(node))
        if kind in _LISTS:
            return self._read_list(node, holder, depth + 1)
        if node.child_by_field_name("body") is not None and (
            node.child_by_field_name("parameters") is not None
            or node.child_by_field_name("parameter") is not None
        ):
            return self._function(node, holder, depth + 1)
        left = node.child_by_field_name("left") or node.child_by_field_name("name")
        right = node.child_by_field_name("right") or node.child_by_field_name("value")
        if kind == "variable_declarator" and right is None and node.named_child_count > 1:
            right = node.named_children[-1]
        loop = loop_of(node) if kind.startswith("for") else None
        if loop is not None and self._repeat(loop, depth + 1):
            return ""
        variables = loop.pattern if loop is not None else left
        if kind.startswith("for") and variables is not None:
            self.literals.forget(text_of(variables)[:200])
        elif left is not None and right is not None and "operator" not in kind and "binary" not in kind:
            return self._assign(left, right, depth + 1)
        children = node.named_children
        if kind == "export_statement" and right is not None:  # `export default new Hono().get(…)`
            if (key := self.visit(right, "default", depth + 1)) in self.known_routers and key != "=default":
                self.add("mount", "=default", node, target=key, flags=("same",))
            return ""
        if kind == "return_statement":
            key = self.visit(children[0], "", depth + 1) if len(children) == 1 else ""
            if key in self.known_routers and self.frames[-1].name:
                self.add("mount", f"={self.frames[-1].name}()", node, target=key, flags=("same",))
            return ""
        values = [self.visit(child, holder, depth + 1) for child in children]
        keys = [key for key in values if key in self.known_routers] if "binary" in kind else []
        if "binary" in kind and holder and holder in self._roots:  # `orders_urls + users_urls`
            keys = [keys[0] if keys else self._list_of_routes(holder, node), *filter(None, values)]
        for key in [key for key in keys[1:] if key != keys[0]]:  # `[…] + router.urls`
            self.add("mount", keys[0], node, target=key)
        return values[0] if len(values) == 1 else keys[0] if keys else ""

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
        names = {name for row in rows for name in row} | set(_NAMES.findall(text_of(loop.pattern)[:200]))
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

    def _assign(self, left: Node, right: Node, depth: int) -> str:
        while left.named_child_count == 1 and left.type not in self.syntax.members:
            left = left.named_children[0]
        name = self.dotted(left)
        key = self.visit(right, name, depth)
        frame = self.frames[-1]
        augmented = left.parent is not None and left.parent.type.startswith("augmented")
        before = frame.lists.pop(name, None)
        value = before if before is not None and augmented else unwrap(right)
        if value.type in LISTS and name:
            frame.lists[name] = value
        if before is not None:  # `routers += [orders]`, `routers = [users]`
            self.grown.add(value.id)
        elif not name and left.named_child_count:  # `routers["/orders"] = orders`
            self._grow(left.named_children[0])
        if not name or key.startswith("'"):  # a module: the file's imports have its name
            return ""
        if "." not in name:
            self.literals.add(name, right)
            if not frame.name and "[" in text_of(right)[:40]:  # `Annotated[Session, Depends(session)]`
                self._inject(right, f"={name}")
            if key or name in frame.routers:
                frame.routers[name] = key
            if (key in self.known_routers or (key and self._is_listed(right))) and not frame.name:
                is_further = self.looped and f"={name}" in self.known_routers  # of the next element
                if key != f"={name}" and not is_further:
                    self.add("mount", f"={name}", left, target=key, flags=() if augmented else ("same",))
        elif key:
            self.attributes[name.rpartition(".")[2]] = key
            if name.startswith((MODULE_EXPORTS, "exports.")) and key != f"={name}":
                self.add("mount", f"={name}", left, target=key, flags=("same",))
        elif name == MODULE_EXPORTS:  # `{ api: router }`
            self.export_members(right)
        return key

    def _grow(self, node: Node) -> None:
        """Note that a literal list gets further elements."""
        if (listed := self.list_of(node)) is not None:
            self.grown.add(listed.id)

    def _function(self, node: Node, holder: str, depth: int) -> str:
        at = self.definition_at(node.start_byte)
        outer = self.frames[-1]
        if at >= 0 and at != outer.definition and self.facts.definitions[at].kind in CALLABLE_KINDS:
            name = self.facts.definitions[at].qualified
        else:
            self.count += 1
            name = holder or f"{outer.name}~{self.count}"
        frame = Frame(name, at)
        names = list(self.parameters(node))
        if self.rules.first_parameter and at >= 0 and self.facts.definitions[at].kind == "method":
            names = names[1:]
        for number, (parameter, typed) in enumerate(names):
            key = f"={name}({number})"
            if number == 0 and (block := self.blocks.pop(node.start_byte, "")):
                key = block
            frame.routers[parameter] = key
            if typed or parameter in _USUAL:
                self.known_routers.setdefault(key, None)
            if typed and any(row.entry == name.rpartition(".")[2] for row in self.frameworks):
                self.add("router", key, node, flags=("app",))
        self.frames.append(frame)
        around, self.list, looped = self.list, "", self.looped
        inner = {word for parameter, _ in names for word in _NAMES.findall(parameter[:200])}
        hidden = self.literals.hide(inner if node.id != self.body else ())
        if looped and node.id != self.body:
            rows = looped.items()
            self.looped = {key: value for key, value in rows if inner.isdisjoint(_NAMES.findall(key)[:1])}
        listed = node.child_by_field_name("parameters") if at >= 0 and self._injects else None
        for argument in listed.named_children if listed is not None else ():
            self._inject_parameter(argument, at)
        body = node.child_by_field_name("body")
        if body is not None:
            self.visit(body, "", depth)
        self.list, self.looped = around, looped
        self.literals.restore(hidden, hidden)
        self.frames.pop()
        return ""

    def _call(self, node: Node, holder: str, depth: int) -> str:
        if self.syntax.requires and (module := required_module(node)):
            return f"'{module}'"
        callee = child_of(node, self.syntax.calls[node.type])
        if callee is None:
            return ""
        callee = unwrap_node(callee, self.syntax)
        if (loop := loop_of(node)) is not None and self._repeat(loop, depth):
            return ""
        call = self._with_values(read_call(node, holder, depth))
        chain = self.called_name(callee)
        framework, member = self.imported_member(chain)
        if framework is not None:
            if (router := framework.routers.get(member)) is not None:
                return self._router(call, router, framework)
            if (declared := framework.functions.get(member)) is not None and (
                self.list or framework.is_router
            ):
                return self._declare(call, declared, self.list or self._default_router(framework, node))
            if member == framework.includes[0]:
                return self._include(framework, call)
            if member == "StripPrefix" and len(call.positional) == 2:
                return self.visit(call.positional[1], "", depth)
        for candidate in self.frameworks:
            if (heir := _heir_of(chain, candidate)) is not None:
                return self._router(call, heir, candidate)
            if candidate.suffix and chain.endswith(candidate.suffix):
                return self._own_router(call, candidate)
            if candidate.suffix and not chain:
                self._extend_list(call, callee)
            if member == "action" and candidate is framework and call.decorator is not None:
                return self._action(call, call.decorator)
        receiver, name = self._receiver(callee, depth)
        if name in _GROWS:
            self._grow(callee.named_children[0])
        decorates = call.decorator is not None or call.decorated is not None
        if receiver or decorates:
            for candidate in self.frameworks_of(receiver):
                if name and name == candidate.listed and not call.positional:
                    return receiver
                if (row := candidate.members.get(name)) is not None:
                    key = receiver or f"?{self.dotted(callee).rpartition('.')[0]}"
                    if isinstance(row, Group) and not row.complete and self._is_new(callee):
                        row = Setting(prefix=row.path)  # of the router that the expression makes
                    if isinstance(row, Group):
                        return self._group(call, row, key)
                    if isinstance(row, Views):
                        return self._views(call, row, key)
                    if isinstance(row, Setting | Convention):
                        self._set(call, row, key)
                        return key
                    if isinstance(row, Mount) or decorates or row.target:
                        if isinstance(row, Mount) and row.reversed and receiver not in self.known_routers:
                            self._pass(callee, chain, call)  # a module's own function
                        return self._declare(call, row, key)
        if receiver in self.known_routers and self._is_fluent(receiver):
            if name.startswith("Map"):  # an extension method gets the router
                self.add("mount", receiver, callee, target=f"{chain or name}(0)", span=span_of(callee))
            self._pass(callee, "", call)
            return receiver
        self._pass(callee, chain, call)
        return f"{chain}()" if chain and not framework else ""

    def _with_values(self, call: Call) -> Call:
        """Return a call with the present values of variables of loops."""
        if not self.looped:
            return call
        keywords = {name: self.meant(node) for name, node in call.keywords.items()}
        return replace(call, positional=[*map(self.meant, call.positional)], keywords=keywords)

    def _is_fluent(self, key: str) -> bool:
        return any(framework.types for framework in self.frameworks_of(key))

    def _receiver(self, callee: Node, depth: int) -> tuple[str, str]:
        fields = self.syntax.members.get(callee.type)
        if callee.type == "subscript_expression":  # `app[entry.method]("/orders", list)`
            inner, index = callee.child_by_field_name("object"), callee.child_by_field_name("index")
            name = self.literals.text(self.meant(index)) if index is not None else None
            return (self.visit(inner, "", depth), name) if inner is not None and name else ("", "")
        if fields is None:
            if callee.type in self.syntax.calls:
                self.visit(callee, "", depth)
            return "", ""
        inner, member = child_of(callee, fields[0]), child_of(callee, fields[1])
        if inner is None or member is None:
            return "", ""
        return self.visit(inner, "", depth), text_of(member)

    def _is_new(self, callee: Node) -> bool:
        return bool(callee.named_children) and callee.named_children[0].type in self.syntax.news

    def _new_router(self, node: Node, holder: str, depth: int) -> str:
        """Read `new Router()`: the key of the router, "" for another class."""
        callee = child_of(node, self.syntax.news[node.type])
        framework, member = self.imported_member(self.dotted(callee)) if callee is not None else (None, "")
        router = framework.routers.get(member) if framework is not None else None
        if framework is None or router is None:
            return ""
        return self._router(read_call(node, holder, depth), router, framework)

    def _router(self, call: Call, router: Router, framework: Framework) -> str:
        node = call.node
        key = self.key(call.holder)
        self.known_routers[key] = framework
        if call.positional and call.positional[0].type == "object":  # `new Router({ prefix: "/api" })`
            call = replace(call, keywords=options_of(call.positional[0]) | call.keywords)
        prefix, flags = self._own_prefix(call, router.prefix, router.label)
        flags = (*flags, *self._begin_of_names(call, router.name, key), *(("app",) if router.app else ()))
        self.add("router", key, node, template=prefix, flags=flags)
        outer = call.at(router.outer)
        if outer is not None and (around := self.visit(outer, "", call.depth)):
            self.add("mount", around, node, target=key)
        if (injected := call.keywords.get(framework.injected)) is not None:
            self.injected[key] = injected
        routes = call.at(router.routes)
        if routes is not None and (inner := self.visit(routes, "", call.depth)):
            self.add("mount", key, node, target=inner, span=span_of(routes))
        return key

    def _include(self, framework: Framework, call: Call) -> str:
        included = call.at((0,))
        if included is None:
            return ""
        is_pair = included.type == "tuple" and bool(included.named_children)
        included = included.named_children[0] if is_pair else included
        module = self.literals.text(included)
        if module is not None:
            return f"'{module}'.{framework.includes[1]}"
        if (name := self.dotted(included)) in self.imported and not is_pair:
            return f"{name}.{framework.includes[1]}"
        around, self.list = self.list, ""
        key = self.visit(included, "", call.depth)
        self.list = around
        return key

    def _group(self, call: Call, row: Group, key: str) -> str:
        node = call.node
        group = self.key(call.holder)
        self.known_routers[group] = self.known_routers.get(key)
        path = call.at(row.path)
        if row.complete:
            self.complete.add(group)
        prefix, flags = self._own_prefix(call, row.path, row.label)
        self.add("router", group, node)
        self.add("mount", key, node, template=prefix, target=group, flags=flags)
        for argument in call.positional:
            self.blocks[argument.start_byte] = group
            passed = self.dotted(argument) if argument is not path else ""
            if passed:
                self.add("mount", group, node, target=f"{passed}(0)", span=span_of(argument))
            self.visit(argument, "", call.depth)
            self.blocks.pop(argument.start_byte, None)
        return group

    def _declare(self, call: Call, row: Route | Mount, key: str) -> str:
        path = call.at(row.path)
        is_listed = path is not None and path.type in LISTS and path in call.positional
        if path is not None and is_listed and all(map(self.literals.is_text, path.named_children)):
            for text in path.named_children[:PATHS_MAX]:  # `get(["/", "/home"], show)`
                passed = [text if node == path else node for node in call.positional]
                self._declare(replace(call, positional=passed), row, key)
            return key
        if isinstance(row, Mount):
            self._mount(call, row, key)
            return key
        self._route(call, row, key)
        first = row.path[0]
        last = min(len(call.positional), PATHS_MAX) if row.several else 0
        for place in range(first + 1, last) if isinstance(first, int) else ():
            self._route(call, replace(row, path=(place,)), key)
        return key

    def _mount(self, call: Call, row: Mount, key: str) -> None:
        path = call.at(row.path)
        routers = [node] if (node := call.at(row.routers)) is not None else []
        prefix, flags = self.prefix(path)
        if row.routers == (-1,):
            prefix, flags, routers = self._used(call.positional)
        if row.replaces and path is not None:
            flags = (*flags, "replaces")
        flags = (*flags, *self._begin_of_names(call, row.name, key))
        around, self.list = self.list, ""
        for router in routers:
            inner = self.visit(router, "", call.depth)
            is_open = row.is_sure or "open" in flags
            if inner == "require()" or (inner[:1] == "'" and "${" in inner):  # of a computed name
                inner, is_open = "", True
            if inner or is_open:
                marks = (*flags, "open") if is_open else flags
                span = span_of(router)
                outer, mounted = (inner, key) if row.reversed else (key, inner)
                self.add("mount", outer, call.node, template=prefix, target=mounted, span=span, flags=marks)
                for listed in self._listed_injections(call, key) if inner else ():
                    self._inject(listed, inner, flags=("mount",))
        self.list = around

    def _used(self, nodes: list[Node]) -> tuple[str, tuple[str, ...], list[Node]]:
        """Return the prefix, its flags and the routers of `use("/x", first, second)`.

        Only nodes.py knows whether a name in the first place is a path (flag `maybe`).
        """
        if nodes and self.literals.is_text(nodes[0]):
            return *self.prefix(nodes[0]), nodes[1:]
        if len(nodes) < 2:
            return "", (), nodes
        first, names = nodes[0], [self.dotted(node) for node in nodes]
        roots = {name.partition(".")[0] for name in names}
        if len(names) == 2 and len(roots) == 1 and "." in names[0] and roots.isdisjoint(self.imported):
            return names[0], ("computed", "open"), nodes[1:]  # `use(entry.path, entry.router)`
        prefix, flags = self.prefix(first)
        if (
            "binary" in first.type
            or first.type == "regex"
            or (first.type in self.syntax.calls and names_path(self._called(first)))
        ):
            return prefix, flags, nodes[1:]
        if not names[0]:
            return "", (), nodes
        return prefix if holes(prefix) else f"{HOLE}{names[0]}{HOLE}", (*flags, "maybe"), nodes

    def _called(self, node: Node) -> str:
        """Return the name of a called function with the texts that it gets: `config.get prefix`."""
        callee = child_of(node, self.syntax.calls[node.type])
        texts = [self.literals.text(argument) or "" for argument in read_call(node, "", 0).positional]
        return " ".join([self.called_name(callee) if callee is not None else "", *texts])

    def _route(self, call: Call, row: Route, key: str) -> None:
        node = call.node
        path = call.at(row.path)
        decorator = call.decorator
        target = None if decorator is not None else call.at(row.target) if row.target else call.decorated
        if key in self.complete:
            path = None
        elif decorator is None and (target is None or target is path or (row.several and path is None)):
            for argument in call.positional:
                self.visit(argument, "", call.depth)
            return
        second = call.positional[1] if len(call.positional) > 2 else None
        if second is not None and second.start_byte != (path.start_byte if path is not None else 0):
            text = self.literals.text(second) or ""
            is_named = text.startswith("/") and path is not None and "/" not in text_of(path)
            path = second if is_named else path  # `get("orders", "/orders", list)`
        template, flags = self.prefix(path)
        certain = decorator is not None or key in self.known_routers
        if not certain and (flags or template[:1] not in "/*"):
            return
        if template.startswith("^"):  # a regular expression
            template = template.removeprefix("^").removesuffix("$")
        methods = row.methods
        if row.template_has_method and (match := _METHOD_FIRST.fullmatch(template)):
            methods, template = (match[1],), match[2]
        listed = call.at(row.methods_at)
        if listed is not None:
            methods = tuple(names_in_list(listed))
            flags = (*flags, "listed" if methods else "methods")
        for argument in call.positional:
            if argument is not target and argument is not path:
                self.visit(argument, "", call.depth)
        if decorator is not None:
            if (target_name := self._decorated(decorator)) is not None:
                for listed in self._listed_injections(call, key) if target_name else ():
                    self._inject(listed, target_name)
                if self._injects:
                    self.add("exposes", _INCLUDES, node, target=target_name)
                flags = (*flags, *self._name_of_route(call, row, key, target_name))
                self.add(
                    "route", key, node, template=template, methods=methods, target=target_name, flags=flags
                )
            return
        assert target is not None
        router = self.visit(target, "", call.depth)
        is_included = self._is_include(target) or self._is_listed(target)
        if router in self.known_routers or is_included:
            prefix = template.rstrip("/") if "StripPrefix" in text_of(target)[:40] else template
            prefix = "" if row.template_has_method and prefix == template else prefix
            is_open = self._is_include(target) and not router.startswith("'")  # not a foreign module
            flags = (*flags, "open") if is_open else flags
            if name := self._name_space(target):
                flags = (*flags, f"names={name}:")
            self.add("mount", key, node, template=prefix, target=router, span=span_of(target), flags=flags)
            return
        handler = self._handler(target)
        flags = (*flags, *self._name_of_route(call, row, key, handler))
        handlers = [(methods, handler)]
        if (members := dict(self._members(target))) and handler.endswith(".as_view()"):
            view = handler.removesuffix(".as_view()")
            handlers = [((method.upper(),), f"{view}#{member}") for method, member in members.items()]
        for listed_methods, chain in handlers:
            self.add(
                "route",
                key,
                node,
                template=template,
                methods=listed_methods,
                target=chain,
                span=span_of(target),
                flags=flags,
            )

    def _pass(self, callee: Node, chain: str, call: Call) -> None:
        """Read the arguments of any call: a function may get a router."""
        for number, argument in enumerate(call.positional):
            key = self.visit(argument, "", call.depth)
            if chain and key in self.known_routers and not self.imported_member(chain)[0]:
                self.add("mount", key, callee, target=f"{chain}({number})", span=span_of(callee))
        for argument in call.keywords.values():
            self.visit(argument, "", call.depth)
