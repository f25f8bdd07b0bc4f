"""Supertypes: the bases of a type, those that extensions add, and modules whose members it
includes.
"""

import itertools
from collections.abc import Iterator
from typing import NamedTuple

from cortex.graph.facts.declared.unnamed_types import UNNAMED
from cortex.graph.facts.facts import ALIAS, DERIVED, EXTENDED, EXTENDED_HEIRS, TO_HEIRS, Base
from cortex.graph.facts.reaching_bindings import ANYWHERE
from cortex.graph.resolution.evaluation.values import ChainEvaluator, Recursion, Remembering, Value, Values
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.arity import type_parameter_names


class Supers(NamedTuple):
    """The supertypes of a type.

    `types`: nearest first; `complete`: all of them belong to this project. `spaces`: modules of a
    script whose functions the type has, `interface Disk extends Methods` with `type Methods =
    typeof import("./methods")` or `Object.assign(Disk.prototype, methods)`. `line`: a number, equal
    for types with equal supertypes. `promised`: those of `types` whose members the type does not
    get: a script's class only `implements` them, a Ruby module adds them to types that include it.
    `extended`: Ruby's modules that give the type itself, or types that include it, class methods,
    `extend Made`, and nothing to instances.
    """

    types: tuple[Ref, ...] = ()
    complete: bool = True
    spaces: Values = ()
    line: int = 0
    promised: frozenset[Ref] = frozenset()
    extended: frozenset[Ref] = frozenset()


class Supertypes(Remembering):
    """The supertypes in a project, with caches. Valid while the project does not change."""

    def __init__(self, project: Project, types: ChainEvaluator, recursion: Recursion) -> None:
        self._project, self._types, self._recursion = project, types, recursion
        self._memo: dict[Ref, Supers] = {}
        self._written: dict[Ref, Supers] = {}
        #: direct supertypes → their supertypes
        self._lines: dict[tuple[Ref, ...], Supers] = {}
        self._numbers: dict[tuple[tuple[Ref, ...], Values, frozenset[Ref]], int] = {}
        self._count = itertools.count(1)  # never reused: other caches have it as a key
        #: (package, qualified name) → parts of that type with bases
        self._parts_with_bases: dict[tuple[str, str], tuple[Ref, ...]] = {}
        self.memos = (self._memo, self._written, self._lines, self._numbers, self._parts_with_bases)

    def of(self, owner: Ref) -> Supers:
        if owner in self._memo:
            return self._memo[owner]
        key = ("supers", owner)
        before = self._recursion.enter(key)
        if before is None:
            return self._recursion.answer(key, Supers())
        direct = [self._direct_supers(type_ref) for type_ref in (owner, *self._parts(owner))]
        direct_types = tuple(dict.fromkeys(ref for supers in direct for ref in supers.types if ref != owner))
        above = self._inherited_supers(direct_types)
        if owner in above.types:  # it inherits from itself
            above = self._follow_supers(direct_types, owner)
            ordered = [*direct_types, *above.types]
        else:
            ordered = self._in_order(owner, [*direct_types, *above.types])
        # A class's method precedes an interface's, at any distance.
        ordered.sort(key=lambda ref: self._project.definition(ref).kind == "interface")
        types = tuple(ordered)
        spaces = tuple(dict.fromkeys(space for supers in (*direct, above) for space in supers.spaces))
        promised = above.promised.union(*(supers.promised for supers in direct))
        if promised:
            promised = frozenset(types) - self._received_types(owner)
        extended: frozenset[Ref] = frozenset()
        if self._project.rules(owner[0]).included_hook:
            promised |= self._given_to_heirs(owner, TO_HEIRS, EXTENDED_HEIRS)
            extended = self._by_arguments(owner, EXTENDED) | self._given_to_heirs(owner, EXTENDED_HEIRS)
        line = self._numbers.get((types, spaces, promised)) or next(self._count)
        result = Supers(
            types,
            above.complete and all(supers.complete for supers in direct),
            spaces,
            line,
            promised,
            extended,
        )
        if self._recursion.leave(key, before, result):
            self._memo[owner] = result
            self._numbers[types, spaces, promised] = line
        return result

    def _given_to_heirs(self, owner: Ref, *arguments: str) -> frozenset[Ref]:
        """Return the modules that a Ruby module adds to types that include it, not to itself."""
        added = self._by_arguments(owner, *arguments)
        return added - self._by_arguments(owner, "", EXTENDED) if added else added

    def _by_arguments(self, owner: Ref, *arguments: str) -> frozenset[Ref]:
        """Return the bases of a Ruby type that are written with one of `arguments`."""
        return frozenset(
            type_ref
            for ref in (owner, *self._parts(owner))
            for base in self._project.definition(ref).bases
            if base.arguments in arguments
            for type_ref in self.base(ref, base.chain)
        )

    def _received_types(self, owner: Ref) -> set[Ref]:
        """Return the types that give a script's class their members: all except those it only
        implements.
        """
        received = [owner]
        for type_ref in received:  # grows in the loop
            supers = self._direct_supers(type_ref)
            received += [ref for ref in supers.types if ref not in supers.promised and ref not in received]
        return set(received)

    def _inherited_supers(self, line: tuple[Ref, ...]) -> Supers:
        """Return the supertypes of direct supertypes, cached for all types with the same."""
        supers = self._lines.get(line)
        if supers is None:
            before = self._recursion.begin()
            supers = self._follow_supers(line)
            if self._recursion.end(before):
                self._lines[line] = supers
        return supers

    def _follow_supers(self, line: tuple[Ref, ...], owner: Ref | None = None) -> Supers:
        """Return the supertypes of `line`, without it and `owner`, nearest first."""
        followed, met = list(line), {*line, owner}
        spaces: list[Value] = []
        promised: set[Ref] = set()
        complete = True
        for type_ref in followed:  # grows in the loop
            supers = self._direct_supers(type_ref)
            fresh = [ref for ref in supers.types if ref not in met]
            followed += fresh
            met.update(fresh)
            spaces += supers.spaces
            promised |= supers.promised
            complete = complete and supers.complete
        return Supers(tuple(followed[len(line) :]), complete, tuple(spaces), promised=frozenset(promised))

    def _direct_supers(self, owner: Ref) -> Supers:
        supers = self._written.get(owner)
        if supers is not None:
            return supers
        before = self._recursion.begin()
        base_refs: list[Ref] = []
        spaces: list[Value] = []
        promised: set[Ref] = set()
        complete, script = True, self._project.rules(owner[0]).erased_types
        for base in self._bases(owner):
            refs = self.of_base(owner, base)
            inside = () if refs else self._module_values(base.chain, *self._base_site(owner))
            if script and base.relation == "implements":
                promised.update(refs)
            base_refs += refs
            spaces += inside
            complete = complete and bool(refs or inside or base.relation == DERIVED)
        refs, inside = self._extension_supers(owner)
        merged = self._merged_interfaces(owner)
        types = tuple(dict.fromkeys((*base_refs, *merged, *refs)))
        promised.difference_update(merged, refs)
        supers = Supers(types, complete, (*spaces, *inside), promised=frozenset(promised))
        if self._recursion.end(before):
            self._written[owner] = supers
        return supers

    def _in_order(self, owner: Ref, types: list[Ref]) -> list[Ref]:
        """Return `types` in Python's order: supertypes of the first base precede the second base,
        except those that it has too.
        """
        if len(types) < 3 or not self._project.rules(owner[0]).ordered_bases:
            return types
        bases = [ref for base in self._bases(owner) for ref in self.base(owner, base.chain)]
        line = [ref for base in bases for ref in (base, *self.of(base).types)]
        last = dict.fromkeys(reversed(line))
        return [*(ref for ref in reversed(last) if ref != owner), *(ref for ref in types if ref not in last)]

    def _bases(self, ref: Ref) -> tuple[Base, ...]:
        bases, rules = self._project.definition(ref).bases, self._project.rules(ref[0])
        if rules.traits_first and rules.ordered_bases:  # of Ruby's modules the last included one is first
            bases = tuple(sorted(bases, key=lambda base: (-base.line, base.column)))
        if rules.traits_first:  # a trait's before the base class's, `@mixin` last
            return tuple(sorted(bases, key=lambda base: (base.relation != "embeds", base.relation == ALIAS)))
        return bases

    def base(self, owner: Ref, chain: str) -> tuple[Ref, ...]:
        """Return the project's types that a base of `owner` names."""
        refs = tuple(self._nested_mixins(owner, chain)) or self._types.types_of(
            chain, *self._base_site(owner)
        )
        return tuple(ref for ref in refs if ref != owner and self._project.definition(ref).makes_instances)

    def of_base(self, owner: Ref, base: Base) -> tuple[Ref, ...]:
        """Return the project's types that a base means; of a derived one the traits."""
        refs = self.base(owner, base.chain)
        if base.relation != DERIVED:
            return refs
        return tuple(ref for ref in refs if self._project.definition(ref).kind == "trait")

    def _nested_mixins(self, owner: Ref, chain: str) -> Iterator[Ref]:
        """Yield the module inside a Ruby module or class that its body includes: `extend Base`."""
        definition = self._project.definition(owner)
        if self._project.rules(owner[0]).included_hook and any(
            base.chain == chain and base.relation == "embeds" for base in definition.bases
        ):
            home = self._project.home(owner[0])
            yield from self._project.types_named(home, f"{definition.qualified}.{chain}")

    def _base_site(self, owner: Ref) -> tuple[str, int, int]:
        """Return (path, scope, byte) of a type's bases."""
        definition = self._project.definition(owner)
        scope = (
            owner[1] if definition.parent < 0 and definition.scope else definition.parent
        )  # in a namespace
        return owner[0], scope, definition.begin if definition.parent >= 0 or definition.until else ANYWHERE

    def _module_values(self, chain: str, path: str, scope: int, at: int = ANYWHERE) -> Values:
        if not self._project.rules(path).whole_exports:
            return ()
        return tuple(value for value in self._types.evaluate(chain, path, scope, at) if value.tag == "mod")

    def _merged_interfaces(self, owner: Ref) -> tuple[Ref, ...]:
        """Return TypeScript's interfaces with a class's name: the class has their members."""
        definition = self._project.definition(owner)
        if definition.kind != "class" or not self._project.rules(owner[0]).merged_interfaces:
            return ()
        namesakes = self._project.index(owner[0]).children.get((definition.parent, definition.name), ())
        definitions = self._project.index(owner[0]).facts.definitions
        return tuple((owner[0], at) for at in namesakes if definitions[at].kind == "interface")

    def _parts(self, owner: Ref) -> tuple[Ref, ...]:
        """Return the other parts, with bases, of a partial type (C#) or a reopened one (Ruby)."""
        definition = self._project.definition(owner)
        if not self._project.rules(owner[0]).bases_in_parts or definition.name.endswith(UNNAMED):
            return ()
        key = self._project.home(owner[0]), definition.qualified
        if key not in self._parts_with_bases:
            parts = self._project.types_named(*key)
            self._parts_with_bases[key] = tuple(ref for ref in parts if self._project.definition(ref).bases)
        count = len(type_parameter_names(definition))
        parts = (ref for ref in self._parts_with_bases[key] if ref != owner)
        return tuple(
            ref for ref in parts if len(type_parameter_names(self._project.definition(ref))) == count
        )

    def _extension_supers(self, owner: Ref) -> tuple[tuple[Ref, ...], Values]:
        """Return the supertypes and whole modules that extensions add to a type."""
        refs: list[Ref] = []
        spaces: list[Value] = []
        for path, extension in self._project.extensions.get(self._project.definition(owner).name, ()):
            if self.extended_type(path, extension.type) == owner:
                refs += [ref for ref in self._types.types_of(extension.base.chain, path) if ref != owner]
                spaces += self._module_values(extension.base.chain, path, -1)
        return tuple(refs), tuple(spaces)

    def extended_type(self, path: str, name: str) -> Ref | None:
        for ref in self._project.types_named(self._project.home(path), name):
            return ref
        values = (value for value in self._types.evaluate(name, path, -1) if value.tag == "def")
        return next((value.ref for value in values if self._project.definition(value.ref).has_members), None)
