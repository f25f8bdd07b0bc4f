"""Java."""

from __future__ import annotations

from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.resolution.language import Language
from cortex.terms.languages import family_of

JAVA = Language(
    "java",
    rules=Rules(
        family_of("java"),
        (".java",),
        implicit_self=True,
        shared="package",
        overloads=True,
        type_arguments=True,
        blocks=True,
        renamed_calls=frozenset({"copy"}),
    ),
    syntax=Syntax(
        queries=("java",),
        counts=True,
        values_hold=b"::",
        names=frozenset({"identifier", "type_identifier", "this", "super"}),
        members={
            "field_access": ("object", "field"),
            "scoped_identifier": ("scope", "name"),
            "scoped_type_identifier": ("0", "-1"),
        },
        methods={"method_invocation": ("object", "name")},
        news={"object_creation_expression": "type"},
        elements={"array_access": "array"},
        wraps={"parenthesized_expression": "", "generic_type": ""},
        casts={"cast_expression": "type"},
        literals=frozenset({"string_literal", "decimal_integer_literal", "true", "false", "null_literal"}),
    ),
)
