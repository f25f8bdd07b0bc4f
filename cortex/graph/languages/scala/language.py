"""Scala."""

from __future__ import annotations

from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.resolution.language import Language
from cortex.terms.languages import family_of

SCALA = Language(
    "scala",
    rules=Rules(
        family_of("scala"),
        (".scala",),
        implicit_self=True,
        shared="package",
        overloads=True,
        type_arguments=True,
        blocks=True,
        renamed_calls=frozenset({"copy"}),
    ),
    syntax=Syntax(
        queries=("scala",),
        counts=True,
        casters={"asInstanceOf": "cast"},
        names=frozenset({"identifier", "type_identifier"}),
        members={
            "field_expression": ("value", "field"),
            "stable_type_identifier": ("0", "-1"),
            "stable_identifier": ("0", "-1"),
        },
        calls={"call_expression": "function"},
        news={"instance_expression": "0"},
        wraps={
            "parenthesized_expression": "",
            "generic_type": "type",
            "generic_function": "function",
            "compound_type": "base",
        },
        literals=frozenset(
            "string interpolated_string_expression integer_literal floating_point_literal boolean_literal "
            "character_literal null_literal unit".split()
        ),
    ),
)
