"""Import statements → the names that they bind: one function for each language, from one node. It
resolves nothing.
"""

import re
from dataclasses import dataclass, field

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.facts.facts import OBJECT

#: expressions around a default export that do not change its value
_WRAPPERS = frozenset({"as_expression", "satisfies_expression", "parenthesized_expression"})


@dataclass(slots=True)
class Imported:
    """The names of an import: (name, module, member, exported) each; `exports` as in Facts."""

    names: list[tuple[str, str, str, bool]] = field(default_factory=list)
    exports: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, module: str, member: str = "", *, exported: bool = False) -> None:
        self.names.append((name, module, member, exported))


def read_python(node: Node, imported: Imported) -> None:
    if node.type in ("string", "list", "tuple"):  # pytest_plugins = ["shop.fixtures"]
        for plugin in [node] if node.type == "string" else node.named_children:
            if plugin.type == "string":
                imported.add("", text_of(plugin).strip("\"'"), "*", exported=True)
        return
    module = node.child_by_field_name("module_name")
    if module is None:  # import a.b as c
        for child in node.children_by_field_name("name"):
            if child.type == "aliased_import":
                name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
                if name is not None and alias is not None:
                    imported.add(text_of(alias), text_of(name), exported=True)
            else:
                dotted = text_of(child)
                imported.add(dotted.partition(".")[0], dotted.partition(".")[0], exported=True)
                if "." in dotted:
                    imported.add(dotted, dotted, exported=True)
        return
    source = "".join(text_of(module).split())
    if any(child.type == "wildcard_import" for child in node.named_children):
        imported.add("", source, "*", exported=True)
    for child in node.children_by_field_name("name"):
        name = child.child_by_field_name("name") if child.type == "aliased_import" else child
        alias = child.child_by_field_name("alias") if child.type == "aliased_import" else child
        if name is not None and alias is not None:
            imported.add(text_of(alias), source, text_of(name), exported=True)


def read_go(node: Node, imported: Imported) -> None:
    path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
    if path is None:
        return
    module = text_of(path).strip('"`')
    alias = text_of(name) if name is not None else ""
    if alias == ".":
        imported.add("", module, "*")
    elif alias != "_":
        imported.add(alias or _go_package_name(module), module)


def _go_package_name(module: str) -> str:
    """Return the likely package name of an import path: the last part before a version or a dot."""
    parts = module.split("/")
    if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]):
        parts.pop()
    return parts[-1].partition(".")[0].removeprefix("go-")


def read_script(node: Node, imported: Imported) -> None:
    """Read import and export statements of TypeScript and JavaScript."""
    source = node.child_by_field_name("source")
    module = text_of(source).strip("'\"`") if source is not None else ""
    if node.type == "import_statement":
        for clause in (child for child in node.named_children if child.type == "import_clause"):
            for specifier in clause.named_children:
                if specifier.type == "identifier":
                    imported.add(text_of(specifier), module, "default")
                elif specifier.type == "namespace_import":
                    imported.add(text_of(specifier.named_children[-1]), module)
                elif specifier.type == "named_imports":
                    for name, alias in _specifiers(specifier):
                        imported.add(alias, module, name)
        for clause in (child for child in node.named_children if child.type == "import_require_clause"):
            if (inner := clause.child_by_field_name("source")) is not None:
                imported.add(text_of(clause.named_children[0]), text_of(inner).strip("'\"`"))
        return
    _script_export(node, module, imported)


def _script_export(node: Node, module: str, imported: Imported) -> None:
    default = any(child.type == "default" for child in node.children)
    for child in node.named_children:
        if child.type == "export_clause":
            for name, alias in _specifiers(child):
                if module:
                    imported.add(alias, module, name, exported=True)
                else:
                    imported.exports[alias] = name
        elif child.type == "namespace_export" and module:
            imported.add(text_of(child.named_children[-1]), module, exported=True)
    if module and any(child.type == "*" for child in node.children):
        imported.add("", module, "*", exported=True)
    if default:
        value = node.child_by_field_name("value") or node.child_by_field_name("declaration")
        while value is not None and value.type in _WRAPPERS:
            value = value.named_child(0)
        if value is not None:
            name_node = value if value.type == "identifier" else value.child_by_field_name("name")
            if name_node is not None:
                imported.exports["default"] = text_of(name_node)
            elif value.type == "object":
                imported.exports["default"] = OBJECT
                for pair in (child for child in value.named_children if child.type == "pair"):
                    key, local = pair.child_by_field_name("key"), pair.child_by_field_name("value")
                    if key is not None and local is not None and local.type == "identifier":
                        imported.exports.setdefault(text_of(key), text_of(local))


def _specifiers(node: Node) -> list[tuple[str, str]]:
    pairs = []
    for child in node.named_children:
        name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
        if name is not None:
            pairs.append((text_of(name), text_of(alias if alias is not None else name)))
    return pairs


def read_dotted(node: Node, imported: Imported) -> None:
    """Read imports of Java, Kotlin, Scala: `import a.b.C`, `.*`, `as`, Scala's `{D, E => F}`."""
    text = " ".join(text_of(node).removeprefix("import").strip().rstrip(";").split())
    text = text.removeprefix("static ").replace("`", "")
    module, brace, names = text.partition("{")
    if brace:
        for entry in names.rstrip("}").split(","):
            name, _, alias = entry.replace("=>", " as ").partition(" as ")
            _add_dotted(module.rstrip(". "), name.strip(), alias.strip(), imported)
        return
    path, _, alias = text.partition(" as ")
    module, _, name = path.strip().rpartition(".")
    _add_dotted(module, name, alias.strip(), imported)


def _add_dotted(module: str, name: str, alias: str, imported: Imported) -> None:
    if name in ("*", "_"):
        imported.add("", module, "*")
    elif name and module:
        imported.add(alias or name, module, name)


def read_csharp(node: Node, imported: Imported) -> None:
    text = " ".join(text_of(node).rstrip("; ").split()).removeprefix("global ").removeprefix("using ")
    alias, equals, target = text.partition("=")
    if equals:
        module, _, name = target.strip().rpartition(".")
        imported.add(alias.strip(), module, name)
    else:
        imported.add("", text.removeprefix("static ").strip(), "*")


def read_php(node: Node, imported: Imported) -> None:
    text = " ".join(text_of(node).rstrip("; ").split()).removeprefix("use ")
    text = text.removeprefix("function ").removeprefix("const ").replace("\\", ".")
    prefix, brace, names = text.partition("{")
    for entry in (names.rstrip("} ") if brace else text).split(","):
        path, _, alias = entry.strip().partition(" as ")
        module, _, name = f"{prefix if brace else ''}{path}".strip(".").rpartition(".")
        if name:
            imported.add(alias.strip() or name, module, name)


def read_rust(node: Node, imported: Imported) -> None:
    exported = any(child.type == "visibility_modifier" for child in node.children)
    if (argument := node.child_by_field_name("argument")) is not None:
        _read_use("".join(text_of(argument).replace(" as ", "@").split()), "", imported, exported=exported)


def _read_use(tree: str, prefix: str, imported: Imported, *, exported: bool) -> None:
    """Read one branch of a use tree; `@` replaces `as`."""
    head, brace, tail = tree.partition("{")
    if brace:
        depth, start, inside = 0, 0, tail.removesuffix("}")
        for at, character in enumerate(f"{inside},"):
            depth += (character == "{") - (character == "}")
            if character == "," and depth == 0:
                if inside[start:at]:
                    _read_use(inside[start:at], prefix + head, imported, exported=exported)
                start = at + 1
        return
    path, _, alias = (prefix + tree).partition("@")
    parts = path.split("::")
    name = parts.pop()
    if name == "self" and parts:
        name = parts.pop()
    module = ".".join(parts)
    if name == "*":
        imported.add("", module, "*", exported=exported)
    elif module:
        imported.add(alias or name, module, name, exported=exported)
    else:
        imported.add(alias or name, name, exported=exported)


def enclosing_module(node: Node) -> str:
    """Return the modules inside a Rust file that enclose `node`, as `sync.tests`."""
    names: list[str] = []
    around = node.parent
    while around is not None:
        if around.type == "mod_item" and (name := around.child_by_field_name("name")) is not None:
            names.insert(0, text_of(name))
        around = around.parent
    return ".".join(names)


def has_more_types_outside(space: Node) -> bool:
    """True if a C# file has more type text outside a namespace with braces than inside it."""
    around = space.parent
    if space.type != "namespace_declaration" or around is None:
        return False
    outer_types = (child for child in around.named_children if child.type in _TYPES)
    return space.end_byte - space.start_byte < sum(
        type_node.end_byte - type_node.start_byte for type_node in outer_types
    )


#: C#'s types, which may be outside of namespaces
_TYPES = frozenset(
    f"{kind}_declaration" for kind in ("class", "struct", "record", "interface", "enum", "delegate")
)
#: conditions of Rust builds that are no switch of the crate
_USUAL = frozenset("test unix windows debug_assertions miri doc doctest".split())
_SWITCH = re.compile(r"#\[cfg\((\w+)\)\]")


def is_rare(node: Node) -> bool:
    """Return True for a Rust item that needs a switch of the crate: `#[cfg(own_switch)]`."""
    before = node.prev_named_sibling
    while before is not None and before.type == "attribute_item":
        if (switch := _SWITCH.fullmatch(text_of(before))) and switch[1] not in _USUAL:
            return True
        before = before.prev_named_sibling
    return False


def path_from_file(module: str, inside: str) -> str:
    """Return a path written in a module inside a file, relative to the file itself."""
    outer, parts = inside.split("."), module.split(".")
    if parts[0] not in ("self", "super"):
        return module
    while parts and parts[0] in ("self", "super") and outer:
        if parts.pop(0) == "super":
            outer.pop()
    return ".".join(parts if parts[:1] == ["super"] else ["self", *outer, *parts])


def read_c(node: Node, imported: Imported) -> None:
    """Read `#include "x.h"`, name space aliases and `using`.

    An include only names the file: the whole project shares the names at its top. `#include <x.h>`
    counts with a folder only: `<string.h>` is C's own.
    """
    path = node.child_by_field_name("path")
    if path is not None and path.type == "string_literal":
        imported.add("", text_of(path).strip('"'))
    elif path is not None and path.type == "system_lib_string" and "/" in text_of(path):
        imported.add("", text_of(path).strip("<>"))
    elif node.type == "namespace_alias_definition":  # `namespace fs = std::filesystem;`
        alias, target = node.child_by_field_name("name"), node.named_child(node.named_child_count - 1)
        if alias is not None and target is not None:
            imported.add(text_of(alias), text_of(target).replace("::", ".").strip("."))
    elif node.type == "using_declaration":
        text = text_of(node).rstrip("; ").removeprefix("using").strip()
        if text.startswith("namespace "):
            imported.add("", text.removeprefix("namespace ").strip().replace("::", "."), "*")
        else:
            module, _, name = text.replace("::", ".").rpartition(".")
            if module:
                imported.add(name, module, name)


def read_ruby(node: Node, imported: Imported) -> None:
    """Read `require_relative "x"`: it only names the file; constants belong to the whole
    project.
    """
    arguments = node.child_by_field_name("arguments")
    method = node.child_by_field_name("method")
    if arguments is not None and method is not None and arguments.named_child_count == 1:
        path = text_of(arguments.named_children[0]).strip("'\"")
        imported.add("", f"./{path}" if text_of(method) == "require_relative" else path)
