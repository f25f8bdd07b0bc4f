"""Parameters, results and type parameters that the sweep reads."""

from tree_sitter import Node

from cortex.graph.facts.captures import Captures
from cortex.graph.facts.declared.types import alternatives
from cortex.graph.facts.expressions.arguments import describe_argument
from cortex.graph.facts.expressions.callback_types import callback_parameter
from cortex.graph.facts.expressions.chains import (
    LITERAL,
    TYPE_CHARS_MAX,
    UNKNOWN,
    chain_of,
    text_of,
    type_text,
)
from cortex.graph.facts.facts import YIELDING, Parameter
from cortex.graph.sweep.bindings import bind_constant
from cortex.graph.sweep.frames import OpenDefinition
from cortex.graph.sweep.sweep import Sweep
from cortex.terms.kinds import CALLABLE_KINDS


def read_parameter(sweep: Sweep, captures: Captures) -> None:
    names, types = captures.get("param.name", []), captures.get("param.type", [])
    items, values = captures.get("param.item", []), captures.get("param.value")
    owner = sweep.callable_around()
    if owner is None and sweep.rules.prototypes and not sweep.stack[-1].block:
        return  # of a prototype
    declared = type_text(types[0]) if types else ""
    if items:
        declared = f"[]{text_of(items[0])}"[:TYPE_CHARS_MAX]
    anchor = next(iter(names or types or items), None)
    if owner is not None and anchor is not None:
        _add_parameter(sweep, owner, anchor, text_of(anchor) if names else "_", declared)
    type_name = owner.doc.parameter(text_of(names[0]), declared) if owner and names else declared
    value = (
        f":{type_name}"[:TYPE_CHARS_MAX]
        if type_name
        else chain_of(values[0], sweep.syntax)
        if values
        else UNKNOWN
    )
    for node in names:
        if value == UNKNOWN and sweep.is_script:
            value = callback_parameter(node, sweep.syntax)
        sweep.add_binding(text_of(node), value, node)
        if owner is None and sweep.syntax.constants:
            bind_constant(sweep, text_of(node), node, types)
        if "field" in captures:
            self_name = next(iter(sweep.rules.self_names))
            sweep.add_binding(f"{self_name}.{text_of(node).lstrip('$')}", value, node)


def _add_parameter(sweep: Sweep, owner: OpenDefinition, anchor: Node, name: str, declared: str) -> None:
    """Add a parameter of a function by its name, `_` without one."""
    if anchor.start_byte <= owner.name_node.start_byte or name == "this":
        return
    results = owner.node.child_by_field_name("result") if sweep.rules.named_results else None
    if results is not None and anchor.start_byte >= results.start_byte:
        return
    if name != "_":
        if any(other.name == name for other in owner.parameters):
            return
    elif sweep.rules.test_macros and owner.name not in text_of(owner.name_node):
        return  # an argument of a test macro
    owner.parameters.append(Parameter(name, sweep.syntax.parameter_type(anchor, declared)))


def read_bound(sweep: Sweep, name: str, bound_text: str) -> None:
    """Bind a type parameter to its bound. A container's type parameters are bound in each
    definition inside it.
    """
    frame = sweep.stack[-1]
    text = f"{frame.bounds.get(name, '')} + {bound_text.lstrip(': ')}"[:TYPE_CHARS_MAX].lstrip("+ ")
    frame.bounds[name] = text
    if frame.kind != "container" and frame.index >= 0:
        sweep.add_binding_between(name, f":{text}", frame.begin, 0)


def read_result(sweep: Sweep, node: Node) -> None:
    """Read the declared result type of a function."""
    owner = sweep.callable_around()
    if owner is None or owner.returns:
        return
    text = (sweep.syntax.result_type or text_of)(node)
    for name, type_name in sweep.stack[-2].associated.items() if "Self::" in text else ():
        text = text.replace(name, type_name)
    owner.returns = ":" + owner.doc.result(text).lstrip(": ")[:TYPE_CHARS_MAX]


def read_alias(sweep: Sweep, node: Node) -> None:
    """Read Kotlin's `typealias Maker = Store.() -> Disk`, and C++'s aliases of containers,
    iterators and numbers.
    """
    text = text_of(node)
    holds = any(name.endswith("*") for name in alternatives(text)) or text.endswith("iterator")
    holds = holds or node.type in ("primitive_type", "sized_type_specifier")
    if node.type == "decltype" and node.named_children[0].type == "number_literal":
        text, holds = describe_argument(node.named_children[0], sweep.syntax, 0).removeprefix(LITERAL), True
    if sweep.rules.function_aliases or holds:
        sweep.opened[-1].returns = f":{text}"[:TYPE_CHARS_MAX]


def read_return(sweep: Sweep, value: Node, *, yields: bool) -> None:
    """Read `return value`, or the last expression of a function that has no `return`."""
    frame = sweep.stack[-1]
    if frame.node is not None and frame.node.byte_range == value.byte_range:
        if frame.kind != "container":
            _return_own(sweep, sweep.opened[frame.index], value)
        return
    owner = sweep.callable_around(through_blocks=True)
    if owner is not None and (not yields or YIELDING.intersection(owner.flags)):
        owner.inferred.append(chain_of(value, sweep.syntax))


def _return_own(sweep: Sweep, definition: OpenDefinition, value: Node) -> None:
    """Read `return function load() {…}`: the outer function returns the inner one, or Ruby's
    unnamed class.
    """
    outer = sweep.opened[definition.parent] if definition.parent >= 0 else None
    if outer is not None and outer.kind in CALLABLE_KINDS:
        outer.inferred.append(definition.name if value.type != "call" else chain_of(value, sweep.syntax))
