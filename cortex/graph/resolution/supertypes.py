"""What a type inherits from: its bases, what extensions give to it, and the modules whose members
it takes in whole.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple, Protocol

from cortex.graph.facts.facts import ALIAS, Base
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.reaching_bindings import ANYWHERE
from cortex.graph.resolution.arity import generics
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.values import Recursion, Value

#: languages whose types may have several parts, any of which says what the whole inherits
_IN_PARTS = frozenset({"ruby", "csharp"})


class Supers(NamedTuple):
    """`types`, nearest first; whether all of them are of this project; `spaces`: a script's modules
    that a type has the functions of, `interface Disk extends Methods` with
    `type Methods = typeof import("./methods")` or `Object.assign(Disk.prototype, methods)`; `line`:
    a number, the same for all types that inherit the same; `promised`: those of `types` whose
    members a script's class does not get, because it only says that it has them (`implements`).
    """

    types: tuple[Ref, ...] = ()
    whole: bool = True
    spaces: tuple[Value, ...] = ()
    line: int = 0
    promised: frozenset[Ref] = frozenset()


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
        self._written: dict[Ref, Supers] = {}
        #: what types inherit from → what that inherits
        self._lines: dict[tuple[Ref, ...], Supers] = {}
        self._numbers: dict[tuple[tuple[Ref, ...], tuple[Value, ...], frozenset[Ref]], int] = {}
        self._count = itertools.count(1)  # a number is never given again: others remember by it
        #: (home, qualified name) → the parts of that type that say what it inherits
        self._telling: dict[tuple[str, str], tuple[Ref, ...]] = {}

    def relax(self, memo_max: int) -> None:
        """Forget what was found when it is more than `memo_max`."""
        if max(len(self._known), len(self._written)) > memo_max:
            self._known.clear()
            self._written.clear()
            self._telling.clear()
            self._lines.clear()
            self._numbers.clear()

    def of(self, owner: Ref) -> Supers:
        if owner in self._known:
            return self._known[owner]
        key = ("supers", owner)
        before = self._recursion.enter(key)
        if before is None:
            return self._recursion.found(key, Supers())
        told = [self._told(one) for one in (owner, *self._parts(owner))]
        own = tuple(dict.fromkeys(ref for each in told for ref in each.types if ref != owner))
        above = self._above(own)
        if owner in above.types:  # it inherits from itself
            above = self._followed(own, owner)
        found = self._in_order(owner, [*own, *above.types])
        # A class's method counts before an interface's, however far away it is.
        found.sort(key=lambda ref: self._project.definition(ref).kind == "interface")
        types = tuple(found)
        spaces = tuple(dict.fromkeys(space for each in (*told, above) for space in each.spaces))
        promised = above.promised.union(*(each.promised for each in told))
        if promised:
            promised = frozenset(types) - self._received(owner)
        line = self._numbers.get((types, spaces, promised)) or next(self._count)
        result = Supers(types, above.whole and all(each.whole for each in told), spaces, line, promised)
        if self._recursion.leave(key, before, result):
            self._known[owner] = result
            self._numbers[types, spaces, promised] = line
        return result

    def _received(self, owner: Ref) -> set[Ref]:
        """The types whose members a class of a script has: all but those that are only promised."""
        found = [owner]
        for one in found:  # which grows
            told = self._told(one)
            found += [ref for ref in told.types if ref not in told.promised and ref not in found]
        return set(found)

    def _above(self, line: tuple[Ref, ...]) -> Supers:
        """What the types that others inherit from inherit themselves: one answer for all of
        these.
        """
        known = self._lines.get(line)
        if known is None:
            before = self._recursion.begin()
            known = self._followed(line)
            if self._recursion.end(before):
                self._lines[line] = known
        return known

    def _followed(self, line: tuple[Ref, ...], owner: Ref | None = None) -> Supers:
        """What `line` inherits, without it and without `owner`, the nearest first."""
        found, met = list(line), {*line, owner}
        spaces: list[Value] = []
        promised: set[Ref] = set()
        whole = True
        for one in found:  # which grows
            told = self._told(one)
            fresh = [ref for ref in told.types if ref not in met]
            found += fresh
            met.update(fresh)
            spaces += told.spaces
            promised |= told.promised
            whole = whole and told.whole
        return Supers(tuple(found[len(line) :]), whole, tuple(spaces), promised=frozenset(promised))

    def _told(self, one: Ref) -> Supers:
        """What a type inherits by what is written of it itself."""
        known = self._written.get(one)
        if known is not None:
            return known
        before = self._recursion.begin()
        found: list[Ref] = []
        spaces: list[Value] = []
        promised: set[Ref] = set()
        whole, script = True, RULES[self._project.language(one[0])].family == "script"
        for base in self._bases(one):
            refs = self.base(one, base.chain)
            inside = () if refs else self._spaces(base.chain, *self._place(one))
            if script and base.relation == "implements":
                promised.update(refs)
            found += refs
            spaces += inside
            whole = whole and bool(refs or inside)
        refs, inside = self._given(one)
        merged = self._merged(one)
        types = tuple(dict.fromkeys((*found, *merged, *refs)))
        promised.difference_update(merged, refs)
        known = Supers(types, whole, (*spaces, *inside), promised=frozenset(promised))
        if self._recursion.end(before):
            self._written[one] = known
        return known

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
