"""Scopes other than definitions: blocks, and containers of members of a type defined elsewhere."""

from tree_sitter import Node

from cortex.graph.facts.declared.types import alternatives
from cortex.graph.facts.expressions.blocks import IT, has_parameters, implicit_names
from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.facts.scripts import FUNCTIONS
from cortex.graph.sweep.frames import Frame, head_type
from cortex.graph.sweep.sweep import Sweep
from cortex.terms.kinds import CALLABLE_KINDS

#: function nodes that get their name from a variable: `const f = () => { … }`
_FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "generator_function"})


def enter_container(sweep: Sweep, name: str, node: Node, name_node: Node) -> None:
    """Enter Rust's `impl`, Swift's extension, a name space of C++; an inline one has its names in
    the one around it.
    """
    frame = sweep.stack[-1]
    if sweep.rules.name_spaces and node.children[0].type == "inline":
        return
    if name_node.type == "nested_namespace_specifier":
        name = name.replace("::", ".")
    target = alternatives(text_of(head_type(name_node)))
    qualified = target[0].rstrip("*") if target and "." not in name else name
    if sweep.syntax.extended_type is not None:
        qualified = sweep.syntax.extended_type(name_node) or qualified
    qualified = f"{frame.qualified}.{qualified}" if frame.qualified else qualified
    sweep.stack.append(
        Frame(node.start_byte, node.end_byte, frame.index, qualified, "container", block=False)
    )


def enter_block(sweep: Sweep, node: Node) -> None:
    frame = sweep.stack[-1]
    if _is_body(node, frame):
        return
    sweep.stack.append(
        Frame(
            node.start_byte,
            node.end_byte,
            frame.index,
            frame.qualified,
            frame.kind,
            block=True,
            function=node.type in FUNCTIONS,
        )
    )
    if sweep.rules.blocks:
        for name, chain in implicit_names(node, sweep.syntax):
            if name == IT and has_parameters(node):
                continue
            sweep.add_binding(name, chain, node)


def _is_body(block: Node, frame: Frame) -> bool:
    """True if a block is the body of the definition that the sweep has just entered."""
    entered = frame.node if not frame.block and frame.kind in CALLABLE_KINDS else None
    if entered is None:
        return False
    parent = block.parent
    if block.type == "function_type" and parent is not None and parent.type == "type_annotation":
        parent = parent.parent  # `save: (x: Disk) => void` of an interface
    if parent is None:
        return False
    if parent.type in _FUNCTION_VALUES and parent.parent and parent.parent.byte_range == entered.byte_range:
        return True  # the body of `const f = () => { … }`
    return entered.byte_range in (parent.byte_range, block.byte_range)
