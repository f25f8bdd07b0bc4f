"""The fragments of a file's clients and requests, read at the calls that its facts have.

A fragment `client` has the client's key as its router, its base URL as the template, and the chain
of the application that it calls as its target. A fragment `request` has the client's key or chain.
"""

from __future__ import annotations

import re
from functools import cached_property

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import child_of, text_of
from cortex.graph.facts.facts import Facts, Fragment, Reference
from cortex.graph.facts.grammars import Grammar
from cortex.graph.frameworks.clients import CLIENTS, IN_PROCESS, TEST_CLIENT, Client, Form, Maker
from cortex.graph.frameworks.framework import METHODS, Places
from cortex.graph.frameworks.literals import names_in_list
from cortex.graph.frameworks.rows import Call, read_call
from cortex.graph.frameworks.scopes import FRAGMENTS_MAX
from cortex.graph.frameworks.templates import Templates
from cortex.terms.kinds import CALLABLE_KINDS
from cortex.terms.paths import is_test

_NAMES = {id(client): client.names for client in CLIENTS}
#: names of clients in tests, without those of other services
_TEST_NAME = re.compile(
    r"(?:(?:self|cls)\.)?(?!\w*(?:redis|s3|cache|mqtt|docker|kafka|blob))(?:\w*client\w*|ac)"
)
#: wrappers between a call and the name that gets its value
_WRAPS = frozenset(
    "await await_expression parenthesized_expression as_expression satisfies_expression with_item "
    "expression_list yield".split()
)
_VERBS = frozenset(method.lower() for method in METHODS)
_FIELDS = ("self.", "this.", "cls.")


def read_requests(root: Node, facts: Facts, grammar: Grammar) -> tuple[Fragment, ...]:
    modules = {entry.module for entry in facts.imports}
    rows = [
        client
        for client in CLIENTS
        if not modules.isdisjoint(client.modules)
        or (client.globals and grammar.rules.scripts)
        or (client is TEST_CLIENT and grammar.rules.fixtures)
    ]
    if not rows:
        return ()
    names = frozenset[str]().union(*(_NAMES[id(client)] for client in rows)) | _VERBS
    described = {module for client in rows for module in client.modules}
    imported = {  # only a script calls an unknown client itself: `http({ url })`
        entry.name
        for entry in facts.imports
        if entry.name and (grammar.rules.scripts or entry.module in described)
    }
    calls = [
        reference
        for reference in facts.references
        if reference.kind == "call"
        and (reference.chain.rpartition(".")[2] in names or reference.chain in imported)
    ]
    return _Reader(root, facts, grammar, rows).read(calls) if calls else ()


class _Reader:
    def __init__(self, root: Node, facts: Facts, grammar: Grammar, rows: list[Client]) -> None:
        self._root, self._facts, self._syntax = root, facts, grammar.syntax
        self._rows = rows
        self._is_test = is_test(facts.path)
        self._templates = Templates()
        self._fragments: list[Fragment] = []
        #: name → (client, member) of its import
        self._names: dict[str, tuple[Client, str]] = {}
        self._imported: set[str] = set()
        for entry in (entry for entry in facts.imports if entry.name):
            row = next((row for row in self._rows if entry.module in row.modules), None)
            if row is None:
                self._imported.add(entry.name)
            else:
                self._names.setdefault(entry.name, (row, entry.member))
        if grammar.rules.scripts:
            bound = {definition.name for definition in facts.definitions} | self._imported
            for client in rows:
                for name in client.globals:
                    if name.partition(".")[0] not in bound:
                        self._names.setdefault(name, (client, ""))
        #: (scope, name), and the names of fields → key of the client and its description
        self._clients: dict[tuple[int, str], tuple[str, Client]] = {}

    @cached_property
    def _serving(self) -> set[str]:
        """Names of calls that take a request and its recorder."""
        return {row.chain.rpartition(".")[2] for row in self._facts.references if row.arguments == 2}

    @cached_property
    def _values(self) -> dict[tuple[int, str], str]:
        """(scope, name) → the call that made the value."""
        return {(row.scope, row.name): row.value for row in self._facts.bindings if row.value.endswith("()")}

    def read(self, references: list[Reference]) -> tuple[Fragment, ...]:
        for reference in references:
            self._read_maker(reference)
        for reference in references[:FRAGMENTS_MAX]:
            self._read_request(reference)
        return tuple(self._fragments)

    # --- clients

    def _read_maker(self, reference: Reference) -> None:
        client_and_maker = self._maker_of(reference.chain)
        call = self._call_at(reference) if client_and_maker is not None else None
        if call is None or client_and_maker is None:
            return
        holder, scope = self._holder(call.node), reference.scope
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
        name = chain.rpartition(".")[2]
        if (maker := TEST_CLIENT.makers.get(name)) is not None and TEST_CLIENT in self._rows:
            return TEST_CLIENT, maker
        return None

    def _member(self, chain: str) -> tuple[Client | None, str]:
        """Return the client that a chain of imported names begins with, and the rest."""
        if chain in self._names:
            return self._names[chain]
        root, _, rest = chain.rpartition(".")
        if root in self._names:
            client, member = self._names[root]
            return (client, rest) if member in ("", "default", "axios") else (None, "")
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

    def _holder(self, node: Node) -> str:
        """Return the name that gets the value of a call, "default" for a default export."""
        inner, around = node, node.parent
        while around is not None and around.type in _WRAPS:
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

    # --- requests

    def _read_request(self, reference: Reference) -> None:
        call = self._call_at(reference)
        if call is None or (read := self._read_form(call, reference)) is None:
            return
        form, client, target, local, must = read
        url = call.at(form.url)
        if url is not None and url.type == "object":
            url = _entry(url, "url")
        template = self._url(url) if url is not None and (method := self._method(call, form)) else ""
        if not re.search(r"(?:^|[/}])\w", template) or " " in template:
            return
        described = self._member(reference.chain)[0]
        if described is not None and described.served_by and (local or template.startswith("/")):
            local = True
            if described.served_by not in self._serving:
                return
        self._add(
            "request",
            client,
            call.node,
            reference,
            template=template,
            methods=(method,),
            target=target,
            local=local,
            flags=("client",) if must else (),
        )

    def _read_form(self, call: Call, reference: Reference) -> tuple[Form, str, str, bool, bool] | None:
        """Return (form, the client's key or chain, its application, whether it is local, whether
        the client must be found) of a call; None for one that sends no request.
        """
        chain = reference.chain
        client, member = self._member(chain)
        if client is not None and (form := client.calls.get(member)) is not None:
            return form, "", "", client.local, False
        root, _, verb = chain.rpartition(".")
        for holder, name in ((root, verb), (chain, "")):
            if not holder:
                continue
            key = self._find_client(holder, reference.scope)
            if key is not None and (form := key[1].members.get(name)) is not None:
                return form, key[0], "", key[1].local, False
        if not root and chain in self._imported and _has_url(call):
            return Form(options=(0,)), chain, "", False, True
        if verb not in _VERBS and verb not in METHODS:
            return None
        receiver = self._receiver(call.node)
        while receiver is not None and receiver.type in _WRAPS and receiver.named_children:
            receiver = receiver.named_children[0]
        if receiver is not None and receiver.type in self._syntax.calls:
            client_and_maker = self._maker_of(self._chain(receiver))
            if client_and_maker is not None and (form := client_and_maker[0].members.get(verb)) is not None:
                target = self._settings(read_call(receiver, "", 0), reference.scope, *client_and_maker)[2]
                return form, "", target, client_and_maker[0].local, False  # `request(app).get("/x")`
        form = Form(verb.upper())
        if _has_url(call):
            return form, "", "", False, False
        if self._is_test and TEST_CLIENT in self._rows and _TEST_NAME.fullmatch(root):
            return form, root, "", True, False
        if root and root.count(".") < 2 and root.partition(".")[0].partition("(")[0] in self._imported:
            return form, root, "", False, True
        return None

    def _find_client(self, holder: str, scope: int) -> tuple[str, Client] | None:
        """Return the client of a name or field."""
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
        callee = child_of(node, self._syntax.calls[node.type])
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
        value = _entry(options, "method")
        if value is not None:
            return next(iter(names_in_list(value)), "")
        computed = any(
            child.type == "spread_element" or text_of(child) == "method" for child in options.named_children
        )
        return "" if computed else "GET"

    def _url(self, node: Node) -> str:
        """Return a URL without its query."""
        return re.split(r"[?#]", self._templates.text(node) or "", maxsplit=1)[0]

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
        node = self._root.descendant_for_byte_range(reference.at, reference.at + 1)
        while node is not None and node.type not in self._syntax.calls:
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
        target: str,
        local: bool,
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


def _entry(node: Node, name: str) -> Node | None:
    """Return the value of a field in an object."""
    for child in node.named_children:
        key = child.child_by_field_name("key")
        if key is not None and text_of(key).strip("\"'`") == name:
            return child.child_by_field_name("value")
    return None
