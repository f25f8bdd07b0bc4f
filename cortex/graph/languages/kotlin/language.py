"""Kotlin."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from cortex.graph.facts.declared.generics import constructed_type
from cortex.graph.facts.expressions.blocks import block_parameter
from cortex.graph.facts.expressions.chains import infix_of
from cortex.graph.facts.expressions.kotlin_values import KOTLIN_TEXTS, VALUES, parameters_of_class
from cortex.graph.facts.facts import ACCESSOR
from cortex.graph.facts.grammars import Syntax
from cortex.graph.facts.imports import read_dotted
from cortex.graph.languages.defaults import JVM
from cortex.graph.languages.kotlin.extensions import (
    called_member,
    called_root,
    extended,
    function_type,
    import_companion,
    outside_type,
    passed_to,
    skip_typed_variable,
    skip_variable,
    take_extension,
    take_invoked,
    visible,
)
from cortex.graph.languages.kotlin.source_sets import sees
from cortex.graph.languages.kotlin.syntax import (
    COLON,
    FALLBACK_OPERATORS,
    OPERATORS,
    branches_chain,
    describe_argument,
    flags,
    operator_chain,
    parameter_type,
    property_of,
    text_type,
)
from cortex.graph.languages.kotlin.types import COMMON_EXTENSIONS, SUPERS
from cortex.graph.languages.steps import called_by_method, take_block_member
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.types.plain_types import bare_type

KOTLIN = Language(
    "kotlin",
    rules=replace(
        JVM,
        capitals_are_types=True,
        suffixes=(".kt",),
        inherited_defaults=True,
        strict_arity=True,
        counted_arguments=True,
        branches_agree=True,
        components=True,
        evident_literals=True,
        extension_functions=True,
        platform_variants=True,
        twins=True,
        element_operator="get",
        fallback_operators=FALLBACK_OPERATORS,
        library_methods=COMMON_EXTENSIONS,
        library_supertypes=SUPERS,
        function_aliases=True,
        open_types=True,
        written_in_types=True,
        hidden_parameters=True,
        public_parameters=True,
        functions_as="method",
    ),
    syntax=Syntax(
        package=__package__,
        queries=("kotlin",),
        imports=read_dotted,
        value_types=(text_type, constructed_type),
        value_of_name=block_parameter,
        flags=flags,
        head_parameters=("class_declaration", parameters_of_class),
        argument=describe_argument,
        parameter_type=parameter_type,
        readers={
            "binary_expression": operator_chain,
            "infix_expression": infix_of,
            **dict.fromkeys(VALUES, branches_chain),
        },
        operators=OPERATORS,
        accessors={**dict.fromkeys(("getter", COLON), ""), **dict.fromkeys(("setter", "var"), ACCESSOR)},
        property_of=property_of,
        reads_properties=True,
        extended_literals={**dict.fromkeys(KOTLIN_TEXTS, "String()"), "character_literal": "Char()"},
        counts=True,
        values_hold=(b"::",),
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
    import_first=import_companion,
    called_root=called_root,
    called_member=called_member,
    passed_to=passed_to,
    function_type=function_type,
    call_operator=partial(called_by_method, "invoke"),
    bare_call=(skip_typed_variable, skip_variable, take_block_member, take_extension),
    called_member_values=(take_invoked,),
    is_member_called=lambda calls, refs, call: not calls.targets.extended.may_be_extension(refs, call),
    visible=visible,
    sees=sees,
    extended=extended,
    extensions_called=lambda calls, *call: calls.nearest(*call),
    bare_type=partial(bare_type, kotlin=True),
    outside_type=outside_type,
)
