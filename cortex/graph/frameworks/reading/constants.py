"""Constants with literal text that other files may use as a part of a path."""

import re
from collections.abc import Container, Iterator
from itertools import islice

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.facts.facts import Facts
from cortex.graph.facts.grammars import Grammar
from cortex.graph.frameworks.reading.literals import HOLE, Literals, holes
from cortex.terms.kinds import TYPE_KINDS

#: constants, and objects with constants, of one file (a look for each is linear in the file),
#: entries of one object, and objects around a constant
CONSTANTS_MAX, ENTRIES_MAX, DEPTH_MAX = 2_000, 300, 3
_VALUE = re.compile(
    rb"(?!(?:export\s+)?let\s)[^=;{}\n\"'`]{1,120}+=\s*()(?:[\w.$]{1,60}\s*[+.]\s*)?[fru$@]{0,2}[\"'`]"
)
#: objects and enumerations of a script; a search for a line's end is faster than one for its begin
_OBJECT = re.compile(
    rb"\n(?:export\s+)?(?:(?:const\s+)?enum\s+([\w$]+)\s*|const\s+([\w$]+)[^=\n]{0,60}=\s*(?:Object\.freeze\()?"
    rb"|(module\.exports)\s*=\s*|(default)\s+)\{"
)
#: a constant that is no definition of the file: PHP's
_CONST = re.compile(rb"(?m)^[ \t]*(?:(?:final|public|protected|private)\s+)*const\s+(?:string\s+)?(\w+)\s*=")
_CHANGED = re.compile(rb"[\w$]+(?=\s*\Z)")
_EXPORTED = re.compile(rb"\n(?:module\.)?exports\.([\w$]+)\s*=\s*()[\"'`]")
#: text that may be a part of a path
_PART = re.compile(rf"[/\w.:{{}}<>*$~^()?|{HOLE}-]{{0,200}}")


def read_constants(root: Node, facts: Facts, grammar: Grammar) -> dict[str, str]:
    """Return qualified name → text of the file's constants. A name in a text is between `HOLE`s."""
    text, literals = root.text or b"", Literals()
    values: dict[str, str | None] = {}
    for name, node in _values(root, text, facts, grammar):
        value = literals.template(node) if node is not None else None
        if value is not None and not _PART.fullmatch(value):
            value = None
        if name not in values or values[name] != value:
            values[name] = value if name not in values else None
        if len(values) >= CONSTANTS_MAX:
            break
    constants = {name: value for name, value in values.items() if value is not None}
    for name, value in constants.items():
        for inner in holes(value):
            full = f"{HOLE}{_qualified(inner, name, values)}{HOLE}"
            constants[name] = constants[name].replace(f"{HOLE}{inner}{HOLE}", full)
    if constants and b"+=" in text:
        before = (_CHANGED.search(part[-80:]) for part in text.split(b"+=")[:-1])
        changed = {match[0].decode() for match in before if match}
        constants = {name: value for name, value in constants.items() if name not in changed}
    return constants


def _qualified(name: str, constant: str, names: Container[str]) -> str:
    """Return the qualified name that another constant's value means by a name of its types."""
    around = constant
    while around := around.rpartition(".")[0]:
        if f"{around}.{name}" in names:
            return f"{around}.{name}"
    return name


def _values(root: Node, text: bytes, facts: Facts, grammar: Grammar) -> Iterator[tuple[str, Node | None]]:
    """Yield each constant with its value, None for one that begins with no text."""
    places = [
        (definition.qualified, definition.begin)
        for definition in facts.definitions
        if definition.kind == "constant"
    ]
    types = {at for at, definition in enumerate(facts.definitions) if definition.kind in TYPE_KINDS} | {-1}
    for binding in facts.bindings:
        if binding.scope in types and "." not in binding.name:
            around = f"{facts.definitions[binding.scope].qualified}." if binding.scope >= 0 else ""
            places.append((around + binding.name, binding.at))
    if not grammar.rules.scripts and b"const " in text:
        bound = {name for name, _ in places}
        for line in _CONST.finditer(text):
            name = _around(facts, line.start(1)) + line[1].decode()
            places += [(name, line.start(1))] if name not in bound else []
    for name, at in places[:CONSTANTS_MAX]:
        match = _VALUE.match(text, at)
        yield name, _node_at(root, match.start(1), match.end()) if match else None
    if grammar.rules.scripts:
        lines = b"\n" + text
        for match in islice(_EXPORTED.finditer(lines), CONSTANTS_MAX):
            yield match[1].decode(), _node_at(root, match.start(2) - 1, match.end() - 1)
        for match in islice(_OBJECT.finditer(lines), CONSTANTS_MAX):
            name = next(filter(None, match.groups())).decode()
            node = _node_at(root, match.end() - 2, match.end() - 1)
            yield from _entries(name, node, 0)


def _around(facts: Facts, at: int) -> str:
    """Return the qualified name of the type around a byte, with a dot; "" outside of types."""
    names = (
        row.qualified for row in facts.definitions if row.kind in TYPE_KINDS and row.begin < at < row.end
    )
    return "".join(f"{name}." for name in [*names][-1:])


def _node_at(root: Node, begin: int, end: int) -> Node | None:
    """Return the largest node from `begin` on that holds the byte before `end`."""
    node = root.descendant_for_byte_range(end - 1, end)
    while node is not None and node.parent is not None and node.parent.start_byte >= begin:
        node = node.parent
    return node


def _entries(name: str, node: Node | None, depth: int) -> Iterator[tuple[str, Node | None]]:
    """Yield the constants of an object: `ROUTES.orders`."""
    if node is not None and node.type in ("as_expression", "satisfies_expression"):
        node = node.named_child(0)
    for entry in node.named_children[:ENTRIES_MAX] if node is not None and depth < DEPTH_MAX else ():
        key = entry.child_by_field_name("key") or entry.child_by_field_name("name")
        value = entry.child_by_field_name("value")
        if key is not None and value is not None:
            inner = f"{name}.{text_of(key)}"
            if value.type == "object":
                yield from _entries(inner, value, depth + 1)
            elif "string" in value.type or "binary" in value.type:
                yield inner, value
