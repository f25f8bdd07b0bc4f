"""C#, with its literals, arguments, parameters and packages in the syntax tree."""

from tree_sitter import Node

from cortex.graph.facts.declared.generics import constructed_type
from cortex.graph.facts.expressions.arguments import INTEGERS, LITERALS, REALS
from cortex.graph.facts.expressions.chains import LITERAL, package_name, text_of
from cortex.graph.facts.expressions.lambda_parameters import lambda_parameter
from cortex.graph.facts.expressions.operators import ELEMENT, SET_ELEMENT
from cortex.graph.facts.facts import ACCESSOR, MANY
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import has_more_types_outside, read_csharp
from cortex.graph.languages.csharp.functions import describe_function, function_fit
from cortex.graph.languages.csharp.steps import (
    called_member,
    extended,
    extensions_called,
    find_module,
    is_member_called,
    is_outside,
    make_in_namespace,
    parameter_types,
    passed_to,
    take_of_arity,
)
from cortex.graph.languages.defaults import read_names, with_default
from cortex.graph.languages.steps import take_inherited_overloads, take_made_type
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.types.lambda_parameters import function_takers
from cortex.graph.resolution.types.partial_types import of_arity
from cortex.graph.resolution.types.plain_types import plain_csharp_type
from cortex.terms.languages import family_of

_NAMED_TYPES = {"String": "string", "boolean": "bool", "char": "char"}
#: literals → the names of their types, as arguments have them
_TEXTS_AND_NUMBERS = {
    **dict.fromkeys("string_literal verbatim_string_literal raw_string_literal".split(), "String"),
    "interpolated_string_expression": "String",
    "integer_literal": "int",
    "real_literal": "double",
    "character_literal": "char",
    "boolean_literal": "boolean",
}
#: literals → chains on which extensions are called
LITERAL_CHAINS = {kind: LITERAL + name for kind, name in _TEXTS_AND_NUMBERS.items()}


#: operators, and the methods that they call
OPERATORS = {sign: f"operator{sign}" for sign in "+ - * / % == != < > <= >= & | ^ << >> ! ~ ++ --".split()}
OPERATORS |= {f"{sign}=": f"operator{sign}" for sign in "+-*/"}
OPERATORS |= {f"{sign}_": f"operator{sign}" for sign in "- + ! ~ ++ --".split()}
OPERATORS |= {f"_{sign}": f"operator{sign}" for sign in ("++", "--")}
OPERATORS |= {truth: f"operator {truth}" for truth in ("true", "false")}
OPERATORS |= {ELEMENT: f"{ACCESSOR}this", SET_ELEMENT: f"this{ACCESSOR}"}


def literal_type(value: Node) -> str:
    """Return the type of a literal; "" for other nodes."""
    type_name = "int" if value.type in INTEGERS else "double" if value.type in REALS else ""
    return type_name or _NAMED_TYPES.get(LITERALS.get(value.type, ""), "")


def type_arguments(call: Node) -> str:
    """Return the type arguments of a call, `Disk,Tape` of `Make<Disk, Tape>()`; "" without any, and
    for others than plain names.
    """
    callee = call.child(0)
    if callee is not None and callee.type in _MEMBERS:
        callee = callee.child(callee.child_count - 1)
    if callee is not None and callee.type == "member_binding_expression":
        callee = callee.child(callee.child_count - 1)
    if callee is None or callee.type != "generic_name":
        return ""
    arguments = callee.named_children[-1].named_children
    if not all(argument.type in _PLAIN_TYPES for argument in arguments):
        return ""
    return ",".join(text_of(argument) for argument in arguments)


def parameter_type(name: Node, declared: str) -> str:
    """Return a parameter's type, with the marks of `params Disk[] disks` and of a default."""
    if name.parent is not None and name.parent.type == "parameter_list":
        return f"{MANY}{declared.rstrip('?').removesuffix('[]')}"
    return with_default(name, declared)


def read_package(node: Node, name: str, size: int) -> tuple[str, int]:
    """Read a name space; of several in a file the longest is the file's package."""
    around = node.parent
    if around is not None and has_more_types_outside(around):  # the file itself has no package
        return name, size
    own_size = around.end_byte - around.start_byte if around is not None else 0
    return (name, size) if name and own_size <= size else (package_name(node), own_size)


_MEMBERS = frozenset({"member_access_expression", "conditional_access_expression"})
_PLAIN_TYPES = frozenset({"identifier", "predefined_type"})
#: declarations with accessors
_PROPERTIES = frozenset({"property_declaration", "indexer_declaration", "event_declaration"})


def property_of(accessor: Node) -> tuple[Node, Node, None] | None:
    """Return (property, its name, None) for an accessor; an indexer has the name `this`."""
    around = accessor.parent
    if around is not None and around.type == "accessor_list":
        around = around.parent
    if around is None or around.type not in _PROPERTIES:
        return None
    name = around.child_by_field_name("name")
    name = next((child for child in around.children if child.type == "this"), None) if name is None else name
    return (around, name, None) if name is not None else None


CSHARP = Language(
    "csharp",
    rules=Rules(
        family_of("csharp"),
        (".cs",),
        platform_methods=read_names(__package__, "methods"),
        bases_in_parts=True,
        inherits_overloads=True,
        default_arguments=True,
        exact_arguments=True,
        counted_arguments=True,
        summed_fits=True,
        qualified_names=True,
        outer_packages="first",
        arity_of_types=True,
        strict_arity=True,
        outside_literals=True,
        extension_methods=True,
        capital_types=True,
        super_names=frozenset({"base"}),
        implicit_self=True,
        shared="package",
        overloads=True,
        type_arguments=True,
        partial_types=True,
        functions_as="type",
    ),
    syntax=Syntax(
        package=__package__,
        queries=("csharp",),
        imports=read_csharp,
        value_types=(literal_type, constructed_type),
        argument=describe_function,
        value_of_name=lambda_parameter,
        call_types=type_arguments,
        parameter_type=parameter_type,
        extended_literals=LITERAL_CHAINS,
        read_package=read_package,
        accessors={
            **dict.fromkeys(("get", "add", "remove", "arrow_expression_clause"), ""),
            **dict.fromkeys(("set", "init"), ACCESSOR),
        },
        property_of=property_of,
        operators=OPERATORS,
        static_operators=True,
        reads_properties=True,
        counts=True,
        names=frozenset(
            "identifier implicit_parameter this base this_expression base_expression predefined_type".split()
        ),
        members={
            "member_access_expression": ("expression", "name"),
            "conditional_access_expression": ("condition", "-1"),
            "qualified_name": ("qualifier", "name"),
        },
        calls={"invocation_expression": "function"},
        news={"object_creation_expression": "type"},
        elements={"element_access_expression": "expression"},
        wraps={
            "parenthesized_expression": "",
            "await_expression": "",
            "generic_name": "0",
            "member_binding_expression": "name",
            "nullable_type": "",
            "postfix_unary_expression": "",
            "prefix_unary_expression": "",
        },
        casts={"cast_expression": "type", "as_expression": "right"},
        literals=frozenset({"string_literal", "integer_literal", "boolean_literal", "null_literal"}),
    ),
    find_module=find_module,
    is_outside=is_outside,
    passed_to=passed_to,
    function_takers=function_takers,
    holds_pairs=lambda text: "Dictionary<" in text or "SortedList<" in text,
    called_member=called_member,
    bare_call=(take_made_type, take_of_arity, take_inherited_overloads),
    member_call=(make_in_namespace,),
    called_member_values=(take_of_arity,),
    is_member_called=is_member_called,
    methods_by_name=(lambda calls, reference, refs: of_arity(calls.project, refs, reference.types),),
    extended=extended,
    extensions_called=extensions_called,
    bare_type=plain_csharp_type,
    parameter_types=parameter_types,
    function_fit=function_fit,
)
