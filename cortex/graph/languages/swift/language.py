"""Swift."""

from tree_sitter import Node

from cortex.graph.facts.declared.types import alternatives
from cortex.graph.facts.expressions.chains import text_of
from cortex.graph.facts.facts import ACCESSOR
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.languages.defaults import read_names, with_default
from cortex.graph.languages.swift.steps import (
    OPERATORS,
    call_extension,
    drop_types_without_closure,
    find_module,
    is_operand,
    methods_with_labels,
    operator_functions,
    take_where_clause,
)
from cortex.graph.resolution.language import Language
from cortex.terms.languages import family_of

_SHORT = {"array_type": "Array", "dictionary_type": "Dictionary"}


def extended_type(name: Node) -> str:
    """Return the name of the container in an extension such as `extension [Disk]`; "" for
    others.
    """
    if name.type in _SHORT:
        return _SHORT[name.type]
    holds = alternatives(text_of(name))
    return text_of(name).partition("<")[0].strip() if holds and holds[0].endswith("*") else ""


def property_of(accessor: Node) -> tuple[Node, Node, None] | None:
    """Return (property, its name, None) for an accessor or observer; a subscript has the name
    `subscript`.
    """
    around = accessor.parent
    while around is not None and not around.type.endswith("_declaration"):
        around = around.parent
    if around is not None and around.type == "subscript_declaration":
        word = next((child for child in around.children if child.type == "subscript"), None)
        return None if word is None else (around, word, None)
    pattern = around.child_by_field_name("name") if around is not None else None
    name = pattern.child_by_field_name("bound_identifier") if pattern is not None else None
    return (around, name, None) if around is not None and name is not None else None


SWIFT = Language(
    "swift",
    rules=Rules(
        family_of("swift"),
        (".swift",),
        platform_methods=read_names(__package__, "methods"),
        inherits_overloads=True,
        hides_overloads=True,
        default_arguments=True,
        computed_members=True,
        computed_names=True,
        evident_literals=True,
        extended_fields=True,
        labels=True,
        twins=True,
        named_twins=True,
        qualified_names=True,
        self_names=frozenset({"self"}),
        implicit_self=True,
        shared="project",
        type_names=frozenset({"Self"}),
    ),
    syntax=Syntax(
        package=__package__,
        queries=("swift",),
        labels=True,
        accessors={
            **dict.fromkeys(("computed_getter", "statements", "protocol_property_requirements"), ""),
            **dict.fromkeys(("computed_setter", "willset_clause", "didset_clause"), ACCESSOR),
        },
        property_of=property_of,
        operators=OPERATORS,
        static_operators=True,
        reads_properties=True,
        parameter_type=with_default,
        extended_literals=dict.fromkeys(("line_string_literal", "multi_line_string_literal"), "String()"),
        extended_type=extended_type,
        selector="selector_expression",
        counts=True,
        all_of="&",
        names=frozenset(
            "simple_identifier type_identifier self_expression super_expression bound_identifier".split()
        ),
        members={"navigation_expression": ("target", "suffix")},
        calls={"call_expression": "0"},
        elements={"call_expression": "0"},
        wraps={
            "navigation_suffix": "suffix",
            "try_expression": "-1",
            "await_expression": "-1",
            "user_type": "",
            "optional_chain_marker": "",
            "postfix_expression": "0",
            "directly_assignable_expression": "",
            "tuple_expression": "",
        },
        casts={"as_expression": "-1"},
        literals=frozenset({"line_string_literal", "integer_literal", "boolean_literal", "array_literal"}),
    ),
    find_module=find_module,
    is_operand=is_operand,
    operator_functions=operator_functions,
    bare_call=(take_where_clause, drop_types_without_closure),
    member_call=(call_extension,),
    methods_by_name=(methods_with_labels,),
)
