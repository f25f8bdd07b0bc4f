"""The fragments of one file: routers, routes and mounts, read from its syntax tree.

A router is known by a key, `=create_app.app` for a variable of the file, or by a chain that the
file imports: `users.router`. `f(0)` is the router that `f` gets as its first argument, `f()` the one
that it returns.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from cortex.graph.facts.chains import child_of, required_module, text_of
from cortex.graph.facts.facts import Facts, Fragment, Import
from cortex.graph.facts.grammars import Grammar
from cortex.graph.frameworks.framework import Framework, Group, Mount, Places, Route, Router
from cortex.graph.frameworks.literals import Literals, names_in_list
from cortex.graph.frameworks.table import FRAMEWORKS
from cortex.terms.kinds import CALLABLE_KINDS

#: nesting that is read: parsers of hostile files nest without an end
DEPTH_MAX = 220
#: fragments of one file
FRAGMENTS_MAX = 20_000
_LISTS = frozenset({"list", "array", "tuple"})
#: names of untyped parameters that may hold a router
_USUAL = frozenset("app router server api blueprint".split())
_METHOD_FIRST = re.compile(r"([A-Z]+)\s+(\S+)")


def frameworks_of(imports: Sequence[Import]) -> tuple[Framework, ...]:
    """Return the frameworks that a file imports; () for nearly every file."""
    modules = {statement.module for statement in imports}
    return tuple(
        framework
        for framework in FRAMEWORKS
        if any(_is_of(module, framework) for module in modules)
    )


def _is_of(module: str, framework: Framework) -> bool:
    return any(module == name or module.startswith((f"{name}.", f"{name}/")) for name in framework.modules)


def read_fragments(root: Node, facts: Facts, grammar: Grammar) -> tuple[Fragment, ...]:
    frameworks = frameworks_of(facts.imports)
    if not frameworks:
        return ()
    reader = _Reader(facts, grammar, frameworks)
    reader.visit(root)
    return tuple(reader.fragments[:FRAGMENTS_MAX])


@dataclass(slots=True)
class _Frame:
    """A function around the reader: its name for keys, the definition, and the routers of its
    variables ("" for a variable without one).
    """

    name: str = ""
    definition: int = -1
    routers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Arguments:
    positional: list[Node]
    keywords: dict[str, Node]

    def at(self, places: Places) -> Node | None:
        for place in places:
            if isinstance(place, str):
                if (node := self.keywords.get(place)) is not None:
                    return node
            elif -len(self.positional) <= place < len(self.positional):
                return self.positional[place]
        return None


class _Reader:
    def __init__(self, facts: Facts, grammar: Grammar, frameworks: Sequence[Framework]) -> None:
        self.fragments: list[Fragment] = []
        self._facts = facts
        self._syntax, self._rules = grammar.syntax, grammar.rules
        self._frameworks = frameworks
        self._literals = Literals()
        self._frames = [_Frame()]
        #: name → (framework, member) of its import, and all other imported names
        self._names: dict[str, tuple[Framework, str]] = {}
        self._imported: set[str] = set()
        for statement in (one for one in facts.imports if one.name):
            framework = next((one for one in frameworks if _is_of(statement.module, one)), None)
            if framework is not None:
                member = "" if statement.member == "default" else statement.member
                self._names.setdefault(statement.name, (framework, member))
            else:
                self._imported.add(statement.name)
        self._begins = [definition.begin for definition in facts.definitions]
        #: router's key → its framework, None for a list
        self._made: dict[str, Framework | None] = {}
        #: attributes of any object: `self.app`
        self._attributes: dict[str, str] = {}
        #: routers for the first parameter of a function: begin of its node → key
        self._blocks: dict[int, str] = {}
        #: groups whose routes have no path: `router.route("/orders").get(list)`
        self._complete: set[str] = set()
        #: the list around the reader
        self._list = ""
        self._count = 0

    # --- expressions

    def visit(self, node: Node, holder: str = "", depth: int = 0) -> str:
        """Read a node; return the key or chain of the router that is its value, "" for none.

        `holder`: the variable that gets the value.
        """
        if depth > DEPTH_MAX or len(self.fragments) >= FRAGMENTS_MAX:
            return ""
        kind = node.type
        if kind in self._syntax.calls:
            return self._call(node, holder, depth + 1)
        if kind in self._syntax.names or kind in self._syntax.members:
            for child in node.named_children if kind in self._syntax.members else ():
                if child.type in self._syntax.calls:
                    self.visit(child, "", depth + 1)
            return self._look_up(self._dotted(node))
        if kind in _LISTS:
            return self._read_list(node, holder, depth + 1)
        if node.child_by_field_name("body") is not None and (
            node.child_by_field_name("parameters") is not None
            or node.child_by_field_name("parameter") is not None
        ):
            return self._function(node, holder, depth + 1)
        left = node.child_by_field_name("left") or node.child_by_field_name("name")
        right = node.child_by_field_name("right") or node.child_by_field_name("value")
        if left is not None and right is not None and "operator" not in kind and "binary" not in kind:
            return self._assign(left, right, depth + 1)
        children = node.named_children
        if kind == "return_statement":
            key = self.visit(children[0], "", depth + 1) if len(children) == 1 else ""
            if key in self._made and self._frames[-1].name:
                self._add("mount", f"={self._frames[-1].name}()", node, target=key, flags=("same",))
            return ""
        values = [self.visit(child, holder, depth + 1) for child in children]
        return values[0] if len(values) == 1 else ""

    def _dotted(self, node: Node) -> str:
        """Return `a.b.c` or `a.b()`, "" for other expressions."""
        if node.type in self._syntax.names:
            return text_of(node)
        if (fields := self._syntax.members.get(node.type)) is not None:
            inner, member = child_of(node, fields[0]), child_of(node, fields[1])
            before = self._dotted(inner) if inner is not None else ""
            return f"{before}.{text_of(member)}" if before and member is not None else ""
        return ""

    def _look_up(self, chain: str) -> str:
        root, _, rest = chain.partition(".")
        if not root:
            return ""
        for frame in reversed(self._frames):
            if (key := frame.routers.get(chain)) is not None:
                return key
            if root in frame.routers:
                return self._attributes.get(rest.rpartition(".")[2], "") if rest else ""
        if root in self._imported:
            return chain
        return self._attributes.get(chain.rpartition(".")[2], "") if rest else ""

    def _read_list(self, node: Node, holder: str, depth: int) -> str:
        """Read a list of routes: the key of the list, "" without routes."""
        around, count = self._list, len(self.fragments)
        if node.type != "tuple" or not around:
            self._list = self._key(holder, again=True)
        key = self._list
        known = key in self._made
        self._made.setdefault(key, None)
        for child in node.named_children:
            self.visit(child, "", depth)
        self._list = around
        if not any(one.router == key for one in self.fragments[count:]):
            if not known:
                del self._made[key]
            return ""
        if not known:
            roots = {framework.root for framework in self._frameworks}
            self._add("router", key, node, flags=("app",) if holder in roots and holder else ())
        return key

    def _key(self, holder: str = "", *, again: bool = False) -> str:
        """Return the key for a new router; `again`: a variable may get it in several parts."""
        around = self._frames[-1].name
        name = f"{around}.{holder}" if around and holder else holder
        if not name or (not again and f"={name}" in self._made):
            self._count += 1
            name = f"{name or around}~{self._count}"
        return f"={name}"

    def _assign(self, left: Node, right: Node, depth: int) -> str:
        while left.named_child_count == 1 and left.type not in self._syntax.members:
            left = left.named_children[0]
        name = self._dotted(left)
        key = self.visit(right, name, depth)
        frame = self._frames[-1]
        if not name or key.startswith("'"):  # a module: the file's imports have its name
            return ""
        if "." not in name:
            self._literals.bind(name, right)
            if key or name in frame.routers:
                frame.routers[name] = key
            if key in self._made and not frame.name and key != f"={name}":
                self._add("mount", f"={name}", left, target=key, flags=("same",))
        elif key:
            self._attributes[name.rpartition(".")[2]] = key
            if name.startswith(("module.exports", "exports.")) and key != f"={name}":
                self._add("mount", f"={name}", left, target=key, flags=("same",))
        return key

    # --- functions

    def _function(self, node: Node, holder: str, depth: int) -> str:
        at = self._definition_at(node.start_byte)
        outer = self._frames[-1]
        if at >= 0 and at != outer.definition and self._facts.definitions[at].kind in CALLABLE_KINDS:
            name = self._facts.definitions[at].qualified
        else:
            self._count += 1
            name = holder or f"{outer.name}~{self._count}"
        frame = _Frame(name, at)
        names = list(self._parameters(node))
        if self._rules.first_parameter and at >= 0 and self._facts.definitions[at].kind == "method":
            names = names[1:]
        for number, (parameter, typed) in enumerate(names):
            key = f"={name}({number})"
            if number == 0 and (block := self._blocks.pop(node.start_byte, "")):
                key = block
            frame.routers[parameter] = key
            if typed or (not typed and parameter in _USUAL):
                self._made.setdefault(key, None)
        self._frames.append(frame)
        around, self._list = self._list, ""
        body = node.child_by_field_name("body")
        if body is not None:
            self.visit(body, "", depth)
        self._list = around
        self._frames.pop()
        return ""

    def _parameters(self, node: Node) -> Iterator[tuple[str, bool]]:
        """Yield the name of each parameter, and whether its type is of a framework."""
        single = node.child_by_field_name("parameter")
        if single is not None:
            yield text_of(single), False
        listed = node.child_by_field_name("parameters")
        for parameter in listed.named_children if listed is not None else ():
            kind = parameter.child_by_field_name("type")
            words = set(re.findall(r"\w+", text_of(kind))) if kind is not None else set()
            typed = not words.isdisjoint(self._names)
            named = parameter.children_by_field_name("name") or parameter.children_by_field_name("pattern")
            for name in named or parameter.named_children[:1] or [parameter]:
                yield text_of(name), typed

    def _definition_at(self, byte: int) -> int:
        """Return the innermost definition that holds a byte, -1 for none."""
        at = bisect.bisect_right(self._begins, byte) - 1
        while at >= 0 and self._facts.definitions[at].end <= byte:
            at = self._facts.definitions[at].parent if self._facts.definitions[at].parent >= 0 else at - 1
        return at

    # --- calls

    def _call(self, node: Node, holder: str, depth: int) -> str:
        if self._syntax.requires and (module := required_module(node)):
            return f"'{module}'"
        callee = child_of(node, self._syntax.calls[node.type])
        if callee is None:
            return ""
        arguments = self._arguments(node)
        chain = self._called_name(callee)
        framework, member = self._imported_member(chain)
        if framework is not None:
            if (router := framework.routers.get(member)) is not None:
                return self._router(node, router, framework, arguments, holder, depth)
            if (row := framework.functions.get(member)) is not None and (self._list or framework.members):
                key = self._list if not framework.members or isinstance(row, Mount) else ""
                key = self._list or key or self._default_router(framework, node)
                return self._declare(node, row, key, arguments, depth)
            if member == framework.includes[0]:
                return self._include(framework, arguments, depth)
            if member == "StripPrefix" and len(arguments.positional) == 2:
                return self.visit(arguments.positional[1], "", depth)
        receiver, name = self._receiver(callee, depth)
        decorates = node.parent is not None and node.parent.type == "decorator"
        if receiver or decorates:
            for one in self._frameworks_of(receiver):
                if (row := one.members.get(name)) is not None:
                    key = receiver or f"?{self._dotted(callee).rpartition('.')[0]}"
                    if isinstance(row, Group):
                        return self._group(node, row, key, arguments, holder, depth)
                    if isinstance(row, Mount) or decorates or row.target:
                        return self._declare(node, row, key, arguments, depth)
        self._pass(callee, chain, arguments, depth)
        return f"{chain}()" if chain and not framework else ""

    def _called_name(self, callee: Node) -> str:
        """Return the chain of a called function, also of a required module: `'./users'.make`."""
        if not self._syntax.requires:
            return self._dotted(callee)
        if module := required_module(callee):
            return f"'{module}'"
        fields = self._syntax.members.get(callee.type)
        inner, member = (child_of(callee, name) for name in fields) if fields else (None, None)
        if inner is not None and member is not None and (module := required_module(inner)):
            return f"'{module}'.{text_of(member)}"
        return self._dotted(callee)

    def _receiver(self, callee: Node, depth: int) -> tuple[str, str]:
        fields = self._syntax.members.get(callee.type)
        if fields is None:
            self.visit(callee, "", depth) if callee.type in self._syntax.calls else None
            return "", ""
        inner, member = child_of(callee, fields[0]), child_of(callee, fields[1])
        if inner is None or member is None:
            return "", ""
        return self.visit(inner, "", depth), text_of(member)

    def _imported_member(self, chain: str) -> tuple[Framework | None, str]:
        if chain.startswith("'"):
            module, _, rest = chain[1:].partition("'")
            one = next((one for one in self._frameworks if _is_of(module, one)), None)
            return one, rest.lstrip(".")
        root, _, rest = chain.partition(".")
        if root not in self._names or any(root in frame.routers for frame in self._frames):
            return None, ""
        framework, member = self._names[root]
        return framework, (rest or member).rpartition(".")[2]

    def _frameworks_of(self, key: str) -> Sequence[Framework]:
        made = self._made.get(key)
        return (made,) if made is not None else self._frameworks

    def _arguments(self, node: Node) -> _Arguments:
        listed = node.child_by_field_name("arguments")
        arguments = _Arguments([], {})
        for child in listed.named_children if listed is not None else ():
            name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
            if child.type == "keyword_argument" and name is not None and value is not None:
                arguments.keywords[text_of(name)] = value
            elif not child.is_extra:
                arguments.positional.append(child)
        return arguments

    def _router(
        self, node: Node, router: Router, framework: Framework, arguments: _Arguments, holder: str, depth: int
    ) -> str:
        key = self._key(holder)
        self._made[key] = framework
        prefix, flags = self._prefix(arguments.at(router.prefix))
        self._add("router", key, node, prefix, flags=(*flags, "app") if router.app else flags)
        routes = arguments.at(router.routes)
        if routes is not None and (inner := self.visit(routes, "", depth)):
            self._add("mount", key, node, target=inner, span=_span(routes))
        return key

    def _default_router(self, framework: Framework, node: Node) -> str:
        key = f"={framework.name}"
        if key not in self._made:
            self._made[key] = framework
            self._add("router", key, node, flags=("app",))
        return key

    def _include(self, framework: Framework, arguments: _Arguments, depth: int) -> str:
        included = arguments.at((0,))
        if included is None:
            return ""
        module = self._literals.text(included)
        if module is None and included.type == "tuple" and included.named_children:
            included = included.named_children[0]
        elif module is not None:
            return f"'{module}'.{framework.includes[1]}"
        elif (name := self._dotted(included)) in self._imported:
            return f"{name}.{framework.includes[1]}"
        around, self._list = self._list, ""
        key = self.visit(included, "", depth)
        self._list = around
        return key

    def _group(
        self, node: Node, row: Group, key: str, arguments: _Arguments, holder: str, depth: int
    ) -> str:
        group = self._key(holder)
        self._made[group] = self._made.get(key)
        path = arguments.at(row.path)
        if row.complete:
            self._complete.add(group)
        prefix, flags = self._prefix(path)
        self._add("router", group, node)
        self._add("mount", key, node, prefix, target=group, flags=flags)
        for argument in arguments.positional:
            self._blocks[argument.start_byte] = group
            passed = self._dotted(argument) if argument is not path else ""
            if passed:
                self._add("mount", group, node, target=f"{passed}(0)", span=_span(argument))
            self.visit(argument, "", depth)
            self._blocks.pop(argument.start_byte, None)
        return group

    def _declare(self, node: Node, row: Route | Mount, key: str, arguments: _Arguments, depth: int) -> str:
        if isinstance(row, Mount):
            self._mount(node, row, key, arguments, depth)
        else:
            self._route(node, row, key, arguments, depth)
        return key

    def _mount(self, node: Node, row: Mount, key: str, arguments: _Arguments, depth: int) -> None:
        path = arguments.at(row.path)
        routers = [arguments.at(row.routers)]
        if row.routers == (-1,):
            if path is not None and not self._literals.is_text(path):
                path = None  # `use(router)` has no prefix
            routers = [node for node in arguments.positional if node is not path]
        prefix, flags = self._prefix(path)
        if row.replaces and path is not None:
            flags = (*flags, "replaces")
        around, self._list = self._list, ""
        for router in routers:
            if router is not None and (inner := self.visit(router, "", depth)):
                self._add("mount", key, node, prefix, target=inner, span=_span(router), flags=flags)
        self._list = around

    def _route(self, node: Node, row: Route, key: str, arguments: _Arguments, depth: int) -> None:
        path = arguments.at(row.path)
        decorator = node.parent if node.parent is not None and node.parent.type == "decorator" else None
        target = None if decorator is not None else arguments.at(row.target)
        if key in self._complete:
            path = None
        elif decorator is None and (target is None or target is path):
            for argument in arguments.positional:
                self.visit(argument, "", depth)
            return
        template, flags = self._prefix(path)
        if path is not None and not flags and decorator is None and key not in self._made and template[:1] not in "/*":
            return
        if flags and key not in self._made and decorator is None:
            return
        if template.startswith("^"):  # a regular expression
            template = template.removeprefix("^").removesuffix("$")
        methods = row.methods
        if row.template_has_method and (match := _METHOD_FIRST.fullmatch(template)):
            methods, template = (match[1],), match[2]
        listed = arguments.at(row.methods_at)
        if listed is not None:
            methods = tuple(names_in_list(listed))
            flags = flags if methods else (*flags, "methods")
        for argument in arguments.positional:
            if argument is not target and argument is not path:
                self.visit(argument, "", depth)
        if decorator is not None:
            self._route_decorated(node, decorator, key, template, methods, flags)
            return
        assert target is not None
        router = self.visit(target, "", depth)
        if router in self._made or (router and self._is_include(target)):
            prefix = template.rstrip("/") if "StripPrefix" in text_of(target)[:40] else template
            prefix = "" if row.template_has_method and prefix == template else prefix
            self._add("mount", key, node, prefix, target=router, span=_span(target), flags=flags)
            return
        self._add("route", key, node, template, methods, self._handler(target), _span(target), flags)

    def _is_include(self, target: Node) -> bool:
        callee = child_of(target, field) if (field := self._syntax.calls.get(target.type)) else None
        framework, member = self._imported_member(self._dotted(callee)) if callee is not None else (None, "")
        return framework is not None and member == framework.includes[0]

    def _route_decorated(
        self,
        node: Node,
        decorator: Node,
        key: str,
        template: str,
        methods: tuple[str, ...],
        flags: tuple[str, ...],
    ) -> None:
        around = decorator.parent
        decorated = around.child_by_field_name("definition") if around is not None else None
        if decorated is None:
            return
        name = decorated.child_by_field_name("name")
        at = self._definition_at(name.start_byte) if name is not None else -1
        self._add("route", key, node, template, methods, f"#{at}" if at >= 0 else "", flags=flags)

    def _handler(self, target: Node) -> str:
        """Return the chain of a handler; "" for a function without a name."""
        if target.child_by_field_name("body") is not None:
            return ""
        if target.type in self._syntax.calls:
            callee = child_of(target, self._syntax.calls[target.type])
            chain = self._dotted(callee) if callee is not None else ""
            return f"{chain}()"
        return self._dotted(target) or "?"

    def _pass(self, callee: Node, chain: str, arguments: _Arguments, depth: int) -> None:
        """Read the arguments of any call: a function may get a router."""
        for number, argument in enumerate(arguments.positional):
            key = self.visit(argument, "", depth)
            if chain and key in self._made and not self._imported_member(chain)[0]:
                self._add("mount", key, callee, target=f"{chain}({number})", span=_span(callee))
        for argument in arguments.keywords.values():
            self.visit(argument, "", depth)

    def _prefix(self, node: Node | None) -> tuple[str, tuple[str, ...]]:
        """Return (literal text, ()), or ("", the flag of a computed one)."""
        if node is None:
            return "", ()
        text = self._literals.text(node)
        return ("", ("computed",)) if text is None else (text, ())

    def _add(
        self,
        kind: str,
        router: str,
        node: Node,
        template: str = "",
        methods: tuple[str, ...] = (),
        target: str = "",
        span: tuple[int, int, int, int] = (0, 0, 0, 0),
        flags: tuple[str, ...] = (),
    ) -> None:
        row, column = node.start_point
        self.fragments.append(
            Fragment(
                kind,
                router,
                template,
                methods,
                target,
                self._frames[-1].definition,
                row + 1,
                column,
                node.end_point[0] + 1,
                span,
                flags,
            )
        )


def _span(node: Node) -> tuple[int, int, int, int]:
    (row, column), (end, last) = node.start_point, node.end_point
    return row + 1, column, end + 1, last
