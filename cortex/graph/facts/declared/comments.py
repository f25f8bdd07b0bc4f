"""PHP doc comments with types of properties, variables, parameters and results: `/** @var Route[]
$all */`, `@param`, `@return`, `@property`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of

#: a type: spaces only between `<` and `>`, with a bounded distance, so that a comment full of
#: unclosed brackets takes no seconds
_TYPE = r"((?:<[^>]{0,400}>|[^\s<{*])+)"
#: a type, and its variable
_VAR = re.compile(rf"@(?:phpstan-|psalm-)?var\s+{_TYPE}(?:\s+(\$\w+))?")
_PARAM = re.compile(rf"@(?:phpstan-|psalm-)?param\s+{_TYPE}\s+(?:&|\.\.\.)*(\$\w+)")
_PROPERTY = re.compile(rf"@(?:phpstan-|psalm-)?property(?:-read|-write)?\s+{_TYPE}\s+(\$\w+)")
_RETURN = re.compile(rf"@(?:phpstan-|psalm-)?return\s+{_TYPE}")
#: a type parameter, and its bound
_TYPE_PARAMETER = re.compile(
    r"@(?:phpstan-|psalm-)?template(?:-covariant|-contravariant)?\s+(\w+)(?:[ \t]+(?:of|as)[ \t]+([\w\\\\]+))?"
)
#: a parameter that takes the name of a class
_CLASS = re.compile(r"class-string<(\w+)>")
#: a method that a class has by `__call`: its result and its name
_METHOD = re.compile(rf"@(?:phpstan-|psalm-)?method\s+(?:static\s+)?(?:{_TYPE}\s+)?(\w+)\s*\(")
#: a class that receives the calls which another class passes on
_MIXIN = re.compile(r"@(?:phpstan-|psalm-)?mixin\s+([\w\\\\]+)")
#: a type parameter by its usual name, without information about a value
_TEMPLATE = re.compile(r"T(?:[A-Z]\w*)?")
#: PHP's types that a comment may refine
_VAGUE = frozenset("array iterable mixed object null ?array ?iterable ?object".split())


class Comments:
    """The types in the last comment read."""

    def __init__(self) -> None:
        self._types: dict[str, str] = {}
        self._row = -1

    def read(self, comment: Node) -> dict[str, str]:
        """Return variable → type; the type for the line below, without a variable name, under
        "".
        """
        types = {name: _strip_vague(text) for text, name in _VAR.findall(text_of(comment))}
        self._types = {name: text for name, text in types.items() if text}
        self._row = comment.end_point[0]
        return self._types

    def type_of(self, node: Node, value: str) -> str:
        """Return the type of a bound name: the comment's, or `value`.

        The comment's type applies if the comment is on the same line or the line above, and the
        code declares no type.
        """
        if not self._types or node.start_point[0] - self._row not in (0, 1):
            return value
        if value.startswith(":") and _strip_vague(value[1:]):
            return value
        comment_type = self._types.get(text_of(node)) or self._types.get("")
        return f":{comment_type}" if comment_type else value


class DocEntry(NamedTuple):
    """A method or mixin in a doc comment: name, type, and line number from the comment's first
    line.
    """

    name: str
    type: str
    line: int


@dataclass(frozen=True, slots=True)
class DocComment:
    """The doc comment above a definition.

    `parameters` and `properties` are by `$name`; `bounds` are those of type parameters, "" without
    a bound.
    """

    parameters: Mapping[str, str]
    properties: Mapping[str, str]
    returns: str = ""
    bounds: Mapping[str, str] = field(default_factory=dict)
    #: the result is an instance of the class in the argument
    makes: bool = False
    methods: Sequence[DocEntry] = ()
    mixins: Sequence[DocEntry] = ()

    def parameter(self, name: str, declared: str) -> str:
        """Return a parameter's type: the comment's if the code declares none or a vague one."""
        documented = self.parameters.get(name)
        return declared if documented is None or _strip_vague(declared) else documented

    def result(self, declared: str) -> str:
        """Return the result's type, by the same rule."""
        return declared if not self.returns or _strip_vague(declared) else self.returns


NO_DOC = DocComment({}, {})


def read_doc(definition: Node, outer: Mapping[str, str] = NO_DOC.bounds) -> DocComment:
    """Return the doc comment of a definition. `outer`: bounds of the enclosing type's
    parameters.
    """
    text = text_of(above) if (above := comment_above(definition)) is not None else ""
    if not text.startswith("/**") or "@" not in text:
        return DocComment({}, {}, bounds=outer) if outer else NO_DOC
    bounds = {**outer, **dict(_TYPE_PARAMETER.findall(text))} if "template" in text else outer
    return_match = _RETURN.search(text)
    return DocComment(
        _types_by_name(_PARAM.findall(text), bounds),
        _types_by_name(_PROPERTY.findall(text), bounds),
        _concrete_type(return_match[1], bounds) if return_match else "",
        bounds,
        any(
            re.search(rf"@(?:phpstan-|psalm-)?return\s[^\n]*\b{name}\b", text)
            for name in _CLASS.findall(text)
        ),
        [_doc_entry(text, match, name=2, type_=1) for match in _METHOD.finditer(text)],
        [_doc_entry(text, match, name=1) for match in _MIXIN.finditer(text)],
    )


def comment_above(definition: Node) -> Node | None:
    above = definition.prev_sibling
    return above if above is not None and above.type == "comment" else None


def _doc_entry(text: str, match: re.Match[str], *, name: int, type_: int = 0) -> DocEntry:
    type_text = _strip_vague(match[type_] or "") if type_ else ""
    return DocEntry(match[name], type_text, text.count("\n", 0, match.start(name)))


def _types_by_name(pairs: list[tuple[str, str]], bounds: Mapping[str, str]) -> dict[str, str]:
    types = {name: _concrete_type(text, bounds) for text, name in pairs}
    return {name: text for name, text in types.items() if text}


def _concrete_type(text: str, bounds: Mapping[str, str]) -> str:
    """Return a type without vague alternatives, and with bounds in place of type parameters."""
    for name, bound in bounds.items():
        if name in text:
            text = re.sub(rf"(?<![\w\\]){name}(?!\w)", bound.replace("\\", "\\\\") or "mixed", text)
    return _strip_vague(text)


def _strip_vague(text: str) -> str:
    """Return `Route[]` for `Route[]|array`; "" if nothing is left."""
    if "<" in text:
        return text
    parts = (alternative for alternative in text.split("|") if alternative and alternative not in _VAGUE)
    return "|".join(alternative for alternative in parts if not _TEMPLATE.fullmatch(alternative.strip("?")))
