"""Types that include Ruby's modules: in a module, `self.class` is any of them."""

from collections.abc import Iterator

from cortex.graph.languages.ruby.calls import HEIRS_MAX
from cortex.graph.resolution.calling.calls import Callee, Calls
from cortex.graph.resolution.edges import Edge
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.paths import is_test

#: the class of an instance, as a receiver
_CLASS = "self.class"
#: modules between a type and one that it includes
_DEPTH_MAX = 3


class Includers:
    """The types that include each module. Valid while the project does not change."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self._project, self._evaluator = project, evaluator
        self._of: dict[str, tuple[Ref, ...]] = {}

    def of(self, module: Ref) -> tuple[Ref, ...]:
        """Return the classes that include a module, also through other modules."""
        qualified = self._project.definition(module).qualified
        if qualified not in self._of:
            self._of[qualified] = tuple(dict.fromkeys(self._classes(module, _DEPTH_MAX)))
        return self._of[qualified]

    def _classes(self, module: Ref, depth: int) -> Iterator[Ref]:
        definition, supertypes = self._project.definition, self._evaluator.supertypes
        name, qualified = definition(module).name, definition(module).qualified
        for path in self._project.paths_mentioning(name, module[0]):
            for at, type_definition in enumerate(self._project.index(path).facts.definitions):
                for base in type_definition.bases:
                    is_included = base.relation == "embeds" and not base.arguments
                    if not is_included or base.chain.rpartition(".")[2] != name:
                        continue
                    if not any(
                        definition(ref).qualified == qualified
                        for ref in supertypes.base((path, at), base.chain)
                    ):
                        continue
                    if type_definition.kind != "trait":
                        yield path, at
                    elif depth:
                        yield from self._classes((path, at), depth - 1)


def call_class_of_includers(calls: Calls, callee: Callee) -> Iterator[Edge] | None:
    """Return the edges of `self.class.load` in a module that has no such method: the class methods
    of the types that include it.
    """
    if callee.receiver != _CLASS or callee.values:
        return None
    evaluator, reference = calls.evaluator, callee.reference
    around = evaluator.owners.type_around(calls.path, reference.scope)
    if around is None or calls.project.definition(around).kind != "trait":
        return None
    types = [
        ref for ref in evaluator.helper(Includers).of(around) if is_test(calls.path) or not is_test(ref[0])
    ]
    if len(types) > HEIRS_MAX:
        return None
    of_types = (evaluator.member_of_kind(ref, callee.name, static=True) for ref in types)
    refs = dict.fromkeys(
        ref for values in of_types for ref in calls.targets.callable_refs(values, reference.arguments)
    )
    if not refs:
        return None
    return (edge for ref in refs for edge in calls.targets.edges_of_call(reference, [ref], "receiver"))
