"""Definitions by assignments and object literals of JavaScript and TypeScript: CommonJS exports,
members of prototypes, of constants and of `this`. Pure functions of nodes.
"""

from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.facts.facts import SPREAD

#: the owner's name of a file's exports
EXPORTS = "exports"
#: the export of a whole file
MODULE_EXPORTS = "module.exports"

FUNCTIONS = frozenset(
    "arrow_function function_expression generator_function function_declaration method_definition "
    "generator_function_declaration anonymous_function".split()
)
_NAMELESS = frozenset("arrow_function function_expression generator_function class object".split())
_WRAPPERS = frozenset("as_expression satisfies_expression parenthesized_expression".split())
#: calls that make their first argument inherit from the second
_INHERIT = frozenset({b"util.inherits", b"inherits", b"Object.setPrototypeOf"})
_CREATE = b"Object.create"
#: calls that copy members of the other arguments to the first; node types of these arguments
_MIX = frozenset({b"Object.assign", b"_.extend", b"_.assign", b"$.extend", b"jQuery.extend", b"extend"})
_NAME_NODES = frozenset({"identifier", "member_expression", "call_expression"})
#: default exports that have a name from the export or from themselves
_NAMED_BY_DEFAULT = FUNCTIONS | {"class", "object", "identifier"}
_TYPE_PARTS = frozenset({"object_type", "parenthesized_type", "intersection_type"})
#: callees that say more than a call, and the bytes of the longest
_SPECIAL = frozenset({b"require", b"import", _CREATE, *_INHERIT, *_MIX})
_CALLEE_BYTES_MAX = max(map(len, _SPECIAL))


class Owner(NamedTuple):
    """The owner of members: an object or a constructor.

    `name` is its name, "this", EXPORTS, or "" for an owner that is not followed. `prototype`: the
    members belong to its prototype.
    """

    name: str
    prototype: bool = False


def owner_of(node: Node | None) -> Owner:
    """Return the owner for `x`, `this`, `exports`, `module.exports`, `X.prototype`."""
    if node is None:
        return Owner("")
    if node.type in ("identifier", "this"):
        return Owner(text_of(node))
    if node.type != "member_expression":
        return Owner("")
    if text_of(node) == MODULE_EXPORTS:
        return Owner(EXPORTS)
    inner = node.child_by_field_name("object")
    if _field_text(node, "property") == "prototype" and inner is not None and inner.type == "identifier":
        return Owner(text_of(inner), prototype=True)
    return Owner("")


def owner_of_literal(literal: Node) -> Owner:
    """Return the owner of an object literal's members, by its declaration, assignment or
    `Object.assign`.
    """
    around = literal.parent
    while around is not None and (around.type in _WRAPPERS or around.type == "ternary_expression"):
        around = around.parent
    if around is None:
        return Owner("")
    if around.type == "variable_declarator":
        return Owner(_field_text(around, "name"))
    if around.type == "export_statement":
        return Owner(EXPORTS)
    if around.type == "assignment_expression":
        return owner_of(around.child_by_field_name("left"))
    call = around.parent
    if around.type == "arguments" and call is not None and _field_text(call, "function").encode() in _MIX:
        return owner_of(around.named_child(0))
    return Owner("")


def is_returned(literal: Node) -> bool:
    """Return True if a function returns an object literal."""
    around = literal.parent
    if around is not None and around.type == "parenthesized_expression" and around.parent is not None:
        return around.parent.type == "arrow_function"
    return around is not None and around.type == "return_statement"


def is_in_function(node: Node, definition: Node) -> bool:
    """Return True if the innermost function around `node` is the definition, also in `const f = ()
    => …`.
    """
    around = node.parent
    while around is not None and around.type not in FUNCTIONS:
        around = around.parent
    return around is not None and around.end_byte == definition.end_byte


def _field_text(node: Node, name: str) -> str:
    child = node.child_by_field_name(name)
    return text_of(child) if child is not None else ""


def assigned_value(node: Node) -> Node:
    """Return the value of `a = b = value`: for a function or an object its first target, else the
    value.
    """
    while node.type == "assignment_expression" or node.type in _WRAPPERS:
        if node.type in _WRAPPERS:
            inner = node.named_child(0)
            if inner is None or node.type != "parenthesized_expression":
                break
            node = inner
            continue
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            break
        node = left if right.type in _NAMELESS and left.type != "identifier" else right
    return node


def members_of(literal: Node) -> Iterator[tuple[str, Node]]:
    """Yield (name, value) for the named members of an object literal."""
    for child in literal.named_children:
        if child.type == "shorthand_property_identifier":
            yield text_of(child), child
        elif child.type == "spread_element" and (spread := child.named_child(0)) is not None:
            yield SPREAD, spread
        elif child.type == "pair":
            key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is not None and value is not None and key.type in ("property_identifier", "string"):
                yield text_of(key).strip("'\""), value


def has_functions(literal: Node) -> bool:
    """Return True if an object literal holds functions by name."""
    for child in literal.named_children:
        value = child.child_by_field_name("value") if child.type == "pair" else child
        if value is not None and value.type in FUNCTIONS:
            return True
    return False


def is_destructured(node: Node) -> bool:
    """Return True for a name in `{ a, b: name, c = 1 }`."""
    around = node.parent
    return around is not None and around.type in (
        "object_pattern",
        "pair_pattern",
        "object_assignment_pattern",
    )


def destructured_member(node: Node) -> tuple[str, Node | None]:
    """(member, value) for a name in `const { a, b: name } = value`; (member, None) elsewhere."""
    member = text_of(node)
    if node.parent is not None and node.parent.type == "pair_pattern":
        member = _field_text(node.parent, "key")
    pattern = _pattern_around(node)
    around = pattern.parent if pattern is not None else None
    if around is None or around.type != "variable_declarator" or around.child_by_field_name("type"):
        return member, None
    return member, around.child_by_field_name("value")


def parameter_pattern(node: Node) -> Node | None:
    """Return the pattern `{ a, b: name }` of a parameter that holds a name; None for others."""
    pattern = _pattern_around(node)
    around = pattern.parent if pattern is not None else None
    is_parameter = around is not None and around.type in ("formal_parameters", "required_parameter")
    return pattern if is_parameter else None


def _pattern_around(node: Node) -> Node | None:
    """Return the innermost object pattern around a name in it."""
    pattern = node.parent
    if pattern is not None and pattern.type in ("pair_pattern", "object_assignment_pattern"):
        pattern = pattern.parent
    return pattern if pattern is not None and pattern.type == "object_pattern" else None


def is_special(callee: Node) -> bool:
    """Return True if a call may import a module, or set up inheritance or mixins."""
    return callee.end_byte - callee.start_byte <= _CALLEE_BYTES_MAX and callee.text in _SPECIAL


def read_mixins(call: Node) -> Iterator[tuple[Owner, Node]]:
    """Yield (owner, mixin) for each mixin of `Object.assign(P.prototype, methods, …)`."""
    callee, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if callee is None or arguments is None:
        return
    argument_nodes = arguments.named_children
    if callee.text not in _MIX or not argument_nodes:
        return
    owner = owner_of(argument_nodes[0])
    if owner.name not in ("", "this", EXPORTS):
        yield from ((owner, mixin) for mixin in argument_nodes[1:] if mixin.type in _NAME_NODES)


def read_inheritance(call: Node) -> tuple[Owner, Node] | None:
    """Return (owner, base) for a call that sets up inheritance, None for others.

    Such calls are `util.inherits(P, Base)`, `P.prototype = Object.create(Base.prototype)`.
    """
    callee = call.child_by_field_name("function")
    text = callee.text if callee is not None else None
    if text not in _INHERIT and text != _CREATE:
        return None
    arguments = call.child_by_field_name("arguments")
    argument_nodes = arguments.named_children if arguments is not None else []
    if len(argument_nodes) < 1 + (text in _INHERIT):
        return None
    owner, base = (
        (owner_of(argument_nodes[0]), argument_nodes[1])
        if text in _INHERIT
        else (owner_of_literal(call), argument_nodes[0])
    )
    base_owner = owner_of(base)
    inner = base.child_by_field_name("object") if base_owner.prototype else base
    return (owner, inner) if owner.name not in ("", "this", EXPORTS) and inner is not None else None


def is_exported(declarator: Node) -> bool:
    """Return True for `x = 1` in `export let x = 1`."""
    listed = declarator.parent
    around = listed.parent if listed is not None and declarator.type == "variable_declarator" else None
    return around is not None and around.type == "export_statement"


def is_type_part(member: Node) -> bool:
    """True if a member or signature is in an object type within a type alias, `A & { … }`."""
    around = member.parent
    while around is not None and around.type in _TYPE_PARTS:
        around = around.parent
    return around is not None and around.type == "type_alias_declaration"


def record_value_type(base: Node) -> Node | None:
    """Return `Disk` of `Record<string, Disk>`."""
    if base.type != "generic_type" or _field_text(base, "name") != "Record":
        return None
    arguments = base.child_by_field_name("type_arguments")
    return arguments.named_children[-1] if arguments is not None and arguments.named_child_count else None


def is_loader(call: Node) -> bool:
    """Return True if a function without a name returns `import("./Page")` to its caller, which uses
    the default export: `lazy(() => import("./Page"))`, `{ component: () => import("./Page") }`.
    """
    function = call.parent
    if function is None or function.type != "arrow_function" or function.parent is None:
        return False
    return function.parent.type in ("arguments", "pair", "array", "variable_declarator")


def default_export_value(export: Node) -> Node | None:
    """Return the value of `export default make()` if it has no name."""
    if export.type != "export_statement" or not any(child.type == "default" for child in export.children):
        return None
    value = export.child_by_field_name("value")
    return None if value is None or value.type in _NAMED_BY_DEFAULT else value
