"""Which definitions a call leads to, of the values that what it calls may have. Reads one file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cortex.graph.facts import labels
from cortex.graph.facts.chains import either_of
from cortex.graph.facts.facts import CALLED, HOLDER, LABELS, MADE, PLATFORM, Reference
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.modules import DECLARATIONS
from cortex.graph.resolution.arity import takes
from cortex.graph.resolution.builds import built_with
from cortex.graph.resolution.declaration_files import beside
from cortex.graph.resolution.edges import Edge, Edges
from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.extended_calls import ExtendedCalls
from cortex.graph.resolution.extensions import shape, with_systems
from cortex.graph.resolution.linkage import bodies, reachable, signature
from cortex.graph.resolution.overloads import Overloads
from cortex.graph.resolution.partial_types import first_parts, of_arity
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.scopes import PURE_TYPES
from cortex.graph.resolution.source_sets import seen
from cortex.graph.resolution.values import Value
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: candidates that an ambiguous call lists; with more it says nothing
CANDIDATES_MAX = 12
#: times that one function is written which a call leads to
TWINS_MAX = 64
#: languages in which one function may be written several times with the same parameters, for each
#: system once; elsewhere a later one replaces it, or type parameters tell them apart
_TWINS = frozenset({"c", "cpp", "rust", "go", "swift", "kotlin", "php", "python"})
#: of these, those in which parameters' types tell no functions apart
_UNTYPED = frozenset({"c", "python"})
#: kinds of what a call may mean
_CALLED_KINDS = frozenset({*CALLABLE_KINDS, *TYPE_KINDS, "constant"})


class Targets:
    def __init__(self, project: Project, evaluator: Evaluator, path: str, edges: Edges) -> None:
        self._project = project
        self._evaluator = evaluator
        self._path = path
        self._edges = edges
        self._language = project.language(path)
        self._rules = RULES[self._language]
        self.overloads = Overloads(project, evaluator, path)
        self.extended = ExtendedCalls(project, evaluator, self.overloads, path)
        #: whether what a call passes decided its answer
        self.narrowed = False

    def found(
        self, one: Reference, refs: list[Ref], confidence: str, *, of_receiver: bool = False
    ) -> Iterator[Edge]:
        """The edges of a call that means one of `refs`; `of_receiver`: the receiver is passed for
        the first parameter (C#).
        """
        if refs and self._language == "csharp":
            refs = of_arity(self._project, refs, one.types)
        if one.types == MADE:
            refs = [ref for ref in refs if self._project.definition(ref).kind in TYPE_KINDS]
        if self._language == "kotlin" and one.arguments >= 0:
            refs = self.extended.that_take(refs, one.arguments)
        if self._language == "swift" and one.arguments >= 0:
            refs, self.narrowed = [ref for ref in refs if self.accepts(ref, one)], True
        skipped = int(of_receiver and self._language == "csharp")
        if len(refs) > 1 and (one.passed or skipped) and self._language != "swift":
            refs, self.narrowed = self.extended.chosen(refs, one, skipped), True
        if one.kind == "call" and self._rules.family == "script":  # TypeScript's `type Error = …` makes none
            refs = [ref for ref in refs if self._project.definition(ref).kind not in PURE_TYPES]
        if len(refs) == 1 and self._rules.family == "script":
            refs = [*refs, *beside(self._project, self._evaluator, refs[0])]
        # What a name holds, and what its type says of that: `const disk: Disk = { save() {} }`.
        literal = (
            self._rules.family == "script" and len(refs) == 2 and sum(map(self._is_of_literal, refs)) == 1
        )
        if len(refs) == 1 or literal or self.are_twins(refs) or self._is_either(one, refs):
            each = self.extended.for_each_system(refs) if self._language == "kotlin" else refs
            for ref in each[:TWINS_MAX]:
                yield self._edges.call(one, ref, confidence)
        elif len(refs) <= CANDIDATES_MAX and refs:
            yield self._edges.ambiguous(one, refs, confidence)

    def accepts(self, ref: Ref, one: Reference) -> bool:
        """Whether a function of Swift has the labels that a call passes; a type may have any, and a
        computed property is no function.
        """
        flags = self._project.definition(ref).flags
        return "property" not in flags and all(
            labels.accepts(flag, one.passed) for flag in flags if flag.startswith(LABELS)
        )

    def are_twins(self, refs: Sequence[Ref]) -> bool:
        """Whether these are one function that is written several times, for each system once or in
        the branches of a condition: a call of it is a call of each.
        """
        if self._rules.family == "script":  # one that is declared in a file beside it
            return len(refs) == 2 and sum(ref[0].endswith(DECLARATIONS) for ref in refs) == 1
        if self._language not in _TWINS:
            return False
        return len({self._shape(ref) for ref in refs}) == 1

    def _is_of_literal(self, ref: Ref) -> bool:
        """Whether a function is a member of an object literal that has a name."""
        scope, _, name = self._project.definition(ref).scope.rpartition(".")
        named = self._project.members_of(self._project.home(ref[0]), scope).get(name, ()) if name else ()
        return any(one[0] == ref[0] and HOLDER in self._project.definition(one).flags for one in named)

    def _is_either(self, one: Reference, refs: Sequence[Ref]) -> bool:
        """Whether a script calls what a condition chose, `const save = quick ? put : keep`: a call
        of it is a call of each, as where a function is written in the branches of one.
        """
        if self._rules.family != "script" or "." in one.chain or len(refs) < 2:
            return False
        held = self._project.index(self._path).tops.get((-1, one.chain), ())
        return len(held) == 1 and len(either_of(held[0].value)) == len(refs)

    def _shape(self, ref: Ref) -> tuple[object, ...]:
        """The same for one function, wherever it is written."""
        if self._language == "kotlin":
            return shape(self._project, ref)
        one = self._project.definition(ref)
        types = () if self._language in _UNTYPED else tuple(each.type for each in one.parameters)
        told = tuple(flag for flag in one.flags if flag.startswith(LABELS))
        return self._project.home(ref[0]), one.qualified, one.kind in TYPE_KINDS, types, told

    def is_constant(self, value: Value) -> bool:
        if value.tag != "def":
            return False
        one = self._project.definition(value.ref)
        return one.kind == "constant" and not one.has_members

    def called(self, values: Iterable[Value], arguments: int) -> list[Ref]:
        values = self._evaluator.worth(tuple(values))
        whole = [one for value in values for one in self._evaluator.exports.commonjs.unwrapped(value)]
        whole += [
            one for value in values if value.tag == "inst" for one in self._evaluator.results.call_of(value)
        ]
        refs = [
            value.ref
            for value in dict.fromkeys(whole)
            if value.tag == "def" and self._project.definition(value.ref).kind in _CALLED_KINDS
        ]
        if self._language == "kotlin":
            refs = self._evaluator.kotlin.unaliased(seen(self._path, refs))
        if len(refs) > 1 and self._rules.family == "c":
            refs = bodies(self._project, reachable(self._project, refs, self._path))
        if len(refs) > 1 and self._language == "go":
            refs = built_with(self._project, refs, self._path)
        several = refs if len(refs) > 1 else ()
        if constants := [ref for ref in several if self._project.definition(ref).kind == "constant"]:
            # One that holds another of them, or is declared to have a signature.
            others = [ref for ref in refs if ref not in constants]
            signed = all(CALLED in self._project.definition(ref).flags for ref in others)
            declared = [ref for ref in constants if signed and self._is_declared(ref)]
            refs = declared[:1] or others or refs[:1]
        if len(refs) > 1 and not any(PLATFORM in self._project.definition(ref).flags for ref in refs):
            refs = first_parts(self._project, refs)
        if len(refs) > 1 and self._language == "c":  # a struct's name is no function's
            refs = [ref for ref in refs if self._project.definition(ref).kind in CALLABLE_KINDS] or refs
        if len(refs) > 1 and arguments >= 0 and self._rules.family != "script":
            taking = [ref for ref in refs if self.takes(ref, arguments)]
            none = [ref for ref in taking if not (arguments or self._project.definition(ref).parameters)]
            fitting = none or taking or refs
            return with_systems(self._project, fitting, refs) if self._language == "kotlin" else fitting
        return refs

    def _is_declared(self, ref: Ref) -> bool:
        """Whether a constant is declared with a type."""
        held = self._project.index(ref[0]).tops.get((-1, self._project.definition(ref).name), ())
        return any(one.value.startswith(":") for one in held)

    def takes(self, ref: Ref, arguments: int) -> bool:
        """Whether a definition takes so many arguments."""
        if self._language == "kotlin":
            return self.extended.takes(ref, arguments)
        return takes(signature(self._project, ref), self._language, arguments)
