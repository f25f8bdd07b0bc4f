"""Java."""

from __future__ import annotations

from tree_sitter import Node

from cortex.graph.facts.generics import constructed_type, parameters_flag
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_dotted
from cortex.graph.resolution.language import Language
from cortex.terms.languages import family_of


def _flags(node: Node, _receiver: Node | None, _scope: str) -> tuple[str, ...]:
    return parameters_flag(node)


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
        imports=read_dotted,
        value_types=(constructed_type,),
        flags=_flags,
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
