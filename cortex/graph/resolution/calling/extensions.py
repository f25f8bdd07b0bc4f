"""Extensions of Kotlin and C#: functions called on a receiver that they are no members of.

They are indexed by receiver, so that a thousand of one name cost a call nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cortex.graph.facts.facts import ACCESSOR, BOUND, DEFAULT, PLATFORM, Definition
from cortex.graph.resolution.calling.extension_index import (
    ANY_RECEIVER,
    COMPANION_NAME,
    bound_of,
    of_companion,
    receiver_name,
)
from cortex.graph.resolution.evaluation.values import Remembering, Value, Values
from cortex.graph.resolution.language import Language
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import accepts_count
from cortex.graph.resolution.types.generics import TypeEvaluator
from cortex.terms.kinds import TYPE_KINDS

#: extensions of one name that a call on an unknown receiver may mean; above that it resolves to
#: nothing
UNKNOWN_MAX = 48
#: receivers with an evident type, as chains → their types, the nearest first
_EVIDENT = {
    "KClass()": ("KClass", "KClassifier", "Any"),
    "Char()": ("Char", "Comparable", "Any"),
    "String()": ("String", "CharSequence", "Comparable", "Any"),
}
ROOT_TYPES = ("Any", "object")
#: container types, the nearest first
_LISTS = (
    *"MutableList List MutableSet Set Array MutableMap Map MutableCollection Collection Sequence".split(),
    *("Iterable", "Any"),
)
#: distance of a receiver of any type
_FAR = 1 << 20


class Candidate(NamedTuple):
    """An extension, and the distance of its receiver's type from the actual receiver."""

    distance: int
    ref: Ref


class Extensions(Remembering):
    """Extensions of a project, with caches. Valid while the project does not change."""

    def __init__(self, project: Project, types: TypeEvaluator) -> None:
        self._project, self._types = project, types
        self._homes: dict[str, tuple[str, ...]] = {}
        #: (path, name) → result of `_visible`
        self._visible_memo: dict[tuple[str, str], tuple[Mapping[str, Sequence[Ref]], ...]] = {}
        self._by_owner: dict[tuple[str, str, Ref, bool], tuple[Candidate, ...]] = {}
        self.memos = (self._homes, self._visible_memo, self._by_owner)

    def find(self, name: str, path: str, owners: Sequence[Value], receiver: str = "") -> list[Candidate]:
        """Return the extensions of that name that `path` sees and that fit one of `owners`.

        Each has the distance of its receiver type. A `receiver` with an evident type decides alone.
        """
        if receiver in _EVIDENT:
            return self._by_receiver_names(name, path, _EVIDENT[receiver], complete=True)
        distances: dict[Ref, int] = {}
        common = self._project.rules(path).library_methods
        for owner in owners:
            if owner.tag == "inst":
                for distance, ref in self._by_type(name, path, owner.ref):
                    distances[ref] = min(distance, distances.get(ref, distance))
            elif owner.tag == "def" and self._project.definition(owner.ref).kind in TYPE_KINDS:
                distances |= {ref: at for at, ref in self._by_type(name, path, owner.ref, by_name=True)}
            elif owner.tag == "list":
                distances |= {
                    ref: at for at, ref in self._by_receiver_names(name, path, _LISTS, complete=True)
                }
            elif owner.tag == "ext" and name not in common:
                distances |= {
                    ref: at for at, ref in self._by_receiver_names(name, path, ROOT_TYPES, complete=False)
                }
        if not owners:
            distances = {ref: 0 for _, ref in self._by_receiver_names(name, path, (), complete=False)}
            if name in common or not self._are_only_members(name, path, distances):
                return []  # it may be a member of the unknown receiver
        return [Candidate(distance, ref) for ref, distance in distances.items()]

    def is_evident(self, receiver: str, path: str) -> bool:
        """Return True if the text of Kotlin's or Swift's receiver shows its type."""
        return receiver in _EVIDENT and self._project.rules(path).evident_literals

    def has_extension(self, name: str, path: str) -> bool:
        """Return True if `path` sees a Kotlin extension of that name."""
        return bool(self._visible(name, path))

    def _by_type(self, name: str, path: str, owner: Ref, *, by_name: bool = False) -> tuple[Candidate, ...]:
        """Return the extensions on a type's instances; `by_name`: on its name, which means its
        companion or an object.
        """
        key = (path, name, owner, by_name)
        if key not in self._by_owner:
            supers = self._types.supertypes.of(owner)
            names = [self._project.definition(ref).name for ref in (owner, *supers.types)]
            names = [of_companion(names[0]), *names] if by_name else [*names, *ROOT_TYPES]
            complete = by_name or supers.complete
            self._by_owner[key] = tuple(self._by_receiver_names(name, path, names, complete=complete))
        return self._by_owner[key]

    def _by_receiver_names(
        self, name: str, path: str, names: Sequence[str], *, complete: bool
    ) -> list[Candidate]:
        """Return the extensions on one of the types `names`.

        If these are not all supertypes (`complete` is false), also those on external types.
        """
        distances: dict[Ref, int] = {}
        rank = {type_name: at for at, type_name in reversed(list(enumerate(names)))}
        for receivers in self._visible(name, path):
            for type_name, at in rank.items():
                distances |= dict.fromkeys(receivers.get(type_name, ()), at)
            for ref in receivers.get(ANY_RECEIVER, ())[:UNKNOWN_MAX]:
                bound = bound_of(self._project.definition(ref))
                near = rank.get(bound) if bound else _FAR
                outside = not complete and near is None and not self._types.types_of(bound, ref[0])
                if near is not None or not names or outside:
                    distances[ref] = _FAR if near is None else near
            for other in receivers.keys() & self._project.extension_index.aliases.keys() if names else ():
                distances |= self._by_alias(receivers[other], rank)
            if complete:
                continue
            if sum(map(len, receivers.values())) <= UNKNOWN_MAX:
                remaining = [
                    ref
                    for on, refs in receivers.items()
                    if not on.endswith(COMPANION_NAME)  # only companions of that type have these
                    for ref in refs
                    if ref not in distances
                ]
                distances |= {ref: _FAR for ref in remaining if not names or self._is_outside(ref)}
        return [Candidate(at, ref) for ref, at in distances.items()]

    def _by_alias(self, refs: Sequence[Ref], rank: Mapping[str, int]) -> dict[Ref, int]:
        declared = receiver_name(self._project.definition(refs[0]).scope)
        for other in self._types.types_of(declared, refs[0][0]):
            supers = self._types.supertypes.of(other).types
            if self._project.definition(other).kind == "type":
                near = [
                    rank[definition.name]
                    for definition in map(self._project.definition, supers)
                    if definition.name in rank
                ]
                if near:
                    return dict.fromkeys(refs, min(near))
        return {}

    def _is_outside(self, ref: Ref) -> bool:
        """Return True if an extension's receiver is no type of this project."""
        definition = self._project.definition(ref)
        return not bound_of(definition) and not self._types.types_of(receiver_name(definition.scope), ref[0])

    def _visible(self, name: str, path: str) -> tuple[Mapping[str, Sequence[Ref]], ...]:
        """Return receiver → Kotlin's extensions of that name in the package of `path` and in its
        imports.
        """
        if (cached := self._visible_memo.get((path, name))) is not None:
            return cached
        if path not in self._homes:
            stars = (
                f"{self._project.rules(path).family}:{star.module}"
                for star in self._project.index(path).star_imports
            )
            self._homes[path] = ()  # guard for the search of supertypes below
            own_homes = (self._project.home(path), *self._base_homes(path))
            self._homes[path] = tuple(dict.fromkeys((*own_homes, *stars)))
        written = name.strip(ACCESSOR)  # a property's accessors are imported by its name
        imports = self._project.index(path).imports.get((-1, written), ())
        imported = {
            (
                self._home_of(self._project.rules(path).family, statement.module),
                name.replace(written, statement.member or written),
            )
            for statement in imports
        }
        places = dict.fromkeys((*imported, *((home, name) for home in self._homes[path])))
        maps = (self._project.extension_index.by_name(home, member) for home, member in places)
        visible_maps = tuple(
            visible
            for receivers in maps
            if (visible := _visible_receivers(self._project.language(path), path, receivers))
        )
        if self._homes[path]:
            self._visible_memo[path, name] = visible_maps
        return visible_maps

    def _home_of(self, family: str, module: str) -> str:
        """Return the package of an imported name: `okio.Path.Companion` is in `okio`."""
        while module and f"{family}:{module}" not in self._project.homes:
            module = module.rpartition(".")[0]
        return f"{family}:{module}"

    def _base_homes(self, path: str) -> Iterator[str]:
        """Yield the packages of the supertypes of a file's types: extensions may be members
        there.
        """
        for at, definition in enumerate(self._project.index(path).facts.definitions):
            if definition.bases and definition.kind in TYPE_KINDS:
                for ref in self._types.supertypes.of((path, at)).types:
                    yield self._project.home(ref[0])

    def _are_only_members(self, name: str, path: str, extensions: Mapping[Ref, int]) -> bool:
        """Return True if no type has a member of that name."""
        methods = self._project.methods.get((self._project.rules(path).family, name), ())
        return len(methods) <= len(extensions) and all(ref in extensions for ref in methods)

    def is_extension(self, value: Value) -> bool:
        """Return True for an extension function of Kotlin."""
        if value.tag != "def" or not self._project.rules(value.path).extension_functions:
            return False
        definition = self._project.definition(value.ref)
        return definition.parent < 0 and bool(definition.scope) and definition.kind not in TYPE_KINDS

    def nearest(self, candidates: Sequence[Candidate], arguments: int) -> list[Ref]:
        """Return the extensions with the nearest receivers that take `arguments` arguments.

        If none takes so many, the nearest of all.
        """
        taking = [
            candidate
            for candidate in candidates
            if accepts_count(self._project.definition(candidate.ref), arguments)
        ]
        least = min((candidate.distance for candidate in taking or candidates), default=0)
        nearest = [candidate.ref for candidate in taking or candidates if candidate.distance == least]
        return add_platform_variants(self._project, nearest, [candidate.ref for candidate in candidates])


def is_generic(definition: Definition) -> bool:
    """Return True if an extension's receiver is a type parameter."""
    return any(flag.startswith(BOUND) for flag in definition.flags)


def extension_result(definition: Definition, owners: Values) -> Values:
    """Return the receiver of an extension that returns it: `fun <T : Disk> T.add(): T`."""
    returned = definition.returns[1:].rstrip("?")
    return owners if is_generic(definition) and returned == definition.scope else ()


def signature_shape(project: Project, ref: Ref) -> tuple[object, ...]:
    """Return a key that is equal for the platform variants of one Kotlin function."""
    definition = project.definition(ref)
    is_type = definition.kind in TYPE_KINDS  # a system may alias its library's type
    types = (
        () if is_type else tuple(parameter.type.removesuffix(DEFAULT) for parameter in definition.parameters)
    )
    return project.home(ref[0]), definition.qualified, is_type, types


def add_platform_variants(project: Project, selected: Sequence[Ref], refs: Sequence[Ref]) -> list[Ref]:
    """Return `selected` with their platform variants: only `expect` functions declare the
    defaults.
    """
    if len(selected) == len(refs) or not any(PLATFORM in project.definition(ref).flags for ref in refs):
        return list(selected)
    shapes = {signature_shape(project, ref) for ref in selected}
    return [ref for ref in refs if signature_shape(project, ref) in shapes]


def _visible_receivers(
    language: Language, path: str, receivers: Mapping[str, Sequence[Ref]]
) -> Mapping[str, Sequence[Ref]]:
    """Return `receivers` with the extensions that `path` sees, without empty ones."""
    sees = language.sees
    if sees is None or all(sees(path, ref[0]) for refs in receivers.values() for ref in refs):
        return receivers
    visible = {receiver: [ref for ref in refs if sees(path, ref[0])] for receiver, refs in receivers.items()}
    return {receiver: refs for receiver, refs in visible.items() if refs}
