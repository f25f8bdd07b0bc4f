"""What stands for a type parameter: what a method gives, or a field holds, of which the type says
`T`, by what it is called on (`Box<Disk>`, `class Disks extends Box<Disk>`).

An instance carries what stands for its own type's parameters, `Value.given`; what stands for those
of a supertype is worked out along the bases that lead there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Protocol

from cortex.graph.facts.facts import Definition
from cortex.graph.facts.generics import GENERIC_LANGUAGES, named_with
from cortex.graph.facts.types import CONTAINERS, WRAPPERS, alternatives
from cortex.graph.resolution.arity import generics
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.supertypes import Supertypes
from cortex.graph.resolution.values import EXTERNAL, Value
from cortex.terms.kinds import TYPE_KINDS

#: type parameter → what stands for it
Standing = Mapping[str, tuple[Value, ...]]
NOTHING: Standing = {}
#: type arguments inside one another that a value carries
NESTED_MAX = 3
_WORD = re.compile(r"[A-Za-z_$][\w$]*")


class Values(Protocol):
    """What is asked about types and what they are declared as."""

    @property
    def supertypes(self) -> Supertypes: ...

    def evaluate(self, chain: str, path: str, scope: int) -> tuple[Value, ...]: ...

    def declared(
        self, text: str, path: str, scope: int, standing: Standing = NOTHING
    ) -> tuple[Value, ...]: ...


class Generics:
    """Of a project that does not change while this lives; remembers what it has found."""

    def __init__(self, project: Project, values: Values) -> None:
        self._project = project
        self._values = values
        self._standing: dict[tuple[Value, Ref], Standing] = {}
        #: function → the type parameters of the type around it that its result speaks of
        self._free: dict[Ref, frozenset[str]] = {}
        self._lines: dict[Ref, tuple[Ref, ...]] = {}

    def relax(self, memo_max: int) -> None:
        """Forget what was found when it is more than `memo_max`."""
        for memo in (self._standing, self._free, self._lines):
            if len(memo) > memo_max:
                memo.clear()

    def names(self, text: str, path: str, scope: int) -> tuple[str, ...]:
        """`alternatives`; where the project has a type of a container's or wrapper's name, that."""
        name, arguments = named_with(text)
        if arguments and name.rpartition(".")[2] in WRAPPERS | CONTAINERS:
            found = self._values.evaluate(name, path, scope)
            if any(
                one.tag == "def" and self._project.definition(one.ref).kind in TYPE_KINDS for one in found
            ):
                return (name,)
        return alternatives(text)

    def told(self, value: Value, text: str, place: tuple[str, int], standing: Standing) -> Value:
        """An instance with what the text of its type says of the type parameters."""
        if value.tag not in ("inst", "list") or value.given:
            return value
        one = self._project.definition(value.ref)
        names = generics(one)
        if not names:
            return value
        for _ in range(NESTED_MAX):
            name, arguments = named_with(text)
            if name.rpartition(".")[2] == one.name:
                break
            if not arguments:
                return value
            text = arguments[-1]  # what a container holds
        if len(arguments) != len(names):
            return value
        given = tuple(
            _cut(self._values.declared(each, *place, standing) if each else ()) for each in arguments
        )
        return value._replace(given=given) if any(given) else value

    def given_back(
        self, value: Value, owners: tuple[Value, ...], place: tuple[str, int]
    ) -> tuple[Value, ...]:
        """What a method gives, called on `owners`, whose result speaks of type parameters of the
        type around it; nothing for any other. `place` is the file and scope of the call.
        """
        if value.tag != "def":
            return ()
        free = self._free_in(value.ref)
        if not free:
            return ()
        one = self._project.definition(value.ref)
        holder = (value.path, one.parent)
        found: dict[Value, None] = {}
        for owner in self._owners(owners, holder, *place):
            standing = self.standing(owner, holder)
            if not free.isdisjoint(standing):
                found |= dict.fromkeys(self._values.declared(one.returns[1:], *value.ref, standing))
        return tuple(found)

    def of_call(self, value: Value, owners: tuple[Value, ...], place: tuple[str, int]) -> Standing:
        """What stands for the type parameters of the type around a function that is called."""
        parent = self._project.definition(value.ref).parent
        holder = (value.path, parent)
        if parent < 0 or not generics(self._project.definition(holder)):
            return NOTHING
        return next((self.standing(one, holder) for one in self._owners(owners, holder, *place)), NOTHING)

    def field(self, owner: Value, name: str) -> tuple[Value, ...]:
        """What a field holds whose type speaks of a type parameter; nothing for any other."""
        for ref in self._line(owner.ref):
            one = self._project.definition(ref)
            for path, binding in self._project.fields_of(self._project.home(ref[0]), one.qualified, name):
                names = _spoken_of(binding.value, generics(one)) if binding.value.startswith(":") else None
                if not names or names.isdisjoint(standing := self.standing(owner, ref)):
                    return ()
                return self._values.declared(binding.value[1:], path, binding.scope, standing)
        return ()

    def own_field(self, name: str, path: str, scope: int) -> tuple[Value, ...]:
        """What a bare name holds that is a field of a type around it."""
        index = self._project.index(path)
        while scope >= 0:
            if index.facts.definitions[scope].kind in TYPE_KINDS:
                if self._line((path, scope)) and (found := self.field(Value("inst", path, scope), name)):
                    return found
            elif index.places(scope, name):
                return ()
            scope = index.outer(scope)
        return ()

    def element(self, owner: Value) -> tuple[Value, ...]:
        """What a type holds that inherits from a container: `Disks extends ArrayList<Disk>`."""
        supertypes = self._values.supertypes
        for ref in (owner.ref, *supertypes.of(owner.ref).types):
            if self._project.language(ref[0]) not in GENERIC_LANGUAGES:
                return ()
            for base in self._project.definition(ref).bases:
                held = base.arguments and base.chain.rpartition(".")[2] in CONTAINERS
                if held and not supertypes.base(ref, base.chain):
                    arguments = named_with(f"{base.chain}{base.arguments}")[1]
                    if not arguments:
                        return ()
                    return self._values.declared(arguments[-1], *ref, self.standing(owner, ref))
        return ()

    def standing(self, owner: Value, holder: Ref) -> Standing:
        """What stands for the type parameters of `holder`, the type of `owner` or one above it."""
        key = (owner, holder)
        known = self._standing.get(key)
        if known is None:
            known = self._standing[key] = self._stand(owner, holder)
        return known

    def _stand(self, owner: Value, holder: Ref) -> Standing:
        supertypes = self._values.supertypes
        pending = [(owner.ref, self._first(owner))]
        seen = {owner.ref}
        for ref, standing in pending:
            if ref == holder:
                return standing
            for base in self._project.definition(ref).bases:
                for other in supertypes.base(ref, base.chain):
                    if other not in seen:
                        seen.add(other)
                        pending.append((other, self._above(ref, base.arguments, other, standing)))
        return NOTHING

    def _first(self, owner: Value) -> Standing:
        names = generics(self._project.definition(owner.ref))
        given = owner.given or ((),) * len(names)
        found = zip((each.rpartition(" ")[2] for each in names), given, strict=False)
        return {name: values for name, values in found if values}

    def _above(self, ref: Ref, arguments: str, other: Ref, standing: Standing) -> Standing:
        names = generics(self._project.definition(other))
        told = named_with(f"X{arguments}")[1]
        if not names or len(told) != len(names):
            return NOTHING
        own = [name for name in generics(self._project.definition(ref)) if name not in standing]
        found: dict[str, tuple[Value, ...]] = {}
        for name, text in zip(names, told, strict=True):
            values = self._values.declared(text, *ref, standing) if text else ()
            if values and not (_spoken_of(text, own) and EXTERNAL in values):
                found[name.rpartition(" ")[2]] = _cut(values)
        return found

    def _free_in(self, ref: Ref) -> frozenset[str]:
        free = self._free.get(ref)
        if free is None:
            one = self._project.definition(ref)
            free = self._free[ref] = self._read_free(ref[0], one)
        return free

    def _read_free(self, path: str, one: Definition) -> frozenset[str]:
        if one.parent < 0 or not one.returns.startswith(":"):
            return frozenset()
        around = generics(self._project.definition((path, one.parent)))
        return _spoken_of(one.returns, around) - set(generics(one)) if around else frozenset()

    def _owners(self, owners: tuple[Value, ...], holder: Ref, path: str, scope: int) -> Iterator[Value]:
        for owner in owners:
            if owner.tag in ("inst", "super"):
                yield owner._replace(tag="inst")
            elif owner.tag == "def" and owner.ref != holder:  # a bare name: of the types around it
                for one in self._around(path, scope):
                    if holder in (one.ref, *self._values.supertypes.of(one.ref).types):
                        yield one
                        break

    def _around(self, path: str, scope: int) -> Iterator[Value]:
        definitions = self._project.index(path).facts.definitions
        while scope >= 0:
            if definitions[scope].kind in TYPE_KINDS:
                yield Value("inst", path, scope)
            scope = definitions[scope].parent

    def _line(self, ref: Ref) -> tuple[Ref, ...]:
        """A type and those above it, where one of them has type parameters."""
        line = self._lines.get(ref)
        if line is None:
            every = (ref, *self._values.supertypes.of(ref).types)
            generic = any(generics(self._project.definition(one)) for one in every)
            line = self._lines[ref] = every if generic else ()
        return line


def _spoken_of(text: str, names: list[str]) -> frozenset[str]:
    plain = {name.rpartition(" ")[2] for name in names}
    return frozenset(plain.intersection(_WORD.findall(text)))


def _cut(values: tuple[Value, ...], depth: int = 1) -> tuple[Value, ...]:
    """Values without what would lie too deep in them: a type may hold one of itself without end."""
    if not any(one.given for one in values):
        return values
    if depth >= NESTED_MAX:
        return tuple(one._replace(given=()) for one in values)
    return tuple(one._replace(given=tuple(_cut(each, depth + 1) for each in one.given)) for one in values)
