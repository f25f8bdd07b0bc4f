"""Targets of a call: the definitions among the callee's values; on an unknown receiver, the methods
that the name may mean. Reads one file.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from cortex.graph.facts.expressions import labels
from cortex.graph.facts.expressions.chains import union_chains
from cortex.graph.facts.facts import (
    BRANCH,
    CALLED,
    DEFAULT,
    EXCLUDING,
    HOLDER,
    LABELS,
    PLATFORM,
    SPECIALIZED,
    TYPE_ONLY,
    Reference,
)
from cortex.graph.facts.modules import DECLARATIONS
from cortex.graph.resolution.calling.extended_calls import ExtendedCalls
from cortex.graph.resolution.calling.extensions import add_platform_variants, signature_shape
from cortex.graph.resolution.edges import Edge, Edges
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.scopes import PURE_TYPES
from cortex.graph.resolution.evaluation.values import Value, unique
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import accepts_count
from cortex.graph.resolution.types.overloads import Overloads
from cortex.graph.resolution.types.partial_types import first_parts, of_arity
from cortex.terms.code.inline_tests import is_test_code
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS
from cortex.terms.paths import has_test_name, is_test

#: candidates that an ambiguous call lists; above that it has no edge
CANDIDATES_MAX = 12
#: variants of one function that a call may lead to
TWINS_MAX = 64
#: kinds of definitions that a call may mean
_CALLED_KINDS = frozenset({*CALLABLE_KINDS, *TYPE_KINDS, "constant"})
#: a path of code that tests share
_SHARED = re.compile(r"helper|util|support|common|base|mixin|case|conftest|fixture", re.IGNORECASE)
#: Java's and C#'s methods for the type of a value: that type is never the project's
_TYPE_OF = re.compile(r"(?:^|\.)(?:getClass|GetType)\(\)")


class Targets:
    def __init__(self, project: Project, evaluator: Evaluator, path: str, edges: Edges) -> None:
        self._project, self._evaluator, self._path, self._edges = project, evaluator, path, edges
        self._language = project.language(path)
        self._rules = self._language.rules
        self.overloads = Overloads(project, evaluator, path)
        self.extended = ExtendedCalls(project, evaluator, self.overloads, path)
        #: whether the arguments of a call decided its targets
        self.narrowed = False
        #: the definitions that the last sure call means
        self.called: list[Ref] = []

    def edges_of_call(
        self, reference: Reference, refs: list[Ref], confidence: str, *, of_receiver: bool = False
    ) -> Iterator[Edge]:
        """Yield the edges of a call that means one of `refs`.

        `of_receiver`: the receiver is the first argument (C#).
        """
        if not (refs or self._rules.labels):
            return
        if refs and self._rules.arity_of_types:
            refs = of_arity(self._project, refs, reference.types)
        if len(refs) > 1:
            refs = self._without_mocks(refs, reference)
        if reference.types == TYPE_ONLY:
            refs = [ref for ref in refs if self._project.definition(ref).kind in TYPE_KINDS]
        skipped = int(of_receiver and self._rules.extension_methods)
        if self._rules.strict_arity and reference.arguments >= 0:
            refs = self.extended.drop_other_arities(refs, reference.arguments + skipped)
        if self._rules.labels and reference.arguments >= 0:
            refs, self.narrowed = [ref for ref in refs if self.accepts(ref, reference)], True
        if len(refs) > 1 and (reference.passed or skipped) and not self._rules.labels:
            refs, self.narrowed = self.extended.choose(refs, reference, skipped), True
        elif len(refs) > 1 and not reference.arguments and self._language.bind_references is not None:
            refs = self._of_object(refs, reference)
        if (
            reference.kind == "call" and self._rules.erased_types
        ):  # TypeScript's `type Error = …` is not callable
            refs = [ref for ref in refs if self._project.definition(ref).kind not in PURE_TYPES]
        if len(refs) == 1 and self._rules.declaration_files:
            refs = [*refs, *declared_counterparts(self._project, self._evaluator, refs[0])]
        # A named value, and the member of its declared type: `const disk: Disk = { save() {} }`.
        literal = (
            self._rules.declaration_files and len(refs) == 2 and sum(map(self._is_of_literal, refs)) == 1
        )
        if len(refs) == 1 or literal or self.are_twins(refs) or self._is_conditional_choice(reference, refs):
            targets = self.extended.with_platform_variants(refs) if self._rules.platform_variants else refs
            self.called = targets[:TWINS_MAX] if confidence != "name" else []
            for ref in targets[:TWINS_MAX]:
                yield self._edges.call(reference, ref, confidence)
        elif len(refs) <= CANDIDATES_MAX and refs:
            yield self._edges.ambiguous(reference, refs, confidence)

    def _of_object(self, refs: list[Ref], reference: Reference) -> list[Ref]:
        """Return the method that fits the constness of the object in a call without arguments; all
        if none alone does, or some are no methods.
        """
        definitions = map(self._project.definition, refs)
        if not all(definition.kind == "method" for definition in definitions):
            return refs
        chosen = self.overloads.choose(refs, reference)
        return chosen if len(chosen) == 1 else refs

    def _without_mocks(self, refs: list[Ref], reference: Reference) -> list[Ref]:
        """Return `refs` without definitions in tests, for a call in code that ships; all if no
        other is left.
        """
        shipped = shipped_definitions(self._project, refs)
        return (
            refs
            if len(shipped) in (0, len(refs)) or is_in_test(self._project, self._path, reference)
            else shipped
        )

    def accepts(self, ref: Ref, reference: Reference) -> bool:
        """Return True if a Swift function has the labels of a call.

        A type may have any labels; a computed property is no function.
        """
        flags = self._project.definition(ref).flags
        return "property" not in flags and all(
            labels.accepts(flag, reference.passed) for flag in flags if flag.startswith(LABELS)
        )

    def are_twins(self, refs: Sequence[Ref]) -> bool:
        """Return True if these are variants of one function: a call of it is a call of each.

        Variants are for different systems, or in branches of a condition.
        """
        if self._rules.declaration_files:  # one is declared in the declaration file
            return len(refs) == 2 and sum(ref[0].endswith(DECLARATIONS) for ref in refs) == 1
        if not self._rules.twins or any(map(self._is_of_specialization, refs)):
            return False
        if len({self._shape(ref) for ref in refs}) == 1 or self._are_exclusive(refs):
            return True
        return self._rules.renamed_twins and self._share_alias(refs)

    def _share_alias(self, refs: Sequence[Ref]) -> bool:
        """Return True for methods of one type with different names, which a call can mean by an
        alias of one file and the method of another.
        """
        definitions = [self._project.definition(ref) for ref in refs]
        return (
            all(definition.kind == "method" for definition in definitions)
            and len({(self._project.home(ref[0]), d.scope) for ref, d in zip(refs, definitions, strict=True)})
            == 1
            and len({definition.name for definition in definitions}) == len(refs) > 1
        )

    def _are_exclusive(self, refs: Sequence[Ref]) -> bool:
        """Return True for functions of C++ in different branches of one condition."""
        definitions = [self._project.definition(ref) for ref in refs]
        branches = {flag for entry in definitions for flag in entry.flags if flag.startswith(EXCLUDING)}
        return (
            len(branches) == len(refs) > 1
            and len({branch.rpartition(" ")[0] for branch in branches}) == 1
            and len({(ref[0], entry.qualified) for ref, entry in zip(refs, definitions, strict=True)}) == 1
        )

    def _is_of_specialization(self, ref: Ref) -> bool:
        """Return True for a member of a specialised C++ template, whose arguments select it."""
        parent = self._project.definition(ref).parent
        return parent >= 0 and SPECIALIZED in self._project.definition((ref[0], parent)).flags

    def _is_of_literal(self, ref: Ref) -> bool:
        """Return True if a function is a member of a named object literal."""
        scope, _, name = self._project.definition(ref).scope.rpartition(".")
        namesakes = self._project.members_of(self._project.home(ref[0]), scope).get(name, ()) if name else ()
        return any(
            namesake[0] == ref[0] and HOLDER in self._project.definition(namesake).flags
            for namesake in namesakes
        )

    def _is_conditional_choice(self, reference: Reference, refs: Sequence[Ref]) -> bool:
        """Return True if a script calls a conditional value, `const save = quick ? put : keep`.

        Such a call is a call of each, as for variants of a function in branches of a condition.
        """
        if not self._rules.constants_with_values or "." in reference.chain or len(refs) < 2:
            return False
        bindings = self._project.index(self._path).top_bindings.get((-1, reference.chain), ())
        return len(bindings) == 1 and len(union_chains(bindings[0].value)) == len(refs)

    def _shape(self, ref: Ref) -> tuple[object, ...]:
        """Return a key that is equal for the variants of one function."""
        if self._rules.platform_variants:
            return signature_shape(self._project, ref)
        definition = self._project.definition(ref)
        types = (
            ()
            if self._rules.untyped_twins or BRANCH in definition.flags
            else tuple(
                parameter.type.removesuffix(DEFAULT).rstrip("&") for parameter in definition.parameters
            )
        )
        label_flags = tuple(flag for flag in definition.flags if flag.startswith(LABELS))
        return (
            self._project.home(ref[0]),
            definition.qualified,
            definition.kind in TYPE_KINDS,
            types,
            label_flags,
        )

    def is_constant(self, value: Value) -> bool:
        if value.tag != "def":
            return False
        definition = self._project.definition(value.ref)
        return definition.kind == "constant" and not definition.has_members

    def callable_refs(self, values: Iterable[Value], arguments: int) -> list[Ref]:
        values = tuple(values)
        if not values:
            return []
        values = self._evaluator.drop_pure_types(values)
        callees = [
            callee for value in values for callee in self._evaluator.exports.commonjs.unwrap_module(value)
        ]
        callees += [
            callee
            for value in values
            if value.tag == "inst"
            for callee in self._evaluator.results.call_of(value)
        ]
        refs = [
            value.ref
            for value in unique(callees)
            if value.tag == "def" and self._project.definition(value.ref).kind in _CALLED_KINDS
        ]
        if self._language.visible is not None:
            refs = self._language.visible(self._project, self._evaluator, refs, self._path)
        multiple = refs if len(refs) > 1 else ()
        if constants := [ref for ref in multiple if self._project.definition(ref).kind == "constant"]:
            # A constant that holds another callee, or is declared with a call signature.
            others = [ref for ref in refs if ref not in constants]
            signed = all(CALLED in self._project.definition(ref).flags for ref in others)
            declared = [ref for ref in constants if signed and self._is_declared(ref)]
            refs = declared[:1] or others or refs[:1]
        if len(refs) > 1 and not any(PLATFORM in self._project.definition(ref).flags for ref in refs):
            refs = first_parts(self._project, refs)
        if len(refs) > 1 and self._rules.uncallable_types:  # a struct's name is not callable
            refs = [ref for ref in refs if self._project.definition(ref).kind in CALLABLE_KINDS] or refs
        elif len(refs) > 1:  # nor is an interface: Kotlin's functions may have its name
            refs = [ref for ref in refs if self._project.definition(ref).kind != "interface"] or refs
        if len(refs) > 1 and arguments >= 0 and not self._rules.any_arguments:
            taking = [ref for ref in refs if self.takes(ref, arguments)]
            none = [ref for ref in taking if not (arguments or self._project.definition(ref).parameters)]
            fitting = none or taking or refs
            return (
                add_platform_variants(self._project, fitting, refs)
                if self._rules.platform_variants
                else fitting
            )
        return refs

    def _is_declared(self, ref: Ref) -> bool:
        """Return True if a constant has a declared type."""
        bindings = self._project.index(ref[0]).top_bindings.get((-1, self._project.definition(ref).name), ())
        return any(binding.value.startswith(":") for binding in bindings)

    def takes(self, ref: Ref, arguments: int) -> bool:
        """Return True if a definition takes `arguments` arguments."""
        if self._rules.inherited_defaults:
            return self.extended.takes(ref, arguments)
        return accepts_count(self._evaluator.signature(ref), arguments, self._rules.default_arguments)


def declared_counterparts(project: Project, evaluator: Evaluator, ref: Ref) -> list[Ref]:
    """Return the counterpart of `ref` in the script or declaration file next to its file; one at
    most.

    The counterpart has the same name: an export, a call signature of the export's declared type
    (`declare let parse: Parser`), or a member of the type with the same name.
    """
    other = project.script.counterpart(ref[0])
    if not other:
        return []
    definition = project.definition(ref)
    values = evaluator.exports.exported(other, definition.scope or definition.name)
    if definition.scope:
        tags = ("def", "inst")
        owners = (v for v in values if v.tag in tags and project.definition(v.ref).has_members)
        values = tuple(value for owner in owners for value in evaluator.member(owner.ref, definition.name))
    else:
        signed = (
            signature
            for value in values
            if value.tag == "inst"
            for signature in evaluator.results.call_of(value)
        )
        values = (*values, *signed)
    declared = not ref[0].endswith(DECLARATIONS)
    refs = (v.ref for v in values if v.tag == "def" and v.path.endswith(DECLARATIONS) == declared)
    return list(dict.fromkeys(refs))[:1]


def plausible_methods(project: Project, path: str, reference: Reference, refs: Sequence[Ref]) -> list[Ref]:
    """Return those of `refs` that a call in `path` may mean.

    Production code calls no method of a test, a test none of another one whose type it does not
    name; the number of arguments must fit.
    """
    rules = project.rules(path)
    if rules.exact_arguments and _TYPE_OF.search(reference.chain):
        return []
    if is_in_test(project, path, reference):
        reachable = [ref for ref in refs if not _is_of_another_test(project, path, ref)]
    else:
        reachable = shipped_definitions(project, refs)
    if not rules.exact_arguments or reference.arguments < 0:
        return reachable
    fitting = []
    for ref in reachable:
        definition = project.definition(ref)
        if "extension" in definition.flags or accepts_count(definition, reference.arguments):
            fitting.append(ref)
    return fitting


def _is_of_another_test(project: Project, path: str, ref: Ref) -> bool:
    """Return True for a method of a file of tests, made for these alone, that `path` does not name
    the type of.
    """
    other = ref[0]
    is_near = project.home(other) == project.home(path) and project.rules(path).shared != "project"
    if other == path or is_near or not has_test_name(other) or _SHARED.search(other):
        return False
    return not project.mentions(path, project.definition(ref).scope.rpartition(".")[2])


def is_in_test(project: Project, path: str, reference: Reference) -> bool:
    """Return True if a reference is in a test."""
    if is_test(path) or reference.scope < 0:
        return is_test(path)
    return is_test_code(path, project.definition((path, reference.scope)).qualified)


def shipped_definitions(project: Project, refs: Sequence[Ref]) -> list[Ref]:
    """Return the definitions that are no tests."""
    return [ref for ref in refs if not is_test_code(ref[0], project.definition(ref).qualified)]
