"""Ruby's class methods that define methods, by `define_method(name)`."""

from cortex.graph.facts.expressions.chains import split_chain
from cortex.graph.facts.facts import BY_MACRO, Binding
from cortex.graph.facts.ruby import COMPUTED, PASSED_ON
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import Value, Values
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.languages import family_of

#: class methods that a macro calls to define its methods, one below the other
_DEPTH_MAX = 2
_ENDINGS = {link: ending for ending, link in COMPUTED.items()}


class Macros:
    """The methods that each class method defines. Valid while the project does not change."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self._project, self._evaluator = project, evaluator
        #: (class method, depth) → result of `_of`
        self._methods: dict[tuple[Ref, int], tuple[Ref, ...]] = {}

    def defined_by(self, macro: Value, link: str) -> Values:
        """Return the methods that a macro makes of a word, by a link of COMPUTED."""
        ending = f"}}{_ENDINGS[link]}"
        refs = self._of(macro.ref, _DEPTH_MAX)
        return tuple(
            Value("def", *ref) for ref in refs if self._project.definition(ref).name.endswith(ending)
        )

    def _of(self, macro: Ref, depth: int) -> tuple[Ref, ...]:
        """Return the methods with computed names in a class method, and in those that it calls, at
        most `depth` below it.
        """
        if (macro, depth) not in self._methods:
            self._methods[macro, depth] = ()  # it may call itself
            path, at = macro
            facts = self._project.index(path).facts
            direct = [
                (path, n)
                for n, d in enumerate(facts.definitions)
                if d.parent == at and d.name.startswith(BY_MACRO)
            ]
            below = (self._of(ref, depth - 1) for ref in (self._called(macro) if depth else ()))
            self._methods[macro, depth] = tuple(
                dict.fromkeys((*direct, *(ref for refs in below for ref in refs)))
            )
        return self._methods[macro, depth]

    def _called(self, macro: Ref) -> list[Ref]:
        """Return the methods to which a class method passes its word on; by `super` any of its
        name, as the module around it does not tell its base.
        """
        path, at = macro
        places = self._project.index(path).places(at, PASSED_ON)
        chains = sorted({place.value for place in places if isinstance(place, Binding)})
        refs = list[Ref]()
        for chain in chains:
            receiver, name = split_chain(chain)
            values = self._evaluator.evaluate(chain, path, at)
            refs += [value.ref for value in values if value.tag == "def"]
            if receiver == "super" and not values:
                refs += self._evaluator.methods_named(family_of("ruby"), name)
        return [ref for ref in refs if ref != macro]
