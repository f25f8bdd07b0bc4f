"""Results and destructuring: result types of Go without their names; in Go, Rust and Python the
value of each name on the left.
"""

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN, chain_of, text_of
from cortex.graph.facts.grammars import Syntax

#: Rust's patterns that hold one value, and the number of their children
_HOLDERS, _HOLDER_PARTS = frozenset({"Some", "Ok"}), 2


def types_of(results: Node) -> str:
    """The types of a result list: `(int, error)` for `(n int, err error)`, `T` for `(t T)`."""
    if results.type != "parameter_list":
        return text_of(results)
    types: list[str] = []
    for declaration in results.named_children:
        if (kind := declaration.child_by_field_name("type")) is not None:
            types += [text_of(kind)] * max(1, len(declaration.children_by_field_name("name")))
    return types[0] if len(types) == 1 else f"({', '.join(types)})"


def go_value(name: Node, syntax: Syntax) -> str:
    """The chain for one of several names on the left; `f(1)` is the second result of `f()`."""
    names = name.parent
    if names is None:
        return UNKNOWN
    if names.type == "var_spec":
        left, values = names.children_by_field_name("name"), names.child_by_field_name("value")
    else:
        around = names.parent
        if names.type != "expression_list" or around is None or around.type != "short_var_declaration":
            return UNKNOWN
        left, values = names.named_children, around.child_by_field_name("right")
    at = next((at for at, node in enumerate(left) if node.start_byte == name.start_byte), -1)
    if values is None or at < 0:
        return UNKNOWN
    if len(values.named_children) == len(left):
        return chain_of(values.named_children[at], syntax)
    if len(values.named_children) != 1:
        return UNKNOWN
    value = values.named_children[0]
    chain = chain_of(value, syntax)
    if at == 0:
        return chain
    return f"{chain[:-1]}{at})" if value.type == "call_expression" and chain.endswith("()") else LITERAL


def _tuple_place(name: Node) -> tuple[int, int, Node | None]:
    """Return (index of a name in `let (a, b) = value`, number of names, node of the value)."""
    names = name.parent
    around = names.parent if names is not None else None
    if names is None or around is None or names.type not in ("tuple_pattern", "pattern_list"):
        return -1, 0, None
    patterns = [child for child in names.named_children if not child.is_extra]
    at = next((at for at, pattern in enumerate(patterns) if pattern.start_byte == name.start_byte), -1)
    if around.type not in ("let_declaration", "assignment") or any(
        "splat" in pattern.type for pattern in patterns[:at]
    ):
        return -1, 0, None
    return at, len(patterns), around.child_by_field_name("value") or around.child_by_field_name("right")


def _chain_of_part(name: Node, syntax: Syntax, first: str) -> str:
    """The chain of a destructured value. `first` follows a call whose first result is meant."""
    at, count, value = _tuple_place(name)
    if value is None or at < 0:
        return UNKNOWN
    if value.type in ("tuple_expression", "expression_list", "tuple"):
        return chain_of(value.named_children[at], syntax) if value.named_child_count == count else UNKNOWN
    chain = chain_of(value, syntax)
    if not chain.endswith("()"):
        return UNKNOWN
    return f"{chain[:-1]}{at})" if at else chain + first


def rust_value(name: Node, syntax: Syntax) -> str:
    pattern = name.parent
    while pattern is not None and pattern.type in ("ref_pattern", "mut_pattern"):
        pattern = pattern.parent
    if pattern is not None and pattern.type == "field_pattern":
        return _chain_of_field(pattern, syntax)
    if (
        pattern is not None
        and pattern.type == "tuple_struct_pattern"
        and text_of(pattern.named_children[0]) in _HOLDERS
    ):
        value = _matched_value(pattern)
        return (
            chain_of(value, syntax)
            if value is not None and pattern.named_child_count == _HOLDER_PARTS
            else UNKNOWN
        )
    if pattern is not None and pattern.type == "tuple_struct_pattern":
        return _chain_of_place(pattern, name, syntax)
    return _chain_of_part(name, syntax, "")


def _chain_of_place(pattern: Node, name: Node, syntax: Syntax) -> str:
    """Return `Side.Left.0` for `x` in `Side::Left(x)`."""
    before = [child.type for child in pattern.children if child.end_byte <= name.start_byte]
    chain = chain_of(pattern.named_children[0], syntax)
    if chain in (UNKNOWN, LITERAL) or "remaining_field_pattern" in before:
        return UNKNOWN
    return f"{chain}.{before.count(',')}"


def _matched_value(pattern: Node) -> Node | None:
    around = pattern.parent
    if around is not None and around.type == "match_pattern":  # its arm, the block, the match
        around = around.parent and around.parent.parent and around.parent.parent.parent
    return around.child_by_field_name("value") if around is not None else None


def _chain_of_field(pattern: Node, syntax: Syntax) -> str:
    """`self.slot` for `slot` in `let Disk { slot, .. } = self`, in a condition and in a match."""
    value = _matched_value(pattern.parent) if pattern.parent is not None else None
    field = pattern.child_by_field_name("name")
    chain = chain_of(value, syntax) if value is not None else UNKNOWN
    return f"{chain}.{text_of(field)}" if field is not None and chain not in (UNKNOWN, LITERAL) else UNKNOWN


def python_value(name: Node, syntax: Syntax) -> str:
    return _chain_of_part(name, syntax, "[]")
