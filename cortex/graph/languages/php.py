"""PHP."""

from __future__ import annotations

from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_php
from cortex.graph.resolution.language import Language
from cortex.terms.languages import family_of

PHP = Language(
    "php",
    rules=Rules(
        family_of("php"),
        (".php",),
        path_mark="\\",
        self_names=frozenset({"$this"}),
        super_names=frozenset({"parent"}),
        shared="package",
        type_names=frozenset({"self", "static"}),
    ),
    syntax=Syntax(
        queries=("php",),
        imports=read_php,
        class_arguments=True,
        phpdoc=True,
        names=frozenset({"name", "variable_name", "relative_scope", "qualified_name", "namespace_name"}),
        members={
            "member_access_expression": ("object", "name"),
            "nullsafe_member_access_expression": ("object", "name"),
            "scoped_property_access_expression": ("scope", "name"),
        },
        methods={
            "member_call_expression": ("object", "name"),
            "nullsafe_member_call_expression": ("object", "name"),
            "scoped_call_expression": ("scope", "name"),
        },
        calls={"function_call_expression": "function"},
        news={"object_creation_expression": "0"},
        elements={"subscript_expression": "0"},
        wraps={"parenthesized_expression": "", "clone_expression": "", "assignment_expression": "right"},
        either={"conditional_expression": ("body", "alternative"), "binary_expression": ("left", "right")},
        literals=frozenset(
            {"string", "encapsed_string", "integer", "float", "boolean", "null", "array_creation_expression"}
        ),
        hoisted=True,
    ),
)
