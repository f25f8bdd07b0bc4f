"""A language as the facts of a file need it: node types of its syntax tree, and its rules of names.

`cortex/graph/languages` has a row for each language. A language of the indexer without one has no
graph (docs/GRAPH.md lists them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tree_sitter import Node

if TYPE_CHECKING:
    from cortex.graph.facts.facts import Parameter
    from cortex.graph.facts.imports import Imported
    from cortex.graph.sweep.sweep import Sweep


def as_declared(_name: Node, declared: str) -> str:
    """Return a parameter's type as written."""
    return declared


def no_import(_node: Node, _imported: Imported) -> None:
    """Read nothing: files share their names."""


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
    #: node → function for its chain, which returns None where the common rules apply
    readers: Mapping[str, Callable[[Node, Syntax, int], str | None]] = field(default_factory=dict)
    #: literals on which extensions are called → their chains
    extended_literals: Mapping[str, str] = field(default_factory=dict)
    #: the first of several arguments may be passed on (`passes`); it may be a type (`casters`)
    passes_first: bool = False
    casts_first: bool = False
    #: the mark of a call holds the class in its first argument: `make(Disk::class)`
    class_arguments: bool = False
    #: arguments have labels that select the function
    labels: bool = False
    #: reads an argument (arguments.py) at a depth; None where the common rules apply
    argument: Callable[[Node, Syntax, int], str | None] | None = None
    #: reads the type of a parameter, with its marks, from its name and its type as written
    parameter_type: Callable[[Node, str], str] = as_declared
    #: read the type of a value from its text, in this order; "" if it is not evident
    value_types: tuple[Callable[[Node], str], ...] = ()
    #: reads the value of a bound name from the context
    value_of_name: Callable[[Node, Syntax], str] | None = None
    #: reads an import
    imports: Callable[[Node, Imported], None] = no_import
    #: reads flags of a definition that only this language has, from its node, the node that names
    #: its type, and its scope
    flags: Callable[[Node, Node | None, str], tuple[str, ...]] | None = None
    #: (node of a type with parameters in its head, their reader)
    head_parameters: tuple[str, Callable[[Node], Iterable[Parameter]]] | None = None
    #: reads the build constraints of a file from its root and path
    builds: Callable[[Node, str], str] | None = None
    #: tells names in patterns that are constants, and bind nothing
    is_constant_pattern: Callable[[Node], bool] | None = None
    #: reads (suite, test) from a macro that defines a test, and its first argument
    test_name: Callable[[Node, str], tuple[str, str] | None] | None = None
    #: reads the receiver of a mocked call, "" for any other
    mocked: Callable[[Node, Syntax], str] | None = None
    #: reads the type that a container extends, "" if the common rules apply
    extended_type: Callable[[Node], str] | None = None
    #: reads a package; the default takes the first of a file
    package: Callable[[Sweep, Node], None] | None = None
    #: reads the types of a result
    result_type: Callable[[Node], str] | None = None
    #: node in which a call only names its function
    selector: str = ""
    #: comments have types of variables and functions: JSDoc, and PHPDoc with members
    jsdoc: bool = False
    phpdoc: bool = False


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
    #: an assignment defines a constant only if its name is in capitals
    capital_constants: bool = False
    #: a name in capitals is no function
    capital_macros: bool = False
    #: values define, export and extend (sweep/script.py)
    scripts: bool = False
    #: ends the names of macros
    macro_mark: str = ""
    #: a container is a name space, and its functions are no methods
    name_spaces: bool = False
    #: bases by alias lose their pointers
    pointer_aliases: bool = False
    #: a base in this method belongs to the type that includes the module
    included_hook: str = ""
    #: a declared name is bound after its value
    bound_after_value: bool = False
    #: imports may be in modules inside the file, or rarely compiled
    inner_modules: bool = False
    #: functions without bodies outside of types have no parameters that count
    prototypes: bool = False
    #: results have names, which are no parameters
    named_results: bool = False
    #: macros define tests, and their arguments are no parameters
    test_macros: bool = False
    #: aliases of function types count
    function_aliases: bool = False
    #: separates the parts of a type's name, if not a dot
    path_mark: str = ""
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
