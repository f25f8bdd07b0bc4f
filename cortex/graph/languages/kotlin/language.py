"""Kotlin, with its expressions, arguments, parameters and definitions in the syntax tree."""

from dataclasses import replace
from functools import partial

from tree_sitter import Node

from cortex.graph.facts.declared.flags import kotlin_flags, platform_flags
from cortex.graph.facts.declared.generics import constructed_type, parameters_flag
from cortex.graph.facts.expressions.blocks import block_parameter
from cortex.graph.facts.expressions.chains import LITERAL, UNKNOWN, chain_of, infix_of, text_of, union_link
from cortex.graph.facts.expressions.kotlin_values import (
    KOTLIN_TEXTS,
    VALUES,
    branch_chains,
    parameters_of_class,
)
from cortex.graph.facts.expressions.operators import ELEMENT, SET_ELEMENT
from cortex.graph.facts.facts import ABSTRACT, ACCESSOR, MANY, PRIVATE
from cortex.graph.facts.grammars import Syntax
from cortex.graph.facts.imports import read_dotted
from cortex.graph.languages.defaults import JVM, with_default
from cortex.graph.languages.kotlin.constructors import take_constructor, take_invoked
from cortex.graph.languages.kotlin.extensions import (
    called_member,
    called_root,
    extended,
    function_type,
    import_companion,
    outside_type,
    passed_to,
    skip_typed_variable,
    skip_variable,
    take_extension,
    uncalled_root,
    visible,
)
from cortex.graph.languages.kotlin.source_sets import sees
from cortex.graph.languages.kotlin.types import COMMON_EXTENSIONS, SUPERS
from cortex.graph.languages.steps import called_by_method, take_block_member
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.types.plain_types import bare_type

#: operators, and the functions that they call
_OPERATORS = {"+": "plus", "-": "minus", "*": "times", "/": "div", "%": "rem", "?:": ""}
OPERATORS = _OPERATORS | dict.fromkeys(("<", ">", "<=", ">="), "compareTo")
OPERATORS |= {"in": "contains", "!in": "contains"}
OPERATORS |= {ELEMENT: "get", SET_ELEMENT: "set", "..": "rangeTo", "..<": "rangeUntil", "by_": "getValue"}
OPERATORS |= {"-_": "unaryMinus", "+_": "unaryPlus", "!_": "not"}
OPERATORS |= dict.fromkeys(("++_", "_++"), "inc") | dict.fromkeys(("--_", "_--"), "dec")
OPERATORS |= {f"{sign}=": f"{_OPERATORS[sign]}Assign" for sign in "+-*/%"}
#: an assignment's function → the one that is called if a type lacks it
FALLBACK_OPERATORS = {f"{_OPERATORS[sign]}Assign": _OPERATORS[sign] for sign in "+-*/%"}
#: in an abstract property a getter, as it is outside of the node with the name and the type
COLON = ":"
#: modifiers of types that no call makes
_ABSTRACT = frozenset({b"abstract", b"sealed"})
#: children of an infix call: two operands and the function's name
_INFIX_PARTS = 3


def operator_chain(node: Node, syntax: Syntax, depth: int) -> str:
    """Return the chain of an operator expression: `base / name` is `base.div(name)`.

    `a ?: b` is `a`, or `b` if `a` is unknown.
    """
    operator = text_of(node.children[1]) if node.child_count == 3 else ""
    left = chain_of(node.children[0], syntax, depth + 1) if operator in _OPERATORS else UNKNOWN
    if operator == "?:":
        is_known = left not in (UNKNOWN, LITERAL)
        return left if is_known else chain_of(node.children[2], syntax, depth + 1)
    return UNKNOWN if left[-1:] in (UNKNOWN, LITERAL) else f"{left}.{_OPERATORS[operator]}(_1)"


def branches_chain(node: Node, syntax: Syntax, depth: int) -> str:
    """Return the chain of an `if`, `when` or `try`, with an alternative for each branch."""
    return union_link(branch_chains(node, lambda child: chain_of(child, syntax, depth + 1)))


def describe_argument(node: Node, _syntax: Syntax, _depth: int) -> str | None:
    """Return the type of a range and of `a to b`."""
    if node.type == "range_expression":
        return ":IntRange"
    if node.type == "infix_expression" and node.named_child_count == _INFIX_PARTS:
        return ":Pair" if text_of(node.named_children[1]) == "to" else UNKNOWN
    return None


def parameter_type(name: Node, declared: str) -> str:
    """Return a parameter's type, with the marks of `vararg` and of a default."""
    before = name.parent.prev_sibling if name.parent is not None else None
    if before is not None and before.type == "parameter_modifiers" and b"vararg" in (before.text or b""):
        return f"{MANY}{declared}"
    return with_default(name, declared)


def flags(node: Node, receiver: Node | None, scope: str) -> tuple[str, ...]:
    """Return the flags of a definition: its extended type, its platforms, its type parameters."""
    if node.type in ("function_declaration", "property_declaration"):
        own_flags = (*kotlin_flags(node, receiver, scope), *parameters_flag(node))
        return (*own_flags, *(ABSTRACT,) * _is_abstract(node))
    own_flags = (*platform_flags(node), *parameters_flag(node))
    return (*own_flags, *_constructor_flag(node)) if node.type == "class_declaration" else own_flags


def _constructor_flag(node: Node) -> tuple[str, ...]:
    """Return ABSTRACT for a type that no call makes, PRIVATE for one that only its code makes."""
    children = {child.type: child for child in node.children}
    if "interface" in children:
        return () if "fun" in children else (ABSTRACT,)
    modifiers = children.get("modifiers")
    if modifiers is not None and any(child.text in _ABSTRACT for child in modifiers.children):
        return (ABSTRACT,)
    constructor, body = children.get("primary_constructor"), children.get("class_body")
    is_private = (
        constructor is not None
        and constructor.children[0].type == "modifiers"
        and any(child.text == b"private" for child in constructor.children[0].children)
    )
    if not is_private:
        return ()
    others = body.children if body is not None else ()
    return () if any(child.type == "secondary_constructor" for child in others) else (PRIVATE,)


def _is_abstract(node: Node) -> bool:
    """Return True for a function without a body in an interface."""
    if node.type != "function_declaration" or any(child.type == "function_body" for child in node.children):
        return False
    body = node.parent  # slow to look up
    around = body.parent if body is not None else None
    return around is not None and any(child.type == "interface" for child in around.children)


def text_type(value: Node) -> str:
    return "String" if value.type in KOTLIN_TEXTS else ""


def property_of(accessor: Node) -> tuple[Node, Node, Node | None] | None:
    """Return (property, its name, the type that it extends) for an accessor with a body, or the
    `var` or colon of an abstract property.
    """
    around = accessor.parent
    if around is not None and accessor.type == COLON:
        around = around.parent
    is_short = accessor.type in ("getter", "setter")
    if around is None or (is_short and not any(child.type == "function_body" for child in accessor.children)):
        return None
    declared = next((child for child in around.named_children if child.type == "variable_declaration"), None)
    if declared is None:
        return None
    before = declared.prev_named_sibling
    is_extended = before is not None and before.type in ("user_type", "nullable_type")
    return around, declared.named_children[0], before if is_extended else None


KOTLIN = Language(
    "kotlin",
    rules=replace(
        JVM,
        capitals_are_types=True,
        suffixes=(".kt",),
        inherited_defaults=True,
        strict_arity=True,
        counted_arguments=True,
        bound_after_value=True,
        branches_agree=True,
        components=True,
        evident_literals=True,
        extension_functions=True,
        platform_variants=True,
        twins=True,
        element_operator="get",
        fallback_operators=FALLBACK_OPERATORS,
        library_methods=COMMON_EXTENSIONS,
        library_supertypes=SUPERS,
        function_aliases=True,
        open_types=True,
        written_in_types=True,
        hidden_parameters=True,
        public_parameters=True,
        functions_as="method",
    ),
    syntax=Syntax(
        package=__package__,
        queries=("kotlin",),
        imports=read_dotted,
        value_types=(text_type, constructed_type),
        value_of_name=block_parameter,
        flags=flags,
        head_parameters=("class_declaration", parameters_of_class),
        argument=describe_argument,
        parameter_type=parameter_type,
        readers={
            "binary_expression": operator_chain,
            "infix_expression": infix_of,
            **dict.fromkeys(VALUES, branches_chain),
        },
        operators=OPERATORS,
        accessors={**dict.fromkeys(("getter", COLON), ""), **dict.fromkeys(("setter", "var"), ACCESSOR)},
        property_of=property_of,
        reads_properties=True,
        extended_literals={**dict.fromkeys(KOTLIN_TEXTS, "String()"), "character_literal": "Char()"},
        counts=True,
        values_hold=(b"::",),
        names=frozenset({"identifier", "this_expression", "super_expression"}),
        members={"navigation_expression": ("0", "-1")},
        calls={"call_expression": "0"},
        elements={"index_expression": "0"},
        # The grammar takes `!f` as the callee of `!f()`, and `x!!` as the receiver of `x!!.f()`.
        wraps={"parenthesized_expression": "", "user_type": "", "unary_expression": ""},
        casts={"as_expression": ""},
        literals=frozenset(
            "string_literal multiline_string_literal number_literal lambda_literal boolean_literal".split()
        ),
    ),
    import_first=import_companion,
    called_root=called_root,
    uncalled_root=uncalled_root,
    called_member=called_member,
    passed_to=passed_to,
    function_type=function_type,
    call_operator=partial(called_by_method, "invoke"),
    bare_call=(
        skip_typed_variable,
        skip_variable,
        take_block_member,
        take_constructor,
        take_extension,
        take_invoked,
    ),
    called_member_values=(take_invoked,),
    is_member_called=lambda calls, refs, call: not calls.targets.extended.may_be_extension(refs, call),
    visible=visible,
    sees=sees,
    extended=extended,
    extensions_called=lambda calls, *call: calls.nearest(*call),
    bare_type=partial(bare_type, kotlin=True),
    outside_type=outside_type,
)
