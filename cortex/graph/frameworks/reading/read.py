"""The fragments of one file: routers, routes and mounts, read from its syntax tree.

A router is known by a key, `=create_app.app` for a variable of the file, or by a chain that the
file imports: `users.router`. `f(0)` is the router that `f` gets as its first argument, `f()` the
one that it returns.
"""

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import child_of, required_module, text_of, unwrap_node
from cortex.graph.facts.facts import Facts, Fragment
from cortex.graph.facts.grammars import Grammar
from cortex.graph.facts.scripts import MODULE_EXPORTS
from cortex.graph.frameworks.reading.attributes import AttributeReader
from cortex.graph.frameworks.reading.declarations import Declarations
from cortex.graph.frameworks.reading.drawn.functional import FunctionalReader, KotlinReader
from cortex.graph.frameworks.reading.drawn.laravel import LaravelReader
from cortex.graph.frameworks.reading.drawn.rails import RailsReader
from cortex.graph.frameworks.reading.files import ROUTE_FILE, read_file
from cortex.graph.frameworks.reading.lists import DEPTH_MAX, NAMES
from cortex.graph.frameworks.reading.loops import LISTS, loop_of, unwrap
from cortex.graph.frameworks.reading.rows import Call, read_call
from cortex.graph.frameworks.reading.scopes import (
    FRAGMENTS_MAX,
    Frame,
    Scopes,
    recognise,
    with_attributes,
    with_calls,
)
from cortex.graph.frameworks.tables.framework import (
    Convention,
    Framework,
    Group,
    Mount,
    Router,
    Setting,
    Views,
)
from cortex.terms.kinds import CALLABLE_KINDS

_LISTS = frozenset({"list", "array", "tuple"})
#: calls that add elements to a list
_GROWS = frozenset("append extend insert push unshift splice add set update".split())
#: names of untyped parameters that may hold a router
_USUAL = frozenset("app router server api blueprint".split())

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


class _Reader(Declarations):
    def visit(self, node: Node, holder: str = "", depth: int = 0) -> str:
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
        inner = {word for parameter, _ in names for word in NAMES.findall(parameter[:200])}
        hidden = self.literals.hide(inner if node.id != self.body else ())
        if looped and node.id != self.body:
            rows = looped.items()
            self.looped = {key: value for key, value in rows if inner.isdisjoint(NAMES.findall(key)[:1])}
        listed = node.child_by_field_name("parameters") if at >= 0 and self._injects else None
        for argument in listed.named_children if listed is not None else ():
            self._inject_parameter(argument, at)
        if (body := node.child_by_field_name("body")) is not None:
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
                self.add("mount", receiver, callee, target=f"{chain or name}(0)", argument=callee)
            self._pass(callee, "", call)
            return receiver
        self._pass(callee, chain, call)
        return f"{chain}()" if chain and not framework else ""

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

    def _pass(self, callee: Node, chain: str, call: Call) -> None:
        """Read the arguments of any call: a function may get a router."""
        for number, argument in enumerate(call.positional):
            key = self.visit(argument, "", call.depth)
            if chain and key in self.known_routers and not self.imported_member(chain)[0]:
                self.add("mount", key, callee, target=f"{chain}({number})", argument=callee)
        for argument in call.keywords.values():
            self.visit(argument, "", call.depth)
