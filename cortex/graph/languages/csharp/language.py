"""C#."""

from __future__ import annotations

from cortex.graph.facts.generics import constructed_type
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_csharp
from cortex.graph.languages.csharp.syntax import (
    LITERAL_CHAINS,
    describe_argument,
    literal_type,
    parameter_type,
    read_package,
)
from cortex.graph.resolution.language import Language
from cortex.terms.languages import family_of

CSHARP = Language(
    "csharp",
    rules=Rules(
        family_of("csharp"),
        (".cs",),
        super_names=frozenset({"base"}),
        implicit_self=True,
        shared="package",
        overloads=True,
        type_arguments=True,
        partial_types=True,
    ),
    syntax=Syntax(
        queries=("csharp",),
        imports=read_csharp,
        value_types=(literal_type, constructed_type),
        argument=describe_argument,
        parameter_type=parameter_type,
        extended_literals=LITERAL_CHAINS,
        package=read_package,
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
)
