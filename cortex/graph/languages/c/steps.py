"""Modules, members and callees of C and C++, and C++'s types in overloads."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from cortex.graph.facts.expressions.chains import UNKNOWN
from cortex.graph.facts.facts import ALIAS, DEFAULT, MANY, Definition, Parameter, Reference
from cortex.graph.languages.c.argument_lookup import associated_functions
from cortex.graph.languages.c.syntax import HELD_BY, POINTER_MEMBERS, POINTER_TYPES
from cortex.graph.languages.defaults import read_names
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.calling.common_names import SECOND
from cortex.graph.resolution.calling.targets import CANDIDATES_MAX
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.values import Value, Values, merge_values, unique
from cortex.graph.resolution.modules.includes import C_HOME
from cortex.graph.resolution.modules.linkage import (
    drop_declarations,
    linked_definitions,
    members_of_type,
    reachable_definitions,
    signature,
)
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import accepts_count, is_many, type_parameter_names
from cortex.graph.resolution.types.conversions import (
    BUILT_IN,
    ELEMENTS,
    FREE_TYPE,
    MACRO_TEXT,
    NUMBERS,
    UNDECIDED,
    WIDE_TEXT,
    bare_cpp_type,
    cpp_fit,
)
from cortex.graph.resolution.types.overloads import CERTAIN, LIKELY, Overloads

#: the library's name space; the operator of smart pointers and iterators
LIBRARY, ARROW = "std", "operator->"
_PORTED = read_names(__package__, "ported")
#: literals → the names of their types
_LITERALS_OF_CPP = {
    "String": "char*",
    "boolean": "bool",
    "null": "null",
    "fn": "fn",
    WIDE_TEXT: "wchar_t*",
    MACRO_TEXT: f"{LIKELY}char*",
}
_WORD = re.compile(r"\w+")
#: types that are never an instance of a template
_PLAIN = NUMBERS | {"char*", "wchar_t*", "null"}
#: the type of a parameter that takes no argument
_CONFLICT = "?"
_GIVES_OF_CPP = {"string": "string", "to_string": "string", "c_str": "char*"}


def find_module(project: Project, module: str, importer: str) -> str:
    """Return the key of an included file, or of a name space."""
    return project.c.find(module, importer) or project.name_space_key(C_HOME, module)


def own_members(members: Members, owner: Ref, refs: list[Ref]) -> list[Ref]:
    """Return the members of a type, bodies in other files before declarations."""
    project = members.project
    return drop_declarations(project, members_of_type(project, owner, refs))


def value_of_pair(_members: Members, value: Value, name: str) -> Values:
    """Return the value of a map's pair, which acts as the pair."""
    return (value,) if name == SECOND and value.tag == "inst" else ()


def held_value(members: Members, value: Value, name: str) -> Values:
    """Return a function that gives what a smart pointer holds, `disk.get()`: the pointer acts as
    that.
    """
    is_pointer = name in HELD_BY and value.tag == "inst" and members.supertypes.of(value.ref).complete
    return (value._replace(tag="elem", depth=1),) if is_pointer else ()


def pointed_value(members: Members, value: Value, name: str) -> Values:
    """Return a member of what `operator->` of a type returns, `cursor->save()`."""
    if value.tag != "inst" or name == ARROW:
        return ()
    targets = [
        target
        for arrow in members.member(value.ref, ARROW)
        if arrow.tag == "def"
        for target in members.results.returned(arrow.ref)
    ]
    return merge_values(
        members.member(target.ref, name) for target in unique(targets) if target.tag == "inst"
    )


def is_outside(links: list[str]) -> bool:
    """Return True for a name of the library: no project defines `std`."""
    return links[0] == LIBRARY


def elements_of_loop(
    evaluator: Evaluator, value: Value, _link: str, _owners: Values, _place: tuple[str, int]
) -> Values:
    """Return the elements of `value` in `for (auto &x : value)`."""
    return evaluator.results.iterated(value)


def visible(project: Project, _evaluator: Evaluator, refs: list[Ref], path: str) -> list[Ref]:
    """Return the definitions in files that a file reads, bodies before declarations."""
    return drop_declarations(project, reachable_definitions(project, refs, path)) if len(refs) > 1 else refs


def reachable_methods(calls: Calls, _reference: Reference, refs: list[Ref]) -> list[Ref]:
    """Return the methods in files that a file reads; a constructor is called on no receiver."""
    methods = [ref for ref in refs if not calls.project.definition(ref).is_constructor]
    return reachable_definitions(calls.project, methods, calls.path)


def take_associated(calls: Calls, callee: Callee) -> None:
    """Take a function in the name spaces of the arguments' types."""
    if not callee.values and callee.reference.passed:
        callee.values = associated_functions(calls.project, calls.evaluator, calls.path, callee.reference)
        calls.targets.narrowed = True


def take_from_other_files(calls: Calls, callee: Callee) -> None:
    """Take definitions of the same scope in other files that take the arguments.

    Those count if no definition of this file takes as many arguments: it does not hide them.
    """
    reference, project, targets = callee.reference, calls.project, calls.targets
    refs = [value.ref for value in callee.values if value.tag == "def"]
    definitions = [project.definition(ref) for ref in refs]
    if (
        reference.arguments < 0
        or not refs
        or any(definition.kind != "function" for definition in definitions)
        or any(ref[0] != calls.path or targets.takes(ref, reference.arguments) for ref in refs)
    ):
        return
    scope_members = project.members_of(project.home(calls.path), definitions[0].scope)
    named = drop_declarations(project, [*scope_members.get(callee.name, ())])
    fitting = [
        ref
        for ref in linked_definitions(project, named, calls.path)
        if project.definition(ref).kind == "function" and targets.takes(ref, reference.arguments)
    ]
    callee.values = tuple(Value("def", *ref) for ref in fitting) or callee.values


def take_templates(calls: Calls, callee: Callee) -> None:
    """Take templates alone for a call with type arguments, `same<double>(1, 2.0)`: its numbers then
    need not have the same type.
    """
    if callee.reference.types < 1:
        return
    callee.reference = msgspec.structs.replace(
        callee.reference,
        passed=tuple(UNKNOWN if chain[1:] in NUMBERS else chain for chain in callee.reference.passed),
    )
    templates = tuple(
        value
        for value in callee.values
        if value.tag == "def" and type_parameter_names(calls.project.definition(value.ref))
    )
    callee.values = templates or callee.values


def doubt_ported(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return an unsure edge for a function of C's library that the project defines for systems
    without it.
    """
    if callee.name not in _PORTED:
        return None
    refs = calls.targets.callable_refs(callee.values, callee.reference.arguments)
    if not refs or len(refs) > CANDIDATES_MAX or any(calls.project.definition(ref).scope for ref in refs):
        return None
    return iter((calls.edges.ambiguous(callee.reference, refs, callee.confidence),))


def skip_library(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return no edges for a library's function that the project overloads, `std::to_string(1)`,
    unless the overload surely takes the arguments, nor for a type that it declares again.
    """
    reference, refs = callee.reference, calls.targets.callable_refs(callee.values, -1)
    if not reference.chain.startswith(f"{LIBRARY}.") or not refs or not reference.passed:
        return None
    calls.targets.narrowed = True
    kinds = {calls.project.definition(ref).kind for ref in refs}
    have_no_members = kinds <= {"function", "type"}
    taken = calls.targets.overloads.may_take(refs, reference, CERTAIN)
    return iter(()) if have_no_members and not taken else None


def skip_pointer(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return no edges for a smart pointer's own method, `disk.get()`; the project's own pointers
    are types like others.
    """
    if callee.name not in POINTER_MEMBERS or not callee.values:
        return None
    types = (calls.project.definition(owner.ref) for owner in callee.owners if owner.tag == "inst")
    if any(definition.name in POINTER_TYPES for definition in types):
        return None
    overloads, receiver, reference = calls.targets.overloads, callee.receiver, callee.reference
    find = overloads.field_type if "." in receiver and receiver[-1] not in ")]" else overloads.type_of
    return iter(()) if find(receiver, reference.scope, reference.at) in POINTER_TYPES else None


def plain_type(text: str) -> str:
    name = bare_cpp_type(text.lstrip(":"))
    return "char*" if name == "char" else name  # declared types lack the stars


def literal_type(name: str) -> str:
    return _LITERALS_OF_CPP.get(name, bare_cpp_type(name))


def parameter_types(
    overloads: Overloads, ref: Ref, parameters: Sequence[Parameter], arguments: Sequence[str]
) -> list[str]:
    """Return the plain types of parameters, `T` for those of a template; one that takes no argument
    where two arguments give a template's parameter different types.
    """
    free_names = overloads.type_parameters(ref)
    types = [
        _target_type(
            overloads, ref, bare_cpp_type(parameter.type.removeprefix(MANY).removesuffix(DEFAULT)), free_names
        )
        for parameter in parameters
    ]
    if not free_names:
        return types
    deduced = dict[str, str]()
    numbers = [_number_of(overloads, actual) for actual in arguments]
    for at, (parameter, name, actual) in enumerate(zip(parameters, types, numbers, strict=False)):
        if actual in _PLAIN and _is_instance(overloads, ref, parameter.type, free_names):
            types[at] = _CONFLICT
        is_typed = name in free_names and not parameter.type.startswith(MANY) and actual not in ("", "fn")
        if is_typed and not _named_type(overloads, actual) and deduced.setdefault(name, actual) != actual:
            types[at] = _CONFLICT
    return [
        FREE_TYPE + name[len(bare) :] if (bare := name.rstrip("*")) in free_names else name for name in types
    ]


def _is_instance(overloads: Overloads, ref: Ref, declared: str, free_names: frozenset[str]) -> bool:
    """Return True for a class whose arguments a call has to give by an argument of such a class,
    `std::vector<T>`: no number or text is converted to it. Not for other names of types.
    """
    name, _, arguments = declared.partition("<")
    if not arguments.endswith((">", ">&", ">&&")) or free_names.isdisjoint(_WORD.findall(arguments)):
        return False
    name = name.removeprefix("const ").strip()
    if name.startswith(f"{LIBRARY}::"):
        return not name.endswith("_t")
    own_type = overloads.project_type(name, ref) if name.isidentifier() else None
    return own_type is not None and overloads.project.definition(own_type).kind != "type"


def _target_type(overloads: Overloads, ref: Ref, name: str, free_names: frozenset[str]) -> str:
    """Return the library's type that a parameter's type is another name for; others as they are."""
    if name in BUILT_IN or name.rstrip("*") in free_names or not name.isidentifier():
        return name
    values = overloads.evaluator.named_by_type(name, *ref)
    overloads.keep_types(values)
    for value in values:
        definition = overloads.project.definition(value.ref) if value.tag == "def" else None
        if definition is not None and definition.kind == "type":
            bases = [base.chain.replace(".", "::") for base in definition.bases if base.relation == ALIAS]
            target = plain_type(definition.returns.lstrip(":") or "".join(bases))
            return target if target in BUILT_IN else name
    return name


def _may_construct(overloads: Overloads, wanted: str, actual: str) -> bool:
    """Return False if no constructor of a class of the project takes a value of a built-in type or
    text.
    """
    own_type = overloads.project_type(wanted)
    if own_type is None:
        return True
    project = overloads.project
    definition = project.definition(own_type)
    if definition.kind == "type":
        return bool(definition.bases or definition.returns)
    named = project.members_of(project.home(own_type[0]), definition.qualified).get(definition.name, ())
    constructors = [ref for ref in named if project.definition(ref).is_constructor]
    if not constructors or definition.bases:
        return True  # perhaps inherited
    for ref in constructors:
        constructor = signature(project, ref)
        if not accepts_count(constructor, 1):
            continue
        (first,) = parameter_types(overloads, ref, constructor.parameters[:1], ("",))
        is_copy = first in ("", wanted)
        takes_any = first.rstrip("*") == FREE_TYPE or is_many(constructor.parameters[0])
        if takes_any or (not is_copy and cpp_fit(first, actual) is not None and _may_be(overloads, first)):
            return True
    return False


def _may_be(overloads: Overloads, name: str) -> bool:
    """Return False for a class of the project: a value is converted once at most."""
    own_type = overloads.project_type(name) if name not in BUILT_IN and name.isidentifier() else None
    definition = overloads.project.definition(own_type) if own_type is not None else None
    return definition is None or (definition.kind == "type" and bool(definition.bases or definition.returns))


def fit(overloads: Overloads, wanted: str, actual: str) -> float | None:
    """Return the fit of an argument's type, by conversions or by supertypes of the project."""
    if wanted == _CONFLICT:
        return None
    converted = cpp_fit(wanted, actual)
    if converted == 0.0 and actual in BUILT_IN and wanted not in BUILT_IN:
        return 0.0 if _may_construct(overloads, wanted, actual) else None
    if not converted and (wanted in NUMBERS or actual in NUMBERS):
        if actual in NUMBERS and _is_enum(overloads, wanted):
            return None
        converted = cpp_fit(_number_of(overloads, wanted), _number_of(overloads, actual))
    if converted != UNDECIDED:
        return converted
    return overloads.supertype_fit(wanted.rstrip("*"), actual.rstrip("*"))


def _number_of(overloads: Overloads, name: str) -> str:
    """Return the number that a type of the project is another name for; others as they are."""
    alias = _named_type(overloads, name) if name[-1:] != "*" else None
    number = plain_type(alias.returns.lstrip(":")) if alias is not None else ""
    return number if number in NUMBERS else name


def _named_type(overloads: Overloads, name: str) -> Definition | None:
    """Return the enumeration, or other name of a type, that the project defines."""
    name = name.rstrip("*")
    ref = overloads.project_type(name) if name.isidentifier() and name not in NUMBERS else None
    definition = overloads.project.definition(ref) if ref else None
    return definition if definition is not None and definition.kind == "type" else None


def _is_enum(overloads: Overloads, name: str) -> bool:
    named = _named_type(overloads, name) if name[-1:] != "*" else None
    return named is not None and not (named.bases or named.returns)


def outside_type(chain: str) -> str:
    """Return the type of a library's function, of a container, or of a number, `unsigned(1)`."""
    name = chain.rpartition(".")[2]
    number = bare_cpp_type(name)
    return number if number in NUMBERS else _GIVES_OF_CPP.get(name, name if name in ELEMENTS else "")
