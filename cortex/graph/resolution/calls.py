"""What a call means: a name in its scopes, a member of what it is called on, an extension, or the
only method of its name. Reads one file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from cortex.graph.facts.chains import split
from cortex.graph.facts.facts import MADE, Binding, Reference
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.links import module_of
from cortex.graph.resolution.argument_lookup import associated
from cortex.graph.resolution.common_names import COMMON, OWN
from cortex.graph.resolution.edges import Edge, Edges
from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.kotlin_types import COMMON_EXTENSIONS
from cortex.graph.resolution.linkage import bodies, linked, reachable
from cortex.graph.resolution.partial_types import of_arity
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.scala import beside, constructed, made, object_of
from cortex.graph.resolution.swift import of_chosen, of_own_type
from cortex.graph.resolution.targets import CANDIDATES_MAX, Targets
from cortex.graph.resolution.unknown_receivers import plausible
from cortex.graph.resolution.values import Value
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: families in which a type has several methods of one name
_OVERLOADING = frozenset({"jvm", "csharp", "c", "swift"})
_ROOT = re.compile(r"[^.\[\]():]+")
#: what is an instance, or a name that is known
_TYPED = frozenset({"inst", "def"})


class Calls:
    def __init__(
        self, project: Project, evaluator: Evaluator, path: str, edges: Edges, targets: Targets
    ) -> None:
        self._project = project
        self._evaluator = evaluator
        self._path = path
        self._edges = edges
        self._targets = targets
        self._index = project.index(path)
        self._definitions = self._index.facts.definitions
        self._language = self._index.facts.language
        self._rules = RULES[self._language]

    def of(self, one: Reference) -> Iterator[Edge]:
        receiver, name = split(one.chain)
        if name[-1:] == "!" and self._rules.family == "rust":
            return self._targets.found(one, *self._evaluator.exports.crates.macros(one.chain, self._path))
        if receiver:
            return self._member(one, receiver, name)
        return self._super(one) if name in self._rules.super_names else self._bare(one, name)

    def _bare(self, one: Reference, name: str) -> Iterator[Edge]:
        """`save()`."""
        evaluator, place = self._evaluator, (self._path, one.scope)
        own = evaluator.owners.receiver(name, *place)  # Python's `cls()`
        values, how = evaluator.scopes.lookup(name, *place, one.at)
        confidence: str = how
        if any(value.tag == "inst" for value in values):  # one that can be called
            confidence = "receiver"
        if not values and self._language == "ruby":
            yield from self._targets.found(one, self._mixed_in(name, one.scope), "name")
        if module_of(name):  # `require("x")()`
            values, confidence = evaluator.evaluate(name, *place), "import"
        if own is not None:
            own = constructed(self._project, self._path, one, own) if self._language == "scala" else own
            values, confidence = (own,), "receiver"
        if not values and self._language == "cpp" and one.passed:
            values = associated(self._project, evaluator, self._path, one)
            self._targets.narrowed = True
        if self._language == "cpp":
            values = self._in_other_files(one, name, values)
        if self._is_no_function(one, name) and not self._targets.called(values, -1):
            values, confidence = self._past_locals(name, one.scope), "receiver"
        if self._language == "kotlin" and not self._targets.called(values, -1):
            held = [what for what in self._index.places(one.scope, name) if isinstance(what, Binding)]
            known = bool(values) and all(value.tag == "inst" for value in values)
            if known or any(what.until == 0 and what.value.startswith(f"{name}(") for what in held):
                values = evaluator.kotlin.past_variables(name, *place)
        if inner := evaluator.within.members(name, *place, one.at, values):
            values, confidence = inner, "receiver"
        if self._language in ("java", "csharp"):
            values = self._overloaded(values, one)
        if self._language == "kotlin":
            values, confidence = self._implicit(one, name, values, confidence)
        if self._language == "scala":
            values = (*values, *beside(self._project, values, one))
            if made_by := self._made_in_scala(one, values):
                yield from self._of_object(one, values[0], made_by, confidence)
                return
        if self._language == "swift" and not self._targets.called(values, -1):
            values, confidence = of_chosen(evaluator, name, *place) or values, "receiver"
        count = -1 if one.types == MADE else one.arguments
        yield from self._targets.found(one, self._targets.called(values, count), confidence)

    def _in_other_files(self, one: Reference, name: str, values: tuple[Value, ...]) -> tuple[Value, ...]:
        """`values`, or what other files define beside them of C++, where none of this file's takes
        so many arguments: they hide nothing of the same scope.
        """
        refs = [value.ref for value in values if value.tag == "def"]
        shown = [self._project.definition(ref) for ref in refs]
        if one.arguments < 0 or not refs or any(each.kind != "function" for each in shown):
            return values
        if any(ref[0] != self._path or self._targets.takes(ref, one.arguments) for ref in refs):
            return values
        beside = self._project.members_of(self._project.home(self._path), shown[0].scope).get(name, ())
        fitting = [
            ref
            for ref in linked(self._project, bodies(self._project, [*beside]), self._path)
            if self._project.definition(ref).kind == "function" and self._targets.takes(ref, one.arguments)
        ]
        return tuple(Value("def", *ref) for ref in fitting) or values

    def _made_in_scala(self, one: Reference, values: tuple[Value, ...]) -> list[Ref]:
        """The one `apply` that a call of an object means, or the class beside it, the object itself
        where that cannot be told; none where the type is meant.
        """
        if one.types == MADE or one.chain == "this":
            return []
        found = made(self._project, self._evaluator, values, max(0, one.arguments))
        refs = list(dict.fromkeys(value.ref for value in found))
        if len(refs) > 1:
            refs, self._targets.narrowed = self._targets.overloads.chosen(refs, one), True
        return refs if len(refs) < 2 else [object_of(self._project, values[0]).ref]

    def _of_object(self, one: Reference, whole: Value, refs: list[Ref], confidence: str) -> Iterator[Edge]:
        """A call of an object's `apply`, which names the object as well."""
        yield self._edges.call(one, refs[0], confidence)
        if refs[0] not in (whole.ref, other := object_of(self._project, whole).ref):
            named = self._edges.call(one, other, confidence)
            yield msgspec.structs.replace(named, type="references")

    def _implicit(
        self, one: Reference, name: str, values: tuple[Value, ...], confidence: str
    ) -> tuple[tuple[Value, ...], str]:
        """Kotlin's `values`, or an extension of what is around the call."""
        kotlin, call = self._evaluator.kotlin, f"(_{max(0, one.arguments)})"
        values, around = kotlin.implicit(name, call, (self._path, one.scope, one.at), values)
        if around:
            refs = self._targets.extended.called(one, "", name, around)
            values, confidence = tuple(Value("def", *ref) for ref in refs), "receiver"
        return kotlin.made(values, one), confidence

    def _member(self, one: Reference, receiver: str, name: str) -> Iterator[Edge]:
        """`disk.save()`."""
        evaluator, targets = self._evaluator, self._targets
        owners = evaluator.worth(evaluator.evaluate(receiver, self._path, one.scope, one.at))
        owners = tuple(owner for owner in owners if not targets.is_constant(owner))
        if name in ("call", "apply") and self._rules.family == "script" and targets.called(owners, -1):
            yield from self._applied(one, receiver, targets.called(owners, -1))
            return
        if evaluator.exports.dotted_import(one.chain, self._path):
            return
        found = (v for owner in owners for v in evaluator.attribute(owner, name))
        values = tuple(dict.fromkeys(found))
        spaces = any(owner.tag == "mod" for owner in owners) or self._is_below(values)
        if self._language == "swift" and not targets.called(values, -1):
            if given := of_own_type(evaluator, name, receiver, owners):
                yield from targets.found(one, given, "receiver")
                return
            if receiver in self._rules.self_names:
                values = of_chosen(evaluator, name, self._path, one.scope) or values
        extended: list[Ref] = []
        if not self._is_taken(values, one) and (
            owners or "()" in receiver or not self._is_outside(one.chain)
        ):
            extended = targets.extended.called(one, receiver, name, owners)
            targets.narrowed = targets.narrowed or len(extended) > 1
        if not owners:
            yield from self._of_nothing_known(one, name, extended)
        elif extended:
            known = self._language == "kotlin" and all(owner.tag in _TYPED for owner in owners)
            yield from targets.found(one, extended, "receiver" if known else "name", of_receiver=True)
        else:
            values = self._overloaded(values, one)
            if self._language == "kotlin":
                values = evaluator.kotlin.made(values, one)
            if self._language == "scala" and (made_by := self._made_in_scala(one, values)):
                yield from self._of_object(one, values[0], made_by, "import" if spaces else "receiver")
                return
            refs = targets.called(values, one.arguments)
            yield from targets.found(one, refs, "import" if spaces else "receiver")

    def _applied(self, one: Reference, receiver: str, refs: list[Ref]) -> Iterator[Edge]:
        """A script's function's own methods, `save.call(disk)`: its own name is the place, right
        before the method's.
        """
        home = self._project.home
        same = all(home(ref[0]) == home(self._path) for ref in refs)
        column = one.column - len(split(receiver)[1].encode()) - 1
        moved = msgspec.structs.replace(one, column=max(0, column))
        return self._targets.found(moved, refs, "exact" if same else "import")

    def _of_nothing_known(self, one: Reference, name: str, extended: list[Ref]) -> Iterator[Edge]:
        """A call on what nobody knows."""
        values = self._evaluator.evaluate(one.chain, self._path, one.scope, one.at)
        if values and "()" not in one.chain:  # a function by its whole name
            return self._targets.found(one, self._targets.called(values, one.arguments), "import")
        if extended:
            return self._targets.found(one, extended, "name", of_receiver=True)
        return self._by_name(one, name)

    def _is_taken(self, values: tuple[Value, ...], one: Reference) -> bool:
        """Whether one of `values` is called: in C# an extension is, where what a type has by the
        name does not take what is passed.
        """
        refs = self._targets.called(values, -1)
        if self._language == "kotlin":
            return not self._targets.extended.may_be(refs, one)
        if not refs or self._language != "csharp" or one.arguments < 0:
            return bool(refs)
        taking = [ref for ref in refs if self._targets.takes(ref, one.arguments)]
        if not taking or not one.passed:
            return bool(taking)
        self._targets.narrowed = True
        return self._targets.overloads.may_take(taking, one)

    def _mixed_in(self, name: str, scope: int) -> list[Ref]:
        """The methods of that name of Ruby's modules, where whoever is around may include them."""
        around = self._evaluator.owners.around(self._path, scope)
        one = self._project.definition(around) if around else None
        if name in COMMON or (one is not None and one.kind != "trait" and not one.bases):
            return []
        return [*self._evaluator.mixed_in(name)]

    def _is_below(self, values: tuple[Value, ...]) -> bool:
        r"""Whether PHP's `new A\B` names a type of a name space that has a class's name."""
        types = (v.tag == "def" and self._project.definition(v.ref).kind in TYPE_KINDS for v in values)
        return self._rules.family == "php" and bool(values) and all(types)

    def _is_no_function(self, one: Reference, name: str) -> bool:
        """Whether a variable of that name cannot be what is called: any in Java, in Kotlin one that
        is declared with a type of no function.
        """
        if self._language != "kotlin":
            return self._language == "java"
        held = [what for what in self._index.places(one.scope, name) if isinstance(what, Binding)]
        return any(what.value.startswith(":") and "->" not in what.value for what in held[-1:])

    def _past_locals(self, name: str, scope: int) -> tuple[Value, ...]:
        """The methods of that name of the types around a place: no variable hides them."""
        while scope >= 0:
            one = self._definitions[scope]
            values = self._evaluator.member((self._path, scope), name) if one.kind in TYPE_KINDS else ()
            if self._targets.called(values, -1):
                return values
            scope = one.parent
        return ()

    def _overloaded(self, values: tuple[Value, ...], one: Reference) -> tuple[Value, ...]:
        """`values`, or what the type's supertypes have by that name where none of them takes so
        many arguments, or none what is passed.
        """
        methods = [value.ref for value in values if value.tag == "def"]
        methods = [ref for ref in methods if self._project.definition(ref).kind in CALLABLE_KINDS]
        if one.arguments < 0 or not methods or self._rules.family not in _OVERLOADING:
            return values
        taking = [ref for ref in methods if self._targets.takes(ref, one.arguments)]
        if taking and (not one.passed or self._rules.family in ("c", "swift")):
            return values  # in C++ a type's own hide its bases'
        owner = self._evaluator.owners.of(*methods[0])
        name = self._project.definition(methods[0]).name
        more = self._evaluator.member(owner, name, past=True) if owner else ()
        fitting = [v for v in more if v.tag == "def" and self._targets.takes(v.ref, one.arguments)]
        if self._language == "kotlin" and taking:  # not what these override
            own = {self._names(ref) for ref in taking}
            fitting = [v for v in fitting if self._names(v.ref) not in own]
        if not fitting or not taking:
            return tuple(fitting) or values
        self._targets.narrowed = True
        refs = [value.ref for value in fitting]
        other = not self._targets.overloads.may_take(taking, one) and self._targets.overloads.may_take(
            refs, one
        )
        return tuple(fitting) if other else values

    def _names(self, ref: Ref) -> tuple[str, ...]:
        return tuple(each.name for each in self._project.definition(ref).parameters)

    def _super(self, one: Reference) -> Iterator[Edge]:
        """Ruby's bare `super`: what the supertypes have by the name of the method that it stands
        in.
        """
        if self._language != "ruby" or one.scope < 0:
            return
        owner = self._evaluator.owners.of(self._path, one.scope)
        if owner is not None:
            values = self._evaluator.member(owner, self._definitions[one.scope].name, past=True)
            yield from self._targets.found(one, self._targets.called(values, -1), "receiver")

    def _is_outside(self, chain: str) -> bool:
        """Whether a chain that leads nowhere begins outside of the project: with a global that the
        file does not bind (`console`, `JSON`), or with a type that nothing here declares (`Math`).
        """
        root = _ROOT.match(chain)
        name = root[0] if root else "?"
        if (
            name[0] in "?#"
            or name in self._rules.self_names | self._rules.super_names | self._rules.type_names
        ):
            return False
        if self._index.may_know(name) or self._index.stars:
            return False
        return name[0].isupper() or self._rules.family in ("python", "script")

    def _by_name(self, one: Reference, name: str) -> Iterator[Edge]:
        if name in COMMON or len(name) < 3 or self._is_outside(one.chain):
            return
        if name in OWN.get(self._language, ()):
            return
        if name in COMMON_EXTENSIONS and self._language == "kotlin":
            return
        named = self._evaluator.methods_named(self._rules.family, name)
        refs = plausible(self._project, self._path, one, named)
        if self._language == "swift" and one.arguments >= 0:
            refs, self._targets.narrowed = [ref for ref in refs if self._targets.accepts(ref, one)], True
        if self._language == "csharp":
            refs = of_arity(self._project, refs, one.types)
        if self._rules.family == "c":
            refs = reachable(self._project, [*refs], self._path)
        if self._rules.family == "rust":  # those of this crate, where it has some
            root = self._project.rust.root
            refs = [ref for ref in refs if root(ref[0]) == root(self._path)] or refs
        script = self._rules.family == "script"
        alike = script or self._language == "swift"  # a protocol's own, and its default
        if len(refs) == 1 or (alike and self._targets.are_twins(refs)):
            if one.scope >= 0 and refs[0] == (self._path, one.scope):
                return  # a wrapper of something else by the same name, more likely than recursion
            for ref in refs:
                yield self._edges.call(one, ref, "name")
        elif 1 < len(refs) <= CANDIDATES_MAX:
            yield self._edges.ambiguous(one, refs, "name")
