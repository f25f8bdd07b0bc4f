"""Functions that are called on what they are no members of: Kotlin's and C#'s extensions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cortex.graph.facts.facts import DEFAULT, MANY, Reference
from cortex.graph.resolution.common_names import COMMON, CSHARP_TYPES, LINQ
from cortex.graph.resolution.counts import generics, takes
from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import Value
from cortex.terms.kinds import TYPE_KINDS

#: what receivers are whose type the text shows, as chains say it
_EVIDENT = {
    "KClass()": frozenset({"KClass", "KClassifier", "Any"}),
    "String()": frozenset({"String", "CharSequence", "Comparable", "Any"}),
}


class Extensions:
    """Of one file."""

    def __init__(self, project: Project, evaluator: Evaluator, path: str) -> None:
        self.project = project
        self.evaluator = evaluator
        self.path = path
        self.index = project.index(path)
        self.language = self.index.facts.language

    def called(self, one: Reference, receiver: str, name: str, owners: Sequence[Value]) -> list[Ref]:
        """The extensions that a call may mean, by its receiver and by how many arguments it has."""
        if self.language == "csharp":
            return self._of_csharp(one, receiver, name, owners)
        if self.language != "kotlin":
            return []
        known = self._types(receiver, owners)
        found = [ref for ref in self._visible(name) if self._may_be(ref, known)]
        if not owners and not known and not self._are_all(name, found):
            return []  # it may be a member of whatever that is
        taking = [ref for ref in found if takes(self.project.definition(ref), "kotlin", one.arguments)]
        return taking or found

    def _may_be(self, ref: Ref, known: frozenset[str]) -> bool:
        """Whether Kotlin's extension may be called on one of these types: also by another name of
        such a type, and by a type parameter.
        """
        declared = self.project.definition(ref).scope
        if _may_be(declared, known) or self.project.index(ref[0]).places(ref[1], declared):
            return True
        for other in self.evaluator.types_of(declared, ref[0]):
            supers = self.evaluator.supertypes.of(other).types
            if self.project.definition(other).kind == "type" and any(
                self.project.definition(one).name in known for one in supers
            ):
                return True
        return False

    def _are_all(self, name: str, found: Sequence[Ref]) -> bool:
        """Whether no type has a member of that name."""
        known = set(found)
        return all(ref in known for ref in self.evaluator.methods_named("jvm", name))

    def _of_csharp(self, one: Reference, receiver: str, name: str, owners: Sequence[Value]) -> list[Ref]:
        known = self._types("", owners)
        if name in COMMON or (name in LINQ and not known) or self._is_foreign_type(one, receiver):
            return []
        methods = self.evaluator.methods_named("csharp", name)
        if not owners and not all("extension" in self.project.definition(ref).flags for ref in methods):
            return []  # it may be a member of whatever that is
        found = []
        for ref in methods:
            its = self.project.definition(ref)
            if "extension" not in its.flags or not its.parameters or not self._is_in_use(ref):
                continue
            type_name = its.parameters[0].type.removesuffix(DEFAULT)
            fits = type_name in generics(its) or _may_be(type_name, known)
            if fits and takes(its, "csharp", one.arguments + 1):
                found.append(ref)
        return found

    def _is_foreign_type(self, one: Reference, receiver: str) -> bool:
        """Whether a receiver is the name of a type from outside, on which nothing is extended."""
        if receiver in CSHARP_TYPES:
            return True
        if not receiver.isidentifier() or not receiver[0].isupper():
            return False
        return not self.evaluator.scopes.lookup(receiver, self.path, one.scope, one.at)[0]

    def _is_in_use(self, ref: Ref) -> bool:
        """Whether C#'s file is in the namespace of a definition, in one below it, or uses it."""
        space = self.project.home(ref[0]).partition(":")[2]
        own = self.project.home(self.path).partition(":")[2]
        if not space or own == space or own.startswith(f"{space}."):
            return True
        keys = f"@csharp:{space}|", f"@csharp:{space}|{self.project.definition(ref).scope}"
        return any(self.project.find_module(star.module, self.path) in keys for star in self.index.stars)

    def _visible(self, name: str) -> Iterator[Ref]:
        """Kotlin's extensions of that name in this file, in its package, and those that it
        imports.
        """
        homes = {self.project.home(self.path)}
        homes |= {f"jvm:{one.module}" for one in self.index.imports.get((-1, name), ())}
        homes |= {f"jvm:{star.module}" for star in self.index.stars}
        for ref in self.evaluator.methods_named("jvm", name):
            if self.project.language(ref[0]) == "kotlin" and self.project.home(ref[0]) in homes:
                one = self.project.definition(ref)
                if one.parent < 0 and one.scope:
                    yield ref

    def _types(self, receiver: str, owners: Sequence[Value]) -> frozenset[str]:
        """The names of what a receiver is, with its supertypes; none where that is not known."""
        if receiver in _EVIDENT:
            return _EVIDENT[receiver]
        names = {"Any", "object"}
        for owner in owners:
            if owner.tag not in ("inst", "list"):
                return frozenset()
            if owner.tag == "inst":
                supers, whole, _ = self.evaluator.supertypes.of(owner.ref)
                if not whole:
                    return frozenset()
                names |= {self.project.definition(ref).name for ref in (owner.ref, *supers)}
        return frozenset(names) if owners and all(owner.tag == "inst" for owner in owners) else frozenset()

    def made(self, values: tuple[Value, ...], one: Reference) -> tuple[Value, ...]:
        """`values`, or Kotlin's `operator fun invoke` of a class's companion where that takes what
        is passed.
        """
        if self.language != "kotlin" or len(values) != 1 or not self._is_type(values[0]):
            return values
        found = self.evaluator.member(values[0].ref, "invoke")
        own = [self.project.definition(value.ref) for value in found if value.tag == "def"]
        fitting = [
            value
            for value, each in zip(found, own, strict=False)
            if "static" in each.flags and takes(each, "kotlin", one.arguments)
        ]
        return tuple(fitting) or values

    def _is_type(self, value: Value) -> bool:
        return value.tag == "def" and self.project.definition(value.ref).kind in TYPE_KINDS


def _may_be(declared: str, known: frozenset[str]) -> bool:
    """Whether a receiver of these types may be what is declared: a type, or a type parameter."""
    name = declared.removeprefix(MANY).partition("<")[0].rstrip("?! []").rpartition(".")[2]
    name = name.rpartition(" ")[2]
    return not known or name in known or (len(name) < 3 and name.isupper())
