"""A language as the facts of a file need it: node types of its syntax tree, and its rules of names.

`cortex/graph/languages` has a row for each language. A language of the indexer without one has no
graph (docs/GRAPH.md lists them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tree_sitter import Node

from cortex.graph.facts.facts import Parameter


def as_declared(_name: Node, declared: str) -> str:
    """Return a parameter's type as written."""
    return declared


def no_import(_node: Node, _imported: object) -> None:
    """Read nothing: files share their names."""


@dataclass(frozen=True, slots=True, eq=False)
class Syntax:
    """Node types of expressions.

    `names` are identifiers; `members` map a member access to its (object, member) fields; `calls`,
    `news` and `elements` map a node to the field of the callee, the type or the container; `wraps`
    maps a transparent wrapper to the field of its content ("" for its first named child);
    `literals` have a type without definitions. A field that is a number is that named child.
    """

    #: package with the query files, and their names
    package: str = ""
    queries: tuple[str, ...] = ()
    names: frozenset[str] = frozenset({"identifier"})
    members: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    calls: Mapping[str, str] = field(default_factory=dict)
    news: Mapping[str, str] = field(default_factory=dict)
    elements: Mapping[str, str] = field(default_factory=dict)
    #: link to the values over which a loop runs
    item: str = "[]"
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
    #: each file that has functions as values holds one of these; () for no such test
    values_hold: tuple[bytes, ...] = ()
    #: node → function for its chain, which returns None where the common rules apply
    readers: Mapping[str, Callable[[Node, Syntax, int], str | None]] = field(default_factory=dict)
    #: literals on which extensions are called → their chains
    extended_literals: Mapping[str, str] = field(default_factory=dict)
    #: the first of several arguments may be passed on (`passes`); it may be a type (`casters`)
    passes_first: bool = False
    casts_first: bool = False
    #: reads the types in a call that its result may be of, `make(Disk::class)`, `Make<Disk>()`:
    #: their names, with `,` between
    call_types: Callable[[Node], str] | None = None
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
    #: reads an import into an `Imported`
    imports: Callable[[Node, Any], None] = no_import
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
    #: yields (chain, place) of the handlers of what a call of a chain dispatches
    dispatched: Callable[[Node, str, Syntax], Iterator[tuple[str, Node]]] | None = None
    #: reads the type that a container extends, "" if the common rules apply
    extended_type: Callable[[Node], str] | None = None
    #: returns (name, bytes) of a file's package from a further clause and those so far; the default
    #: takes the first clause
    read_package: Callable[[Node, str, int], tuple[str, int]] | None = None
    #: reads the types of a result
    result_type: Callable[[Node], str] | None = None
    #: operator → the method that it calls
    operators: Mapping[str, str] = field(default_factory=dict)
    #: operators are functions of both operands, in the type of either
    static_operators: bool = False
    #: signs whose operands are conditions: C++ converts them. Queries for them would be quadratic
    tested_signs: frozenset[str] = frozenset()
    #: operands of a postfix operator's function that nobody writes: C++'s `operator++(int)`
    postfix_operands: tuple[str, ...] = ()
    #: nodes around a name that is declared as a pointer or an array: it gets a second binding
    pointers: frozenset[str] = frozenset()
    #: a local constant gets a second binding
    constants: bool = False
    #: smart pointers, and their own members, of which `disk->get()` calls none
    pointer_types: frozenset[str] = frozenset()
    pointer_members: frozenset[str] = frozenset()
    #: node of an accessor, or the word that begins it → the end of its name
    accessors: Mapping[str, str] = field(default_factory=dict)
    #: returns (node of the property around an accessor, node of its name, node of the type that it
    #: extends); None for no accessor
    property_of: Callable[[Node], tuple[Node, Node, Node | None] | None] | None = None
    #: properties are read without a call: `disk.size` runs a getter
    reads_properties: bool = False
    #: an assignment to `disk.size` calls `size=`
    setters: bool = False
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
    #: bare names in some blocks are members of a receiver (expressions/blocks.py)
    blocks: bool = False
    #: the name that is bound to the `self` of some blocks (Ruby)
    block_self: str = ""
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
    #: an extension may hold fields of its type
    extended_fields: bool = False
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
    # --- names in scopes and packages
    #: a later definition of a name replaces earlier ones
    last_definition: bool = False
    #: an object and a class may share a name
    companions: bool = False
    #: an import may take members of a value or of an object
    value_imports: bool = False
    #: names of outer packages are visible: "first", or "last" after star imports
    outer_packages: str = ""
    #: packages have objects whose members are names of the package
    package_objects: bool = False
    #: a type may be written with its full package anywhere
    qualified_names: bool = False
    #: scopes may be inside others without definitions
    nested_scopes: bool = False
    #: files belong to some builds only (resolution/modules/builds.py)
    conditional_files: bool = False
    #: a folder's package may have further parts under other roots
    split_packages: bool = False
    #: an import of an external name may replace a definition of the file
    optional_imports: bool = False
    #: `module.exports = …` exports a value as a whole
    whole_exports: bool = False
    #: functions may be declared in a declaration file beside a script
    declaration_files: bool = False
    #: constants are targets of calls besides their values
    constants_with_values: bool = False
    #: a name in capitals that nothing binds is the only external one; else every global name is
    global_names: bool = False
    #: types alone begin with a capital: an unknown one is external, beside star imports too
    capitals_are_types: bool = False
    #: a function may be passed by its path, which begins with no import
    functions_by_path: bool = False
    # --- types and members
    #: types are values
    types_are_values: bool = False
    #: types share names with values, and have call and index signatures, `this` as a parameter, and
    #: interfaces that promise members without giving them
    erased_types: bool = False
    #: an interface with a class's name adds members to the class
    merged_interfaces: bool = False
    #: structural types: confidence of a match, "exact" if the types of parameters count
    structural: str = ""
    #: bases that make a type an interface
    abstract_bases: frozenset[str] = frozenset()
    #: each part of a type has bases of the whole type
    bases_in_parts: bool = False
    #: supertypes of the first base precede the second base
    ordered_bases: bool = False
    #: members of traits precede those of the base class
    traits_first: bool = False
    #: a type of the same name in another file is another type
    types_in_one_file: bool = False
    #: a field and a method of a type may share a name
    fields_beside_methods: bool = False
    #: a class method and an instance method may share a name; in `self` they are apart
    kinds_of_methods: bool = False
    class_methods: bool = False
    #: computed properties are called where they are named, in types and as bare names
    computed_members: bool = False
    computed_names: bool = False
    #: a method that takes nothing is called where it is named
    calls_without_arguments: bool = False
    #: `new` on a type makes an instance
    makes_by_new: bool = False
    #: `super` alone calls the overridden method
    bare_super: bool = False
    #: variants and tuples have fields with numbers
    numbered_fields: bool = False
    #: patterns destructure a class by the parameters of its constructor
    components: bool = False
    #: a type may act as the content that its `deref` returns
    derefs: bool = False
    #: fields have types that the bounds around decide
    bounded_fields: bool = False
    #: an array has the type of its elements
    typed_by_element: bool = False
    #: method that `x[0]` calls
    element_operator: str = ""
    #: operator's method → the method that is called if a type lacks the first: `+=` as `+`
    fallback_operators: Mapping[str, str] = field(default_factory=dict)
    #: a name space may share its name with a class
    classes_as_spaces: bool = False
    #: parameters without types get those of the overridden method, or of fixtures
    untyped_parameters: bool = False
    #: types for which a function may stand (function_types.py): "method", "type", or the name of
    #: their method; "" for none
    functions_as: str = ""
    #: alternatives of a value count only if all agree
    branches_agree: bool = False
    #: a name in capitals that nothing defines is an external type
    capital_types: bool = False
    # --- calls
    #: parameters have marks of defaults and of variadic ones
    default_arguments: bool = False
    #: overrides inherit the defaults of parameters, and are known by the names of these
    inherited_defaults: bool = False
    #: a declaration has the defaults of its body
    declared_defaults: bool = False
    #: a call on an unknown receiver needs a method with exactly so many parameters
    exact_arguments: bool = False
    #: a call needs a function that takes so many arguments; any number is accepted
    strict_arity: bool = False
    any_arguments: bool = False
    #: type arguments select the definition
    arity_of_types: bool = False
    #: arguments have labels that select the function
    labels: bool = False
    #: a type is no target of a call that a function may have
    uncallable_types: bool = False
    #: overloads of a base are beside those of a type, or are hidden by them
    inherits_overloads: bool = False
    hides_overloads: bool = False
    #: one function may have variants for several systems, known by parameters or by the name alone
    twins: bool = False
    untyped_twins: bool = False
    #: methods of one type that share a name by an alias are variants
    renamed_twins: bool = False
    #: variants are declared for platforms: `expect` and `actual`
    platform_variants: bool = False
    #: twins among the methods of one name on an unknown receiver are one function
    named_twins: bool = False
    #: extensions are functions with a receiver, or static methods with a first argument for it
    extension_functions: bool = False
    extension_methods: bool = False
    #: extensions are called on literals: of a type that their text shows, or of outside types
    evident_literals: bool = False
    outside_literals: bool = False
    #: methods of a function that call it
    calling_methods: frozenset[str] = frozenset()
    #: names of the language's library besides COMMON: a call of one on an unknown receiver says
    #: nothing about the project
    library_methods: frozenset[str] = frozenset()
    #: a framework's type that a project has → names that are then a library's, too
    framework_methods: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: further methods of types of the platform: on an unknown receiver they are no sign of the only
    #: method of that name in the project
    platform_methods: frozenset[str] = frozenset()
    # --- overloads
    #: a call must match the number of parameters
    counted_arguments: bool = False
    #: arguments have no names
    positional_arguments: bool = False
    #: the fit of a call is the sum of its arguments' fits
    summed_fits: bool = False
    #: types may be abstract: an unknown fit is none
    abstract_types: bool = False
    #: type of forwarded variadic arguments
    argument_list: str = ""
    #: library type → its supertypes
    library_supertypes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: called names whose target has another name: Ruby's `Disk.new`, `save.call(disk)`
    renamed_calls: frozenset[str] = frozenset()
    #: names of methods that are called for a value of their parameter's type
    handlers: frozenset[str] = frozenset()
    #: begins the names of methods that calls name without it: Laravel's `scopeVisible`
    uncalled_prefix: str = ""
    #: all of `self_names`, `super_names` and `type_names`
    reserved: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reserved", self.self_names | self.super_names | self.type_names)


NO_SYNTAX = Syntax()


@dataclass(frozen=True, slots=True, eq=False)
class Grammar:
    """A language as the extraction of facts needs it; with NO_SYNTAX it has definitions only."""

    name: str
    rules: Rules
    syntax: Syntax = NO_SYNTAX
