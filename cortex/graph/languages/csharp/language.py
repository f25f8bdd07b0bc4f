"""C#."""

from __future__ import annotations

from cortex.graph.facts.grammars import Rules, Syntax
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
