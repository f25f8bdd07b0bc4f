"""Members from Swift's extensions: of library types, and of types in `where Self: P`."""

from __future__ import annotations

from collections.abc import Sequence

from cortex.graph.facts.expressions.labels import ANY_LABEL, first_labels, label_of
from cortex.graph.facts.facts import Binding
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import OVERLOADS_MAX, Value, merge_values
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.languages import family_of

_COLLECTIONS = frozenset({"BidirectionalCollection", "Collection", "Sequence"})
_TEXTS = frozenset({"String", "StringProtocol"}) | _COLLECTIONS
_LISTS = frozenset({"Array", "MutableCollection", "RandomAccessCollection"}) | _COLLECTIONS
#: containers that types.py does not distinguish from an array
_OTHERS = frozenset({"Set", "Dictionary"})


def of_own_type(
    evaluator: Evaluator, name: str, receiver: str, owners: Sequence[Value], passed: Sequence[str] = ()
) -> Sequence[Ref]:
    """Return the methods that extensions add to a string, `"x".save()`, or to an array; if
    arguments are `passed`, those with their first label, unless those are too many.

    () if an extension of another container has the name too.
    """
    if receiver == "String()":
        wanted, unsure = _TEXTS, frozenset[str]()
    elif owners and all(owner.tag == "list" for owner in owners):
        wanted, unsure = _LISTS, _OTHERS
    else:
        return ()
    extensions = evaluator.helper(_Extensions)
    if not unsure.isdisjoint(extensions.methods(name)):
        return ()
    by_label = extensions.outside_types(name, wanted)
    if not passed:
        return by_label[ANY_LABEL]
    refs = by_label.get(label_of(passed[0]), ())
    return refs if len(refs) <= OVERLOADS_MAX else ()


class _Extensions:
    """The methods of a name by their type: each element of a list asks for those of `subscript`."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self._project, self._evaluator = project, evaluator
        self._by_name: dict[str, dict[str, list[Ref]]] = {}
        self._by_label: dict[tuple[str, frozenset[str]], dict[str, list[Ref]]] = {}

    def methods(self, name: str) -> dict[str, list[Ref]]:
        if (by_type := self._by_name.get(name)) is None:
            by_type = self._by_name[name] = {}
            for ref in self._evaluator.methods_named(family_of("swift"), name):
                by_type.setdefault(self._project.definition(ref).scope, []).append(ref)
        return by_type

    def outside_types(self, name: str, types: frozenset[str]) -> dict[str, list[Ref]]:
        """Return first label → the methods of a name that extensions add to `types`; of ANY_LABEL
        all of them.
        """
        if (by_label := self._by_label.get((name, types))) is None:
            by_type = self.methods(name)
            refs = sorted(ref for scope in types.intersection(by_type) for ref in by_type[scope])
            refs = [ref for ref in refs if self._project.definition(ref).parent < 0]
            by_label = self._by_label[name, types] = {ANY_LABEL: refs}
            for ref in refs:
                for label in first_labels(self._project.definition(ref).flags):
                    by_label.setdefault(label, []).append(ref)
        return by_label


def where_clause_members(evaluator: Evaluator, name: str, path: str, scope: int) -> tuple[Value, ...]:
    """The member of the protocol in an extension's `where Self: P`, for code in its methods."""
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
