"""The fragments of procedures, and of the requests that call them by their names.

A router's names are joined by dots; a procedure in a variable of its own is a router with one route
without a name.
"""

import re

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import child_of, text_of
from cortex.graph.facts.facts import Facts, Fragment, Reference
from cortex.graph.facts.grammars import Grammar
from cortex.graph.frameworks.reading.rows import holder_of
from cortex.graph.frameworks.reading.scopes import Scopes

#: calls with an object of tRPC's procedures and routers, and calls with routers
_ROUTERS, _MERGES = ("router", "createTRPCRouter"), ("mergeRouters",)
#: last call of a procedure → its method, and the part of the name before them
_KINDS, _BEGINS = {"query": "GET", "mutation": "POST", "subscription": "GET"}, "rocedure"
#: the name of a router that is served
_SERVED = re.compile(rb"\btype\s+\w+\s*=\s*typeof\s+(\w+)")
#: calls that make a client, one with members that are called themselves, and another of a client
_MAKERS = ("createTRPCReact", "createTRPCNext", "createTRPCClient", "createTRPCProxyClient")
_CALLERS, _SAME = ("createCaller",), ("useUtils", "useContext")
_QUERIES = (
    "useQuery useSuspenseQuery useInfiniteQuery usePrefetchQuery query fetch prefetch ensureData queryOptions "
    "useSubscription subscribe"
)
#: last link of a request → its method
_CALLS = {
    **dict.fromkeys(_QUERIES.split(), "GET"),
    **dict.fromkeys("useMutation mutate mutateAsync mutationOptions".split(), "POST"),
}
#: texts of which each file with any of these has one
_HOLDS = tuple(
    b"outer({ mergeRouters( rocedure .useQuery .useMutation createTRPC createCaller .query(".split()
)
#: nesting of routers in routers
_DEPTH_MAX = 12
_KEY = re.compile(r"[\"']?([\w$-]+)[\"']?")
_CHAIN = re.compile(r"([\w$]+)((?:\.[\w$]+)+)")
#: a variable with the result of a call on another: `trpc.useUtils()`, `createCaller(…)`
_RESULT = re.compile(r"(?:([\w$.]+)\.)?([\w$]+)\([^()]*\).*")


def read_procedures(root: Node, facts: Facts, grammar: Grammar) -> tuple[Fragment, ...]:
    text = root.text or b""
    if not grammar.rules.scripts or not any(word in text for word in _HOLDS):
        return ()
    reader = _Reader(facts, grammar, ())
    reader.read(root)
    reader.read_requests()
    return tuple(reader.fragments)


class _Reader(Scopes):
    def read(self, root: Node) -> None:
        """Read the routers of a file, and its procedures in variables."""
        text = root.text or b""
        self.served = {match[1].decode() for match in _SERVED.finditer(text)}
        end = 0
        for match in re.finditer(rf"\b({'|'.join((*_ROUTERS, *_MERGES))})\s*\(".encode(), text):
            call = self._call_at(root, match.start(1)) if match.start() >= end else None
            if call is not None and self.go_on():
                end, key = call.end_byte, self._holder(call)
                for argument in self._arguments(call):
                    self._entry(argument, key, "", 0)
        if _BEGINS.encode() in text:
            for match in re.finditer(rf"\.({'|'.join(_KINDS)})\s*\(".encode(), text):
                call = self._call_at(root, match.start(1))
                if call is not None and _BEGINS in text_of(call)[:200] and holder_of(call):
                    self._procedure(call, self._holder(call), "")

    def _call_at(self, root: Node, byte: int) -> Node | None:
        node = root.descendant_for_byte_range(byte, byte + 1)
        for _ in range(3):
            node = node.parent if node is not None else None
            if node is not None and node.type in self.syntax.calls:
                callee = child_of(node, self.syntax.calls[node.type])
                return node if callee is not None and callee.start_byte <= byte < callee.end_byte else None
        return None

    def _holder(self, call: Node) -> str:
        """Add the router of a call; return its key."""
        holder = holder_of(call)
        key = self.key(holder)
        self.known_routers[key] = None
        self.add("router", key, call, flags=("app",) if holder in self.served else ())
        return key

    def _arguments(self, call: Node) -> list[Node]:
        listed = call.child_by_field_name("arguments")
        return listed.named_children if listed is not None else []

    def _entry(self, node: Node, key: str, name: str, depth: int) -> None:
        """Read a procedure, a router or an object of these under a name."""
        if depth > _DEPTH_MAX or not self.go_on():
            return
        if node.type == "object":
            for child in node.named_children:
                inner, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                if child.type == "spread_element" and child.named_children:
                    self._entry(child.named_children[0], key, name, depth + 1)
                elif child.type == "shorthand_property_identifier":
                    self._entry(child, key, _joined(name, text_of(child)), depth + 1)
                elif inner is not None and value is not None and (match := _KEY.fullmatch(text_of(inner))):
                    self._entry(value, key, _joined(name, match[1]), depth + 1)
        elif node.type in self.syntax.calls:
            callee = child_of(node, self.syntax.calls[node.type])
            member = text_of(callee).rpartition(".")[2] if callee is not None else ""
            if member in _KINDS:
                self._procedure(node, key, name)
            elif member in _ROUTERS or member in _MERGES:
                for argument in self._arguments(node):
                    self._entry(argument, key, name, depth + 1)
        elif chain := text_of(node) if node.type.startswith("shorthand") else self.dotted(node):
            flags = (f"names={name}.",) if name else ()
            self.add("mount", key, node, target=chain, flags=flags)

    def _procedure(self, call: Node, key: str, name: str) -> None:
        callee = child_of(call, self.syntax.calls[call.type])
        kind = text_of(callee).rpartition(".")[2] if callee is not None else ""
        handler = next(iter(self._arguments(call)), None)
        chain = self.dotted(handler) if handler is not None else ""
        flags = (f"named={name}", "by_name")
        self.add(
            "route",
            key,
            call,
            template=name or key[1:],
            methods=(_KINDS[kind],),
            target=chain,
            argument=handler,
            flags=flags,
        )

    def read_requests(self) -> None:
        #: (scope, name) → key of a client, and whether its procedures are called themselves
        clients: dict[tuple[int, str], tuple[str, bool]] = {}
        others: dict[str, str] = {}
        for binding in self.facts.bindings:
            match = _RESULT.fullmatch(binding.value)
            if match is not None and match[2] in (*_MAKERS, *_CALLERS):
                scope = binding.scope
                around = self.facts.definitions[scope].qualified if scope >= 0 else ""
                key = f"={_joined(around, binding.name)}"
                clients[scope, binding.name] = key, match[2] in _CALLERS
                self._add_at(Reference("call", "", scope, 1, 0, binding.at), "client", key)
            elif match is not None and match[1] and match[2] in _SAME:
                others[binding.name] = match[1]
        imported = {entry.name for entry in self.facts.imports if entry.name}
        for reference in self.facts.references:
            match = _CHAIN.fullmatch(reference.chain) if reference.kind == "call" else None
            if match is None or not self.go_on():
                continue
            root, (*links, last) = others.get(match[1], match[1]), match[2][1:].split(".")
            client, is_caller = self._client(clients, root, reference.scope)
            if not client and root not in imported:
                continue
            methods = tuple(dict.fromkeys(_KINDS.values())) if is_caller else (_CALLS.get(last, ""),)
            name = ".".join([*links, last] if is_caller else links)
            if name and methods[0]:
                self._add_at(reference, "request", client or root, f"@{name}", methods)

    def _client(
        self, clients: dict[tuple[int, str], tuple[str, bool]], name: str, scope: int
    ) -> tuple[str, bool]:
        while scope >= 0 and (scope, name) not in clients:
            scope = self.facts.definitions[scope].parent
        return clients.get((scope, name), ("", False))

    def _add_at(
        self, place: Reference, kind: str, router: str, template: str = "", methods: tuple[str, ...] = ()
    ) -> None:
        flags = ("client",) if kind == "request" else ()
        position = place.scope, place.line, place.column, place.line, (0, 0, 0, 0)
        self.fragments.append(Fragment(kind, router, template, methods, "", *position, flags))


def _joined(before: str, name: str) -> str:
    return f"{before}.{name}" if before else name
