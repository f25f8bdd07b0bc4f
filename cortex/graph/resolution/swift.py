"""What Swift's extensions add: to types from outside, and to those that `where Self: P` chooses."""

from __future__ import annotations

from collections.abc import Sequence

from cortex.graph.facts.facts import Binding
from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.project import Ref
from cortex.graph.resolution.values import Value, merge_values

_COLLECTIONS = frozenset({"BidirectionalCollection", "Collection", "Sequence"})
_TEXTS = frozenset({"String", "StringProtocol"}) | _COLLECTIONS
_LISTS = frozenset({"Array", "MutableCollection", "RandomAccessCollection"}) | _COLLECTIONS
#: containers whose values are written as those of an array are here
_OTHERS = frozenset({"Set", "Dictionary"})


def of_own_type(evaluator: Evaluator, name: str, receiver: str, owners: Sequence[Value]) -> list[Ref]:
    """The methods that extensions give to a text, `"x".save()`, or to what holds elements; none
    where another kind of container has one of that name, too.
    """
    if receiver == "String()":
        wanted, unsure = _TEXTS, frozenset[str]()
    elif owners and all(owner.tag == "list" for owner in owners):
        wanted, unsure = _LISTS, _OTHERS
    else:
        return []
    pairs = [(ref, evaluator.project.definition(ref)) for ref in evaluator.methods_named("swift", name)]
    if any(definition.scope in unsure for _, definition in pairs):
        return []
    return [ref for ref, definition in pairs if definition.parent < 0 and definition.scope in wanted]


def where_clause_members(evaluator: Evaluator, name: str, path: str, scope: int) -> tuple[Value, ...]:
    """What a method has by a name of the protocol that its extension asks for: `where Self: P`."""
    index = evaluator.project.index(path)
    while scope >= 0:
        for place in index.places(scope, "Self"):
            if isinstance(place, Binding):
                types = evaluator.declared(place.value[1:], path, scope)
                return merge_values(
                    evaluator.attribute(instance, name) for instance in types if instance.tag == "inst"
                )
        scope = index.outer(scope)
    return ()
