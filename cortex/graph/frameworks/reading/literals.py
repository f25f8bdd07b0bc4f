"""Literal text in arguments of a call: strings, their concatenations, constants of the file."""

import re
from collections.abc import Callable, Iterable, Iterator

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of

#: characters of a path
TEXT_CHARS_MAX = 500
_QUOTES = re.compile(r"^[A-Za-z]*(?:\"\"\"|'''|[\"'`])|(?:\"\"\"|'''|[\"'`])$")
#: `http.MethodGet` and `HttpMethod.GET` in lists of methods
_METHOD = re.compile(r"(?:Method|HttpMethod\.)([A-Za-z]+)$")
_DEPTH_MAX = 20
#: around the name of an unknown constant in a template
HOLE = "\0"
#: a part of a template that is no name
UNKNOWN = f"{HOLE}?{HOLE}"
_HOLES = re.compile(f"{HOLE}([^{HOLE}]+){HOLE}")
_NAMES = re.compile(r"[\w$]+")
_CHAIN = re.compile(r"[\w$]+(?:\.[\w$]+)*")
#: words of names that stand for paths
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_PATH_WORDS = frozenset("path prefix base root url uri mount endpoint namespace version join".split())
_WRAPS = frozenset({"expression_list", "parenthesized_expression"})
_CASTS = frozenset({"as_expression", "non_null_expression", "satisfies_expression"})
_NAMED = frozenset(("identifier", "constant", "name"))
#: values of a loop that are their own text
_PLAIN = frozenset("property_identifier shorthand_property_identifier number integer int_literal".split())
_DECLARATORS = frozenset({"variable_declarator", "property_declaration"})
#: `Orders.BASE`, `Orders::BASE`
MEMBERS = frozenset(
    "attribute field_access member_access_expression navigation_expression member_expression "
    "selector_expression class_constant_access_expression scope_resolution".split()
)


class Literals:
    """The constants of a file so far: a name with several values is none."""

    def __init__(self) -> None:
        self._values: dict[str, str | None] = {}
        self._with_holes = False

    def add(self, name: str, value: Node) -> None:
        text = self.text(value) if self.is_text(value) else None
        self._values[name] = text if self._values.get(name, text) == text else None

    def give(self, name: str, value: Node) -> None:
        """Give a name its present value: a variable of a loop."""
        is_plain = value.type in _PLAIN
        self._values[name] = text_of(value) if is_plain else self.text(value) if self.is_text(value) else None

    def hide(self, names: Iterable[str]) -> dict[str, str | None]:
        """Return the values of names, for `restore`, and forget that there are any."""
        return {name: self._values.pop(name) for name in names if name in self._values}

    def restore(self, names: Iterable[str], values: dict[str, str | None]) -> None:
        """Give names the values that they had around a loop or function."""
        self._values |= {name: values.get(name) for name in names}

    def forget(self, names: str) -> None:
        """Note that the names in a text have no single value: variables of a loop."""
        self._values |= dict.fromkeys(_NAMES.findall(names))

    def is_text(self, node: Node) -> bool:
        """True for a string, and for a concatenation or a constant of text."""
        return "string" in node.type or self.text(node) is not None

    def template(self, node: Node) -> str | None:
        """Return the text of an expression with the names of constants of other files between
        `HOLE`s; None if something else is computed.
        """
        self._with_holes = True
        try:
            return Literals.text(self, node)
        finally:
            self._with_holes = False

    def text(self, node: Node, depth: int = 0) -> str | None:
        """Return the text of an expression; None if it is computed."""
        text = self._read(node, depth) if depth < _DEPTH_MAX else None
        return text if text is None or len(text) <= TEXT_CHARS_MAX else None

    def _read(self, node: Node, depth: int) -> str | None:
        kind, children = node.type, node.named_children
        if kind == "concatenated_string":
            return self._join(children, depth)
        if "string" in kind:
            if not children:
                return _QUOTES.sub("", text_of(node))
            contents = [child for child in children if not child.type.endswith(("_start", "_end"))]
            return self._join(contents, depth)
        if kind in _NAMED or kind in MEMBERS:
            return self._constant(text_of(node).replace("::", "."))
        if kind.startswith("binary_"):
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            operator = node.child_by_field_name("operator")
            if left is None or right is None or operator is None or text_of(operator) not in "+.":
                return None
            return self._join([left, right], depth)
        if kind in _CASTS or (kind in _WRAPS and len(children) == 1):
            return self.text(children[0], depth + 1)
        return None

    def _constant(self, name: str) -> str | None:
        text = self._values.get(name)
        is_open = self._with_holes and name not in self._values
        return f"{HOLE}{name}{HOLE}" if is_open and _CHAIN.fullmatch(name) else text

    def _join(self, nodes: list[Node], depth: int) -> str | None:
        parts: list[str] = []
        for node in nodes:
            if node.type.endswith(("content", "fragment", "escape_sequence")):
                text: str | None = text_of(node)
            elif node.type in ("interpolation", "template_substitution"):
                text = self._interpolated(node, depth)
            else:
                text = self.text(node, depth + 1)
            if text is None and not self._with_holes:
                return None
            parts.append(UNKNOWN if text is None else text)
        return "".join(parts)

    def _interpolated(self, node: Node, depth: int) -> str | None:
        return self.text(node.named_children[0], depth + 1) if node.named_child_count == 1 else None


def holes(template: str) -> list[str]:
    """Return the names of constants in a template."""
    return _HOLES.findall(template) if HOLE in template else []


def fill(template: str, find: Callable[[str], str | None]) -> str | None:
    """Return a template with the text of each name; None if `find` returns None for one."""
    text, unknown = fill_end(template, find)
    return None if unknown or len(text) > TEXT_CHARS_MAX else text


def fill_end(template: str, find: Callable[[str], str | None]) -> tuple[str, list[str]]:
    """Return a template with the text of each name, without all before the last name that `find`
    does not know, and these names.
    """
    text, unknown = "", list[str]()
    for at, part in enumerate(_HOLES.split(template)):
        value = find(part) if at % 2 else part
        if value is None:
            unknown.append(part)
        text = "" if value is None else text + value
    return text, unknown


def names_path(name: str) -> bool:
    """Return True for the name of a value that is a path by its words: `API_PREFIX`."""
    return not _PATH_WORDS.isdisjoint(word.lower() for word in _WORD.findall(name))


def names_in_list(node: Node) -> Iterator[str]:
    """Yield the methods that an argument lists; nothing for a computed one."""
    if "string" in node.type:
        name = _QUOTES.sub("", text_of(node)).upper()
        if name.isalpha():
            yield name
    elif node.type in ("list", "tuple", "set") or "array" in node.type or "initializer" in node.type:
        for child in node.named_children:
            yield from names_in_list(child)
    elif match := _METHOD.search(text_of(node)):
        yield match[1].upper()


def fields_of(body: Node) -> Iterator[tuple[str, Node]]:
    """Yield the name and the value of each field of a class."""
    for member in body.named_children:
        inner = member.named_children if "field" in member.type or "property" in member.type else []
        for node in (member, *inner, *(child for outer in inner for child in outer.named_children)):
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if value is None and node.named_child_count > 1 and node.type in _DECLARATORS:
                name, value = name or node.named_children[-2], node.named_children[-1]
            if name is not None and value is not None:
                yield text_of(name), value


def camel(name: str) -> str:
    """Return the name of a class by that of its file: `order_items` → `OrderItems`."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))
