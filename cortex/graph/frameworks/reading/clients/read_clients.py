"""The fragments of clients and requests, for read_requests.py.

A fragment `client` has the client's key as its router, its base URL as the template, and the chain
of the application that it calls as its target. A fragment `request` has the client's key or chain.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from sys import stdlib_module_names

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import child_of, text_of
from cortex.graph.facts.facts import Facts, Fragment, Reference
from cortex.graph.facts.grammars import Grammar
from cortex.graph.frameworks.reading.literals import names_in_list
from cortex.graph.frameworks.reading.rows import WRAPS, Call, holder_of, read_call
from cortex.graph.frameworks.reading.templates import Templates
from cortex.graph.frameworks.tables.clients import IN_PROCESS, TEST_CLIENT, Client, Form, Maker
from cortex.graph.frameworks.tables.framework import METHODS, Places
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS
from cortex.terms.paths import is_test

#: a value that a framework injects: Angular's `inject(HttpClient)`
_INJECTED = re.compile(rb"[^;\n]*?\binject\(\s*(\w+)")
#: calls of languages whose facts come from queries
_CALLS = frozenset(
    "call method_invocation member_call_expression nullsafe_member_call_expression "
    "object_creation_expression".split()
)
VERBS = frozenset(method.lower() for method in METHODS)
_FIELDS = ("self.", "this.", "cls.")


#: a function of the project that sends what it gets
WRAPPER = Client(members={"": Form(options=(1, 0))})


@dataclass(frozen=True, slots=True)
class Send:
    """A call that sends a request on a client's key or chain. `must`: it sends one only if the
    client is known.
    """

    form: Form
    row: Client | None = None
    client: str = ""
    app: str = ""
    must: bool = False


class ClientReader:
    def __init__(self, root: Node, facts: Facts, grammar: Grammar, rows: list[Client]) -> None:
        self._root, self._facts, self._syntax = root, facts, grammar.syntax
        self._rows, self._calls = rows, _CALLS | self._syntax.calls.keys()
        self.is_test, self._scripts = is_test(facts.path), grammar.rules.scripts
        names = ("helper", "owner", "placed")
        helper, owner, placed = (
            next(filter(None, (getattr(row, name) for row in rows)), "") for name in names
        )
        self._templates = Templates(helper, owner, placed, facts.path, root)
        self._fragments: list[Fragment] = []
        self._calls_by_place: dict[int, Call | None] = {}
        #: name → (client, member) of its import
        self._names: dict[str, tuple[Client, str]] = {}
        self._imported: set[str] = set()
        for entry in (entry for entry in facts.imports if entry.name):
            row = next((row for row in self._rows if entry.module in row.modules), None)
            if row is None:
                is_own = grammar.rules.scripts or entry.module.partition(".")[0] not in stdlib_module_names
                self._imported |= {entry.name} if is_own else set()  # `os.environ.get` is no request
            else:
                self._names.setdefault(entry.name, (row, entry.member))
        for row in rows:
            starred = any(entry.member == "*" and entry.module in row.modules for entry in facts.imports)
            for name in row.calls if starred or row.files else ():
                self._names.setdefault(name, (row, name))
        if grammar.rules.scripts:
            bound = {definition.name for definition in facts.definitions} | self._imported
            for client in rows:
                for name in client.globals:
                    if name.partition(".")[0] not in bound:
                        self._names.setdefault(name, (client, ""))
        #: (scope, name), and the names of fields → key of the client and its description
        self._clients: dict[tuple[int, str], tuple[str, Client]] = {}
        types = {name: row for row in rows for name in row.types}
        text = (root.text or b"") if types else b""
        for binding in facts.bindings if types else ():
            value = binding.value
            injected = _INJECTED.match(text, binding.at) if value == "inject()" else None
            typed = injected[1].decode() if injected else value[1:] if value[:1] == ":" else ""
            if (row := types.get(typed)) is not None:
                name = binding.name.rpartition(".")[2]
                is_field = binding.scope >= 0 and facts.definitions[binding.scope].kind in TYPE_KINDS
                for scope in (binding.scope, -2) if is_field or "." in binding.name else (binding.scope,):
                    self._clients[scope, name] = "", row

    @cached_property
    def _serving(self) -> set[str]:
        """Names of calls that take a request and its recorder."""
        return {row.chain.rpartition(".")[2] for row in self._facts.references if row.arguments == 2}

    @cached_property
    def _values(self) -> dict[tuple[int, str], str]:
        """(scope, name) → the call that made the value."""
        return {(row.scope, row.name): row.value for row in self._facts.bindings if row.value.endswith("()")}

    # --- clients

    def _read_maker(self, reference: Reference) -> None:
        client_and_maker = self._maker_of(reference.chain)
        call = self._call_at(reference) if client_and_maker is not None else None
        if call is None or client_and_maker is None:
            return
        holder, scope = holder_of(call.node), reference.scope
        client, base, app = self._settings(call, scope, *client_and_maker)
        definitions = self._facts.definitions
        around = definitions[scope].qualified if scope >= 0 else ""
        keys = []
        if holder:
            is_field = holder.startswith(_FIELDS)
            name = holder.rpartition(".")[2] if is_field else holder
            key = f"={around}.{name}" if around and not is_field else f"={name}"
            self._clients[(-2 if is_field else scope, name)] = key, client
            keys.append(key)
        if scope >= 0 and definitions[scope].kind in CALLABLE_KINDS:
            keys.append(f"={around}()")
        for key in keys:
            self._add("client", key, call.node, reference, template=base, target=app, local=client.local)

    def _maker_of(self, chain: str) -> tuple[Client, Maker] | None:
        """Return the client that a call of this chain makes."""
        client, member = self._member(chain)
        if client is not None and (maker := client.makers.get(member)) is not None:
            return client, maker
        name = f".{chain.rpartition('.')[2]}"
        return next(((row, row.makers[name]) for row in self._rows if name in row.makers), None)

    def _member(self, chain: str) -> tuple[Client | None, str]:
        """Return the client that a chain of imported names begins with, and the rest."""
        if chain in self._names:
            return self._names[chain]
        root, _, rest = chain.rpartition(".")
        if root in self._names:
            client, member = self._names[root]
            return (
                (client, rest) if member in ("", "default", "axios", "MockMvcRequestBuilders") else (None, "")
            )
        return None, ""

    def _settings(self, call: Call, scope: int, client: Client, maker: Maker) -> tuple[Client, str, str]:
        """Return the client with its base URL and the chain of its application."""
        base = self._argument(call, maker.base)
        template = self._url(base) if base is not None else ""
        if maker.app == ("",):
            holder = self._receiver(call.node)
            return client, "", self._dotted(holder, scope) if holder is not None else ""
        places: Places = maker.app
        if not client.local and any(name in call.keywords for name in IN_PROCESS):
            client, places, template = TEST_CLIENT, IN_PROCESS, ""
        app = self._argument(call, places)
        if app is not None and app.type in self._syntax.calls:
            inner = read_call(app, "", 0)
            first = inner.at((0, "app"))
            app = first if "transport" in call.keywords or first is not None else app
        return client, template, self._dotted(app, scope) if app is not None else ""

    def _dotted(self, node: Node, scope: int) -> str:
        """Return the chain of an application; of a variable the call that made it."""
        text = text_of(node).split("(", maxsplit=1)[0].replace("?.", ".")
        for end in (".getHttpServer", ".callback", ".listen"):
            text = text.removesuffix(end)
        if node.type in self._syntax.calls and text == text_of(node).split("(", maxsplit=1)[0]:
            text += "()"
        if len(text) > 100 or not re.fullmatch(r"[\w.$()]+", text):
            return ""
        while scope >= 0 and (scope, text) not in self._values:
            scope = self._facts.definitions[scope].parent
        value = self._values.get((scope, text), "")
        return value if re.fullmatch(r"[\w.]+\(\)", value) and value.count(".") <= 1 else text

    # --- requests

    def _read_request(self, reference: Reference) -> None:
        call = self._call_at(reference)
        if call is None or (send := self._read_form(call, reference)) is None:
            return
        form, row = send.form, send.row
        url = call.at(form.url)
        if url is not None and url.type == "object":
            url = _entry(url, "url")
        template = self._url(url) if url is not None and (method := self._method(call, form)) else ""
        if not re.search(r"(?:^@?|[/}])\w", template) or " " in template:
            return
        local = row is not None and (row.local or (row.remote and self.is_test))
        if row is not None and row.remote and not local and not re.match(r"\w+:|//|\{", template):
            template = f"{{}}/{template.lstrip('/')}"
        if row is not None and row.served_by and (local or template.startswith("/")):
            local = True
            if row.served_by not in self._serving:
                return
        flags = ("client",) if send.must else ()
        keys = _keys_of(call) if "#" in template else None
        self._add(
            "request",
            send.client,
            call.node,
            reference,
            template=template,
            methods=(method,),
            target=send.app,
            local=local,
            flags=flags if keys is None else (*flags, f"keys={','.join(keys)}"),
        )

    def _read_form(self, call: Call, reference: Reference) -> Send | None:
        """Return what a call sends, and on which client; None for one that sends no request."""
        chain = reference.chain
        client, member = self._member(chain)
        if client is not None and (form := client.calls.get(member)) is not None:
            return Send(form, client)
        root, _, verb = chain.rpartition(".")
        holders = [(root, verb), (chain, "")]
        if root.endswith("()"):  # `client.get().uri("/orders")`
            holder, _, before = root.rpartition(".")
            holders.append((holder, f"{before}.{verb}"))
        for holder, name in holders:
            if not holder:
                continue
            key = self._find_client(holder, reference.scope)
            if key is not None and (form := key[1].members.get(name)) is not None:
                return Send(form, key[1], key[0])
        if not root and chain in self._imported and (_has_url(call) or self._has_path(call)):
            return Send(WRAPPER.members[""], None, chain, must=True)
        for row in self._rows if self.is_test else ():
            if row.receivers and re.fullmatch(row.receivers, root) and (form := row.members.get(verb)):
                return Send(form, row, root)
        if verb not in VERBS and verb not in METHODS:
            return None
        receiver = self._receiver(call.node)
        while receiver is not None and receiver.type in WRAPS and receiver.named_children:
            receiver = receiver.named_children[0]
        if receiver is not None and receiver.type in self._syntax.calls:
            client_and_maker = self._maker_of(self._chain(receiver))
            if client_and_maker is not None and (form := client_and_maker[0].members.get(verb)) is not None:
                target = self._settings(read_call(receiver, "", 0), reference.scope, *client_and_maker)[2]
                return Send(form, client_and_maker[0], "", target)  # `request(app).get("/x")`
        form = Form(verb.upper())
        if _has_url(call):
            return Send(form)
        if root and root.count(".") < 2 and root.partition(".")[0].partition("(")[0] in self._imported:
            return Send(form, None, root, must=True)
        return None

    def _find_client(self, holder: str, scope: int) -> tuple[str, Client] | None:
        if holder.startswith(_FIELDS):
            return self._clients.get((-2, holder.rpartition(".")[2]))
        while scope >= 0:
            if (client := self._clients.get((scope, holder))) is not None:
                return client
            scope = self._facts.definitions[scope].parent
        return self._clients.get((-1, holder))

    def _chain(self, node: Node) -> str:
        callee = child_of(node, self._syntax.calls[node.type])
        return text_of(callee).replace("?.", ".")[:100] if callee is not None else ""

    def _receiver(self, node: Node) -> Node | None:
        """Return the receiver of a call; None for that of a function."""
        place = self._syntax.calls.get(node.type)
        callee = child_of(node, place) if place is not None else None
        fields = self._syntax.members.get(callee.type) if callee is not None else None
        return child_of(callee, fields[0]) if callee is not None and fields is not None else None

    def _method(self, call: Call, form: Form) -> str:
        """Return the method of a call, "" for a computed one."""
        if form.method:
            return form.method
        place = call.at(form.method_at)
        if form.method_at:
            return next(iter(names_in_list(place)), "") if place is not None else ""
        options = call.at(form.options)
        if options is None or (options == call.at(form.url) and options.type != "object"):
            return "GET"
        if options.type != "object":
            return ""
        if (value := _entry(options, "method")) is not None:
            return next(iter(names_in_list(value)), "")
        computed = any(
            child.type == "spread_element" or text_of(child) == "method" for child in options.named_children
        )
        return "" if computed else "GET"

    def _has_path(self, call: Call) -> bool:
        first = call.at((0,))
        return first is not None and "string" in first.type and text_of(first)[1:2] in ("/", "$")

    def _url(self, node: Node) -> str:
        """Return a URL without its query."""
        text = self._templates.text(node) or ""
        return re.split(r"\?" if text.startswith("@") else r"[?#]", text, maxsplit=1)[0]

    def _argument(self, call: Call, places: Places) -> Node | None:
        """Return an argument, or the value in an object among the arguments."""
        if (node := call.at(places)) is not None:
            return node
        objects = [node for node in call.positional if node.type == "object"]
        return next(
            (
                value
                for node in objects
                for place in places
                if (value := _entry(node, str(place))) is not None
            ),
            None,
        )

    def _call_at(self, reference: Reference) -> Call | None:
        if reference.at not in self._calls_by_place:  # a call may be a client, a sender and a request
            self._calls_by_place[reference.at] = self._find_call(reference)
        return self._calls_by_place[reference.at]

    def _find_call(self, reference: Reference) -> Call | None:
        node = self._root.descendant_for_byte_range(reference.at, reference.at + 1)
        while node is not None and node.type not in self._calls:
            node = node.parent
            if node is not None and node.start_byte > reference.at:
                return None
        return read_call(node, "", 0) if node is not None else None

    def _add(
        self,
        kind: str,
        router: str,
        node: Node,
        reference: Reference,
        *,
        template: str,
        target: str = "",
        local: bool = True,
        methods: tuple[str, ...] = (),
        flags: tuple[str, ...] = (),
    ) -> None:
        flags = (*flags, "test") if local else flags
        end = node.end_point[0] + 1
        place = reference.scope, reference.line, reference.column, end
        self._fragments.append(Fragment(kind, router, template, methods, target, *place, (0, 0, 0, 0), flags))


def _has_url(call: Call) -> bool:
    first = call.at((0,))
    return first is not None and first.type == "object" and _entry(first, "url") is not None


def _keys_of(call: Call) -> list[str] | None:
    """Return the names of the parameters that a test passes to an action: of `params: {…}`, else of
    all pairs; None for computed ones.
    """
    nodes = call.positional[1:]
    if nodes and nodes[0].type == "hash":
        nodes = nodes[0].named_children
    for node in nodes:
        if (value := _value_of(node, "params")) is not None:
            nodes = value.named_children if value.type == "hash" else [value]
    keys = [node.child_by_field_name("key") for node in nodes]
    return [text_of(key).strip(":\"'") for key in keys if key is not None] if all(keys) else None


def _entry(node: Node, name: str) -> Node | None:
    """Return the value of a field in an object."""
    values = (_value_of(child, name) for child in node.named_children)
    return next((value for value in values if value is not None), None)


def _value_of(pair: Node, name: str) -> Node | None:
    key = pair.child_by_field_name("key")
    is_named = key is not None and text_of(key).strip("\"'`:") == name
    return pair.child_by_field_name("value") if is_named else None
