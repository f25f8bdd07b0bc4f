"""References of C++ in overloads: a variable binds to `Disk &`, a temporary value to `Disk &&`, and
a constant to neither. Pure.
"""

from __future__ import annotations

from cortex.graph.facts.expressions.chains import MOVED, UNKNOWN
from cortex.graph.facts.facts import CONSTANT, DEFAULT, VARYING, Binding, Parameter, Reference
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
#: one type by two names
_SAME_TEXTS = {"string", "basic_string"}


def bind_references(overloads: Overloads, ref: Ref, reference: Reference) -> float | None:
    """Return the fit of the references among the parameters of `ref`; None if one cannot bind."""
    definition = overloads.project.definition(ref)
    total, free_names = 0.0, type_parameter_names(definition)
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
    while True:
        copies = overloads.index.meanings(scope, CONSTANT).at(reference.at).places
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
