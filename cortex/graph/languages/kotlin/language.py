"""Kotlin."""

from __future__ import annotations

from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.resolution.language import Language
from cortex.terms.languages import family_of

KOTLIN = Language(
    "kotlin",
    rules=Rules(
        family_of("kotlin"),
        (".kt",),
        implicit_self=True,
        shared="package",
        open_types=True,
        overloads=True,
        type_arguments=True,
        blocks=True,
        written_in_types=True,
        hidden_parameters=True,
        public_parameters=True,
        renamed_calls=frozenset({"copy"}),
    ),
    syntax=Syntax(
        queries=("kotlin",),
        counts=True,
        values_hold=b"::",
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
)
