"""What the sweep reads of imports, exports and packages. How each language writes them is in
facts/imports.py.
"""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.chains import text_of
from cortex.graph.facts.imports import READERS, Imported, has_more_types_outside
from cortex.graph.facts.scripts import MODULE_EXPORTS
from cortex.graph.sweep import script
from cortex.graph.sweep.sweep import Sweep


def read_import(sweep: Sweep, node: Node) -> None:
    """An import, or a script's export."""
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
        if around is not None and around.child_by_field_name("body") is None:  # one after the other
            sweep.package += f".{text_of(node).strip()}"
        return
    if sweep.language == "csharp" and around is not None:
        if has_more_types_outside(around):  # C#'s file is of none
            return
        size = around.end_byte - around.start_byte
    if not sweep.package or size > sweep.package_bytes:  # of C#'s several the one that holds most
        sweep.package, sweep.package_bytes = text_of(node).strip().replace("\\", "."), size
