"""The fragments of a file's clients and requests, read at the calls that its facts have, and of its
own functions that send the path that they get.

The client of such a function has the function's key, and its method if the function has one.
"""

import re
from collections.abc import Collection, Mapping

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.facts.facts import Facts, Fragment, Reference
from cortex.graph.facts.grammars import Grammar
from cortex.graph.frameworks.reading.clients.read_clients import VERBS, WRAPPER, ClientReader
from cortex.graph.frameworks.reading.literals import names_in_list
from cortex.graph.frameworks.reading.scopes import FRAGMENTS_MAX
from cortex.graph.frameworks.tables.clients import CLIENTS, Client, Form
from cortex.graph.frameworks.tables.framework import METHODS
from cortex.terms.kinds import CALLABLE_KINDS
from cortex.terms.paths import is_test

_NAMES = {id(client): client.names for client in CLIENTS}
#: functions that call one another
_HOPS_MAX = 3
#: a call of a test's own function, and the name of one that may send a request
_HELPER = re.compile(r"(?:\$?(?:this|self|cls)\.)?\w+")
_VERB = "get|post|put|patch|delete|json|request|send|call|api"
_SENDS = re.compile(rf"(?:^|_|\.)(?:{_VERB})(?![a-z])|[a-z](?:{_VERB.title()})(?![a-z])")
#: the end of a URL that is a parameter
_PARAMETER = re.compile(r"(.*)\{(\$?\w+)\}")
_LITERALS = re.compile(r"string$|list$|array|dict|object|integer|number|none|true|false")
#: a call of a function with an object or a path
_PASSES = re.compile(rb"[\w$]+\s*(?:<[^()]{0,300}>)?\(\s*(?:[\"'`][/$]|\{)")
#: a path, or the name of a route
_PATH = re.compile(r"@.*|[^\s@]*\w/[^\s]*|/[^\s]*")


def read_requests(root: Node, facts: Facts, grammar: Grammar) -> tuple[Fragment, ...]:
    modules = {entry.module for entry in facts.imports}
    rows = [
        client
        for client in CLIENTS
        if (not modules.isdisjoint(client.modules) and facts.path.endswith(client.ending))
        or (client.globals and grammar.rules.scripts)
        or (client.files and re.search(client.files, facts.path) and _has_word(client, facts.path, root))
    ]
    if not rows:
        return ()
    names = frozenset[str]().union(*(_NAMES[id(client)] for client in rows)) | VERBS
    described = {module for client in rows for module in client.modules}
    imported = {entry.name: entry.module in described for entry in facts.imports if entry.name}
    text = root.text or b""
    calls = [
        reference
        for reference in facts.references
        if reference.kind == "call"
        and (
            reference.chain.rpartition(".")[2] in names
            or imported.get(reference.chain)
            # only a script calls an unknown client itself: `http({ url })`, `http("/orders")`
            or (reference.chain in imported and grammar.rules.scripts and _PASSES.match(text, reference.at))
        )
    ]
    chains = {row.chain for row in facts.references if row.kind == "call"} if is_test(facts.path) else set()
    helpers = {chain for chain in chains if _HELPER.fullmatch(chain) and _SENDS.search(chain)}
    return _Reader(root, facts, grammar, rows).read(calls, helpers) if calls or helpers else ()


def _has_word(client: Client, path: str, root: Node) -> bool:
    text = root.text or b"" if client.words else b""
    return not client.words or any(word in path or word.encode() in text for word in client.words)


def _may_be_path(node: Node) -> bool:
    """Return False for a literal without a slash."""
    return not _LITERALS.search(node.type) or b"/" in (node.text or b"")


#: a function that sends the path in an argument, below a base
_Sender = tuple[Form, str]


class _Reader(ClientReader):
    def read(self, references: list[Reference], helpers: Collection[str]) -> tuple[Fragment, ...]:
        """Read calls; `helpers` are chains of a test's own functions that may send requests."""
        self._helpers = helpers
        for reference in references:
            self._read_maker(reference)
        if self._scripts:  # such an object or function may itself be called
            callable_names = {name for _, name in self._clients}
            references = [*references, *self._calls_of(callable_names - {row.chain for row in references})]
        senders: dict[str, _Sender] = {}
        rows = references if self._scripts or self.is_test else []
        for _ in range(_HOPS_MAX):
            fresh = dict(pair for row in rows if (pair := self._read_sender(row, senders)) is not None)
            senders = fresh | senders
            rows = self._calls_of(fresh) if self.is_test else []
        references = [*references, *(self._calls_of(senders) if self._scripts else ())]
        for reference in references[:FRAGMENTS_MAX]:
            self._read_request(reference)
        sent = {(row.line, row.column) for row in self._fragments if row.kind == "request"}
        senders_here = {row.router for row in self._fragments if row.kind == "client"}
        functions = {row.name for row in self._facts.definitions if row.parent < 0}
        helpers = {name for name in helpers if name not in functions or f"={name}" in senders_here}
        for reference in self._facts.references if helpers else ():
            place = reference.line, reference.column
            if reference.kind == "call" and reference.chain in helpers and place not in sent:
                self._read_called(reference)
        return tuple(self._fragments[:FRAGMENTS_MAX])

    def _calls_of(self, names: Collection[str]) -> list[Reference]:
        """Return the calls of functions, or of a test's own methods, of some names."""
        return [
            row
            for row in (self._facts.references if names else ())
            if row.kind == "call"
            and (row.chain in names or (row.chain in self._helpers and row.chain.rpartition(".")[2] in names))
        ]

    def _read_sender(
        self, reference: Reference, senders: Mapping[str, _Sender]
    ) -> tuple[str, _Sender] | None:
        """Read a function that sends the path or the configuration that it gets: its name."""
        definition = self._facts.definitions[reference.scope] if reference.scope >= 0 else None
        if definition is None or definition.kind not in CALLABLE_KINDS or not definition.parameters:
            return None
        names = [parameter.name for parameter in definition.parameters]
        names = names[1:] if names[0] in ("self", "cls") else names
        call = self._call_at(reference)
        if call is None or not any(map(text_of(call.node).__contains__, names)):
            return None
        form, base = senders.get(reference.chain.rpartition(".")[2], (None, ""))
        send = self._read_form(call, reference) if form is None else None
        if send is not None and not send.must:
            form, base = (
                send.form,
                next((row.template for row in self._fragments if row.router == send.client), ""),
            )
        url = call.at(form.url) if form is not None else None
        if form is None or url is None or not any(map(text_of(url).__contains__, names)):
            return None
        name, further = self._sent(url)
        method = self._method(call, form) if form.method or form.method_at else ""
        method_node = call.at(form.method_at) if not method else None
        method_name = text_of(method_node) if method_node is not None else ""
        if name not in names or (method_name and method_name not in names):
            return None
        key, base = f"={definition.qualified}", base + further
        local = self.is_test and (send is None or (send.row is not None and send.row.local))
        methods = (method,) if method else ()
        self._add("client", key, call.node, reference, template=base, local=local, methods=methods)
        self._clients[definition.parent, definition.name] = key, WRAPPER
        method_at = (names.index(method_name),) if method_name else ()
        return definition.name, (Form(method, (names.index(name),), method_at), base)

    def _sent(self, url: Node) -> tuple[str, str]:
        """Return the parameter that a URL ends with, and the text before it."""
        if url.type == "object":
            match = re.search(r"^\{\s*\.\.\.(\w+)|\burl: ?(\w+)", text_of(url)[:200])
            return (next(filter(None, match.groups())), "") if match else ("", "")
        parameter = _PARAMETER.fullmatch(self._url(url))
        return (parameter[2], parameter[1]) if parameter else ("", "")

    def _read_called(self, reference: Reference) -> None:
        """Read a call of a test's own function with a path. Only nodes.py knows what it sends."""
        call = self._call_at(reference)
        nodes = filter(_may_be_path, call.positional) if call is not None else ()
        urls = map(self._url, nodes)
        template = next((url for url in urls if _PATH.fullmatch(url)), "")
        if call is not None and template:
            listed = (method for node in call.positional for method in names_in_list(node))
            method = next((method for method in listed if method in METHODS), "")
            at = call.node, reference
            flags = ("client", "called")
            self._add("request", "", *at, template=template, methods=(method,), flags=flags)
