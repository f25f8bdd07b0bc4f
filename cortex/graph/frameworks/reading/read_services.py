"""The services that a file binds, and the fields and parameters that ask for one by its name.

A fragment `binds` has the type or the name (`'MAIL`) as its router, the service's name as the
template, and the chain of the class or value as its target, "" for an unknown one. A class that the
container makes for all of its types is the target `#3`. A fragment `wants` has the field as its
router, the name as its template, or the name's chain as its target.
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import child_of, text_of
from cortex.graph.facts.facts import Facts, Fragment
from cortex.graph.facts.grammars import Grammar
from cortex.graph.frameworks.reading.attributes import attributes_of
from cortex.graph.frameworks.reading.rows import read_call
from cortex.graph.frameworks.reading.scopes import FRAGMENTS_MAX, Frame, Scopes, last_of
from cortex.graph.frameworks.tables.containers import CONTAINERS, Container
from cortex.terms.paths import is_test

#: nodes between a word of a container and the definition, call or object that has it
_CLIMB_MAX = 6
#: nodes of a function that makes a service
_NODES_MAX = 500
_AROUND = frozenset({"parenthesized_expression", "await_expression", "as_expression", "return_statement"})
_BRANCHES = frozenset({"ternary_expression", "conditional_expression"})
_TYPE = re.compile(r"[\w$.]+")
_OWNERS = re.compile(r"class|object|record|interface")
_DECLARES = re.compile(r"(?:class|object|method|function)_declaration")
_MEMBERS = re.compile(r"parameter$|field_d|property_d")
#: calls that get a service from the container: `provider.GetRequiredService<Mail>()`
_GETS = re.compile(r"Get(?:Required)?(?:Keyed)?Service<([\w.]+)>")


def read_services(root: Node, facts: Facts, grammar: Grammar) -> tuple[Fragment, ...]:
    text = root.text or b""
    for row in CONTAINERS:
        if re.search(row.files, facts.path) and any(word in text for word in row.holds):
            reader = _Reader(facts, grammar, ())
            reader.read(root, row, bound=not is_test(facts.path))
            return tuple(reader.fragments)
    return ()


class _Reader(Scopes):
    def read(self, root: Node, row: Container, *, bound: bool) -> None:
        """Read the words of a container; without `bound` only fields that ask for a service."""
        words = row.services | row.makers if bound else frozenset[str]()
        text = root.text or b""
        marks = rf"[@\[,]\s*({'|'.join(sorted(words | row.slots))})\b"
        for match in re.finditer(marks.encode(), text):
            self._read_mark(root.descendant_for_byte_range(*match.span(1)), match[1].decode(), row)
        if row.calls and bound:
            for match in re.finditer(rf"\.({row.calls})\b".encode(), text):
                self._read_call(root.descendant_for_byte_range(*match.span(1)), row)
        if row.entry and bound:
            for match in re.finditer(rf"\b{row.entry}\s*:".encode(), text):
                self._read_entry(root.descendant_for_byte_range(match.start(), match.start() + 1), row)

    def add_service(
        self,
        node: Node,
        token: str,
        targets: list[str],
        *,
        name: str = "",
        flags: tuple[str, ...] = (),
        marks: tuple[str, ...] = (),
    ) -> None:
        """Add a service of a type or name, with each class or value that it may be. `marks` are in
        files that ask for it by a type above.
        """
        self.frames = [Frame(definition=self.definition_at(node.start_byte))]
        for target in targets if token and len(self.fragments) < FRAGMENTS_MAX else ():
            self.add("binds", token, node, template=name, methods=marks, target=target, flags=flags)

    def _read_mark(self, node: Node | None, word: str, row: Container) -> None:
        """Read an annotation of a class, method, field or parameter."""
        owner = _above(node, _MEMBERS if word in row.slots else _DECLARES)
        name_node = _name_of(owner) if owner is not None else None
        if owner is None or name_node is None:
            return
        attributes = {attribute.name: attribute for attribute in attributes_of(owner)}
        if (attribute := attributes.get(word)) is None:
            return
        named = attribute.at(row.name)
        name = (self.literals.text(named) or "") if named is not None else ""
        at = self.definition_at(name_node.start_byte)
        if word in row.slots:
            while at >= 0 and not _OWNERS.search(self.facts.definitions[at].kind):
                at = self.facts.definitions[at].parent
            if at >= 0 and named is not None:
                key = f"={self.facts.definitions[at].qualified}.{text_of(name_node).strip('_')}"
                self.frames = [Frame(definition=at)]
                self.add("wants", key, owner, template=name, target="" if name else self.dotted(named))
            return
        around = _above(owner.parent, _DECLARES)
        names = [*attributes, *(mark.name for mark in (attributes_of(around) if around is not None else ()))]
        flags = ("primary",) if row.primary in attributes else ()
        flags = (*flags, "conditional") if any(name.startswith(row.conditions) for name in names) else flags
        if word in row.makers:
            declared = owner.child_by_field_name("type") or next(
                (child for child in owner.named_children if child.type == "user_type"), None
            )
            token = _type_of(declared) if declared is not None else ""
            result = list(self._results(owner.child_by_field_name("body") or last_of(owner)))
            self.add_service(
                owner, token, result, name=name or text_of(name_node), flags=flags, marks=(row.mark,)
            )
        elif at >= 0:
            definition = self.facts.definitions[at]
            name = name or definition.name[:1].lower() + definition.name[1:]
            self.add_service(name_node, f"={definition.qualified}", [f"#{at}"], name=name, flags=flags)

    def _read_call(self, node: Node | None, row: Container) -> None:
        """Read `services.AddScoped<IMail, Mail>()`."""
        call_node = _above(node, re.compile(r"^invocation_expression$"))
        callee = call_node.child_by_field_name("function") if call_node is not None else None
        name = callee.child_by_field_name("name") if callee is not None else None
        if call_node is None or name is None or node is None or node.end_byte > name.end_byte:
            return
        call = read_call(call_node, "", 0)
        listed = last_of(name)
        types = [_type_of(child) for child in listed.named_children] if listed != name else []
        arguments, label = [*call.positional, *call.keywords.values()], ""
        if row.keyed in text_of(name)[:40] and arguments:
            label = self.literals.text(arguments.pop(0)) or ""
        types += [_type_of(last_of(child)) for child in arguments if child.type == "typeof_expression"]
        values = [child for child in arguments if child.type != "typeof_expression"]
        if len(types) > 1:
            self.add_service(call_node, types[0], types[1:2], name=label)
        elif types and values:
            self.add_service(call_node, types[0], list(self._results(values[0])), name=label)

    def _read_entry(self, node: Node | None, row: Container) -> None:
        """Read `{ provide: MAIL, useClass: Mail }`."""
        node = _above(node, re.compile(r"^object$"))
        pairs: dict[str, Node] = {}
        for pair in node.named_children if node is not None else ():
            key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
            if key is not None and value is not None:
                pairs[text_of(key)] = value
            elif pair.type == "method_definition" and (key := _name_of(pair)) is not None:
                pairs[text_of(key)] = pair
        token = pairs.get(row.entry)
        kind = next((key for key in row.values if key in pairs), "")
        if node is None or token is None or not kind:
            return
        text = self.literals.text(token)
        value = pairs[kind]
        if kind == "useFactory" and (chain := self.dotted(value)):
            targets = [f"{chain}()"]
        else:
            targets = list(self._results(value))
        self.add_service(node, f"'{text}" if text else self.dotted(token), targets or [""])

    def _results(self, node: Node, depth: int = 0) -> Iterator[str]:
        """Yield the class, or the chain of a value, of each result of an expression or function; ""
        for an unknown one.
        """
        kind, body = node.type, node.child_by_field_name("body")
        if depth > _CLIMB_MAX:
            yield ""
        elif kind in _AROUND or (kind in ("function_body", "value_argument") and node.named_child_count == 1):
            inner = node.named_children[0] if node.named_children else None
            yield from self._results(inner, depth + 1) if inner is not None else [""]
        elif kind in _BRANCHES:
            for child in node.named_children[1:]:
                yield from self._results(child, depth + 1)
        elif body is not None and "class" not in kind:
            yield from self._results(body, depth + 1)
        elif kind.endswith("block") or kind == "function_body":
            for child in _returned(node):
                yield from self._results(child, depth + 1)
        elif "new_expression" in kind or "creation_expression" in kind:
            result = node.child_by_field_name("type") or node.child_by_field_name("constructor")
            yield _type_of(result) if result is not None else ""
        elif kind in self.syntax.calls:
            callee = child_of(node, self.syntax.calls[kind])
            text = text_of(callee if callee is not None else node)[:200]
            match = _GETS.search(text)
            chain = self.dotted(callee) if callee is not None else ""
            yield match[1] if match else f"{chain}()" if chain else ""
        else:
            yield self.dotted(node)


def _above(node: Node | None, kinds: re.Pattern[str]) -> Node | None:
    """Return the nearest node of some kinds around another."""
    for _ in range(_CLIMB_MAX):
        if node is None or kinds.search(node.type):
            return node
        node = node.parent
    return None


def _name_of(node: Node) -> Node | None:
    inner = node.child_by_field_name("declarator")
    node = inner if inner is not None else node
    name = node.child_by_field_name("name") or node.child_by_field_name("pattern")
    plain = (child for child in node.named_children if child.type in ("identifier", "variable_declaration"))
    return name if name is not None else next(plain, None)


def _type_of(node: Node) -> str:
    """Return the name of a type without its arguments."""
    match = _TYPE.match(text_of(node)[:200])
    return match[0] if match else ""


def _returned(body: Node) -> Iterator[Node]:
    """Yield the values that a function returns."""
    nodes, count = [body], 0
    while nodes and count < _NODES_MAX:
        node = nodes.pop()
        count += 1
        if node.type.startswith("return"):
            yield node
        elif node.id == body.id or node.child_by_field_name("parameters") is None:
            nodes += reversed(node.named_children)
