"""References of C++ in overloads: a variable binds to `Disk &`, a temporary value to `Disk &&`, and
a constant to neither. Pure.
"""

import re

from cortex.graph.facts.expressions.chains import MOVED, UNKNOWN
from cortex.graph.facts.facts import (
    ALIAS,
    CONSTANT,
    CONSTANT_OBJECT,
    DEFAULT,
    POINTER,
    VARYING,
    Binding,
    Definition,
    Parameter,
    Reference,
)
from cortex.graph.facts.reaching_bindings import BindingSite
from cortex.graph.languages.c.steps import parameter_types
from cortex.graph.resolution.project import Ref
from cortex.graph.resolution.types.arity import is_many, type_parameter_names
from cortex.graph.resolution.types.conversions import BUILT_IN, FREE_TYPE, bare_cpp_type
from cortex.graph.resolution.types.overloads import Overloads
from cortex.terms.kinds import TYPE_KINDS

#: kinds of arguments: one that can change; a constant; a name, of which neither is known; a value
#: without a name
_VARIABLE, _CONSTANT, _NAMED, _TEMPORARY = "variable", "constant", "named", "temporary"
#: how much a reference fits better than a copy or a constant reference: less than any conversion
_BETTER = 0.1
_WORD = re.compile(r"\w+")
#: flags of methods that change no object
_NOT_CHANGING = {CONSTANT_OBJECT, "static"}
#: one type by two names
_SAME_TEXTS = {"string", "basic_string"}


def bind_references(overloads: Overloads, ref: Ref, reference: Reference) -> float | None:
    """Return the fit of the references among the parameters of `ref`; None if one cannot bind."""
    definition = overloads.project.definition(ref)
    received = _receiver_fit(overloads, ref, reference)
    if received is None:
        return None
    total, free_names = received, type_parameter_names(definition)
    for parameter, argument in zip(definition.parameters, reference.passed, strict=False):
        declared = parameter.type.removesuffix(DEFAULT)
        if is_many(parameter):
            break
        if declared[-1:] != "&":
            continue
        kind = _kind_of(overloads, argument, reference)
        if not kind:
            continue
        moves, name = declared.endswith("&&"), bare_cpp_type(declared)
        converted = (
            False if name in free_names else _is_converted(overloads, ref, parameter, argument, reference)
        )
        # a conversion makes a temporary value
        kinds = {kind} if converted is False else {_TEMPORARY} if converted else {kind, _TEMPORARY}
        if not any(
            _binds(kind, name, definition.flags, moves=moves, is_free=name in free_names) for kind in kinds
        ):
            return None
        prefers = _TEMPORARY if moves else _VARIABLE
        is_constant = CONSTANT + name in definition.flags
        total += _BETTER if kinds == {prefers} and not is_constant else 0.0
    return total


def _receiver_fit(overloads: Overloads, ref: Ref, reference: Reference) -> float | None:
    """Return how much better a method that may change its object fits one that may change; None if
    the object is constant.
    """
    definition = overloads.project.definition(ref)
    is_changing = definition.kind == "method" and not _NOT_CHANGING.intersection(definition.flags)
    if not is_changing or definition.is_constructor:
        return 0.0
    receiver = reference.chain.rpartition(".")[0]
    if receiver in ("", "this"):
        kind = _kind_of_object(overloads, reference)
    else:
        kind = _kind_of_name(overloads, receiver, reference) if receiver.isidentifier() else ""
        if kind in (_VARIABLE, _CONSTANT) and not _holds_object(overloads, receiver, reference):
            return 0.0
    return None if kind == _CONSTANT else _BETTER / 2 if kind == _VARIABLE else 0.0


def _kind_of_object(overloads: Overloads, reference: Reference) -> str:
    """Return the kind of `this` in the method around a call; "" elsewhere."""
    definitions, scope = overloads.index.facts.definitions, reference.scope
    if scope < 0 or definitions[scope].kind != "method" or "static" in definitions[scope].flags:
        return ""
    return _CONSTANT if CONSTANT_OBJECT in definitions[scope].flags else _VARIABLE


def _holds_object(overloads: Overloads, name: str, reference: Reference) -> bool:
    """Return True if a variable's declared type is that of the object, and no pointer to it."""
    place = overloads.path, reference.scope, reference.at
    values = overloads.evaluator.evaluate(name, *place)
    if (
        len(values) != 1
        or values[0].tag != "inst"
        or overloads.evaluator.scopes.lookup(POINTER + name, *place)[0]
    ):
        return False
    declared = _declared_type(overloads, name, reference).partition("<")[0].replace("::", ".")
    named = overloads.evaluator.named_by_type(declared, overloads.path, reference.scope) if declared else ()
    types = [overloads.project.definition(value.ref) for value in named if value.tag == "def"]
    names = {name for definition in types for name in _names_of_type(definition)}
    is_constant = any(CONSTANT_OBJECT in definition.flags for definition in types)
    return not is_constant and overloads.project.definition(values[0].ref).name in names


def _names_of_type(definition: Definition) -> list[str]:
    """Return the name of a type, and that of the type for which it is another name; [] for another
    name of a pointer, `std::unique_ptr<Disk>`.
    """
    names = [definition.name]
    for base in definition.bases:
        if base.relation == ALIAS:
            names.append(base.chain.rpartition(".")[2])
            if names[-1] in _WORD.findall(base.arguments):
                return []
    return names


def _declared_type(overloads: Overloads, name: str, reference: Reference) -> str:
    """Return the declared type of a parameter or local variable; "" without one."""
    definitions, scope = overloads.index.facts.definitions, reference.scope
    while True:
        for parameter in definitions[scope].parameters if scope >= 0 else ():
            if parameter.name == name:
                return parameter.type.removesuffix(DEFAULT).rstrip("&")
        if sites := overloads.index.meanings(scope, name).at(reference.at).places:
            site = sites[-1]
            return site.value[1:] if isinstance(site, Binding) and site.value[:1] == ":" else ""
        if scope < 0:
            return ""
        scope = definitions[scope].parent


def _is_converted(
    overloads: Overloads, ref: Ref, parameter: Parameter, argument: str, reference: Reference
) -> bool | None:
    """Return True for an argument of another type than its parameter's; None if not evident."""
    actual = overloads.type_of(argument, reference.scope, reference.at)
    (wanted,) = parameter_types(overloads, ref, (parameter,), (actual,))
    if not actual or not wanted:
        return None
    if wanted.rstrip("*") == FREE_TYPE:  # of the class around
        return None if actual in BUILT_IN else False
    if wanted == actual:
        return False
    if actual not in BUILT_IN:
        return False if overloads.supertype_fit(wanted, actual) else None
    own_type = overloads.project_type(wanted) if wanted.isidentifier() else None
    is_class = own_type is not None and overloads.project.definition(own_type).kind != "type"
    return True if is_class or (wanted in BUILT_IN and {wanted, actual} != _SAME_TEXTS) else None


def _binds(kind: str, name: str, flags: tuple[str, ...], *, moves: bool, is_free: bool) -> bool:
    if kind == _TEMPORARY:
        return moves
    if moves and not is_free:
        return False
    if kind == _CONSTANT:
        return is_free and VARYING + name not in flags
    return kind != _VARIABLE or CONSTANT + name not in flags


def _kind_of(overloads: Overloads, argument: str, reference: Reference) -> str:
    """Return the kind of an argument, "" if not evident."""
    if argument.endswith(MOVED):
        return _TEMPORARY
    if argument[:1] == "#":
        return "" if "." in argument else _CONSTANT if argument == "#String" else _TEMPORARY
    if argument[-1:] == ")" and UNKNOWN not in argument:
        callee = argument[: argument.rindex("(")]
        values = overloads.evaluator.evaluate(callee, overloads.path, reference.scope, reference.at)
        kinds = [overloads.project.definition(value.ref).kind for value in values if value.tag == "def"]
        return _TEMPORARY if kinds and TYPE_KINDS.issuperset(kinds) else ""
    return _kind_of_name(overloads, argument, reference) if argument.isidentifier() else ""


def _kind_of_name(overloads: Overloads, name: str, reference: Reference) -> str:
    """Return the kind of a parameter or local variable; "" for other names."""
    definitions, scope = overloads.index.facts.definitions, reference.scope
    copies: list[BindingSite] = []
    while True:
        copies += overloads.index.meanings(scope, CONSTANT).at(reference.at).places
        for parameter in definitions[scope].parameters if scope >= 0 else ():
            if parameter.name == name:
                is_variable = parameter.type.removesuffix(DEFAULT)[-1:] == "&" and not copies
                return _VARIABLE if is_variable else _NAMED
        if scope >= 0 and definitions[scope].kind in TYPE_KINDS:
            return ""
        sites = overloads.index.meanings(scope, name).at(reference.at).places
        if sites and isinstance(sites[-1], Binding):
            marks = overloads.index.meanings(scope, CONSTANT + name).at(reference.at).places
            if any(isinstance(mark, Binding) and mark.at == sites[-1].at for mark in marks):
                return _CONSTANT
            is_copied = any(isinstance(copy, Binding) and copy.at > sites[-1].at for copy in copies)
            is_typed = sites[-1].value[:1] == ":" and not sites[-1].value.startswith((":auto", ":decltype"))
            is_variable = is_typed and (scope >= 0 or sites[-1].until > 0) and not is_copied
            return _VARIABLE if is_variable else _NAMED
        if scope < 0:
            return ""
        scope = definitions[scope].parent
