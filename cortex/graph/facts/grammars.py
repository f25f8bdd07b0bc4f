"""A language as the facts of a file need it: node types of its syntax tree, and its rules of names.

`cortex/graph/languages` has a row for each language. A language of the indexer without one has no
graph (docs/GRAPH.md lists them).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
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


@dataclass(frozen=True, slots=True, eq=False)
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
    #: resolution substitutes type arguments for type parameters
    type_arguments: bool = False
    #: bare names in some blocks are members of a receiver (facts/blocks.py)
    blocks: bool = False
    #: functions get arguments by parameter name, as pytest's tests do
    fixtures: bool = False
    #: the first parameter of a method is the receiver
    first_parameter: bool = False
    #: a member written in a type may extend another: names of both types are visible in it
    written_in_types: bool = False
    #: a property hides the constructor parameter of its name, whose binding ends there
    hidden_parameters: bool = False
    #: fields outside of all types belong to the file
    file_fields: bool = False
    #: constants and functions have members: `save.fast = …`
    members_of_values: bool = False
    #: other files resolve names by the types of a function's parameters
    public_parameters: bool = False
    #: types are written in several parts
    partial_types: bool = False
    #: a file sees the names of the files that it includes
    includes: bool = False
    #: called names whose target has another name: Ruby's `Disk.new`, `save.call(disk)`
    renamed_calls: frozenset[str] = frozenset()
    #: all of `self_names`, `super_names` and `type_names`
    reserved: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reserved", self.self_names | self.super_names | self.type_names)


NO_SYNTAX = Syntax(())


@dataclass(frozen=True, slots=True, eq=False)
class Grammar:
    """A language as the extraction of facts needs it; with NO_SYNTAX it has definitions only."""

    name: str
    rules: Rules
    syntax: Syntax = NO_SYNTAX
