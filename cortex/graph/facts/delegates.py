"""Names of the methods that a Ruby class delegates to another object."""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of

#: delegators of one method; a third argument gives it another name
_SINGLE_DELEGATORS = frozenset({"def_delegator", "def_instance_delegator"})
_NAMES = frozenset({"simple_symbol", "string"})


def delegate_name(node: Node, holder: str) -> str:
    """Return the name under which a class delegates method `node` to its `holder`.

    "" if it delegates none, or if only the running program can tell the name.
    """
    arguments = node.parent
    call = arguments.parent if arguments is not None else None
    method = call.child_by_field_name("method") if call is not None else None
    if arguments is None or method is None:
        return ""
    if text_of(method) in _SINGLE_DELEGATORS:
        argument_nodes = arguments.named_children
        return (
            _literal_name(argument_nodes[-1])
            if 2 <= len(argument_nodes) <= 3 and argument_nodes[1] == node
            else ""
        )
    name = _literal_name(node)
    for argument in arguments.named_children:
        key = argument.child_by_field_name("key") if argument.type == "pair" else None
        value = argument.child_by_field_name("value") if key is not None else None
        if key is None or value is None or text_of(key) != "prefix":
            continue
        if value.type not in ("true", "false", "nil"):
            return f"{_literal_name(value)}_{name}" if _literal_name(value) else ""
        return f"{holder}_{name}" if value.type == "true" else name
    return name


def _literal_name(node: Node) -> str:
    """Return the name in a symbol or string."""
    text = text_of(node).strip("'\":") if node.type in _NAMES else ""
    return text if text.rstrip("?!=").isidentifier() else ""
