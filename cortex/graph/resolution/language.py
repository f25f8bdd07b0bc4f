"""The protocol of a language: the rules and hooks that resolution reads.

The defaults of the hooks do nothing. `cortex/graph/languages` has one object for each language, and
a Project gets the table of them. The steps of a call are those of the caller's file, the steps of a
member those of the value's file: a project may mix Java, Kotlin and Scala.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from cortex.graph.facts.facts import Definition, Import, Parameter, Reference
from cortex.graph.facts.grammars import Grammar
from cortex.graph.facts.tables import Ref
from cortex.graph.resolution.evaluation.values import Value, Values

# The objects that hooks get. Their modules import this one, so a checker cannot know them here.
Project = Any
Evaluator = Any
Exports = Any
Members = Any
ChainEvaluator = Any
Calls = Any
Callee = Any
ExtendedCalls = Any
Overloads = Any

#: (file, scope) of a chain, and (file, scope, byte)
Scope = tuple[str, int]
Place = tuple[str, int, int]
#: changes a callee; returns edges if it ends the call
CallStep = Callable[[Calls, Callee], Iterator[Any] | None]


def nothing_passed(
    _evaluator: Evaluator, _value: Value, _link: str, _owners: Values, _place: Scope
) -> Values:
    return ()


@dataclass(frozen=True, slots=True, eq=False)
class Language(Grammar):
    """A language of the graph."""

    # --- modules
    #: key of a module that a file names, "" for an external one; by default a package
    find_module: Callable[[Project, str, str], str] | None = None
    #: key of a module's submodule
    submodule: Callable[[Project, str, str], str] | None = None
    #: key of the file with further declarations of a module, "" without one
    stub: Callable[[Project, str], str] | None = None
    #: values of an imported member before the module's exports count; None to go on
    import_first: Callable[[Exports, Import, str, str, int], Values | None] | None = None
    #: key of a module that an import means if the module exports no such member
    import_last: Callable[[Project, Import, str, str], str] | None = None
    #: keys of the module of a dotted name, besides those from the top
    keys_around: Callable[[Project, str, str, list[str]], list[str]] | None = None
    # --- chains
    #: tells a chain with a first name that no project defines
    is_outside: Callable[[list[str]], bool] | None = None
    #: (callees, their owners) of a chain that begins with a call
    called_root: Callable[[Evaluator, list[str], Place, Values], tuple[Values, Values]] | None = None
    #: callees of a link that is called, among the members or extensions of its owners
    called_member: Callable[[Evaluator, list[str], int, str, Values, Values], Values] | None = None
    #: results of a called type's name
    applied: Callable[[Evaluator, Value, int], Values] | None = None
    #: values of a chain's first name that no parentheses follow
    uncalled_root: Callable[[Evaluator, str, Scope, Values], Values] | None = None
    #: values of a name that may be called without parentheses
    uncalled: Callable[[Evaluator, Values, list[str], Values, Scope], Values] | None = None
    #: receivers and arguments of a block that a function gets
    passed_to: Callable[[Evaluator, Value, str, Values, Scope], Values] = nothing_passed
    #: callees that get a function, among members and owners
    function_takers: Callable[[Evaluator, Values, Values], Values] | None = None
    #: (type, result) of a declared function type; the result is "" for other types
    function_type: Callable[[str], tuple[str, str]] | None = None
    #: tells a declared type of containers whose own elements are pairs of a key and an element
    holds_pairs: Callable[[str], bool] | None = None
    # --- members
    #: definitions that belong to a type, among those in its scope
    own_members: Callable[[Members, Ref, list[Ref]], list[Ref]] | None = None
    #: (methods that a name of a type means, bindings that are no aliases) among both
    with_aliases: Callable[[Members, Ref, str, Values, Sequence[Any]], tuple[Values, list[Any]]] | None = None
    #: values of a member of a list of instances that the common names do not give
    listed_member: Callable[[Members, Value, str], Values] | None = None
    #: values of a member that a type lacks, in this order
    missing_member: tuple[Callable[[Members, Value, str], Values], ...] = ()
    #: functions that a call of an instance calls
    call_operator: Callable[[Project, ChainEvaluator, Value], Values] | None = None
    #: tells whether an operand is a value of its type, and no pointer to one
    is_operand: Callable[[Calls, Reference, str], bool] | None = None
    #: functions outside of types that an operator with this name calls
    operator_functions: Callable[[Calls, Reference, str], list[Ref]] | None = None
    # --- calls
    bare_call: tuple[CallStep, ...] = ()
    #: before extensions count
    member_call: tuple[CallStep, ...] = ()
    #: after a member was chosen
    called_member_values: tuple[CallStep, ...] = ()
    #: tells whether a call means a member, and no extension
    is_member_called: Callable[[Calls, list[Ref], Reference], bool] | None = None
    #: methods of one name on an unknown receiver, restricted in this order
    methods_by_name: tuple[Callable[[Calls, Reference, list[Ref]], list[Ref]], ...] = ()
    #: methods of a name that libraries have too, on an unknown receiver; None: of none
    common_methods: Callable[[Calls, Reference, str], list[Ref]] | None = None
    #: definitions that a file can mean, among the callees
    visible: Callable[[Project, Evaluator, list[Ref], str], list[Ref]] | None = None
    #: tells whether code in a file can see definitions in another
    sees: Callable[[str, str], bool] | None = None
    # --- extensions
    #: receiver type of an extension, None for other definitions
    extended: Callable[[Definition], str | None] | None = None
    #: extensions that a call may mean
    extensions_called: Callable[[ExtendedCalls, Reference, str, str, Values], list[Ref]] | None = None
    # --- overloads
    #: plain name of a declared type, and of a literal's
    bare_type: Callable[[str], str] | None = None
    literal_type: Callable[[str], str] | None = None
    #: plain names of the types of parameters
    parameter_types: Callable[[Overloads, Ref, Sequence[Parameter], Sequence[str]], list[str]] | None = None
    #: fit of an argument's type, in place of the common rules or before them (None: they apply)
    fit: Callable[[Overloads, str, str], float | None] | None = None
    special_fit: Callable[[Overloads, str, str], float | None] | None = None
    #: fit of an unnamed function, whose type begins with `fn`; None if it does not fit
    function_fit: Callable[[Overloads, str, str], float | None] | None = None
    #: fit of the references among a function's parameters; None if one cannot bind its argument
    bind_references: Callable[[Overloads, Ref, Reference], float | None] | None = None
    #: type of an expression of the library
    outside_type: Callable[[str], str] | None = None
