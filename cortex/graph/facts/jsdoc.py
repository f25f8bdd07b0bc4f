"""JavaScript: the types that comments say of variables, fields, parameters and results:
`/** @type {Disk} */`, `@param {Disk} disk`, `@returns {Disk}`, and names that they give to types:
`@typedef {import("./disk").Disk} Disk`.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from cortex.graph.facts.chains import TYPE_CHARS_MAX, text_of
from cortex.graph.facts.comments import NOTHING_TOLD, Told, comment_above
from cortex.graph.facts.types import ITSELF, alternatives

#: begins a type, which ends with the brace of this one
_TYPE, _PARAM = re.compile(r"@type\s*\{"), re.compile(r"@(?:param|arg|argument)\s*\{")
_TYPEDEF = re.compile(r"@typedef\s*\{")
_RETURNS = re.compile(r"@returns?\s*\{")
#: the parameter that a type is of, `[disk]` and `[disk = make()]` where it may be left out
_NAME = re.compile(r"\s*\[?\s*([A-Za-z_$][\w$]*)(?![\w$.\[])")
#: what begins where the definition in it does
_AROUND = frozenset(
    "variable_declarator lexical_declaration variable_declaration export_statement "
    "expression_statement assignment_expression field_definition".split()
)


def type_above(binding: Node) -> str:
    """What the comment above says of the type of what is bound; "" for nothing."""
    text = _above(binding)
    return _type(text, found) if (found := _TYPE.search(text)) else ""


def told_above(definition: Node) -> Told:
    """What the comment above a function says of its parameters and result."""
    text = _above(definition)
    if "@" not in text:
        return NOTHING_TOLD
    parameters: dict[str, str] = {}
    for found in _PARAM.finditer(text):
        said = _type(text, found)
        name = _NAME.match(text, found.end() + len(_inside(text, found)) + 1)
        if said and name:
            parameters.setdefault(name[1], said)
    returns = _RETURNS.search(text)
    return Told(parameters, {}, _type(text, returns) if returns else "")


def names_of_types(source: str) -> dict[str, str]:
    """The names that comments of a file give to types, and the chains of these."""
    told: dict[str, str] = {}
    for before in source.split("*/") if "@typedef" in source else ():
        comment = before.partition("/**")[2]
        for found in _TYPEDEF.finditer(comment):
            name = _NAME.match(comment, found.end() + len(_inside(comment, found)) + 1)
            chains = alternatives(_type(comment, found))
            if name and len(chains) == 1 and chains[0] != name[1] and chains[0][-1] != "*":
                told.setdefault(name[1], chains[0].removeprefix(ITSELF))
    return told


def _above(node: Node) -> str:
    """The comment above a statement, where that begins with `node`."""
    while (parent := node.parent) is not None and parent.type in _AROUND:
        if parent.type != "export_statement" and parent.named_children[:1] != [node]:
            break
        node = parent
    above = comment_above(node)
    text = text_of(above) if above is not None else ""
    return text if text.startswith("/**") else ""


def _inside(text: str, found: re.Match[str]) -> str:
    """What stands between braces; "" where they are not closed soon."""
    depth = 1
    for at in range(found.end(), min(len(text), found.end() + TYPE_CHARS_MAX)):
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return text[found.end() : at]
    return ""


def _type(text: str, found: re.Match[str]) -> str:
    """A type as TypeScript writes it: without `!`, `?` and `=`."""
    said = re.sub(r"\n[ \t]*\*?", " ", _inside(text, found))
    return " ".join(said.split()).lstrip("!?").rstrip("=")
