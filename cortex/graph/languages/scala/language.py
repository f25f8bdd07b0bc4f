"""Scala."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from cortex.graph.facts.declared.generics import constructed_type
from cortex.graph.facts.expressions.chains import infix_of
from cortex.graph.facts.expressions.scala_values import is_constant_pattern, parameters_of_scala
from cortex.graph.facts.grammars import Syntax
from cortex.graph.facts.imports import read_dotted
from cortex.graph.languages.defaults import JVM, read_names
from cortex.graph.languages.scala.calls import Scala
from cortex.graph.languages.scala.steps import (
    call_apply,
    call_bare_apply,
    copied,
    function_type,
    import_value,
    keys_around,
    member_of_object,
    parameter_types,
    plain_type,
    special_fit,
    take_constructor,
    uncalled,
)
from cortex.graph.languages.scala.syntax import (
    describe_argument,
    flags,
    parameter_type,
    placeholder_chain,
    read_package,
    value_of_name,
)
from cortex.graph.languages.steps import called_by_method, take_block_member
from cortex.graph.resolution.language import Language

SCALA = Language(
    "scala",
    rules=replace(
        JVM,
        suffixes=(".scala",),
        platform_methods=read_names(__package__, "methods"),
        counted_arguments=True,
        components=True,
        companions=True,
        value_imports=True,
        outer_packages="last",
        package_objects=True,
        calls_without_arguments=True,
        abstract_types=True,
    ),
    syntax=Syntax(
        package=__package__,
        queries=("scala",),
        imports=read_dotted,
        value_types=(constructed_type,),
        value_of_name=value_of_name,
        flags=flags,
        head_parameters=("class_definition", parameters_of_scala),
        argument=describe_argument,
        parameter_type=parameter_type,
        readers={"infix_expression": infix_of, "wildcard": placeholder_chain},
        is_constant_pattern=is_constant_pattern,
        read_package=read_package,
        counts=True,
        reads_properties=True,
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
    import_first=import_value,
    keys_around=keys_around,
    applied=lambda evaluator, *call: evaluator.helper(Scala).applied_values(*call),
    uncalled=uncalled,
    passed_to=lambda evaluator, *call: evaluator.helper(Scala).passed_to(*call),
    function_takers=lambda evaluator, *call: evaluator.helper(Scala).function_takers(*call),
    function_type=function_type,
    missing_member=(member_of_object, copied),
    call_operator=partial(called_by_method, "apply"),
    bare_call=(take_constructor, take_block_member, call_bare_apply),
    called_member_values=(call_apply,),
    bare_type=plain_type,
    parameter_types=parameter_types,
    special_fit=special_fit,
)
