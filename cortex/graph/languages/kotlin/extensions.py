"""Kotlin's extensions, and the steps of its calls."""

from cortex.graph.facts.facts import BOUND, OUTER, Binding, Definition, Import
from cortex.graph.languages.kotlin.calls import Kotlin, function_result
from cortex.graph.languages.kotlin.source_sets import visible_refs
from cortex.graph.languages.kotlin.types import FUNCTION_RESULTS, METHOD_RESULTS, SUPERS
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.calling.extension_index import (
    ANY_RECEIVER,
    COMPANION_NAME,
    of_companion,
    receiver_name,
)
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import Value, Values, merge_values
from cortex.graph.resolution.modules.exports import Exports
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.plain_types import PRIMITIVES, bare_type
from cortex.terms.kinds import CALLABLE_KINDS

_TEXTS = frozenset({"String", "CharSequence"})
#: links of the receiver that a chain's second link has
_RECEIVER_LINKS = 2


def extended(definition: Definition) -> str | None:
    """Return the receiver type of an extension; None for other definitions."""
    if definition.parent >= 0 or not definition.scope or definition.kind != "method":
        return None
    for flag in definition.flags:
        if flag.startswith(BOUND):
            return ANY_RECEIVER
        if flag.startswith(OUTER):
            return flag.removeprefix(OUTER)
    if definition.scope.endswith(f".{COMPANION_NAME}"):
        return of_companion(receiver_name(definition.scope.removesuffix(f".{COMPANION_NAME}")))
    return receiver_name(definition.scope)


def import_companion(exports: Exports, statement: Import, path: str, key: str, hops: int) -> Values | None:
    """Return a member of a companion, `import Disk.Companion.make`, or a property of an object,
    `import Disks.FIRST`; None without one.
    """
    if key and exports.exported(key, statement.member, hops):
        return None
    module, _, name = statement.module.rpartition(".")
    if not (outer := exports.project.find_module(module, path)):
        return None
    if not key and (values := exports.exported(outer, statement.member, hops)):
        return values
    objects = exports.exported(outer, name, hops)
    values = merge_values(exports.meanings.attribute(value, statement.member) for value in objects)
    return values or None


def called_root(
    evaluator: Evaluator, links: list[str], place: tuple[str, int, int], values: Values
) -> tuple[Values, Values]:
    """Return the functions that a bare call means, past variables, and their receivers."""
    kotlin = evaluator.helper(Kotlin)
    if evaluator.are_uncallable(values):
        values = kotlin.functions_past_variables(links[0], place[0], place[1]) or values
    if any(value.tag == "inst" for value in values):
        return values, values
    values, around = kotlin.implicit_call(links[0], links[1], place, values)
    return values, around or values


def uncalled_root(evaluator: Evaluator, name: str, place: tuple[str, int], values: Values) -> Values:
    """Return the type of that name in place of a function, `Disk.MAX` beside `fun Disk()`."""
    definition = evaluator.project.definition
    if not name[:1].isupper() or not any(
        value.tag == "def" and definition(value.ref).kind in CALLABLE_KINDS for value in values
    ):
        return values
    return evaluator.scopes.types_named(name, *place) or values


def called_member(  # noqa: PLR0917 - as the protocol has them
    evaluator: Evaluator,
    links: list[str],
    number: int,
    path: str,
    owners: Values,
    values: Values,
) -> Values:
    """Return the members or extensions that a call of a link means."""
    receiver = "".join(links[:2]) if number == _RECEIVER_LINKS else ""
    kotlin = evaluator.helper(Kotlin)
    return kotlin.extension_values(links[number], links[number + 1], path, owners, values, receiver)


def passed_to(
    evaluator: Evaluator, value: Value, link: str, owners: Values, place: tuple[str, int]
) -> Values:
    """Return the receiver or the argument of a block that a function gets."""
    return evaluator.helper(Kotlin).passed_to(value, link, owners, place)


def function_type(text: str) -> tuple[str, str]:
    """Return (a type, its result): the result of `(A) -> B`, "" for other types."""
    return text, function_result(text) if "->" in text else ""


def skip_typed_variable(calls: Calls, callee: Callee) -> None:
    """Take a method past a variable whose declared type is no function type."""
    bindings = _bindings_of(calls, callee)
    is_typed = any(binding.value.startswith(":") and "->" not in binding.value for binding in bindings[-1:])
    if is_typed and not calls.targets.callable_refs(callee.values, -1):
        callee.values = calls.methods_past_locals(callee.name, callee.reference.scope)
        callee.confidence = "receiver"
        if not callee.values and _is_plain(bindings[-1].value):
            kotlin, scope = calls.evaluator.helper(Kotlin), callee.reference.scope
            callee.values = kotlin.functions_past_variables(callee.name, calls.path, scope)
            callee.confidence = "exact"


def _is_plain(declared: str) -> bool:
    """Return True for a type of the library that cannot be called, as another name may be."""
    plain = bare_type(declared, kotlin=True)
    return plain.endswith("[]") or plain in PRIMITIVES or plain in _TEXTS or plain in SUPERS


def _bindings_of(calls: Calls, callee: Callee) -> list[Binding]:
    places = calls.index.places(callee.reference.scope, callee.name)
    return [place for place in places if isinstance(place, Binding)]


def skip_variable(calls: Calls, callee: Callee) -> None:
    """Take a function past an instance, or past a variable that holds its own call."""
    if calls.targets.callable_refs(callee.values, -1):
        return
    bindings = _bindings_of(calls, callee)
    are_instances = bool(callee.values) and all(value.tag == "inst" for value in callee.values)
    if are_instances or any(
        binding.until == 0 and binding.value.startswith(f"{callee.name}(") for binding in bindings
    ):
        kotlin = calls.evaluator.helper(Kotlin)
        callee.values = kotlin.functions_past_variables(callee.name, calls.path, callee.reference.scope)


def take_extension(calls: Calls, callee: Callee) -> None:
    """Take an extension on an implicit receiver."""
    kotlin, reference = calls.evaluator.helper(Kotlin), callee.reference
    call = f"(_{max(0, reference.arguments)})"
    place = (calls.path, reference.scope, reference.at)
    callee.values, around = kotlin.implicit_call(callee.name, call, place, callee.values)
    if around:
        refs = calls.targets.extended.called(reference, "", callee.name, around)
        callee.values, callee.confidence = tuple(Value("def", *ref) for ref in refs), "receiver"


def visible(_project: Project, evaluator: Evaluator, refs: list[Ref], path: str) -> list[Ref]:
    """Return the definitions that a file's source set sees, with aliases replaced."""
    return evaluator.helper(Kotlin).unaliased(visible_refs(path, refs))


def outside_type(chain: str) -> str:
    """Return the type of a library function's or method's result; `this` may be its receiver."""
    owner, _, name = chain.rpartition(".")
    return ("" if owner else FUNCTION_RESULTS.get(name, "")) or METHOD_RESULTS.get(name, "")
