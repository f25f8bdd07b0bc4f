"""Imports, exports and packages that the sweep reads. facts/imports.py reads each language's
syntax.
"""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.chains import text_of
from cortex.graph.facts.imports import READERS, Imported, has_more_types_outside
from cortex.graph.facts.scripts import MODULE_EXPORTS
from cortex.graph.sweep import script
from cortex.graph.sweep.sweep import Sweep


def read_import(sweep: Sweep, node: Node) -> None:
    """Read an import, or a script's export."""
    imported = Imported()
    READERS[sweep.language](node, imported)
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
    around, size = node.parent, 0
    if sweep.language == "scala" and sweep.package:
        if around is not None and around.child_by_field_name("body") is None:  # nested packages
            sweep.package += f".{text_of(node).strip()}"
        return
    if sweep.language == "csharp" and around is not None:
        if has_more_types_outside(around):  # the file itself has no package
            return
        size = around.end_byte - around.start_byte
    if not sweep.package or size > sweep.package_bytes:  # of several in C# the longest
        sweep.package, sweep.package_bytes = text_of(node).strip().replace("\\", "."), size
