"""Go."""

from __future__ import annotations

from cortex.graph.facts.declared.builds import builds_of
from cortex.graph.facts.expressions.results import go_value, types_of
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_go
from cortex.graph.languages.defaults import read_names
from cortex.graph.languages.go.steps import own_members, visible
from cortex.graph.languages.go.syntax import ONCE, function_type, once_chain
from cortex.graph.resolution.language import Language
from cortex.terms.languages import family_of

GO = Language(
    "go",
    rules=Rules(
        family_of("go"),
        (".go",),
        platform_methods=read_names(__package__, "methods"),
        structural="exact",
        functions_as="type",
        conditional_files=True,
        types_in_one_file=True,
        twins=True,
        named_results=True,
        self_names=frozenset(),
        super_names=frozenset(),
        shared="folder",
    ),
    syntax=Syntax(
        package=__package__,
        queries=("go",),
        imports=read_go,
        value_of_name=go_value,
        result_type=types_of,
        builds=builds_of,
        names=frozenset({"identifier", "field_identifier", "type_identifier", "package_identifier"}),
        members={"selector_expression": ("operand", "field"), "qualified_type": ("package", "name")},
        calls={"call_expression": "function"},
        news={"composite_literal": "type"},
        makers={"new": 1, "make": 3},
        passes=ONCE,
        readers={"func_literal": once_chain},
        elements={"index_expression": "operand"},
        wraps={"parenthesized_expression": "", "unary_expression": "operand", "generic_type": "type"},
        casts={"type_assertion_expression": "type", "type_conversion_expression": "type"},
        literals=frozenset(
            "interpreted_string_literal raw_string_literal int_literal float_literal true false "
            "nil rune_literal func_literal binary_expression".split()
        ),
    ),
    find_module=lambda project, module, importer: project.go.find(module, importer),
    function_type=function_type,
    own_members=own_members,
    visible=visible,
)
