"""C#."""

from __future__ import annotations

from cortex.graph.facts.declared.generics import constructed_type
from cortex.graph.facts.facts import ACCESSOR
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_csharp
from cortex.graph.languages.csharp.steps import (
    called_member,
    extended,
    extensions_called,
    find_module,
    is_member_called,
    is_outside,
    parameter_types,
    plain_type,
)
from cortex.graph.languages.csharp.syntax import (
    LITERAL_CHAINS,
    OPERATORS,
    describe_argument,
    literal_type,
    parameter_type,
    property_of,
    read_package,
)
from cortex.graph.languages.defaults import read_names
from cortex.graph.languages.steps import take_inherited_overloads
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.types.partial_types import of_arity
from cortex.terms.languages import family_of

CSHARP = Language(
    "csharp",
    rules=Rules(
        family_of("csharp"),
        (".cs",),
        platform_methods=read_names(__package__, "methods"),
        bases_in_parts=True,
        inherits_overloads=True,
        default_arguments=True,
        exact_arguments=True,
        counted_arguments=True,
        summed_fits=True,
        qualified_names=True,
        outer_packages="first",
        arity_of_types=True,
        strict_arity=True,
        outside_literals=True,
        extension_methods=True,
        capital_types=True,
        super_names=frozenset({"base"}),
        implicit_self=True,
        shared="package",
        overloads=True,
        type_arguments=True,
        partial_types=True,
        functions_as="type",
    ),
    syntax=Syntax(
        package=__package__,
        queries=("csharp",),
        imports=read_csharp,
        value_types=(literal_type, constructed_type),
        argument=describe_argument,
        parameter_type=parameter_type,
        extended_literals=LITERAL_CHAINS,
        read_package=read_package,
        accessors={
            **dict.fromkeys(("get", "add", "remove", "arrow_expression_clause"), ""),
            **dict.fromkeys(("set", "init"), ACCESSOR),
        },
        property_of=property_of,
        operators=OPERATORS,
        static_operators=True,
        reads_properties=True,
        counts=True,
        names=frozenset(
            {"identifier", "this", "base", "this_expression", "base_expression", "predefined_type"}
        ),
        members={
            "member_access_expression": ("expression", "name"),
            "conditional_access_expression": ("condition", "-1"),
            "qualified_name": ("qualifier", "name"),
        },
        calls={"invocation_expression": "function"},
        news={"object_creation_expression": "type"},
        elements={"element_access_expression": "expression"},
        wraps={
            "parenthesized_expression": "",
            "await_expression": "",
            "generic_name": "0",
            "member_binding_expression": "name",
            "nullable_type": "",
            "postfix_unary_expression": "",
            "prefix_unary_expression": "",
        },
        casts={"cast_expression": "type", "as_expression": "right"},
        literals=frozenset({"string_literal", "integer_literal", "boolean_literal", "null_literal"}),
    ),
    find_module=find_module,
    is_outside=is_outside,
    called_member=called_member,
    bare_call=(take_inherited_overloads,),
    is_member_called=is_member_called,
    methods_by_name=(lambda calls, reference, refs: of_arity(calls.project, refs, reference.types),),
    extended=extended,
    extensions_called=extensions_called,
    bare_type=plain_type,
    parameter_types=parameter_types,
)
