"""Ruby."""

from __future__ import annotations

from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_ruby
from cortex.graph.resolution.language import Language
from cortex.terms.languages import family_of

RUBY = Language(
    "ruby",
    rules=Rules(
        family_of("ruby"),
        (".rb",),
        included_hook="included",
        self_names=frozenset({"self"}),
        implicit_self=True,
        shared="project",
        file_fields=True,
        renamed_calls=frozenset({"new"}),
    ),
    syntax=Syntax(
        queries=("ruby",),
        imports=read_ruby,
        names=frozenset({"identifier", "constant", "self", "instance_variable", "super"}),
        members={"scope_resolution": ("scope", "name")},
        methods={"call": ("receiver", "method")},
        elements={"element_reference": "object"},
        wraps={"parenthesized_statements": "", "assignment": "right", "operator_assignment": "right"},
        either={"conditional": ("consequence", "alternative"), "binary": ("left", "right")},
        literals=frozenset(
            {"string", "integer", "float", "array", "hash", "simple_symbol", "nil", "true", "false"}
        ),
        hoisted=True,
    ),
)
