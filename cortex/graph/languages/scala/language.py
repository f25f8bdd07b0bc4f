"""Scala."""

from __future__ import annotations

from cortex.graph.facts.generics import constructed_type
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_dotted
from cortex.graph.facts.scala_values import is_constant_pattern, parameters_of_scala
from cortex.graph.languages.scala.syntax import (
    describe_argument,
    flags,
    infix_chain,
    parameter_type,
    placeholder_chain,
    read_package,
    value_of_name,
)
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
        imports=read_dotted,
        value_types=(constructed_type,),
        value_of_name=value_of_name,
        flags=flags,
        head_parameters=("class_definition", parameters_of_scala),
        argument=describe_argument,
        parameter_type=parameter_type,
        readers={"infix_expression": infix_chain, "wildcard": placeholder_chain},
        is_constant_pattern=is_constant_pattern,
        package=read_package,
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
