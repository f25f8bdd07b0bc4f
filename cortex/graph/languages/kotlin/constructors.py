"""Kotlin's calls of a type's name: its constructor, the `invoke` of its companion, or a function of
the same name.
"""

from cortex.graph.facts.facts import ABSTRACT, PRIVATE, Definition, Reference
from cortex.graph.languages.kotlin.calls import Kotlin
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.evaluation.values import Value, Values
from cortex.graph.resolution.project import Ref
from cortex.graph.resolution.types.arity import accepts_count
from cortex.terms.kinds import TYPE_KINDS

#: type of a block among the arguments of a call
_BLOCK = "#fn"


def take_constructor(calls: Calls, callee: Callee) -> None:
    """Take what can be called: no constructor that is private or of an abstract type, and no
    function that takes other numbers of arguments.

    Such a function may be further out. If there is none, the callee stays.
    """
    reference, refs = callee.reference, calls.targets.callable_refs(callee.values, -1)
    if not refs or reference.arguments < 0 or invoked(calls, callee.values, reference) != callee.values:
        return
    callable_refs = [ref for ref in refs if _is_open(calls, ref, reference.scope)]
    if any(_is_type(calls, ref) or calls.targets.takes(ref, reference.arguments) for ref in callable_refs):
        if len(callable_refs) < len(refs):
            callee.values = tuple(Value("def", *ref) for ref in callable_refs)
        return
    kotlin = calls.evaluator.helper(Kotlin)
    further = kotlin.functions_past_other_arities(
        callee.name, calls.path, reference.scope, refs, reference.arguments
    )
    if further is not None:
        callee.values, callee.confidence = further


def take_invoked(calls: Calls, callee: Callee) -> None:
    """Take the `invoke` of a companion that takes the arguments."""
    callee.values = invoked(calls, callee.values, callee.reference)


def invoked(calls: Calls, values: Values, reference: Reference) -> Values:
    """Return `values`, or the `operator fun invoke` of a class's companion that takes the
    arguments; both where the constructor takes as many of other types.
    """
    if len(values) != 1 or values[0].tag != "def" or not _is_type(calls, values[0].ref):
        return values
    ref = values[0].ref
    constructed = calls.project.definition(ref)
    is_made = _is_open(calls, ref, reference.scope) and _takes(constructed, reference)
    operators = [value for value in calls.evaluator.member(ref, "invoke") if value.tag == "def"]
    pairs = [(value, calls.project.definition(value.ref)) for value in operators]
    fitting = tuple(
        value
        for value, definition in pairs
        if (value.path, definition.parent) == ref  # not a base's
        and "static" in definition.flags
        and accepts_count(definition, reference.arguments)
        and not (is_made and _types_of(definition) == _types_of(constructed))
    )
    return ((*values, *fitting) if is_made else fitting) or values


def _types_of(definition: Definition) -> list[str]:
    return [parameter.type for parameter in definition.parameters]


def _takes(constructed: Definition, reference: Reference) -> bool:
    """Return True if a constructor takes the arguments: a block only as a last function."""
    has_block = reference.passed[-1:] == (_BLOCK,)
    return accepts_count(constructed, reference.arguments) and not (
        has_block and (not constructed.parameters or "->" not in constructed.parameters[-1].type)
    )


def _is_type(calls: Calls, ref: Ref) -> bool:
    return calls.project.definition(ref).kind in TYPE_KINDS


def _is_open(calls: Calls, ref: Ref, scope: int) -> bool:
    """Return True if code in a scope can call a definition: of a type its constructor."""
    flags = calls.project.definition(ref).flags
    if not _is_type(calls, ref) or not (ABSTRACT in flags or PRIVATE in flags):
        return True
    return ABSTRACT not in flags and _is_inside(calls, ref, scope)


def _is_inside(calls: Calls, ref: Ref, scope: int) -> bool:
    definitions = calls.index.facts.definitions
    while scope >= 0 and (calls.path, scope) != ref:
        scope = definitions[scope].parent
    return scope >= 0
