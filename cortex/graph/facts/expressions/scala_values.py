"""Values and parameters in Scala's syntax tree: arguments of unnamed functions and of `_`, later
parameter lists, implicit definitions.
"""

from collections.abc import Callable

from tree_sitter import Node

from cortex.graph.facts.facts import CASE, DEFAULT, IMPLICIT, LATER, MANY, RECEIVER, Parameter

#: nodes that are a call's only argument, in place of parentheses
BLOCK_KINDS = frozenset({"block", "case_block"})
#: nodes that form one function with the `_` inside: calls, infix calls and their parts
_AROUND = frozenset(
    "field_expression call_expression infix_expression generic_function prefix_expression "
    "ascription_expression parenthesized_expression".split()
)
#: stored characters of a type
_TYPE_MAX = 400
#: depth of nested nodes
_DEPTH_MAX = 24
#: an unknown expression and a literal, as in chains
_UNKNOWN, _LITERAL = "?", "#"
#: functions with a callback for the result so far and an element → index of the element
_FOLDS = {"foldLeft": 1, "foldRight": 0, "fold": 1, "scanLeft": 1, "scanRight": 0}
#: interpolators that make strings
_TEXTS = frozenset({"s", "f", "raw"})

Chain = Callable[[Node | None], str]


def _text(node: Node | None) -> str:
    return (node.text or b"").decode("utf-8", "replace") if node is not None else ""


def scala_flags(node: Node) -> list[str]:
    """Return CASE, IMPLICIT, and the receiver's type for functions of an `extension`."""
    flags = [CASE] if any(child.type == "case" for child in node.children) else []
    modifiers = next((child for child in node.children if child.type == "modifiers"), None)
    if modifiers is not None and "implicit" in _text(modifiers).split():
        flags.append(IMPLICIT)
    around = node.parent
    if around is not None and around.type == "extension_definition":
        listed = next((child for child in around.children if child.type == "parameters"), None)
        kinds = [
            parameter.child_by_field_name("type") for parameter in (listed.named_children if listed else ())
        ]
        flags += [RECEIVER + _text(kind)[:_TYPE_MAX] for kind in kinds[:1] if kind is not None]
    return flags


def parameters_of_scala(node: Node) -> list[Parameter]:
    """Return the parameters of a class's constructor."""
    lists = [child for child in node.children if child.type == "class_parameters"]
    return [
        _parameter(parameter)
        for listed in lists
        for parameter in listed.named_children
        if parameter.type == "class_parameter"
    ]


def _parameter(node: Node) -> Parameter:
    name, kind = node.child_by_field_name("name"), node.child_by_field_name("type")
    text = " ".join(_text(kind).split())[:_TYPE_MAX]
    if is_later(node):
        return Parameter(_text(name), text + LATER)
    default = DEFAULT if any(child.type == "=" for child in node.children) else ""
    return Parameter(_text(name), f"{MANY}{text[:-1]}" if text.endswith("*") else text + default)


def is_later(parameter: Node) -> bool:
    """Return True for a parameter in a later list, or in one that the compiler fills."""
    listed = parameter.parent
    if listed is None:
        return False
    if any(child.type in ("implicit", "using") for child in listed.children):
        return True
    before = listed.prev_sibling
    while before is not None and before.is_extra:
        before = before.prev_sibling
    return before is not None and before.type == listed.type


def argument_of_scala(node: Node) -> str | None:
    """Return the description of an argument that only Scala has; None for other nodes."""
    kind = node.type
    if kind == "ascription_expression":
        type_text = _text(node.child_by_field_name("type") or node.named_children[-1])
        return _UNKNOWN if type_text.startswith("_") else f":{type_text[:_TYPE_MAX]}"
    if kind == "interpolated_string_expression":
        return "#String" if _text(node.named_child(0)) in _TEXTS else _UNKNOWN
    if kind == "block":
        expressions = [child for child in node.named_children if not child.is_extra]
        return "#fn" if len(expressions) == 1 and expressions[0].type == "lambda_expression" else _UNKNOWN
    if kind in ("infix_expression", "field_expression", "call_expression"):
        passed = node.child_by_field_name("arguments")
        has_wildcard = passed is not None and any(
            argument.type == "wildcard" for argument in passed.named_children
        )
        return "#fn" if has_wildcard or _begins_with_wildcard(node) else None
    return None


def _begins_with_wildcard(node: Node) -> bool:
    """Return True if an expression is a function of the `_` at its beginning: `_.name`, `_ + 1`."""
    first: Node | None = node
    for _ in range(_DEPTH_MAX):
        if first is None or first.type == "wildcard":
            return first is not None
        if first.type not in ("infix_expression", "field_expression", "call_expression"):
            return False
        first = first.named_child(0)
    return False


def wildcard_chain(node: Node, chain: Chain) -> str:
    """Return the chain of `_` in `disks.map(_.save())`: `disks.map(~0_0)`."""
    inner = node
    for _ in range(_DEPTH_MAX):
        around = inner.parent
        if around is None:
            return _UNKNOWN
        place = _argument_place(inner, around) if inner is not node else None
        if place is not None:
            return _argument_chain(*place, _wildcards_before(inner, node), chain)
        if around.type not in _AROUND:
            return _UNKNOWN
        inner = around
    return _UNKNOWN


def lambda_parameter_chain(name: Node, chain: Chain) -> str:
    """Return the chain of an unnamed function's parameter, `disks.map(disk => …)`.

    A parameter that is matched at once counts too, `{ case disk => … }`; `?` if unknown.
    """
    number, holder = 0, name.parent
    if holder is not None and holder.type == "binding":
        number = [child.start_byte for child in holder.parent.named_children].index(holder.start_byte)  # type: ignore[union-attr]
        holder = holder.parent.parent if holder.parent is not None else None
    if holder is None or holder.type not in ("lambda_expression", "case_clause"):
        return _UNKNOWN
    function = holder.parent if holder.type == "case_clause" else holder
    if function is not None and function.parent is not None and function.parent.type == "block":
        function = function.parent
    if function is None or function.parent is None:
        return _UNKNOWN
    if function.parent.type == "match_expression" and function.type == "case_block":
        return chain(function.parent.child_by_field_name("value"))
    if function.parent.type == "parenthesized_expression":
        function = function.parent
    place = _argument_place(function, function.parent) if function.parent is not None else None
    return _argument_chain(*place, number, chain) if place is not None else _UNKNOWN


def _argument_place(expression: Node, around: Node) -> tuple[Node, int] | None:
    """Return the call that an expression is passed to, and its argument index."""
    if around.type == "arguments" and around.parent is not None and around.parent.type == "call_expression":
        listed = [child.start_byte for child in around.named_children if not child.is_extra]
        return around.parent, listed.index(expression.start_byte) if expression.start_byte in listed else 0
    behind = around.child_by_field_name("arguments") if around.type == "call_expression" else None
    if behind is not None and behind.start_byte == expression.start_byte and expression.type in BLOCK_KINDS:
        return around, 0
    if around.type == "block" and around.parent is not None and around.named_child_count == 1:
        return _argument_place(around, around.parent)
    right = around.child_by_field_name("right") if around.type == "infix_expression" else None
    covers = expression.type in ("parenthesized_expression", *BLOCK_KINDS)
    return (around, 0) if right is not None and right.start_byte == expression.start_byte and covers else None


def _argument_chain(call: Node, argument: int, number: int, chain: Chain) -> str:
    """Return the chain of parameter `number` of a function passed to a call as `argument`."""
    if call.type == "infix_expression":
        operator = call.child_by_field_name("operator")
        if operator is None or operator.type != "identifier":
            return _UNKNOWN
        return _link(f"{chain(call.child_by_field_name('left'))}.{_text(operator)}", 0, number)
    callee = call.child_by_field_name("function")
    if callee is not None and callee.type == "generic_function":
        callee = callee.child_by_field_name("function")
    if callee is not None and callee.type == "call_expression":  # `disks.foldLeft(0)((sum, disk) => …)`
        inner = callee.child_by_field_name("function")
        name = _text(inner.child_by_field_name("field")) if inner is not None else ""
        if inner is None or _FOLDS.get(name) != number:
            return _UNKNOWN
        return _link(f"{chain(inner.child_by_field_name('value'))}.foreach", 0, 0)
    return _link(chain(callee), argument, number)


def _link(callee: str, argument: int, number: int) -> str:
    is_known = callee[:1] not in (_UNKNOWN, _LITERAL, ":") and callee.rpartition(".")[2] not in (
        _UNKNOWN,
        _LITERAL,
    )
    return f"{callee}(~{argument}_{number})" if is_known else _UNKNOWN


def _wildcards_before(function: Node, node: Node) -> int:
    """Return the number of other `_` before `node` in the function that they form."""
    count, pending = 0, [function]
    while pending:
        current = pending.pop()
        if current.type == "wildcard":
            count += current.start_byte < node.start_byte
        elif current.start_byte < node.start_byte and current.type not in ("arguments", *BLOCK_KINDS):
            pending += current.named_children
    return count


def for_element_chain(value: str) -> str:
    """Return the chain of `disk` in `for (disk <- disks)`."""
    return _link(f"{value}.foreach", 0, 0)


def pattern_component(name: Node, type_node: Node) -> str:
    """Return the chain of a name in a pattern for a class, `case Disk(label, size)`."""
    around = name.parent
    parts = (
        [child.start_byte for child in around.named_children if child.start_byte != type_node.start_byte]
        if around
        else []
    )
    number = parts.index(name.start_byte) + 1 if name.start_byte in parts else 0
    of = _text(type_node).partition("[")[0]
    return f"{of}(_{len(parts)}).component{number}" if number and of.replace(".", "").isalnum() else _UNKNOWN


def is_constant_pattern(name: Node) -> bool:
    """Return True if a name in a pattern refers to an existing value, `case Full =>`."""
    around = name.parent
    in_pattern = around is not None and (around.type.endswith("_pattern") or around.type == "case_clause")
    return in_pattern and _text(name)[:1].isupper()
