"""Tables about the syntax tree of each language, one row each, beside its query file. No logic.

A language of the indexer without a row here has no graph (docs/GRAPH.md lists them).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Syntax:
    """Node types of expressions.

    `names` are identifiers; `members` map a member access to its (object, member) fields; `calls`,
    `news` and `elements` map a node to the field of the callee, the type or the container; `wraps`
    maps a transparent wrapper to the field of its content ("" for its first named child);
    `literals` have a type without definitions. A field that is a number is that named child.
    """

    queries: tuple[str, ...]
    names: frozenset[str] = frozenset({"identifier"})
    members: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    calls: Mapping[str, str] = field(default_factory=dict)
    news: Mapping[str, str] = field(default_factory=dict)
    elements: Mapping[str, str] = field(default_factory=dict)
    wraps: Mapping[str, str] = field(default_factory=dict)
    casts: Mapping[str, str] = field(default_factory=dict)
    #: nodes with the value of one of these fields: `a or b`, `x ? a : b`
    either: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    literals: frozenset[str] = frozenset()
    #: bindings in a block are valid from the block's beginning: a comprehension uses its variable
    #: before the `for` that binds it
    hoisted: bool = False
    #: calls with receiver and name in one node: node → (receiver, name) fields
    methods: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    #: functions that make an instance of a type argument → their maximal number of arguments
    makers: Mapping[str, int] = field(default_factory=dict)
    #: functions that make a value of a type argument: "cast" an existing value, "made" a new one;
    #: "first": the type is the first of two arguments
    casters: Mapping[str, str] = field(default_factory=dict)
    #: functions that return a stand-in for their first argument, by the last two names; with a
    #: leading dot, by the last name only
    passes: frozenset[str] = frozenset()
    #: the language has overloads: a call stores its number of arguments
    counts: bool = False
    #: separates the types of a value that has all of them, if that is not `+`
    all_of: str = ""
    #: `require("x")` is a module
    requires: bool = False
    #: the queries for functions as values, if they differ from `queries`
    values: tuple[str, ...] = ()
    #: bytes in every file that has functions as values; "" for no such test
    values_hold: bytes = b""


@dataclass(frozen=True, slots=True)
class Rules:
    """Name rules of a language.

    `self_names`: the receiver's name in a method ("" if that is the first parameter);
    `implicit_self`: a bare name may be a member; `family`: languages that can call one another;
    `shared`: names at the top of a file are visible in the "folder", "package" or "project" without
    an import, "" for no such names; `suffixes`: dropped from ids.
    """

    family: str
    suffixes: tuple[str, ...]
    self_names: frozenset[str] = frozenset({"this"})
    super_names: frozenset[str] = frozenset({"super"})
    implicit_self: bool = False
    shared: str = ""
    #: names of the enclosing type itself
    type_names: frozenset[str] = frozenset()
    #: members of a type may be written in other files than the type
    open_types: bool = False
    #: functions of one name may differ by the types of their parameters (overloads.py)
    overloads: bool = False


_JS_MEMBERS = {"member_expression": ("object", "property")}
_JS: dict[str, Any] = {
    "requires": True,
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

_C: dict[str, Any] = {
    "names": frozenset(
        "identifier field_identifier type_identifier namespace_identifier this preproc_arg".split()
    ),
    "members": {"field_expression": ("argument", "field"), "qualified_identifier": ("scope", "name")},
    "calls": {"call_expression": "function"},
    "news": {"new_expression": "type", "compound_literal_expression": "type"},
    "elements": {"subscript_expression": "argument"},
    "wraps": {
        "parenthesized_expression": "",
        "pointer_expression": "argument",
        "template_function": "name",
        "template_type": "name",
        "template_method": "name",
        "dependent_name": "",
    },
    "casts": {"cast_expression": "type"},
    "literals": frozenset({"string_literal", "number_literal", "true", "false", "null", "lambda_expression"}),
}

SYNTAX: dict[str, Syntax] = {
    "python": Syntax(
        queries=("python",),
        members={"attribute": ("object", "attribute")},
        calls={"call": "function"},
        elements={"subscript": "value"},
        casters={"cast": "first"},
        passes=frozenset(
            "closing contextlib.closing aclosing contextlib.aclosing copy.copy copy.deepcopy deepcopy "
            "asyncio.run asyncio.wait_for asyncio.shield asyncio.create_task asyncio.ensure_future "
            ".run_until_complete .create_task".split()
        ),
        wraps={"parenthesized_expression": "", "await": "", "named_expression": "value"},
        either={"conditional_expression": ("0", "2"), "boolean_operator": ("left", "right")},
        literals=frozenset(
            "string concatenated_string integer float list dictionary set tuple true false none "
            "list_comprehension dictionary_comprehension set_comprehension lambda "
            "comparison_operator not_operator generator_expression binary_operator".split()
        ),
        hoisted=True,
    ),
    "go": Syntax(
        queries=("go",),
        names=frozenset({"identifier", "field_identifier", "type_identifier", "package_identifier"}),
        members={"selector_expression": ("operand", "field"), "qualified_type": ("package", "name")},
        calls={"call_expression": "function"},
        news={"composite_literal": "type"},
        makers={"new": 1, "make": 3},
        elements={"index_expression": "operand"},
        wraps={"parenthesized_expression": "", "unary_expression": "operand", "generic_type": "type"},
        casts={"type_assertion_expression": "type", "type_conversion_expression": "type"},
        literals=frozenset(
            "interpreted_string_literal raw_string_literal int_literal float_literal true false "
            "nil rune_literal func_literal binary_expression".split()
        ),
    ),
    "typescript": Syntax(
        queries=("typescript",),
        values=("script", "typescript"),
        names=_JS_NAMES,
        casts={"as_expression": "", "type_assertion": "0"},
        **_TS,
    ),
    "tsx": Syntax(
        queries=("typescript", "jsx"),
        values=("script", "typescript", "jsx"),
        names=_JS_NAMES,
        casts={"as_expression": "", "type_assertion": "0"},
        **_TS,
    ),
    "javascript": Syntax(
        queries=("javascript",), values=("script", "javascript", "jsx"), names=_JS_NAMES, **_JS
    ),
    "java": Syntax(
        queries=("java",),
        counts=True,
        values_hold=b"::",
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
    "rust": Syntax(
        queries=("rust",),
        names=frozenset(
            "identifier type_identifier field_identifier self super crate shorthand_field_identifier".split()
        ),
        members={
            "field_expression": ("value", "field"),
            "scoped_identifier": ("path", "name"),
            "scoped_type_identifier": ("path", "name"),
        },
        calls={"call_expression": "function"},
        news={"struct_expression": "name"},
        elements={"index_expression": "0"},
        wraps={
            "parenthesized_expression": "",
            "await_expression": "",
            "try_expression": "",
            "unsafe_block": "",
            "reference_expression": "value",
            "unary_expression": "",
            "generic_function": "function",
            "generic_type": "type",
            "bracketed_type": "",
        },
        casts={"type_cast_expression": "type"},
        passes=frozenset(
            "Some Ok Box.new Rc.new Arc.new Pin.new Mutex.new RwLock.new RefCell.new Cow.Borrowed Cow.Owned "
            "ManuallyDrop.new Box.pin Arc.clone Rc.clone".split()
        ),
        literals=frozenset(
            {"string_literal", "integer_literal", "float_literal", "boolean_literal", "closure_expression"}
        ),
    ),
    "c": Syntax(queries=("c",), **_C),
    "cpp": Syntax(
        queries=("cpp",),
        passes=frozenset({"std.move", "std.forward", "std.ref", "std.cref", "std.as_const"}),
        values=("c", "cpp"),
        casters={
            **dict.fromkeys(("static_cast", "dynamic_cast", "reinterpret_cast", "const_cast"), "cast"),
            **dict.fromkeys(("dynamic_pointer_cast", "static_pointer_cast", "down_cast"), "cast"),
            **dict.fromkeys(("make_unique", "make_shared"), "made"),
        },
        **_C,
    ),
    "csharp": Syntax(
        queries=("csharp",),
        counts=True,
        names=frozenset(
            {"identifier", "this", "base", "this_expression", "base_expression", "predefined_type"}
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
    "php": Syntax(
        queries=("php",),
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
    "kotlin": Syntax(
        queries=("kotlin",),
        counts=True,
        values_hold=b"::",
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
    "scala": Syntax(
        queries=("scala",),
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
    "swift": Syntax(
        queries=("swift",),
        counts=True,
        all_of="&",
        names=frozenset(
            "simple_identifier type_identifier self_expression super_expression bound_identifier".split()
        ),
        members={"navigation_expression": ("target", "suffix")},
        calls={"call_expression": "0"},
        wraps={
            "navigation_suffix": "suffix",
            "try_expression": "-1",
            "await_expression": "-1",
            "user_type": "",
            "optional_chain_marker": "",
            "postfix_expression": "0",
            "directly_assignable_expression": "",
            "tuple_expression": "",
        },
        casts={"as_expression": "-1"},
        literals=frozenset({"line_string_literal", "integer_literal", "boolean_literal", "array_literal"}),
    ),
    "ruby": Syntax(
        queries=("ruby",),
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
}

_SCRIPT = Rules("script", (".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs"))

RULES: dict[str, Rules] = {
    "python": Rules(
        "python",
        (".py",),
        self_names=frozenset(),
    ),
    "go": Rules(
        "go",
        (".go",),
        self_names=frozenset(),
        super_names=frozenset(),
        shared="folder",
    ),
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "javascript": _SCRIPT,
    "java": Rules("jvm", (".java",), implicit_self=True, shared="package", overloads=True),
    "kotlin": Rules("jvm", (".kt",), implicit_self=True, shared="package", open_types=True, overloads=True),
    "scala": Rules("jvm", (".scala",), implicit_self=True, shared="package", overloads=True),
    "rust": Rules(
        "rust",
        (".rs",),
        self_names=frozenset({"self"}),
        super_names=frozenset(),
        type_names=frozenset({"Self"}),
        open_types=True,
    ),
    "c": Rules("c", (".c",), self_names=frozenset(), super_names=frozenset(), shared="project"),
    "cpp": Rules(
        "c",
        (".cpp", ".cc", ".cxx"),
        super_names=frozenset(),
        implicit_self=True,
        shared="project",
        overloads=True,
    ),
    "csharp": Rules(
        "csharp",
        (".cs",),
        super_names=frozenset({"base"}),
        implicit_self=True,
        shared="package",
        overloads=True,
    ),
    "php": Rules(
        "php",
        (".php",),
        self_names=frozenset({"$this"}),
        super_names=frozenset({"parent"}),
        shared="package",
        type_names=frozenset({"self", "static"}),
    ),
    "swift": Rules(
        "swift",
        (".swift",),
        self_names=frozenset({"self"}),
        implicit_self=True,
        shared="project",
        type_names=frozenset({"Self"}),
    ),
    "ruby": Rules(
        "ruby",
        (".rb",),
        self_names=frozenset({"self"}),
        implicit_self=True,
        shared="project",
    ),
    # Definitions only: they are nodes, and nothing is resolved.
    **{
        name: Rules(name, (suffix,), self_names=frozenset(), super_names=frozenset())
        for name, suffix in (
            ("elixir", ".ex"),
            ("haskell", ".hs"),
            ("lua", ".lua"),
            ("zig", ".zig"),
            ("shell", ".sh"),
            ("sql", ".sql"),
        )
    },
}
