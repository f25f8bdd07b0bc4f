"""PHP: the types that comments say of properties, variables, parameters and results:
`/** @var Route[] $all */`, `@param`, `@return`, `@property`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tree_sitter import Node

from cortex.graph.facts.chains import text_of

#: a type: with spaces only between `<` and `>`, which stand so far from each other at most that a
#: comment full of what is never closed costs no seconds
_TYPE = r"((?:<[^>]{0,400}>|[^\s<{*])+)"
#: a type, and the variable that it is of
_VAR = re.compile(rf"@(?:phpstan-|psalm-)?var\s+{_TYPE}(?:\s+(\$\w+))?")
_PARAM = re.compile(rf"@(?:phpstan-|psalm-)?param\s+{_TYPE}\s+(?:&|\.\.\.)*(\$\w+)")
_PROPERTY = re.compile(rf"@(?:phpstan-|psalm-)?property(?:-read|-write)?\s+{_TYPE}\s+(\$\w+)")
_RETURN = re.compile(rf"@(?:phpstan-|psalm-)?return\s+{_TYPE}")
#: a type parameter by its usual name, which says nothing of a value
_TEMPLATE = re.compile(r"T(?:[A-Z]\w*)?")
#: types of PHP's own of which a comment may say more
_VAGUE = frozenset("array iterable mixed object null ?array ?iterable ?object".split())


class Comments:
    """What the comment that was read last says."""

    def __init__(self) -> None:
        self._types: dict[str, str] = {}
        self._row = -1

    def read(self, comment: Node) -> dict[str, str]:
        """Variable → type; what the line below is of, if it names none, under ""."""
        said = {name: _without_vague(text) for text, name in _VAR.findall(text_of(comment))}
        self._types = {name: text for name, text in said.items() if text}
        self._row = comment.end_point[0]
        return self._types

    def type_of(self, node: Node, value: str) -> str:
        """What is bound to a name: the type that the comment says, if it stands on its line or on
        the one above, and the code says none; else `value`.
        """
        if not self._types or node.start_point[0] - self._row not in (0, 1):
            return value
        if value.startswith(":") and _without_vague(value[1:]):
            return value
        said = self._types.get(text_of(node)) or self._types.get("")
        return f":{said}" if said else value


@dataclass(frozen=True, slots=True)
class Told:
    """What the comment above a definition says: `parameters` and `properties` by their `$name`."""

    parameters: Mapping[str, str]
    properties: Mapping[str, str]
    given: str = ""

    def parameter(self, name: str, declared: str) -> str:
        """The type of a parameter: the comment's, where the code says none or a vague one."""
        return declared if _without_vague(declared) else self.parameters.get(name, declared)

    def result(self, declared: str) -> str:
        """The type of what a function gives, in the same way."""
        return declared if _without_vague(declared) else self.given or declared


NOTHING_TOLD = Told({}, {})


def told_of(definition: Node) -> Told:
    above = definition.prev_sibling
    text = text_of(above) if above is not None and above.type == "comment" else ""
    if not text.startswith("/**") or "@" not in text:
        return NOTHING_TOLD
    given = _RETURN.search(text)
    result = _without_vague(given[1]) if given else ""
    return Told(_named(_PARAM.findall(text)), _named(_PROPERTY.findall(text)), result)


def _named(pairs: list[tuple[str, str]]) -> dict[str, str]:
    said = {name: _without_vague(text) for text, name in pairs}
    return {name: text for name, text in said.items() if text}


def _without_vague(text: str) -> str:
    """`Route[]|array` → `Route[]`; "" when nothing is left."""
    if "<" in text:
        return text
    parts = (part for part in text.split("|") if part and part not in _VAGUE)
    return "|".join(part for part in parts if not _TEMPLATE.fullmatch(part.strip("?")))
