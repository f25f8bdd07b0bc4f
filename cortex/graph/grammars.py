"""What the graph has to know of each language's syntax tree beside its query file: one row for each. No logic.

A language of the indexer without a row here has no graph (docs/GRAPH.md lists them).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Syntax:
    """Node types of expressions: `names` are identifiers, `members` map a member access to its (object, member) fields,
    `calls`, `news` and `elements` a node to the field of what is called, made or indexed; `wraps` a node to the field
    that it is a transparent cover of ("" for its first named child); `literals` have a type of no interest.
    """

    queries: tuple[str, ...]
    names: frozenset[str] = frozenset({"identifier"})
    members: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    calls: Mapping[str, str] = field(default_factory=dict)
    news: Mapping[str, str] = field(default_factory=dict)
    elements: Mapping[str, str] = field(default_factory=dict)
    wraps: Mapping[str, str] = field(default_factory=dict)
    casts: Mapping[str, str] = field(default_factory=dict)
    literals: frozenset[str] = frozenset()
    #: node types whose binding is one of a function, not of the block around it (Python, JavaScript's `var`)
    hoisted: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """How names behave. `self_names`: the receiver's name inside a method ("" where the first parameter is it);
    `implicit_self`: a bare name may be a member; `family`: languages that can call one another; `shared`: names at the
    top of a file are seen by "folder", "package" or "project" without an import, else "" ; `suffix`: dropped from ids.
    """

    family: str
    suffixes: tuple[str, ...]
    self_names: frozenset[str] = frozenset({"this"})
    super_names: frozenset[str] = frozenset({"super"})
    implicit_self: bool = False
    shared: str = ""
    constructors: frozenset[str] = field(default_factory=lambda: frozenset({"constructor"}))
    #: a class calls its instances' maker by its own name: `Foo()`
    callable_types: bool = True


_JS_MEMBERS = {"member_expression": ("object", "property")}
_JS: dict[str, Any] = {
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
    "literals": frozenset(
        {
            "string",
            "template_string",
            "number",
            "array",
            "object",
            "regex",
            "true",
            "false",
            "null",
            "arrow_function",
        }
    ),
}
_JS_NAMES = frozenset(
    {
        "identifier",
        "this",
        "super",
        "property_identifier",
        "private_property_identifier",
        "type_identifier",
        "undefined",
    }
)

SYNTAX: dict[str, Syntax] = {
    "python": Syntax(
        queries=("python",),
        members={"attribute": ("object", "attribute")},
        calls={"call": "function"},
        elements={"subscript": "value"},
        wraps={"parenthesized_expression": "", "await": "", "named_expression": "value"},
        literals=frozenset(
            {
                *(
                    "string",
                    "concatenated_string",
                    "integer",
                    "float",
                    "list",
                    "dictionary",
                    "set",
                    "tuple",
                    "true",
                ),
                *(
                    "false",
                    "none",
                    "list_comprehension",
                    "dictionary_comprehension",
                    "set_comprehension",
                    "lambda",
                ),
                *("comparison_operator", "not_operator", "generator_expression", "binary_operator"),
            }
        ),
        hoisted=True,
    ),
    "go": Syntax(
        queries=("go",),
        names=frozenset({"identifier", "field_identifier", "type_identifier", "package_identifier"}),
        members={"selector_expression": ("operand", "field"), "qualified_type": ("package", "name")},
        calls={"call_expression": "function"},
        news={"composite_literal": "type"},
        elements={"index_expression": "operand"},
        wraps={"parenthesized_expression": "", "unary_expression": "operand", "generic_type": "type"},
        casts={"type_assertion_expression": "type", "type_conversion_expression": "type"},
        literals=frozenset(
            {
                *(
                    "interpreted_string_literal",
                    "raw_string_literal",
                    "int_literal",
                    "float_literal",
                    "true",
                    "false",
                ),
                *("nil", "rune_literal", "func_literal", "binary_expression"),
            }
        ),
    ),
    "typescript": Syntax(
        queries=("typescript",), names=_JS_NAMES, casts={"as_expression": ""}, hoisted=False, **_JS
    ),
    "tsx": Syntax(
        queries=("typescript", "jsx"), names=_JS_NAMES, casts={"as_expression": ""}, hoisted=False, **_JS
    ),
    "javascript": Syntax(queries=("javascript",), names=_JS_NAMES, hoisted=False, **_JS),
}

_SCRIPT = Rules("script", (".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs"))

RULES: dict[str, Rules] = {
    "python": Rules(
        "python",
        (".py",),
        self_names=frozenset(),
        constructors=frozenset({"__init__", "__new__"}),
    ),
    "go": Rules(
        "go",
        (".go",),
        self_names=frozenset(),
        super_names=frozenset(),
        shared="folder",
        constructors=frozenset(),
    ),
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "javascript": _SCRIPT,
}
