"""Functions that are called on what they are no members of: Kotlin's and C#'s extensions.

They are found by their receiver's name, so that a thousand of one name cost a call nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from cortex.graph.facts.facts import DEFAULT, PLATFORM
from cortex.graph.resolution.arity import takes
from cortex.graph.resolution.extension_index import (
    ANY_RECEIVER,
    COMPANION_NAME,
    bound_of,
    of_companion,
    receiver_name,
)
from cortex.graph.resolution.kotlin_types import COMMON_EXTENSIONS
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.source_sets import seen, sees
from cortex.graph.resolution.supertypes import Supers
from cortex.graph.resolution.values import Value
from cortex.terms.kinds import TYPE_KINDS

#: extensions of one name that a call on what nobody knows may mean; with more it says nothing
UNKNOWN_MAX = 48
#: what receivers are whose type the text shows, as chains say it, the nearest type first
_EVIDENT = {
    "KClass()": ("KClass", "KClassifier", "Any"),
    "Char()": ("Char", "Comparable", "Any"),
    "String()": ("String", "CharSequence", "Comparable", "Any"),
}
_ROOTS = ("Any", "object")
#: what holds elements, the nearest first
_LISTS = (
    *"MutableList List MutableSet Set Array MutableMap Map MutableCollection Collection Sequence".split(),
    *("Iterable", "Any"),
)
#: how far a receiver of any type is from what it is called on
_FAR = 1 << 20


class Found(NamedTuple):
    """An extension, and how far its receiver's type is from what it is called on."""

    distance: int
    ref: Ref


class Types(Protocol):
    """What is asked about types."""

    @property
    def supertypes(self) -> Lines: ...

    def types_of(self, chain: str, path: str, scope: int = -1) -> list[Ref]: ...

    def methods_named(self, family: str, name: str) -> tuple[Ref, ...]: ...


class Lines(Protocol):
    def of(self, owner: Ref) -> Supers: ...


class Extensions:
    """Of a project that does not change while this lives; remembers what it has found."""

    def __init__(self, project: Project, types: Types) -> None:
        self._project = project
        self._types = types
        self._homes: dict[str, tuple[str, ...]] = {}
        #: (path, name) → what `_visible` says
        self._seen: dict[tuple[str, str], tuple[Mapping[str, Sequence[Ref]], ...]] = {}
        self._known: dict[tuple[str, str, Ref, bool], tuple[Found, ...]] = {}

    def relax(self, memo_max: int) -> None:
        """Forget what was found when it is more than `memo_max`."""
        if len(self._homes) > memo_max:
            self._homes.clear()
        if len(self._seen) > memo_max:
            self._seen.clear()
        if len(self._known) > memo_max:
            self._known.clear()

    def kotlin(self, name: str, path: str, owners: Sequence[Value], receiver: str = "") -> list[Found]:
        """The extensions of that name that `path` sees and that may be called on one of `owners`,
        by how near their receivers are; of `receiver` alone where its text tells its type.
        """
        if receiver in _EVIDENT:
            return self._of_names(name, path, _EVIDENT[receiver], whole=True)
        found: dict[Ref, int] = {}
        for owner in owners:
            if owner.tag == "inst":
                for distance, ref in self._of(name, path, owner.ref):
                    found[ref] = min(distance, found.get(ref, distance))
            elif owner.tag == "def" and self._project.definition(owner.ref).kind in TYPE_KINDS:
                found |= {ref: at for at, ref in self._of(name, path, owner.ref, by_name=True)}
            elif owner.tag == "list":
                found |= {ref: at for at, ref in self._of_names(name, path, _LISTS, whole=True)}
            elif owner.tag == "ext" and name not in COMMON_EXTENSIONS:
                found |= {ref: at for at, ref in self._of_names(name, path, _ROOTS, whole=False)}
        if not owners:
            found = {ref: 0 for _, ref in self._of_names(name, path, (), whole=False)}
            if name in COMMON_EXTENSIONS or not self._are_all(name, found):
                return []  # it may be a member of whatever that is
        return [Found(distance, ref) for ref, distance in found.items()]

    def is_evident(self, receiver: str, path: str) -> bool:
        """Whether the text of Kotlin's or Swift's receiver shows its type."""
        return receiver in _EVIDENT and self._project.language(path) in ("kotlin", "swift")

    def is_known(self, name: str, path: str) -> bool:
        """Whether `path` sees an extension of Kotlin by that name."""
        return bool(self._visible(name, path))

    def _of(self, name: str, path: str, owner: Ref, *, by_name: bool = False) -> tuple[Found, ...]:
        """Those that may be called on what is of a type; `by_name`: on its name, which means its
        companion, or that it is an object.
        """
        key = (path, name, owner, by_name)
        if key not in self._known:
            supers = self._types.supertypes.of(owner)
            names = [self._project.definition(ref).name for ref in (owner, *supers.types)]
            names = [of_companion(names[0]), *names] if by_name else [*names, *_ROOTS]
            whole = by_name or supers.whole
            self._known[key] = tuple(self._of_names(name, path, names, whole=whole))
        return self._known[key]

    def _of_names(self, name: str, path: str, names: Sequence[str], *, whole: bool) -> list[Found]:
        """Those whose receivers have one of `names`; where these are not all, also those for types
        from outside of the project.
        """
        found: dict[Ref, int] = {}
        rank = {one: at for at, one in reversed(list(enumerate(names)))}
        for held in self._visible(name, path):
            for one, at in rank.items():
                found |= dict.fromkeys(held.get(one, ()), at)
            for ref in held.get(ANY_RECEIVER, ())[:UNKNOWN_MAX]:
                bound = bound_of(self._project.definition(ref))
                near = rank.get(bound) if bound else _FAR
                outside = not whole and near is None and not self._types.types_of(bound, ref[0])
                if near is not None or not names or outside:
                    found[ref] = _FAR if near is None else near
            for other in held.keys() & self._project.extended.aliases.keys() if names else ():
                found |= self._by_alias(held[other], rank)
            if whole:
                continue
            if sum(map(len, held.values())) <= UNKNOWN_MAX:
                rest = [
                    ref
                    for on, refs in held.items()
                    if not on.endswith(COMPANION_NAME)  # on which nothing else is
                    for ref in refs
                    if ref not in found
                ]
                found |= {ref: _FAR for ref in rest if not names or self._is_outside(ref)}
        return [Found(at, ref) for ref, at in found.items()]

    def _by_alias(self, refs: Sequence[Ref], rank: Mapping[str, int]) -> dict[Ref, int]:
        """Those of an extension of another name for a type."""
        declared = receiver_name(self._project.definition(refs[0]).scope)
        for other in self._types.types_of(declared, refs[0][0]):
            supers = self._types.supertypes.of(other).types
            if self._project.definition(other).kind == "type":
                near = [rank[one.name] for one in map(self._project.definition, supers) if one.name in rank]
                if near:
                    return dict.fromkeys(refs, min(near))
        return {}

    def _is_outside(self, ref: Ref) -> bool:
        """Whether an extension's receiver is no type of this project."""
        one = self._project.definition(ref)
        return not bound_of(one) and not self._types.types_of(receiver_name(one.scope), ref[0])

    def _visible(self, name: str, path: str) -> tuple[Mapping[str, Sequence[Ref]], ...]:
        """Receiver → Kotlin's extensions of that name in the package of `path`, and in what it
        imports.
        """
        known = self._seen.get((path, name))
        if known is not None:
            return known
        if path not in self._homes:
            stars = (f"jvm:{star.module}" for star in self._project.index(path).stars)
            self._homes[path] = ()  # while supertypes are looked for
            own = (self._project.home(path), *self._above(path))
            self._homes[path] = tuple(dict.fromkeys((*own, *stars)))
        imports = self._project.index(path).imports.get((-1, name), ())
        named = {(self._home_of(one.module), one.member or name) for one in imports}
        places = dict.fromkeys((*named, *((home, name) for home in self._homes[path])))
        held = (self._project.extended.named(home, member) for home, member in places)
        found = tuple(one for given in held if (one := _seen(path, given)))
        if self._homes[path]:
            self._seen[path, name] = found
        return found

    def _home_of(self, module: str) -> str:
        """The package of what is imported: `okio.Path.Companion` is in `okio`."""
        while module and f"jvm:{module}" not in self._project.homes:
            module = module.rpartition(".")[0]
        return f"jvm:{module}"

    def _above(self, path: str) -> Iterator[str]:
        """The packages of what the types of a file inherit from: extensions may be members
        there.
        """
        for at, one in enumerate(self._project.index(path).facts.definitions):
            if one.bases and one.kind in TYPE_KINDS:
                for ref in self._types.supertypes.of((path, at)).types:
                    yield self._project.home(ref[0])

    def _are_all(self, name: str, found: Mapping[Ref, int]) -> bool:
        """Whether no type has a member of that name."""
        named = self._project.methods.get(("jvm", name), ())
        return len(named) <= len(found) and all(ref in found for ref in named)

    def csharp(self, name: str, owners: Sequence[Value]) -> list[Ref]:
        """C#'s of that name, by the receiver where all its types are of the project; none where too
        many may be meant, or a member of what nobody knows.
        """
        held = self._project.extended.named("csharp:", name)
        count = sum(map(len, held.values()))
        if not owners and count < len(self._types.methods_named("csharp", name)):
            return []
        if known := self.names(owners):
            return sorted({ref for one in (*known, ANY_RECEIVER) for ref in held.get(one, ())})
        return sorted(ref for some in held.values() for ref in some) if count <= UNKNOWN_MAX else []

    def names(self, owners: Sequence[Value]) -> tuple[str, ...]:
        """The names of what a receiver is, with its supertypes; none where that is not known."""
        names = dict.fromkeys(_ROOTS)
        for owner in owners:
            if owner.tag != "inst":
                return ()
            supers = self._types.supertypes.of(owner.ref)
            if not supers.whole:
                return ()
            names |= dict.fromkeys(self._project.definition(ref).name for ref in (owner.ref, *supers.types))
        return tuple(names) if owners else ()

    def is_one(self, value: Value) -> bool:
        """Whether a value is a function of Kotlin that is called on what it is no member of."""
        if value.tag != "def" or self._project.language(value.path) != "kotlin":
            return False
        one = self._project.definition(value.ref)
        return one.parent < 0 and bool(one.scope) and one.kind not in TYPE_KINDS

    def nearest(self, found: Sequence[Found], arguments: int) -> list[Ref]:
        """Of those that take so many arguments those whose receivers are nearest; of all where
        none does.
        """
        taking = [one for one in found if takes(self._project.definition(one.ref), "kotlin", arguments)]
        least = min((one.distance for one in taking or found), default=0)
        nearest = [one.ref for one in taking or found if one.distance == least]
        return with_systems(self._project, nearest, [one.ref for one in found])


def shape(project: Project, ref: Ref) -> tuple[object, ...]:
    """The same for one function of Kotlin's, whichever system it is written for."""
    one = project.definition(ref)
    is_type = one.kind in TYPE_KINDS  # of which a system's may be another name for its own
    types = () if is_type else tuple(each.type.removesuffix(DEFAULT) for each in one.parameters)
    return project.home(ref[0]), one.qualified, is_type, types


def with_systems(project: Project, chosen: Sequence[Ref], refs: Sequence[Ref]) -> list[Ref]:
    """`chosen`, and what it is for each system: what is expected of them alone says what may be
    left out.
    """
    if len(chosen) == len(refs) or not any(PLATFORM in project.definition(ref).flags for ref in refs):
        return list(chosen)
    shapes = {shape(project, ref) for ref in chosen}
    return [ref for ref in refs if shape(project, ref) in shapes]


def _seen(path: str, held: Mapping[str, Sequence[Ref]]) -> Mapping[str, Sequence[Ref]]:
    """`held` with what `path` sees; receivers of which it sees nothing are left out."""
    if all(sees(path, ref[0]) for refs in held.values() for ref in refs):
        return held
    kept = {receiver: seen(path, refs) for receiver, refs in held.items()}
    return {receiver: refs for receiver, refs in kept.items() if refs}
