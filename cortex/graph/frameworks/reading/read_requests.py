"""The fragments of a file's clients and requests, read at the calls that its facts have, and of its
own functions that send the path that they get.

The client of such a function has the function's key, and its method if the function has one.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.facts.facts import Facts, Fragment, Reference
from cortex.graph.facts.grammars import Grammar
from cortex.graph.frameworks.reading.literals import names_in_list
from cortex.graph.frameworks.reading.read_clients import VERBS, WRAPPER, ClientReader
from cortex.graph.frameworks.reading.scopes import FRAGMENTS_MAX
from cortex.graph.frameworks.tables.clients import CLIENTS, Client
from cortex.graph.frameworks.tables.framework import METHODS
from cortex.terms.kinds import CALLABLE_KINDS

_NAMES = {id(client): client.names for client in CLIENTS}
#: functions that call one another
_HOPS_MAX = 3
#: a call of a test's own function that may send a request
_CALLED = re.compile(
    r"(?:\$?(?:this|self|cls)\.)?\w*(?i:get|post|put|patch|delete|json|request|send|call|api)\w*"
)
#: the end of a URL that is a parameter
_PARAMETER = re.compile(r"(.*)\{(\$?\w+)\}")
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
    reader = _Reader(root, facts, grammar, rows)
    return reader.read(calls) if calls or reader.is_test else ()


def _has_word(client: Client, path: str, root: Node) -> bool:
    text = root.text or b"" if client.words else b""
    return not client.words or any(word in path or word.encode() in text for word in client.words)


@dataclass(frozen=True, slots=True)
class _Sender:
    """A function that sends the path in its argument `url`, with a method or that in an argument,
    below a base.
    """

    url: int
    method_at: int
    method: str
    base: str


class _Reader(ClientReader):
    def read(self, references: list[Reference]) -> tuple[Fragment, ...]:
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
        if self.is_test:
            known = {reference.at for reference in references}
            for reference in self._facts.references:
                if reference.kind == "call" and reference.at not in known:
                    self._read_called(reference)
        return tuple(self._fragments[:FRAGMENTS_MAX])

    def _calls_of(self, names: Collection[str]) -> list[Reference]:
        """Return the calls of functions, or of the test's own methods, of some names."""
        return [
            row
            for row in (self._facts.references if names else ())
            if row.kind == "call" and (row.chain in names or (self._own_name(row.chain) in names))
        ]

    def _own_name(self, chain: str) -> str:
        """Return the name of a method that a test calls on itself."""
        return chain.rpartition(".")[2] if self.is_test and _CALLED.fullmatch(chain) else ""

    def _read_sender(self, reference: Reference, senders: dict[str, _Sender]) -> tuple[str, _Sender] | None:
        """Read a function that sends the path or the configuration that it gets: its name."""
        definition = self._facts.definitions[reference.scope] if reference.scope >= 0 else None
        if definition is None or definition.kind not in CALLABLE_KINDS or not definition.parameters:
            return None
        names = [parameter.name for parameter in definition.parameters]
        names = names[1:] if names[0] in ("self", "cls") else names
        call = self._call_at(reference)
        inner = senders.get(reference.chain.rpartition(".")[2])
        send = self._read_form(call, reference) if call is not None and inner is None else None
        if call is None or (inner is None and (send is None or send.must)):
            return None
        if inner is not None:
            url, method_node = (
                call.at((inner.url,)),
                call.at((inner.method_at,)) if inner.method_at >= 0 else None,
            )
            method = inner.method or (
                next(iter(names_in_list(method_node)), "") if method_node is not None else ""
            )
            base, local = inner.base, True
        else:
            assert send is not None
            url, method_node = call.at(send.form.url), call.at(send.form.method_at)
            method = self._method(call, send.form) if send.form.method or send.form.method_at else ""
            base = next((row.template for row in self._fragments if row.router == send.client), "")
            local = send.row is not None and send.row.local
        name, further = self._sent(url) if url is not None else ("", "")
        if name not in names:
            return None
        method_name = text_of(method_node) if method_node is not None and not method else ""
        if method_name and method_name not in names:
            return None
        key, base = f"={definition.qualified}", base + further
        methods = (method,) if method else ()
        self._add("client", key, call.node, reference, template=base, target="", local=local, methods=methods)
        self._clients[definition.parent, definition.name] = key, WRAPPER
        method_at = names.index(method_name) if method_name else -1
        return definition.name, _Sender(names.index(name), method_at, method, base)

    def _sent(self, url: Node) -> tuple[str, str]:
        """Return the parameter that a URL ends with, and the text before it."""
        if url.type == "object":
            match = re.search(r"^\{\s*\.\.\.(\w+)|\burl: ?(\w+)", text_of(url)[:200])
            return (next(filter(None, match.groups())), "") if match else ("", "")
        parameter = _PARAMETER.fullmatch(self._url(url))
        return (parameter[2], parameter[1]) if parameter else ("", "")

    def _read_called(self, reference: Reference) -> None:
        """Read a call of a test's own function with a path. Only nodes.py knows what it sends."""
        call = self._call_at(reference) if _CALLED.fullmatch(reference.chain) else None
        urls = (self._url(node) for node in call.positional) if call is not None else ()
        template = next((url for url in urls if _PATH.fullmatch(url)), "")
        if call is not None and template:
            listed = (method for node in call.positional for method in names_in_list(node))
            method = next((method for method in listed if method in METHODS), "")
            flags = ("client", "called")
            place = call.node, reference
            self._add(
                "request",
                "",
                *place,
                template=template,
                target="",
                local=True,
                methods=(method,),
                flags=flags,
            )
