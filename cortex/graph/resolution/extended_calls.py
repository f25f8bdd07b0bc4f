"""Calls of extensions, and of Kotlin's overloads. Reads one file."""

from __future__ import annotations

from collections.abc import Sequence

from cortex.graph.facts.facts import DEFAULT, PLATFORM, Reference
from cortex.graph.resolution.arity import accepts_count
from cortex.graph.resolution.common_names import COMMON, CSHARP_TYPES, LINQ
from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.extension_index import receiver_of
from cortex.graph.resolution.extensions import signature_shape
from cortex.graph.resolution.overloads import Overloads
from cortex.graph.resolution.partial_types import is_in_use
from cortex.graph.resolution.plain_types import bare_type
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import Value
from cortex.terms.kinds import CALLABLE_KINDS


class ExtendedCalls:
    """Targets of such calls in one file, in languages with extensions."""

    def __init__(self, project: Project, evaluator: Evaluator, overloads: Overloads, path: str) -> None:
        self._project = project
        self._evaluator = evaluator
        self._overloads = overloads
        self._path = path
        self._language = project.language(path).name

    def may_be_extension(self, refs: Sequence[Ref], reference: Reference) -> bool:
        """Return True if a call may mean an extension.

        It may if `refs`, the definitions of its name, are only extensions or take other numbers of
        arguments.
        """
        if self._language != "kotlin" or not refs:
            return not refs
        members = [ref for ref in refs if not self._evaluator.extensions.is_extension(Value("def", *ref))]
        return not members or (
            reference.arguments >= 0 and not any(self.takes(ref, reference.arguments) for ref in members)
        )

    def called(self, reference: Reference, receiver: str, name: str, owners: tuple[Value, ...]) -> list[Ref]:
        """Return the extensions that a call may mean, by its receiver and arguments."""
        extensions = self._evaluator.extensions
        if self._language == "csharp":
            return self._of_csharp(reference, receiver, name, owners)
        if self._language != "kotlin":
            return []
        candidates = extensions.find_kotlin(name, self._path, owners, receiver)
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
        """Return the bare receiver type of a Kotlin extension."""
        return bare_type(receiver_of(self._project.definition(ref), "kotlin") or "", kotlin=True)

    def _of_csharp(
        self, reference: Reference, receiver: str, name: str, owners: tuple[Value, ...]
    ) -> list[Ref]:
        extensions = self._evaluator.extensions
        unknown = name in LINQ and not extensions.receiver_names(owners)
        if name in COMMON or unknown or self._is_foreign_type(reference, receiver):
            return []
        return [
            ref
            for ref in extensions.find_csharp(name, owners)
            if self.takes(ref, reference.arguments + 1) and is_in_use(self._project, self._path, ref)
        ]

    def _is_foreign_type(self, reference: Reference, receiver: str) -> bool:
        """Return True if a receiver is the name of an external type: extensions need an
        instance.
        """
        if receiver in CSHARP_TYPES:
            return True
        if not receiver.isidentifier() or not receiver[0].isupper():
            return False
        return not self._evaluator.scopes.lookup(receiver, self._path, reference.scope, reference.at)[0]

    def choose(self, refs: Sequence[Ref], reference: Reference, skipped: int = 0) -> list[Ref]:
        """Return the definitions that take the arguments, with all platform variants of Kotlin's
        functions.
        """
        if self._language != "kotlin":
            return self._overloads.choose(refs, reference, skipped)
        shapes: dict[tuple[object, ...], list[Ref]] = {}
        for ref in refs:
            shapes.setdefault(signature_shape(self._project, ref), []).append(ref)
        representatives = [max(group, key=self._default_count) for group in shapes.values()]
        return [
            ref
            for representative in self._overloads.choose(representatives, reference)
            for ref in shapes[signature_shape(self._project, representative)]
        ]

    def drop_other_arities(self, refs: list[Ref], arguments: int) -> list[Ref]:
        """Return `refs` without functions that take other numbers of arguments, if none takes
        `arguments`.
        """
        if any(self.takes(ref, arguments) for ref in refs):
            return refs
        return [ref for ref in refs if self._project.definition(ref).kind not in CALLABLE_KINDS]

    def with_platform_variants(self, refs: list[Ref]) -> list[Ref]:
        """Return `refs` with the other platform variants of `expect` and `actual` functions and
        types (Kotlin).
        """
        all_refs = dict.fromkeys(refs)
        for ref in refs:
            definition = self._project.definition(ref)
            outer = (
                self._project.definition((ref[0], definition.parent))
                if definition.parent >= 0
                else definition
            )
            if PLATFORM in definition.flags or PLATFORM in outer.flags:
                own_shape = signature_shape(self._project, ref)
                namesakes = self._project.members_of(self._project.home(ref[0]), definition.scope).get(
                    definition.name, ()
                )
                all_refs |= dict.fromkeys(
                    other for other in namesakes if signature_shape(self._project, other) == own_shape
                )
        return list(all_refs)

    def takes(self, ref: Ref, arguments: int) -> bool:
        """Return True if a function takes `arguments` arguments.

        In Kotlin the overridden function declares the defaults.
        """
        definition = self._project.definition(ref)
        if accepts_count(definition, self._language, arguments):
            return True
        if self._language != "kotlin" or definition.parent < 0 or arguments >= len(definition.parameters):
            return False
        names = [parameter.name for parameter in definition.parameters]
        above = self._evaluator.member((ref[0], definition.parent), definition.name, past=True)
        bases = (self._project.definition(value.ref) for value in above if value.tag == "def")
        return any(
            [parameter.name for parameter in base.parameters] == names
            and accepts_count(base, "kotlin", arguments)
            for base in bases
        )

    def _default_count(self, ref: Ref) -> int:
        """Return the number of parameters with a default."""
        return sum(parameter.type.endswith(DEFAULT) for parameter in self._project.definition(ref).parameters)
