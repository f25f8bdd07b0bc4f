"""Routes by the place of a file: the fragments of its exported handlers, and its path."""

import re
from collections.abc import Collection, Iterator

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.facts.facts import Facts, Fragment
from cortex.graph.frameworks.tables.framework import ANY, METHODS

#: files that may be routes
ROUTE_FILE = re.compile(
    r"(?:^|/)(?:app/(?:.*/)?(?:page|route)|pages/(?!.*\.(?:d|test|spec|stories)\.).*)\.(?:[cm]?[jt]s|[jt]sx)$"
)
#: the configuration in the folder of an application
_CONFIGS = tuple(f"next.config.{ending}" for ending in ("js", "mjs", "cjs", "ts", "mts"))
#: the folder of routes in an application
_FOLDER = re.compile(r"(?:src/)?(app|pages)/")
_NO_PAGES = frozenset({"_app", "_document", "_error", "404", "500"})
#: a copy of a route that a page shows in front of another: `(.)photo`
_INTERCEPTS = re.compile(r"\(\.{1,3}\)")


def read_file(root: Node, facts: Facts) -> Iterator[Fragment]:
    """Yield the routes of a file: each exported method, and its page."""
    stem = facts.path.rpartition("/")[2].rpartition(".")[0]
    by_method = stem == "route" and re.search(r"(?:^|/)app/", facts.path) is not None
    definitions = {
        definition.name: at for at, definition in enumerate(facts.definitions) if definition.parent < 0
    }
    imported = {statement.name for statement in facts.imports}
    for name in METHODS if by_method else ("default",):
        local = facts.exports.get(name, name)
        node = None
        if local in definitions:
            at = definitions[local]
            line, target = facts.definitions[at].start_line, f"#{at}"
        elif local in imported:
            line, target = 1, local
        else:
            node = _default_value(root) if name == "default" else None
            if node is None:
                continue
            line, target = node.start_point[0] + 1, _wrapped(node)
            if target in definitions:
                target = f"#{definitions[target]}"
        is_handler = re.search(r"(?:^|/)pages/api/", facts.path) is not None
        methods = (name,) if by_method else (ANY if is_handler else "GET",)
        yield Fragment(
            "route", "=next", "", methods, target, -1, line, 0, line, (0, 0, 0, 0), ("app", "place")
        )


def _default_value(root: Node) -> Node | None:
    """Return the expression of `export default …`, None without one."""
    for child in root.named_children:
        if child.type == "export_statement" and any(word.type == "default" for word in child.children):
            return child.child_by_field_name("value")
    return None


def _wrapped(node: Node) -> str:
    """Return the name in `withUser(withForm(Page))`; "" for other expressions."""
    while node.type == "call_expression":
        arguments = node.child_by_field_name("arguments")
        if arguments is None or not arguments.named_children:
            return ""
        node = arguments.named_children[0]
    return text_of(node) if node.type == "identifier" else ""


def path_of(file: str, files: Collection[str]) -> str | None:
    """Return the path of a route's file; None if it is in no application."""
    for match in _FOLDER.finditer(file):
        before = file[: match.start()]
        if (before.endswith("/") or not before) and any(f"{before}{name}" in files for name in _CONFIGS):
            return _path(match[1], file[match.end() :].rpartition(".")[0])
    return None


def _path(kind: str, rest: str) -> str | None:
    *folders, stem = rest.split("/")
    if kind == "pages":
        if stem in _NO_PAGES and not folders:
            return None
        return "/" + "/".join([*folders, *([stem] if stem != "index" else [])])
    segments = []
    for folder in folders:
        if folder.startswith("_") or _INTERCEPTS.match(folder):
            return None
        if not folder.startswith(("(", "@")):
            segments.append(folder)
    return "/" + "/".join(segments)
