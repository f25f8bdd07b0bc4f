"""Calls of extensions, and of Kotlin's overloads. Reads one file."""

from collections.abc import Sequence

from cortex.graph.facts.facts import DEFAULT, PLATFORM, Reference
from cortex.graph.resolution.calling.extensions import signature_shape
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.values import Value, Values
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import accepts_count
from cortex.graph.resolution.types.overloads import Overloads
from cortex.graph.resolution.types.plain_types import bare_type
from cortex.terms.kinds import CALLABLE_KINDS


class ExtendedCalls:
    """Targets of such calls in one file, in languages with extensions."""

    def __init__(self, project: Project, evaluator: Evaluator, overloads: Overloads, path: str) -> None:
        self.project, self.evaluator = project, evaluator
        self._overloads, self.path = overloads, path
        self._language = project.language(path)
        self._rules = self._language.rules

    def may_be_extension(self, refs: Sequence[Ref], reference: Reference) -> bool:
        """Return True if a call may mean an extension.

        It may if `refs`, the definitions of its name, are only extensions or take other numbers of
        arguments.
        """
        if not refs:
            return True
        members = [ref for ref in refs if not self.evaluator.extensions.is_extension(Value("def", *ref))]
        return not members or (
            reference.arguments >= 0 and not any(self.takes(ref, reference.arguments) for ref in members)
        )

    def called(self, reference: Reference, receiver: str, name: str, owners: Values) -> list[Ref]:
        """Return the extensions that a call may mean, by its receiver and arguments."""
        find = self._language.extensions_called
        return find(self, reference, receiver, name, owners) if find is not None else []

    def nearest(self, reference: Reference, receiver: str, name: str, owners: Values) -> list[Ref]:
        """Return the extensions of the nearest receiver type that take the arguments."""
        extensions = self.evaluator.extensions
        candidates = extensions.find(name, self.path, owners, receiver)
        if len(candidates) > 1 and receiver and not any(owner.tag == "inst" for owner in owners):
            kind = self._overloads.type_of(receiver, reference.scope, reference.at)
            candidates = [
                candidate for candidate in candidates if kind and self._receiver(candidate.ref) == kind
            ] or candidates
        if len(candidates) > 1 and reference.passed:
            candidates = [
                candidate for candidate in candidates if self._overloads.may_take([candidate.ref], reference)
            ] or candidates
        return extensions.nearest(candidates, max(0, reference.arguments))

    def _receiver(self, ref: Ref) -> str:
        """Return the bare receiver type of an extension."""
        receiver = self._language.extended
        name = receiver(self.project.definition(ref)) if receiver is not None else ""
        return bare_type(name or "", kotlin=True)

    def choose(self, refs: Sequence[Ref], reference: Reference, skipped: int = 0) -> list[Ref]:
        """Return the definitions that take the arguments, with all platform variants of Kotlin's
        functions.
        """
        if not self._rules.platform_variants:
            return self._overloads.choose(refs, reference, skipped)
        shapes: dict[tuple[object, ...], list[Ref]] = {}
        for ref in refs:
            shapes.setdefault(signature_shape(self.project, ref), []).append(ref)
        representatives = [max(group, key=self._default_count) for group in shapes.values()]
        return [
            ref
            for representative in self._overloads.choose(representatives, reference)
            for ref in shapes[signature_shape(self.project, representative)]
        ]

    def drop_other_arities(self, refs: list[Ref], arguments: int) -> list[Ref]:
        """Return `refs` without functions that take other numbers of arguments, if none takes
        `arguments`.
        """
        if any(self.takes(ref, arguments) for ref in refs):
            return refs
        return [ref for ref in refs if self.project.definition(ref).kind not in CALLABLE_KINDS]

    def with_platform_variants(self, refs: list[Ref]) -> list[Ref]:
        """Return `refs` with the other platform variants of `expect` and `actual` functions and
        types (Kotlin).
        """
        all_refs = dict.fromkeys(refs)
        for ref in refs:
            definition = self.project.definition(ref)
            outer = (
                self.project.definition((ref[0], definition.parent)) if definition.parent >= 0 else definition
            )
            if PLATFORM in definition.flags or PLATFORM in outer.flags:
                own_shape = signature_shape(self.project, ref)
                namesakes = self.project.members_of(self.project.home(ref[0]), definition.scope).get(
                    definition.name, ()
                )
                all_refs |= dict.fromkeys(
                    other for other in namesakes if signature_shape(self.project, other) == own_shape
                )
        return list(all_refs)

    def takes(self, ref: Ref, arguments: int) -> bool:
        """Return True if a function takes `arguments` arguments.

        In Kotlin the overridden function declares the defaults.
        """
        definition = self.project.definition(ref)
        if accepts_count(definition, arguments, self._rules.default_arguments):
            return True
        if (
            not self._rules.inherited_defaults
            or definition.parent < 0
            or arguments >= len(definition.parameters)
        ):
            return False
        names = [parameter.name for parameter in definition.parameters]
        above = self.evaluator.member((ref[0], definition.parent), definition.name, past=True)
        bases = (self.project.definition(value.ref) for value in above if value.tag == "def")
        return any(
            [parameter.name for parameter in base.parameters] == names and accepts_count(base, arguments)
            for base in bases
        )

    def _default_count(self, ref: Ref) -> int:
        return sum(parameter.type.endswith(DEFAULT) for parameter in self.project.definition(ref).parameters)
