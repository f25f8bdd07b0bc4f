"""Declarations of routers, routes and mounts by calls, for read.py."""

import re
from dataclasses import replace
from functools import cached_property

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import child_of, text_of
from cortex.graph.frameworks.reading.lists import Lists
from cortex.graph.frameworks.reading.literals import HOLE, holes, names_in_list, names_path
from cortex.graph.frameworks.reading.loops import LISTS
from cortex.graph.frameworks.reading.rows import Call, options_of, read_call
from cortex.graph.frameworks.tables.framework import Framework, Group, Mount, Route, Router

#: paths of one call
PATHS_MAX = 50
#: the call that adds the routes of another file, which then have its functions
_INCLUDES = "include_router"
_METHOD_FIRST = re.compile(r"([A-Z]+)\s+(\S+)")


class Declarations(Lists):
    @cached_property
    def _injects(self) -> bool:
        return any(framework.injects for framework in self.frameworks)

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
            self.add("mount", key, node, target=inner, argument=routes)
        return key

    def _include(self, framework: Framework, call: Call) -> str:
        included = call.at((0,))
        if included is None:
            return ""
        is_pair = included.type == "tuple" and bool(included.named_children)
        included = included.named_children[0] if is_pair else included
        if (module := self.literals.text(included)) is not None:
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
                self.add("mount", group, node, target=f"{passed}(0)", argument=argument)
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
                outer, mounted = (inner, key) if row.reversed else (key, inner)
                self.add(
                    "mount", outer, call.node, template=prefix, target=mounted, argument=router, flags=marks
                )
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
            self.add("mount", key, node, template=prefix, target=router, argument=target, flags=flags)
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
                argument=target,
                flags=flags,
            )
