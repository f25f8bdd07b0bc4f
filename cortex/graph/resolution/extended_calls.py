"""Which extension, and which of several functions of Kotlin's, a call means. Reads one file."""

from __future__ import annotations

from collections.abc import Sequence

from cortex.graph.facts.facts import DEFAULT, PLATFORM, Reference
from cortex.graph.resolution.arity import takes
from cortex.graph.resolution.common_names import COMMON, CSHARP_TYPES, LINQ
from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.extension_index import receiver_of
from cortex.graph.resolution.extensions import shape
from cortex.graph.resolution.overloads import Overloads
from cortex.graph.resolution.partial_types import is_in_use
from cortex.graph.resolution.plain_types import bare
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import Value
from cortex.terms.kinds import CALLABLE_KINDS


class ExtendedCalls:
    """Of the languages that have extensions, and of one file."""

    def __init__(self, project: Project, evaluator: Evaluator, overloads: Overloads, path: str) -> None:
        self._project = project
        self._evaluator = evaluator
        self._overloads = overloads
        self._path = path
        self._language = project.language(path)

    def may_be(self, refs: Sequence[Ref], one: Reference) -> bool:
        """Whether a call may be of an extension: `refs`, what is known by its name, are none but
        extensions, or take other numbers of arguments.
        """
        if self._language != "kotlin" or not refs:
            return not refs
        own = [ref for ref in refs if not self._evaluator.extensions.is_one(Value("def", *ref))]
        return not own or (one.arguments >= 0 and not any(self.takes(ref, one.arguments) for ref in own))

    def called(self, one: Reference, receiver: str, name: str, owners: tuple[Value, ...]) -> list[Ref]:
        """The extensions that a call may mean, by its receiver and by what it passes."""
        extensions = self._evaluator.extensions
        if self._language == "csharp":
            return self._of_csharp(one, receiver, name, owners)
        if self._language != "kotlin":
            return []
        found = extensions.kotlin(name, self._path, owners, receiver)
        if len(found) > 1 and receiver and not any(owner.tag == "inst" for owner in owners):
            kind = self._overloads.type_of(receiver, one.scope, one.at)
            found = [each for each in found if kind and self._receiver(each.ref) == kind] or found
        if len(found) > 1 and one.passed:
            found = [each for each in found if self._overloads.may_take([each.ref], one)] or found
        return extensions.nearest(found, max(0, one.arguments))

    def _receiver(self, ref: Ref) -> str:
        """The bare type that Kotlin's extension is of."""
        return bare(receiver_of(self._project.definition(ref), "kotlin") or "", kotlin=True)

    def _of_csharp(self, one: Reference, receiver: str, name: str, owners: tuple[Value, ...]) -> list[Ref]:
        extensions = self._evaluator.extensions
        unknown = name in LINQ and not extensions.names(owners)
        if name in COMMON or unknown or self._is_foreign_type(one, receiver):
            return []
        return [
            ref
            for ref in extensions.csharp(name, owners)
            if self.takes(ref, one.arguments + 1) and is_in_use(self._project, self._path, ref)
        ]

    def _is_foreign_type(self, one: Reference, receiver: str) -> bool:
        """Whether a receiver is the name of a type from outside, on which nothing is extended."""
        if receiver in CSHARP_TYPES:
            return True
        if not receiver.isidentifier() or not receiver[0].isupper():
            return False
        return not self._evaluator.scopes.lookup(receiver, self._path, one.scope, one.at)[0]

    def chosen(self, refs: Sequence[Ref], one: Reference, skipped: int = 0) -> list[Ref]:
        """Those that take what is passed; of Kotlin's that are one for several systems, each."""
        if self._language != "kotlin":
            return self._overloads.chosen(refs, one, skipped)
        shapes: dict[tuple[object, ...], list[Ref]] = {}
        for ref in refs:
            shapes.setdefault(shape(self._project, ref), []).append(ref)
        told = [max(held, key=self._defaults) for held in shapes.values()]
        return [
            ref for each in self._overloads.chosen(told, one) for ref in shapes[shape(self._project, each)]
        ]

    def that_take(self, refs: list[Ref], arguments: int) -> list[Ref]:
        """Without Kotlin's functions that take other numbers of arguments, none of which is
        expected of a system.
        """
        if any(self.takes(ref, arguments) for ref in refs):
            return refs
        return [ref for ref in refs if self._project.definition(ref).kind not in CALLABLE_KINDS]

    def for_each_system(self, refs: list[Ref]) -> list[Ref]:
        """With what Kotlin's are for other systems, where they are expected of some, or their type
        is.
        """
        found = dict.fromkeys(refs)
        for ref in refs:
            one = self._project.definition(ref)
            outer = self._project.definition((ref[0], one.parent)) if one.parent >= 0 else one
            if PLATFORM in one.flags or PLATFORM in outer.flags:
                its = shape(self._project, ref)
                named = self._project.members_of(self._project.home(ref[0]), one.scope).get(one.name, ())
                found |= dict.fromkeys(other for other in named if shape(self._project, other) == its)
        return list(found)

    def takes(self, ref: Ref, arguments: int) -> bool:
        """Whether a function takes so many arguments; of Kotlin's the one that it overrides says
        which may be left out.
        """
        one = self._project.definition(ref)
        if takes(one, self._language, arguments):
            return True
        if self._language != "kotlin" or one.parent < 0 or arguments >= len(one.parameters):
            return False
        names = [each.name for each in one.parameters]
        above = self._evaluator.member((ref[0], one.parent), one.name, past=True)
        bases = (self._project.definition(value.ref) for value in above if value.tag == "def")
        return any(
            [each.name for each in base.parameters] == names and takes(base, "kotlin", arguments)
            for base in bases
        )

    def _defaults(self, ref: Ref) -> int:
        """How many arguments may be left out."""
        return sum(each.type.endswith(DEFAULT) for each in self._project.definition(ref).parameters)
