"""Facts of a parsed file: one query over the tree, and one sweep over its captures (captures.py) in
text order. The capture's name selects the module that reads it; imports, exports and packages are
read here, by the syntax of each language in facts/imports.py.
"""

from collections.abc import Callable, Mapping
from functools import partial

from tree_sitter import Node, Tree

from cortex.graph.facts.captures import Captures, ordered_matches, query_of
from cortex.graph.facts.expressions.chains import package_name, text_of
from cortex.graph.facts.expressions.function_values import with_values
from cortex.graph.facts.expressions.operators import read_conversion, read_test
from cortex.graph.facts.expressions.property_reads import with_property_reads
from cortex.graph.facts.facts import Facts
from cortex.graph.facts.grammars import Grammar
from cortex.graph.facts.imports import Imported
from cortex.graph.facts.scripts import MODULE_EXPORTS
from cortex.graph.sweep import (
    accessors,
    bases,
    bindings,
    definitions,
    references,
    scopes,
    script,
    signatures,
)
from cortex.graph.sweep.sweep import Sweep


def read_import(sweep: Sweep, node: Node) -> None:
    """Read an import, or a script's export."""
    imported = Imported()
    sweep.syntax.imports(node, imported)
    for entry in imported.names:
        sweep.add_import(entry, node)
        bindings.bind_used_name(sweep, entry, node)
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


#: captures that need no other → their readers
_READERS: Mapping[str, Callable[[Sweep, Node], None]] = {
    "returns": signatures.read_result,
    "aliased": signatures.read_alias,
    "accessor": accessors.enter_accessor,
    "companion": bindings.bind_companion,
    "macro.body": references.call_in_macro,
    "derived": bases.read_derived,
    "spaces": bindings.bind_macro_spaces,
    "yielded": bindings.bind_yielded,
    "assigned": bindings.bind_assigned,
    "passing": bindings.bind_passed_on,
    "described": bindings.bind_described,
    "listed": bindings.bind_element,
    "evaluated": bindings.bind_evaluated,
    "run": bindings.bind_block_self,
    "template": definitions.define_templates,
    "fields": bindings.bind_tuple_fields,
    "told": bindings.bind_comment_types,
    "valued": script.find_wrapped,
    "given": script.give_literal,
    "tested": partial(references.call_operator, read=read_test),
    "suffix": references.call_literal_operator,
    "converted": partial(references.call_operator, read=read_conversion),
    "by_name": bindings.bind_index_signature,
    "jsx": references.call_component,
    "package": read_package,
}


def extract(tree: Tree, path: str, grammar: Grammar, sha256: str) -> Facts:
    """Return the facts of a parsed file in a language that has a syntax."""
    root, sweep = tree.root_node, Sweep(path, grammar)
    stack = sweep.stack
    for start, _, _, capture, captures in ordered_matches(
        root, query_of(tree.language, sweep.syntax.package, sweep.syntax.queries)
    ):
        while stack[-1].end <= start:
            stack.pop()
        _take(sweep, capture, captures[capture][0], captures)
    if sweep.syntax.jsdoc:
        bindings.bind_typedefs(sweep, text_of(root))
    builds = sweep.syntax.builds(root, path) if sweep.syntax.builds is not None else ""
    facts = sweep.facts(sha256, root.end_point[0] + 1, definitions.finish_definitions(sweep), builds)
    spans = [opened.node.byte_range for opened in sweep.opened]
    facts = with_values(tree, facts, spans, sweep.rules, sweep.syntax)
    if not sweep.syntax.reads_properties:
        return facts
    return with_property_reads(root, facts, spans, sweep.rules, sweep.syntax)


def _take(sweep: Sweep, capture: str, node: Node, captures: Captures) -> None:
    group, _, kind = capture.partition(".")
    match group:  # the frequent ones first
        case "call":
            references.read_call(sweep, node, captures["callee"][0])
        case "type":
            references.read_types(sweep, node)
        case "bind" if kind == "name":
            bindings.bind_all(sweep, captures)
        case "param":
            signatures.read_parameter(sweep, captures)
        case "block":
            if node.byte_range in sweep.wrapped:
                script.define_wrapped(sweep, node)
            else:
                scopes.enter_block(sweep, node)
                if node.type == "lambda_expression" and sweep.syntax.constants:
                    bindings.bind_copies(sweep, node)
        case "def" | "container":
            definitions.define(sweep, kind or group, node, captures)
        case "operator":
            references.call_operator(sweep, node)
        case "initialized":
            references.assign_in_initializer(
                sweep, captures["initialized"][0], captures["initialized.type"][0]
            )
        case "base":
            bases.read_base(sweep, kind, node)
        case "narrow":
            bindings.narrow(sweep, captures)
        case "bound":
            signatures.read_bound(sweep, text_of(node), text_of(captures["bound.type"][0]))
        case "return":
            signatures.read_return(sweep, node, yields=kind == "yield")
        case "import":
            read_import(sweep, node)
        case "tokens":
            references.call_in_tokens(sweep, node, captures["group"][0])
        case "delegated":
            bindings.bind_delegate(sweep, node, captures["delegated.to"][0])
        case "itself":  # Scala's `self =>`
            sweep.add_binding(text_of(node), "this", node)
        case "class_value":
            if node.byte_range in sweep.wrapped:
                script.define_wrapped(sweep, node)
        case _ if capture in _READERS:
            _READERS[capture](sweep, node)
