"""TypeScript, TSX and JavaScript."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_script
from cortex.graph.languages.scripts.library import SCRIPT_METHODS
from cortex.graph.languages.scripts.steps import call_signatures, find_module, own_members
from cortex.graph.languages.scripts.syntax import parameter_type
from cortex.graph.resolution.language import Language
from cortex.terms.languages import family_of

_JS_MEMBERS = {"member_expression": ("object", "property")}
_JS: dict[str, Any] = {
    "requires": True,
    "imports": read_script,
    "parameter_type": parameter_type,
    "members": _JS_MEMBERS,
    "calls": {"call_expression": "function"},
    "news": {"new_expression": "constructor"},
    "elements": {"subscript_expression": "object"},
    "wraps": {
        "parenthesized_expression": "",
        "await_expression": "",
        "non_null_expression": "",
        "satisfies_expression": "",
        "assignment_expression": "right",
    },
    "either": {
        "ternary_expression": ("consequence", "alternative"),
        "binary_expression": ("left", "right"),
    },
    "literals": frozenset(
        "string template_string number array object regex true false null arrow_function".split()
    ),
}
_TS: dict[str, Any] = {**_JS, "wraps": {**_JS["wraps"], "type_query": ""}}
_JS_NAMES = frozenset(
    "identifier this super property_identifier private_property_identifier type_identifier undefined".split()
)
_RULES = Rules(
    family_of("typescript"),
    (".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs"),
    scripts=True,
    types_are_values=True,
    erased_types=True,
    structural="name",
    whole_exports=True,
    declaration_files=True,
    constants_with_values=True,
    global_names=True,
    last_definition=True,
    kinds_of_methods=True,
    computed_members=True,
    any_arguments=True,
    named_twins=True,
    calling_methods=frozenset({"call", "apply"}),
    library_methods=SCRIPT_METHODS,
    members_of_values=True,
    public_parameters=True,
    renamed_calls=frozenset({"call", "apply", "default"}),
)
_TYPESCRIPT = replace(_RULES, merged_interfaces=True)

TYPESCRIPT = Language(
    "typescript",
    rules=_TYPESCRIPT,
    syntax=Syntax(
        package=__package__,
        queries=("typescript",),
        values=("script", "typescript"),
        names=_JS_NAMES,
        casts={"as_expression": "", "type_assertion": "0"},
        **_TS,
    ),
    find_module=find_module,
    own_members=own_members,
    call_operator=call_signatures,
)

TSX = Language(
    "tsx",
    rules=_TYPESCRIPT,
    syntax=Syntax(
        package=__package__,
        queries=("typescript", "jsx"),
        values=("script", "typescript", "jsx"),
        names=_JS_NAMES,
        casts={"as_expression": "", "type_assertion": "0"},
        **_TS,
    ),
    find_module=find_module,
    own_members=own_members,
    call_operator=call_signatures,
)

JAVASCRIPT = Language(
    "javascript",
    rules=_RULES,
    syntax=Syntax(
        package=__package__,
        queries=("javascript",),
        jsdoc=True,
        values=("script", "javascript", "jsx"),
        names=_JS_NAMES,
        **_JS,
    ),
    find_module=find_module,
    own_members=own_members,
    call_operator=call_signatures,
)
