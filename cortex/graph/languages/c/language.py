"""C and C++."""

from dataclasses import replace
from functools import partial

from cortex.graph.facts.expressions.blocks import BLOCK_ARGUMENT
from cortex.graph.facts.expressions.operators import TEST
from cortex.graph.facts.grammars import Rules, Syntax
from cortex.graph.facts.imports import read_c
from cortex.graph.facts.repairs.macros import mocked_chain, read_test_macro
from cortex.graph.languages.c.argument_lookup import is_operand, operator_functions
from cortex.graph.languages.c.reference_binding import bind_references
from cortex.graph.languages.c.steps import (
    doubt_ported,
    elements_of_loop,
    find_module,
    fit,
    held_value,
    is_outside,
    literal_type,
    outside_type,
    own_members,
    parameter_types,
    plain_type,
    pointed_value,
    reachable_methods,
    skip_library,
    skip_pointer,
    take_associated,
    take_from_other_files,
    take_templates,
    value_of_pair,
    visible,
)
from cortex.graph.languages.c.syntax import (
    OPERATORS,
    POINTER_MEMBERS,
    POINTER_TYPES,
    POINTERS,
    describe_argument,
    macro_chain,
    parameter_type,
    pointee_chain,
    result_type,
    template_flags,
)
from cortex.graph.languages.defaults import read_names
from cortex.graph.languages.steps import called_by_method
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.types.conversions import ARGUMENT_LIST
from cortex.terms.languages import family_of

C = Language(
    "c",
    rules=Rules(
        family_of("c"),
        (".c",),
        functions_by_path=True,
        nested_scopes=True,
        types_in_one_file=True,
        typed_by_element=True,
        inherits_overloads=True,
        hides_overloads=True,
        uncallable_types=True,
        twins=True,
        untyped_twins=True,
        capital_macros=True,
        prototypes=True,
        self_names=frozenset(),
        super_names=frozenset(),
        shared="project",
        includes=True,
    ),
    syntax=Syntax(
        package=__package__,
        queries=("c",),
        imports=read_c,
        names=frozenset(
            "identifier field_identifier type_identifier namespace_identifier this preproc_arg".split()
        ),
        members={"field_expression": ("argument", "field"), "qualified_identifier": ("scope", "name")},
        calls={"call_expression": "function"},
        news={"new_expression": "type", "compound_literal_expression": "type"},
        elements={"subscript_expression": "argument"},
        wraps={
            "parenthesized_expression": "",
            "pointer_expression": "argument",
            "template_function": "name",
            "template_type": "name",
            "template_method": "name",
            "dependent_name": "",
        },
        casts={"cast_expression": "type"},
        literals=frozenset(
            {"string_literal", "number_literal", "true", "false", "null", "lambda_expression"}
        ),
    ),
    find_module=find_module,
    own_members=own_members,
    missing_member=(value_of_pair,),
    methods_by_name=(reachable_methods,),
    bare_call=(doubt_ported,),
    visible=visible,
)

CPP = replace(
    C,
    name="cpp",
    rules=replace(
        C.rules,
        family=family_of("cpp"),
        suffixes=(".cpp", ".cc", ".cxx"),
        self_names=frozenset({"this"}),
        uncallable_types=False,
        untyped_twins=False,
        platform_methods=read_names(__package__, "methods"),
        default_arguments=True,
        declared_defaults=True,
        summed_fits=True,
        argument_list=ARGUMENT_LIST,
        name_spaces=True,
        pointer_aliases=True,
        test_macros=True,
        implicit_self=True,
        overloads=True,
        type_arguments=True,
        fallback_operators={"operator!": TEST},
        element_operator="operator[]",
    ),
    syntax=replace(
        C.syntax,
        queries=("cpp",),
        operators=OPERATORS,
        static_operators=True,
        tested_signs=frozenset({"&&", "||", "and", "or"}),
        postfix_operands=("#int",),
        pointers=POINTERS,
        constants=True,
        pointer_types=POINTER_TYPES,
        pointer_members=POINTER_MEMBERS,
        argument=describe_argument,
        parameter_type=parameter_type,
        result_type=result_type,
        flags=template_flags,
        names=C.syntax.names - {"preproc_arg"},
        readers={"pointer_expression": pointee_chain, "preproc_arg": macro_chain},
        test_name=read_test_macro,
        mocked=mocked_chain,
        passes=frozenset({"std.move", "std.forward", "std.ref", "std.cref", "std.as_const"}),
        values=("c", "cpp"),
        item=BLOCK_ARGUMENT,
        casters={
            **dict.fromkeys(("static_cast", "dynamic_cast", "reinterpret_cast", "const_cast"), "cast"),
            **dict.fromkeys(("dynamic_pointer_cast", "static_pointer_cast", "down_cast"), "cast"),
            "make_unique": "unique_ptr",
            "make_shared": "shared_ptr",
        },
    ),
    missing_member=(value_of_pair, held_value, pointed_value),
    member_call=(skip_library, skip_pointer, take_templates),
    bare_call=(take_associated, take_from_other_files, take_templates, doubt_ported),
    bare_type=plain_type,
    literal_type=literal_type,
    call_operator=partial(called_by_method, "operator()"),
    is_operand=is_operand,
    operator_functions=operator_functions,
    parameter_types=parameter_types,
    fit=fit,
    bind_references=bind_references,
    outside_type=outside_type,
    is_outside=is_outside,
    passed_to=elements_of_loop,
)
