"""Imports, exports and packages that the sweep reads. facts/imports.py reads each language's
syntax.
"""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import package_name
from cortex.graph.facts.imports import Imported
from cortex.graph.facts.scripts import MODULE_EXPORTS
from cortex.graph.sweep import script
from cortex.graph.sweep.sweep import Sweep


def read_import(sweep: Sweep, node: Node) -> None:
    """Read an import, or a script's export."""
    imported = Imported()
    sweep.syntax.imports(node, imported)
    for entry in imported.names:
        sweep.add_import(entry, node)
    if not sweep.is_script:
        sweep.exports.update(imported.exports)
        return
    sweep.exports.update(script.file_exports(sweep, imported.exports, node))
    if any(child.type == "=" for child in node.children):
        script.assign(sweep, MODULE_EXPORTS, node, node.named_children[-1])  # TypeScript's `export = x`
    script.bind_default_export(sweep, node)


def read_package(sweep: Sweep, node: Node) -> None:
    if sweep.syntax.read_package is not None:
        sweep.package, sweep.package_bytes = sweep.syntax.read_package(
            node, sweep.package, sweep.package_bytes
        )
    elif not sweep.package:
        sweep.package = package_name(node)
