"""Java."""

import re
from dataclasses import replace

from tree_sitter import Node

from cortex.graph.facts.declared.generics import constructed_type, parameters_flag
from cortex.graph.facts.expressions.lambda_parameters import lambda_parameter
from cortex.graph.facts.facts import ABSTRACT
from cortex.graph.facts.grammars import Syntax
from cortex.graph.facts.imports import read_dotted
from cortex.graph.languages.defaults import JVM, read_names
from cortex.graph.languages.java.functions import describe_function, function_fit, passed_to
from cortex.graph.languages.steps import (
    take_block_member,
    take_inherited_overloads,
    take_made_type,
    take_method_past_locals,
)
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.values import Value, Values
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.types.lambda_parameters import function_takers
from cortex.graph.resolution.types.overloads import LIKELY
from cortex.graph.resolution.types.plain_types import BOXES


def _flags(node: Node, _receiver: Node | None, _scope: str) -> tuple[str, ...]:
    without_body = node.type == "method_declaration" and node.child_by_field_name("body") is None
    around = node.parent if without_body else None  # slow to look up
    is_abstract = around is not None and around.type == "interface_body"
    return (*parameters_flag(node), *(ABSTRACT,) * is_abstract)


#: results of methods of Java's library, on any receiver
_GIVES = {
    **dict.fromkeys("toString substring trim toLowerCase toUpperCase concat getMessage".split(), "String"),
    **dict.fromkeys("length size hashCode indexOf lastIndexOf compareTo intValue ordinal".split(), "int"),
    **dict.fromkeys(
        "equals isEmpty contains startsWith endsWith equalsIgnoreCase hasNext containsKey".split(), "boolean"
    ),
    "getClass": "Class",
    "longValue": "long",
    "doubleValue": "double",
    "charAt": "char",
    "toCharArray": "char[]",
    "getBytes": "byte[]",
}

#: factory methods that return the type before their name, as `Duration.ofMillis` does
_MAKERS = frozenset("of valueOf getInstance from parse now".split())
_MAKER = re.compile(r"of[A-Z]\w*")
#: factory methods that return a list
_LISTS = frozenset({"Arrays.asList", "Collections.emptyList", "Collections.singletonList"})


def _outside_type(chain: str) -> str:
    """Return the type of an external expression: library methods, constants and factories of
    external types.
    """
    owner, _, name = chain.rpartition(".")
    last = owner.rpartition(".")[2]
    if not owner:
        return name if name[:1].isupper() else ""
    makes = name in _MAKERS or _MAKER.fullmatch(name)
    if last[:1].isupper() and last.isalnum() and (name.isupper() or makes or name == "NaN"):
        return BOXES.get(last, LIKELY + last) if not makes else LIKELY + last
    if f"{last}.{name}" in _LISTS:
        return f"{LIKELY}List"
    return LIKELY + ("String" if owner == "String" else _GIVES.get(name, ""))


#: methods that return the content of a wrapper: of `Optional`, `Future`
_CONTENTS = frozenset("get getNow join orElse orElseGet orElseThrow".split())


def content(members: Members, value: Value, name: str) -> Values:
    """Return a function that returns the content of a wrapper, which acts as its content."""
    if value.tag != "inst" or name not in _CONTENTS or not members.supertypes.of(value.ref).complete:
        return ()
    return (value._replace(tag="elem", depth=1),)


JAVA = Language(
    "java",
    rules=replace(
        JVM,
        capitals_are_types=True,
        suffixes=(".java",),
        platform_methods=read_names(__package__, "methods"),
        exact_arguments=True,
        positional_arguments=True,
        functions_as="method",
        public_parameters=True,
    ),
    syntax=Syntax(
        package=__package__,
        queries=("java",),
        imports=read_dotted,
        value_types=(constructed_type,),
        value_of_name=lambda_parameter,
        argument=describe_function,
        flags=_flags,
        counts=True,
        values_hold=(b"::", b"->"),
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
    missing_member=(content,),
    bare_call=(take_made_type, take_method_past_locals, take_block_member, take_inherited_overloads),
    passed_to=passed_to,
    function_takers=function_takers,
    function_fit=function_fit,
    outside_type=_outside_type,
)
