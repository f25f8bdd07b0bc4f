"""What the sweep reads of imports, exports and packages. How each language writes them is in
facts/imports.py.
"""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.chains import text_of
from cortex.graph.facts.imports import READERS, Imported, is_outweighed
from cortex.graph.facts.scripts import WHOLE
from cortex.graph.sweep import script
from cortex.graph.sweep.sweep import Sweep


def bring(sweep: Sweep, node: Node) -> None:
    """An import, or a script's export."""
    found = Imported()
    READERS[sweep.language](node, found)
    for one in found.names:
        sweep.add_import(one, node)
    if not sweep.is_script:
        sweep.exports.update(found.exports)
        return
    sweep.exports.update(script.gives(sweep, found.exports, node))
    if any(child.type == "=" for child in node.children):
        script.assign(sweep, WHOLE, node, node.named_children[-1])  # TypeScript's `export = x`
    script.gives_by_default(sweep, node)


def name_package(sweep: Sweep, node: Node) -> None:
    around, size = node.parent, 0
    if sweep.language == "scala" and sweep.package:
        if around is not None and around.child_by_field_name("body") is None:  # one after the other
            sweep.package += f".{text_of(node).strip()}"
        return
    if sweep.language == "csharp" and around is not None:
        if is_outweighed(around):  # C#'s file is of none
            return
        size = around.end_byte - around.start_byte
    if not sweep.package or size > sweep.package_bytes:  # of C#'s several the one that holds most
        sweep.package, sweep.package_bytes = text_of(node).strip().replace("\\", "."), size
