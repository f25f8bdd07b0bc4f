"""Scala's steps of calls and members, and its types in overloads."""

from collections.abc import Iterator, Sequence

import msgspec

from cortex.graph.facts.facts import CASE, TYPE_ONLY, Import, Parameter
from cortex.graph.languages.scala.calls import (
    apply_candidates,
    constructed_classes,
    constructor_target,
    object_of,
)
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.members import Members
from cortex.graph.resolution.evaluation.values import EXTERNAL, Value, Values
from cortex.graph.resolution.modules.exports import Exports
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.overloads import Overloads
from cortex.graph.resolution.types.plain_types import COLLECTIONS, PRIMITIVES, bare_scala_type, split_arrow


def import_value(exports: Exports, statement: Import, path: str, key: str, _hops: int) -> Values | None:
    """Return the members that an import takes from a value, an object or a nested package."""
    return None if key else exports.value_import(statement, path, statement.member) or (EXTERNAL,)


def keys_around(project: Project, name: str, path: str, keys: list[str]) -> list[str]:
    """Return `keys`, and those of the name in the packages around the file."""
    package = project.home(path).partition(":")[2]
    while package:
        if key := project.find_module(f"{package}.{name}", path):
            keys.append(key)
        package = package.rpartition(".")[0]
    return keys


def uncalled(
    evaluator: Evaluator,
    values: Values,
    _links: list[str],
    owners: Values,
    place: tuple[str, int],
) -> Values:
    """Return `values`, with the results of methods whose receiver decides these."""
    return tuple(
        returned
        for value in values
        for returned in evaluator.results.receiver_result(value, owners, place) or (value,)
    )


def function_type(text: str) -> tuple[str, str]:
    """Return (a type without a by-name arrow, the result of a function type)."""
    return split_arrow(text) if "=>" in text else (text, "")


def member_of_object(members: Members, value: Value, name: str) -> Values:
    """Return a member that a class's companion object inherits."""
    return members.member(object_of(members.project, value).ref, name) if value.tag == "def" else ()


def copied(members: Members, value: Value, name: str) -> Values:
    """Return a case class for its generated `copy`."""
    is_case = name == "copy" and value.tag == "inst" and CASE in members.project.definition(value.ref).flags
    return (value._replace(tag="def"),) if is_case else ()


def take_constructor(calls: Calls, callee: Callee) -> None:
    """Take the class for `this(1)` in a constructor."""
    if callee.is_receiver:
        receiver = constructor_target(calls.project, calls.path, callee.reference, callee.values[0])
        callee.values = (receiver,)


def call_apply(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of a call of an object, which means its `apply`; None for other calls."""
    refs = _apply_refs(calls, callee)
    return _object_call(calls, callee, refs) if refs else None


def call_bare_apply(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return `call_apply`, among the values with the case class that a bare `apply(1)` makes."""
    callee.values = (*callee.values, *constructed_classes(calls.project, callee.values, callee.reference))
    return call_apply(calls, callee)


def _apply_refs(calls: Calls, callee: Callee) -> list[Ref]:
    """Return the `apply` that a call of an object means, as a list with one definition.

    The list has the companion object itself if several remain, and is empty if the type is meant.
    """
    reference, targets = callee.reference, calls.targets
    if reference.types == TYPE_ONLY or reference.chain == "this":
        return []
    count = max(0, reference.arguments)
    candidates = apply_candidates(calls.project, calls.evaluator, callee.values, count)
    refs = list(dict.fromkeys(value.ref for value in candidates))
    if len(refs) > 1:
        refs, targets.narrowed = targets.overloads.choose(refs, reference), True
    return refs if len(refs) < 2 else [object_of(calls.project, callee.values[0]).ref]


def _object_call(calls: Calls, callee: Callee, refs: list[Ref]) -> Iterator[Edge]:
    """Yield the edges of a call of an object's `apply`, which also refers to the object."""
    yield calls.edges.call(callee.reference, refs[0], callee.confidence)
    other = object_of(calls.project, callee.values[0]).ref
    if refs[0] not in (callee.values[0].ref, other):
        edge = calls.edges.call(callee.reference, other, callee.confidence)
        yield msgspec.structs.replace(edge, type="references")


def plain_type(text: str) -> str:
    return bare_scala_type(text.lstrip(":"))


def parameter_types(
    overloads: Overloads, ref: Ref, parameters: Sequence[Parameter], _arguments: Sequence[str]
) -> list[str]:
    """Return the plain types of parameters; "" for abstract ones."""
    free = overloads.type_parameters(ref)
    return [_written_type(overloads, bare_scala_type(parameter.type, free), ref) for parameter in parameters]


def _written_type(overloads: Overloads, name: str, ref: Ref) -> str:
    """Return a type's name in the scope of a function; "" for an abstract type or alias."""
    values = overloads.evaluator.evaluate(name, *ref) if name[:1].isupper() and name != "Object" else ()
    kinds = (overloads.project.definition(value.ref).kind for value in values if value.tag == "def")
    return "" if "type" in kinds else name


def special_fit(overloads: Overloads, wanted: str, actual: str) -> float | None:
    """Return the fit for library types and for abstract types; None if the common rules apply."""
    if wanted == "fn":
        return 1.0 if actual in COLLECTIONS else 0.0 if actual not in (*PRIMITIVES, "String") else None
    if actual == "String" and wanted in COLLECTIONS:
        return 0.3
    unsaid = (
        overloads.project_type(type_name)
        for type_name in (wanted, actual)
        if type_name[:1].isupper() and type_name != "Object"
    )
    return 0.0 if any(ref and overloads.project.definition(ref).kind == "type" for ref in unsaid) else None
