"""JavaScript doc comments with types of variables, fields, parameters and results: `/** @type
{Disk} */`, `@param {Disk} disk`, `@returns {Disk}`, and with names for types: `@typedef
{import("./disk").Disk} Disk`.
"""

import re

from tree_sitter import Node

from cortex.graph.facts.declared.comments import NO_DOC, DocComment, comment_above
from cortex.graph.facts.declared.types import ITSELF, alternatives
from cortex.graph.facts.expressions.chains import TYPE_CHARS_MAX, text_of

#: begins a type, which ends with the matching brace
_TYPE, _PARAM = re.compile(r"@type\s*\{"), re.compile(r"@(?:param|arg|argument)\s*\{")
_TYPEDEF = re.compile(r"@typedef\s*\{")
_RETURNS = re.compile(r"@returns?\s*\{")
#: the parameter of a type, optional as `[disk]` and `[disk = make()]`
_NAME = re.compile(r"\s*\[?\s*([A-Za-z_$][\w$]*)(?![\w$.\[])")
#: nodes that begin where the definition in them begins
_AROUND = frozenset(
    "variable_declarator lexical_declaration variable_declaration export_statement "
    "expression_statement assignment_expression field_definition".split()
)


def type_above(binding: Node) -> str:
    """Return the type in the comment above a binding; "" for none."""
    text = _comment_text(binding)
    return _read_type(text, match) if (match := _TYPE.search(text)) else ""


def doc_above(definition: Node) -> DocComment:
    """Return the types of parameters and result in the comment above a function."""
    text = _comment_text(definition)
    if "@" not in text:
        return NO_DOC
    parameters: dict[str, str] = {}
    for match in _PARAM.finditer(text):
        type_text = _read_type(text, match)
        name = _NAME.match(text, match.end() + len(_braced_text(text, match)) + 1)
        if type_text and name:
            parameters.setdefault(name[1], type_text)
    returns = _RETURNS.search(text)
    return DocComment(parameters, {}, _read_type(text, returns) if returns else "")


def read_typedefs(source: str) -> dict[str, str]:
    """Return name → chain for the types that comments of a file define."""
    typedefs: dict[str, str] = {}
    for before in source.split("*/") if "@typedef" in source else ():
        comment = before.partition("/**")[2]
        for match in _TYPEDEF.finditer(comment):
            name = _NAME.match(comment, match.end() + len(_braced_text(comment, match)) + 1)
            chains = alternatives(_read_type(comment, match))
            if name and len(chains) == 1 and chains[0] != name[1] and chains[0][-1] != "*":
                typedefs.setdefault(name[1], chains[0].removeprefix(ITSELF))
    return typedefs


def _comment_text(node: Node) -> str:
    """Return the comment above the statement that begins with `node`; "" for none."""
    while (parent := node.parent) is not None and parent.type in _AROUND:
        if parent.type != "export_statement" and parent.named_children[:1] != [node]:
            break
        node = parent
    above = comment_above(node)
    text = text_of(above) if above is not None else ""
    return text if text.startswith("/**") else ""


def _braced_text(text: str, match: re.Match[str]) -> str:
    """Return the text between braces; "" if the closing brace is missing or far away."""
    depth = 1
    for at in range(match.end(), min(len(text), match.end() + TYPE_CHARS_MAX)):
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return text[match.end() : at]
    return ""


def _read_type(text: str, match: re.Match[str]) -> str:
    """Return a type in TypeScript's form: without `!`, `?` and `=`."""
    type_text = re.sub(r"\n[ \t]*\*?", " ", _braced_text(text, match))
    return " ".join(type_text.split()).lstrip("!?").rstrip("=")
