"""PHP: the types that comments say of properties and variables, `/** @var Route[] $all */`."""

from __future__ import annotations

import re

from tree_sitter import Node

from cortex.graph.facts.chains import text_of

#: a type, with spaces only between `<` and `>`, and the variable that it is of
_VAR = re.compile(r"@(?:phpstan-|psalm-)?var\s+((?:<[^>]*>|[^\s<{*])+)(?:\s+(\$\w+))?")
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


def _without_vague(text: str) -> str:
    """`Route[]|array` → `Route[]`; "" when nothing is left."""
    if "<" in text:
        return text
    return "|".join(part for part in text.split("|") if part and part not in _VAGUE)
