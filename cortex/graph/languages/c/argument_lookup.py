"""Argument-dependent lookup of C++: functions in the name spaces of a call's argument types, and
operators of values of these types. Pure.
"""

import re

import msgspec

from cortex.graph.facts.expressions.chains import ADDRESS, MOVED, POINTED, split_chain
from cortex.graph.facts.facts import DEFAULT, POINTER, Reference
from cortex.graph.resolution.calling.calls import Calls
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import Value, Values
from cortex.graph.resolution.modules.includes import C_HOME
from cortex.graph.resolution.modules.package_names import in_scope
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.conversions import bare_cpp_type

#: an operand that may be a value of a type, and the object of a method
_NAMES, _OBJECT = re.compile(r"(?!this$)\w+(?:\.\w+)*"), f"this{POINTED}"


def associated_functions(project: Project, evaluator: Evaluator, path: str, reference: Reference) -> Values:
    """Return the functions that `save(disk)` may mean if no scope around the call has the name."""
    values: dict[Value, None] = {}
    for chain in reference.passed:
        if chain[:1] in "#?":
            continue
        for value in evaluator.evaluate(
            chain.removesuffix(ADDRESS).removesuffix(MOVED), path, reference.scope, reference.at
        ):
            if value.tag == "inst" and project.home(value.path) == C_HOME:
                name_space = _space_of(project, project.definition(value.ref).scope)
                values.update(dict.fromkeys(in_scope(project, C_HOME, name_space, reference.chain, path)))
    return tuple(values)


def _space_of(project: Project, scope: str) -> str:
    """Return the name space of a scope, which may be a type's."""
    while scope and any(project.types_named(C_HOME, scope)):
        scope = scope.rpartition(".")[0]
    return scope


def is_operand(calls: Calls, reference: Reference, operand: str) -> bool:
    return bool(_operand_type(calls, reference, operand))


def operator_functions(calls: Calls, reference: Reference, name: str) -> list[Ref]:
    """Return the functions of an operator that name the type of an operand in its place."""
    types = [_operand_type(calls, reference, operand) for operand in reference.passed]
    if not any(types):
        return []
    named = msgspec.structs.replace(reference, chain=name)
    values = associated_functions(calls.project, calls.evaluator, calls.path, named)
    refs = [
        ref
        for ref in calls.targets.callable_refs(values, len(types))
        if any(
            type_name and type_name == bare_cpp_type(parameter.type)
            for type_name, parameter in zip(types, calls.project.definition(ref).parameters, strict=False)
        )
    ]
    return refs if refs and calls.targets.overloads.may_take(refs, reference) else []


def _operand_type(calls: Calls, reference: Reference, operand: str) -> str:
    """Return the name of the project's type that a name has by its declaration; "" for pointers and
    arrays, and for names without a declared type.
    """
    if operand != _OBJECT and not _NAMES.fullmatch(operand):
        return ""
    evaluator, place = calls.evaluator, (calls.path, reference.scope, reference.at)
    owners = evaluator.evaluate(operand, *place)
    if len(owners) != 1 or owners[0].tag != "inst":
        return ""
    type_name = calls.project.definition(owners[0].ref).name
    if operand == _OBJECT:
        return type_name
    receiver, name = split_chain(operand)
    if receiver:
        pointers = any(
            evaluator.attribute(owner, POINTER + name) for owner in evaluator.evaluate(receiver, *place)
        )
    else:
        pointers = bool(evaluator.scopes.lookup(POINTER + name, *place)[0])
    return type_name if not pointers and _declared_type(calls, reference, operand) == type_name else ""


def _declared_type(calls: Calls, reference: Reference, operand: str) -> str:
    """Return the declared type of a parameter, variable or field, without name spaces."""
    definitions, scope = calls.project.index(calls.path).facts.definitions, reference.scope
    while scope >= 0:
        types = [parameter.type for parameter in definitions[scope].parameters if parameter.name == operand]
        if types:
            return bare_cpp_type(types[0].removesuffix(DEFAULT))
        scope = definitions[scope].parent
    find = calls.targets.overloads.field_type if "." in operand else calls.targets.overloads.type_of
    return find(operand, reference.scope, reference.at)
