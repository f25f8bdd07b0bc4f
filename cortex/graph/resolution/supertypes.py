"""What a type inherits from: its bases, what extensions give to it, and the modules whose members
it takes in whole.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from cortex.graph.facts.facts import ALIAS, Base
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.standing import ANYWHERE
from cortex.graph.resolution.counts import generics
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import Recursion, Value

#: languages whose types may have several parts, any of which says what the whole inherits
_IN_PARTS = frozenset({"ruby", "csharp"})


class Supers(NamedTuple):
    """`types`, nearest first; whether all of them are of this project; `spaces`: a script's modules
    that a type has the functions of, `interface Disk extends Methods` with
    `type Methods = typeof import("./methods")` or `Object.assign(Disk.prototype, methods)`.
    """

    types: tuple[Ref, ...] = ()
    whole: bool = True
    spaces: tuple[Value, ...] = ()


class Types(Protocol):
    """What is asked about the names of types."""

    def evaluate(self, chain: str, path: str, scope: int, at: int = ANYWHERE) -> tuple[Value, ...]: ...

    def types_of(self, chain: str, path: str, scope: int = -1, at: int = ANYWHERE) -> list[Ref]: ...


class Supertypes:
    """The supertypes of a project that does not change while this lives."""

    def __init__(self, project: Project, types: Types, recursion: Recursion) -> None:
        self._project = project
        self._types = types
        self._recursion = recursion
        self._known: dict[Ref, Supers] = {}
        #: (home, qualified name) → the parts of that type that say what it inherits
        self._telling: dict[tuple[str, str], tuple[Ref, ...]] = {}

    def relax(self, memo_max: int) -> None:
        """Forget what was found when it is more than `memo_max`."""
        if len(self._known) > memo_max:
            self._known.clear()
            self._telling.clear()

    def of(self, owner: Ref) -> Supers:
        if owner in self._known:
            return self._known[owner]
        cuts = self._recursion.enter(("supers", owner))
        if cuts is None:
            return Supers()
        found: list[Ref] = []
        spaces: list[Value] = []
        whole = True
        pending: list[Ref] = [owner, *self._parts(owner)]
        while pending:
            one = pending.pop(0)
            for base in self._bases(one):
                refs = self.base(one, base.chain)
                inside = () if refs else self._spaces(base.chain, *self._place(one))
                spaces += inside
                whole = whole and bool(refs or inside)
                self._follow(refs, owner, found, pending)
            self._follow(self._merged(one), owner, found, pending)
            refs, inside = self._given(one)
            spaces += inside
            self._follow(refs, owner, found, pending)
        found = self._in_order(owner, found)
        # A class's method counts before an interface's, however far away it is.
        found.sort(key=lambda ref: self._project.definition(ref).kind == "interface")
        result = Supers(tuple(found), whole, tuple(dict.fromkeys(spaces)))
        if self._recursion.leave(("supers", owner), cuts):
            self._known[owner] = result
        return result

    def _in_order(self, owner: Ref, found: list[Ref]) -> list[Ref]:
        """Python's order: all that the first base inherits from before the second base, but for
        what that inherits from, too.
        """
        if len(found) < 3 or self._project.language(owner[0]) != "python":
            return found
        bases = [ref for base in self._bases(owner) for ref in self.base(owner, base.chain)]
        line = [ref for base in bases for ref in (base, *self.of(base).types)]
        last = list(dict.fromkeys(reversed(line)))[::-1]
        return [*(ref for ref in last if ref != owner), *(ref for ref in found if ref not in last)]

    def _follow(self, refs: tuple[Ref, ...], owner: Ref, found: list[Ref], pending: list[Ref]) -> None:
        for ref in refs:
            if ref not in found and ref != owner:
                found.append(ref)
                pending.append(ref)

    def _bases(self, ref: Ref) -> tuple[Base, ...]:
        bases = self._project.definition(ref).bases
        if self._project.language(ref[0]) == "php":  # a trait's before the class's above, `@mixin` last
            return tuple(sorted(bases, key=lambda base: (base.relation != "embeds", base.relation == ALIAS)))
        return bases

    def base(self, owner: Ref, chain: str) -> tuple[Ref, ...]:
        """The types of this project that a base of `owner` names."""
        refs = self._types.types_of(chain, *self._place(owner))
        return tuple(ref for ref in refs if ref != owner and self._project.definition(ref).makes_instances)

    def _place(self, owner: Ref) -> tuple[str, int, int]:
        """Where the bases of a type are written."""
        one = self._project.definition(owner)
        scope = owner[1] if one.parent < 0 and one.scope else one.parent  # in a namespace
        return owner[0], scope, one.begin if one.parent >= 0 or one.until else ANYWHERE

    def _spaces(self, chain: str, path: str, scope: int, at: int = ANYWHERE) -> tuple[Value, ...]:
        if RULES[self._project.language(path)].family != "script":
            return ()
        return tuple(value for value in self._types.evaluate(chain, path, scope, at) if value.tag == "mod")

    def _merged(self, owner: Ref) -> tuple[Ref, ...]:
        """TypeScript's interface of a class's name: its members are the class's too."""
        one = self._project.definition(owner)
        if one.kind != "class" or self._project.language(owner[0]) not in ("typescript", "tsx"):
            return ()
        named = self._project.index(owner[0]).children.get((one.parent, one.name), ())
        definitions = self._project.index(owner[0]).facts.definitions
        return tuple((owner[0], at) for at in named if definitions[at].kind == "interface")

    def _parts(self, owner: Ref) -> tuple[Ref, ...]:
        """The other parts of a type that is written in several (C#) or opened again (Ruby), as far
        as they say what it inherits.
        """
        if self._project.language(owner[0]) not in _IN_PARTS:
            return ()
        key = self._project.home(owner[0]), self._project.definition(owner).qualified
        if key not in self._telling:
            parts = self._project.types_named(*key)
            self._telling[key] = tuple(ref for ref in parts if self._project.definition(ref).bases)
        count = len(generics(self._project.definition(owner)))
        parts = (ref for ref in self._telling[key] if ref != owner)
        return tuple(ref for ref in parts if len(generics(self._project.definition(ref))) == count)

    def _given(self, owner: Ref) -> tuple[tuple[Ref, ...], tuple[Value, ...]]:
        """What extensions give to a type: supertypes, and modules in whole."""
        refs: list[Ref] = []
        spaces: list[Value] = []
        for path, extension in self._project.extensions.get(self._project.definition(owner).name, ()):
            if self.extended(path, extension.type) == owner:
                refs += [ref for ref in self._types.types_of(extension.base.chain, path) if ref != owner]
                spaces += self._spaces(extension.base.chain, path, -1)
        return tuple(refs), tuple(spaces)

    def extended(self, path: str, name: str) -> Ref | None:
        """The type that an extension is of."""
        for ref in self._project.types_named(self._project.home(path), name):
            return ref
        values = (value for value in self._types.evaluate(name, path, -1) if value.tag == "def")
        return next((value.ref for value in values if self._project.definition(value.ref).has_members), None)
