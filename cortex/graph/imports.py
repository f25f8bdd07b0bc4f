"""Import statements → what they bind: one function for each language, of one node. Resolves nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tree_sitter import Node

from cortex.graph.chains import text_of


@dataclass(slots=True)
class Imported:
    """(name, module, member, exported) of each name; `exports` as in Facts."""

    names: list[tuple[str, str, str, bool]] = field(default_factory=list)
    exports: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, module: str, member: str = "", *, exported: bool = False) -> None:
        self.names.append((name, module, member, exported))


def python(node: Node, found: Imported) -> None:
    module = node.child_by_field_name("module_name")
    if module is None:  # import a.b as c
        for child in node.children_by_field_name("name"):
            if child.type == "aliased_import":
                name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
                if name is not None and alias is not None:
                    found.add(text_of(alias), text_of(name), exported=True)
            else:
                dotted = text_of(child)
                found.add(dotted.partition(".")[0], dotted.partition(".")[0], exported=True)
                if "." in dotted:
                    found.add(dotted, dotted, exported=True)
        return
    source = "".join(text_of(module).split())
    if any(child.type == "wildcard_import" for child in node.named_children):
        found.add("", source, "*", exported=True)
    for child in node.children_by_field_name("name"):
        name = child.child_by_field_name("name") if child.type == "aliased_import" else child
        alias = child.child_by_field_name("alias") if child.type == "aliased_import" else child
        if name is not None and alias is not None:
            found.add(text_of(alias), source, text_of(name), exported=True)


def go(node: Node, found: Imported) -> None:
    path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
    if path is None:
        return
    module = text_of(path).strip('"`')
    alias = text_of(name) if name is not None else ""
    if alias == ".":
        found.add("", module, "*")
    elif alias != "_":
        found.add(alias or _go_name(module), module)


def _go_name(module: str) -> str:
    """The name that an import path's package is likely to have: what comes before a version or a dot."""
    parts = module.split("/")
    if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]):
        parts.pop()
    return parts[-1].partition(".")[0].removeprefix("go-")


def script(node: Node, found: Imported) -> None:
    """Import and export statements of TypeScript and JavaScript."""
    source = node.child_by_field_name("source")
    module = text_of(source).strip("'\"`") if source is not None else ""
    if node.type == "import_statement":
        for clause in (child for child in node.named_children if child.type == "import_clause"):
            for part in clause.named_children:
                if part.type == "identifier":
                    found.add(text_of(part), module, "default")
                elif part.type == "namespace_import":
                    found.add(text_of(part.named_children[-1]), module)
                elif part.type == "named_imports":
                    for name, alias in _specifiers(part):
                        found.add(alias, module, name)
        for clause in (child for child in node.named_children if child.type == "import_require_clause"):
            inner = clause.child_by_field_name("source")
            if inner is not None:
                found.add(text_of(clause.named_children[0]), text_of(inner).strip("'\"`"))
        return
    _script_export(node, module, found)


def _script_export(node: Node, module: str, found: Imported) -> None:
    default = any(child.type == "default" for child in node.children)
    for child in node.named_children:
        if child.type == "export_clause":
            for name, alias in _specifiers(child):
                if module:
                    found.add(alias, module, name, exported=True)
                else:
                    found.exports[alias] = name
        elif child.type == "namespace_export" and module:
            found.add(text_of(child.named_children[-1]), module, exported=True)
    if module and any(child.type == "*" for child in node.children):
        found.add("", module, "*", exported=True)
    if default:
        value = node.child_by_field_name("value") or node.child_by_field_name("declaration")
        if value is not None:
            named = value if value.type == "identifier" else value.child_by_field_name("name")
            if named is not None:
                found.exports["default"] = text_of(named)


def _specifiers(node: Node) -> list[tuple[str, str]]:
    pairs = []
    for child in node.named_children:
        name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
        if name is not None:
            pairs.append((text_of(name), text_of(alias if alias is not None else name)))
    return pairs


READERS: dict[str, Callable[[Node, Imported], None]] = {
    "python": python,
    "go": go,
    "typescript": script,
    "tsx": script,
    "javascript": script,
}
