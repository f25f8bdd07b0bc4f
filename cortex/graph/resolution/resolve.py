"""References of files → edges: who calls, inherits from, imports and names the type of whom. Says
how it knows.

Confidence: `exact` (same scope, file or package), `import`, `receiver` (the type of what it is
called on), `name` (the only method of that name in the project, or one of its `candidates` when
there are several).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from cortex.graph.facts.chains import module_of, split
from cortex.graph.facts.facts import ALIAS, CALLED, PLATFORM, Binding, Definition, Import, Reference
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.modules import DECLARATIONS
from cortex.graph.facts.tables import asks_fixtures
from cortex.graph.facts.types import alternatives
from cortex.graph.resolution.common_names import COMMON, RUST
from cortex.graph.resolution.counts import takes
from cortex.graph.resolution.declared import beside
from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.extended_calls import ExtendedCalls
from cortex.graph.resolution.extensions import shape, with_systems
from cortex.graph.resolution.fixtures import fixture_of
from cortex.graph.resolution.kotlin_types import COMMON_EXTENSIONS
from cortex.graph.resolution.overloads import Overloads, unnamed
from cortex.graph.resolution.parts import first_parts, of_arity
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.stages import Stages
from cortex.graph.resolution.values import EXTERNAL, Value
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: candidates that an ambiguous call lists; with more it says nothing
CANDIDATES_MAX = 12

#: times that one function is written which a call leads to
TWINS_MAX = 64
#: families in which a type is a value as well
VALUE_KINDS = dict.fromkeys(("python", "script"), CALLABLE_KINDS | TYPE_KINDS)
#: families in which a type has several methods of one name
_OVERLOADING = frozenset({"jvm", "csharp", "c", "swift"})
#: languages in which one function may be written several times with the same parameters, for each
#: system once; elsewhere a later one replaces it, or type parameters tell them apart
_TWINS = frozenset({"c", "cpp", "rust", "go", "swift", "kotlin", "php", "python"})
#: of these, those in which parameters' types tell no functions apart
_UNTYPED = frozenset({"c", "python"})

_ROOT = re.compile(r"[^.\[\]():]+")


class Location(msgspec.Struct, frozen=True, gc=False):
    file: str
    line: int
    column: int


class Edge(msgspec.Struct, frozen=True, omit_defaults=True, rename={"source": "from", "target": "to"}):
    """As in the graph files. `target` is "" for an ambiguous call: `candidates` has those it may
    mean.
    """

    source: str
    target: str
    type: str
    location: Location
    confidence: str = ""
    candidates: tuple[str, ...] = ()


def edges_of(project: Project, evaluator: Evaluator, path: str) -> list[Edge]:
    """All edges that begin in `path` and are written there (not the structural ones:
    structure.py).
    """
    evaluator.relax()
    return _Resolver(project, evaluator, path).edges()


class _Resolver:
    def __init__(self, project: Project, evaluator: Evaluator, path: str) -> None:
        self.project = project
        self.evaluator = evaluator
        self.path = path
        self.index = project.index(path)
        self.facts = self.index.facts
        self.rules = RULES[self.facts.language]
        self.module = project.module_id(path)
        self.stages = Stages(self.index)
        self.overloads = Overloads(project, evaluator, path)
        self.extended = ExtendedCalls(project, evaluator, self.overloads, path)
        #: whether what a call passes decided its answer
        self.narrowed = False
        self._ways: Mapping[str, Callable[[Reference], Iterator[Edge]]] = {
            "call": self._call,
            "type": self._type,
            "value": self._value,
        }

    def edges(self) -> list[Edge]:
        found: dict[tuple[Any, ...], Edge] = {}
        for edge in (
            *self._bases(),
            *self._extensions(),
            *self._imports(),
            *self._fixtures(),
            *self._references(),
        ):
            found.setdefault((edge.source, edge.target, edge.type, edge.location, edge.candidates), edge)
        return list(found.values())

    def _source(self, scope: int) -> str:
        return self.project.ids(self.path)[scope] if scope >= 0 else self.module

    def _edge(self, scope: int, target: str, kind: str, place: tuple[int, int], confidence: str) -> Edge:
        return Edge(self._source(scope), target, kind, Location(self.path, *place), confidence)

    def _bases(self) -> Iterator[Edge]:
        for index, one in enumerate(self.facts.definitions):
            for base in one.bases:
                if base.relation == ALIAS:
                    continue
                for ref in self.evaluator.supertypes.base((self.path, index), base.chain):
                    kind = self._relation(base.relation, one, self.project.definition(ref), ref)
                    confidence = (
                        "exact" if self.project.home(ref[0]) == self.project.home(self.path) else "import"
                    )
                    yield self._edge(
                        index, self.project.id_of(ref), kind, (base.line, base.column), confidence
                    )

    def _extensions(self) -> Iterator[Edge]:
        for extension in self.facts.extensions:
            owner = self.evaluator.supertypes.extended(self.path, extension.type)
            if owner is None:
                continue
            base = extension.base
            for ref in self.evaluator.types_of(base.chain, self.path):
                ends = self.project.definition(owner), self.project.definition(ref)
                kind = self._relation(base.relation, *ends, ref)
                place = Location(self.path, base.line, base.column)
                source, target = self.project.id_of(owner), self.project.id_of(ref)
                yield Edge(source, target, kind, place, "exact")

    def _relation(self, written: str, one: Definition, target: Definition, ref: Ref) -> str:
        if written != "extends":
            return written
        abstract = target.kind in ("interface", "trait") and one.kind not in ("interface", "trait")
        if self.facts.language == "python":
            names = {base.chain.rpartition(".")[2] for base in self.project.definition(ref).bases}
            abstract = bool(names & {"Protocol", "ABC"})
        return "implements" if abstract else "extends"

    def _imports(self) -> Iterator[Edge]:
        for one in self.facts.imports:
            key = self.project.find_module(one.module, self.path)
            place = (one.line, 0)
            if key and (paths := self.project.paths_of(key)):
                target = key.rstrip("/") or "." if key.endswith("/") else self.project.module_id(paths[0])
                if target != self.module:
                    yield self._edge(one.scope, target, "imports", place, "import")
            if one.member and one.member != "*" and key:
                for value in self.evaluator.exports.imported(one, self.path):
                    if value.tag == "def":
                        yield self._edge(one.scope, self.project.id_of(value.ref), "imports", place, "import")
                    elif value.tag == "mod" and value.path in self.project.files:
                        yield self._edge(
                            one.scope, self.project.module_id(value.path), "imports", place, "import"
                        )

    def _fixtures(self) -> Iterator[Edge]:
        """The fixtures that pytest calls for a test's parameters."""
        for at, one in enumerate(self.facts.definitions):
            if asks_fixtures(self.facts.language, one):
                for parameter in one.parameters:
                    ref = fixture_of(self.project, parameter.name, self.path, at)
                    if ref is not None:
                        near = "exact" if ref[0] == self.path else "import"
                        yield self._edge(at, self.project.id_of(ref), "calls", (one.line, one.column), near)

    def _references(self) -> Iterator[Edge]:
        """One answer for all that say the same in one scope, unless it matters where in the scope
        they stand.
        """
        answers: dict[tuple[object, ...], tuple[int, list[Edge]]] = {}
        for one in self.index.references:
            name, stage = self.stages.at(one.scope, one.chain, one.at)
            key = (one.kind, one.chain, one.scope, stage, one.arguments, one.types)
            known = answers.get(key)
            if known is None and one.passed:
                stages = [
                    self.stages.at(one.scope, c, one.at)[1] for c in map(unnamed, one.passed) if c[:1] != ":"
                ]
                passed = (key, one.passed, *stages)
                known = answers.get(passed)
            if known is None:
                self.narrowed = False
                first = one.at if one.passed else self.stages.first(one.scope, name, stage, one.at)
                asked = one if first == one.at else msgspec.structs.replace(one, at=first)
                edges = list(self._ways[one.kind](asked))
                answers[passed if one.passed and self.narrowed else key] = one.column, edges
                yield from edges
            else:
                column, edges = known
                for edge in edges:
                    before = column - edge.location.column  # of `f.call()` the place is that of `f`
                    place = Location(self.path, one.line, max(0, one.column - before))
                    yield Edge(edge.source, edge.target, edge.type, place, edge.confidence, edge.candidates)

    def _type(self, one: Reference) -> Iterator[Edge]:
        for name in alternatives(one.chain) or (one.chain,):
            for value in self.evaluator.evaluate(name.rstrip("*"), self.path, one.scope):
                if value.tag == "def" and self.project.definition(value.ref).kind in TYPE_KINDS:
                    same = self.project.home(value.path) == self.project.home(self.path)
                    confidence = "exact" if same else "import"
                    target = self.project.id_of(value.ref)
                    if target != self._source(one.scope):
                        yield self._edge(one.scope, target, "uses_type", (one.line, one.column), confidence)

    def _value(self, one: Reference) -> Iterator[Edge]:
        """A function or method, in languages that have them as values a type too, that is passed,
        assigned or stored; nothing when syntax cannot tell which.
        """
        receiver, name = split(one.chain)
        if not receiver:
            values, confidence = self.evaluator.scopes.lookup(name, self.path, one.scope, one.at)
        elif self._may_be_member(one.chain, name):
            owners = self.evaluator.evaluate(receiver, self.path, one.scope, one.at)
            values = tuple(v for owner in owners for v in self.evaluator.attribute(owner, name))
            confidence = "import" if any(owner.tag == "mod" for owner in owners) else "receiver"
            if not owners and one.chain.startswith("\\"):  # PHP: a function with its whole name
                values, confidence = self.evaluator.evaluate(one.chain, self.path, one.scope), "import"
        else:
            return
        kinds = VALUE_KINDS.get(self.rules.family, CALLABLE_KINDS)
        meant = [v for v in values if v.tag == "def" and self.project.definition(v.ref).kind in kinds]
        for edge in self._found(one, self._callable(meant, -1), confidence):
            if edge.target != edge.source:
                yield msgspec.structs.replace(edge, type="references")

    def _may_be_member(self, chain: str, name: str) -> bool:
        """Whether the project has a method of that name, or the chain begins with a module."""
        if (self.rules.family, name) in self.project.methods or self.rules.family in ("rust", "c"):
            return True
        if chain.startswith("\\"):
            return True
        root = chain.partition(".")[0]
        return any(isinstance(place, Import) for place in self.index.places(-1, root))

    def _call(self, one: Reference) -> Iterator[Edge]:
        receiver, name = split(one.chain)
        if name[-1:] == "!" and self.rules.family == "rust":
            yield from self._found(one, *self.evaluator.exports.crates.macros(one.chain, self.path))
            return
        if not receiver:
            if name in self.rules.super_names:
                yield from self._super(one)
                return
            own = self.evaluator.owners.receiver(name, self.path, one.scope)  # Python's `cls()`
            values, how = self.evaluator.scopes.lookup(name, self.path, one.scope, one.at)
            confidence: str = how
            if any(value.tag == "inst" for value in values):  # one that can be called
                confidence = "receiver"
            if not values and self.facts.language == "ruby":
                yield from self._found(one, self._mixed_in(name, one.scope), "name")
            if module_of(name):  # `require("x")()`
                values, confidence = self.evaluator.evaluate(name, self.path, one.scope), "import"
            if own is not None:
                values, confidence = (own,), "receiver"
            if self._is_no_function(one, name) and not self._callable(values, -1):
                values, confidence = self._past_locals(name, one.scope), "receiver"
            if inner := self.evaluator.within.members(name, self.path, one.scope, one.at, values):
                values, confidence = inner, "receiver"
            if self.facts.language in ("java", "csharp"):
                values = self._overloaded(values, one)
            if self.facts.language == "kotlin":
                call = f"(_{max(0, one.arguments)})"
                values, around = self.evaluator.kotlin.implicit(
                    name, call, (self.path, one.scope, one.at), values
                )
                if around:
                    refs = self.extended.called(one, "", name, around)
                    values, confidence = tuple(Value("def", *ref) for ref in refs), "receiver"
                values = self.evaluator.kotlin.made(values, one)
        else:
            owners = self.evaluator.worth(self.evaluator.evaluate(receiver, self.path, one.scope, one.at))
            owners = tuple(owner for owner in owners if not self._is_constant(owner))
            if name in ("call", "apply") and self.rules.family == "script" and self._callable(owners, -1):
                # the function's own methods
                refs = self._callable(owners, -1)
                same = all(self.project.home(ref[0]) == self.project.home(self.path) for ref in refs)
                # The function's own name is the place, right before the method's.
                column = one.column - len(split(receiver)[1].encode()) - 1
                moved = msgspec.structs.replace(one, column=max(0, column))
                yield from self._found(moved, refs, "exact" if same else "import")
                return
            dotted = self.evaluator.exports.dotted_import(one.chain, self.path)
            if dotted:
                return
            values = tuple(
                dict.fromkeys(v for owner in owners for v in self.evaluator.attribute(owner, name))
            )
            spaces = any(owner.tag == "mod" for owner in owners) or self._is_below(values)
            confidence = "import" if spaces else "receiver"
            extended: list[Ref] = []
            if not self._is_taken(values, one) and (
                owners or "()" in receiver or not self._is_outside(one.chain)
            ):
                extended = self.extended.called(one, receiver, name, owners)
                self.narrowed = self.narrowed or len(extended) > 1
            if not owners:
                values = self.evaluator.evaluate(one.chain, self.path, one.scope, one.at)
                if values and "()" not in one.chain:  # a function by its whole name
                    yield from self._found(one, self._callable(values, one.arguments), "import")
                elif extended:
                    yield from self._found(one, extended, "name", of_receiver=True)
                else:
                    yield from self._by_name(one, name, owners)
                return
            if extended:
                known = self.facts.language == "kotlin" and all(owner.tag == "inst" for owner in owners)
                yield from self._found(one, extended, "receiver" if known else "name", of_receiver=True)
                return
            values = self._overloaded(values, one)
            if self.facts.language == "kotlin":
                values = self.evaluator.kotlin.made(values, one)
        yield from self._found(one, self._callable(values, one.arguments), confidence)

    def _is_taken(self, values: tuple[Value, ...], one: Reference) -> bool:
        """Whether one of `values` is called: in C# an extension is, where what a type has by the
        name does not take what is passed.
        """
        refs = self._callable(values, -1)
        if self.facts.language == "kotlin":
            return not self.extended.may_be(refs, one)
        if not refs or self.facts.language != "csharp" or one.arguments < 0:
            return bool(refs)
        taking = [ref for ref in refs if self.takes(ref, one.arguments)]
        if not taking or not one.passed:
            return bool(taking)
        self.narrowed = True
        return self.overloads.may_take(taking, one)

    def _mixed_in(self, name: str, scope: int) -> list[Ref]:
        """The methods of that name of Ruby's modules, where whoever is around may include them."""
        around = self.evaluator.owners.around(self.path, scope)
        one = self.project.definition(around) if around else None
        if name in COMMON or (one is not None and one.kind != "trait" and not one.bases):
            return []
        found = self.evaluator.methods_named("ruby", name)
        owners = ((ref, self.evaluator.owners.of(*ref)) for ref in found)
        return [ref for ref, owner in owners if owner and self.project.definition(owner).kind == "trait"]

    def _is_below(self, values: tuple[Value, ...]) -> bool:
        r"""Whether PHP's `new A\B` names a type of a name space that has a class's name."""
        types = (v.tag == "def" and self.project.definition(v.ref).kind in TYPE_KINDS for v in values)
        return self.rules.family == "php" and bool(values) and all(types)

    def _is_no_function(self, one: Reference, name: str) -> bool:
        """Whether a variable of that name cannot be what is called: any in Java, in Kotlin one that
        is declared with a type of no function.
        """
        if self.facts.language != "kotlin":
            return self.facts.language == "java"
        held = [what for what in self.index.places(one.scope, name) if isinstance(what, Binding)]
        return any(what.value.startswith(":") and "->" not in what.value for what in held[-1:])

    def _past_locals(self, name: str, scope: int) -> tuple[Value, ...]:
        """The methods of that name of the types around a place: no variable hides them."""
        while scope >= 0:
            one = self.facts.definitions[scope]
            values = self.evaluator.member((self.path, scope), name) if one.kind in TYPE_KINDS else ()
            if self._callable(values, -1):
                return values
            scope = one.parent
        return ()

    def _overloaded(self, values: tuple[Value, ...], one: Reference) -> tuple[Value, ...]:
        """`values`, or what the type's supertypes have by that name where none of them takes so
        many arguments, or none what is passed.
        """
        methods = [value.ref for value in values if value.tag == "def"]
        methods = [ref for ref in methods if self.project.definition(ref).kind in CALLABLE_KINDS]
        if one.arguments < 0 or not methods or self.rules.family not in _OVERLOADING:
            return values
        taking = [ref for ref in methods if self.takes(ref, one.arguments)]
        if taking and (not one.passed or self.rules.family == "c"):
            return values  # in C++ a type's own hide its bases'
        owner = self.evaluator.owners.of(*methods[0])
        name = self.project.definition(methods[0]).name
        more = self.evaluator.member(owner, name, past=True) if owner else ()
        fitting = [v for v in more if v.tag == "def" and self.takes(v.ref, one.arguments)]
        if not fitting or not taking:
            return tuple(fitting) or values
        self.narrowed = True
        refs = [value.ref for value in fitting]
        other = not self.overloads.may_take(taking, one) and self.overloads.may_take(refs, one)
        return tuple(fitting) if other else values

    def _super(self, one: Reference) -> Iterator[Edge]:
        """Ruby's bare `super`: what the supertypes have by the name of the method that it stands
        in.
        """
        if self.facts.language != "ruby" or one.scope < 0:
            return
        owner = self.evaluator.owners.of(self.path, one.scope)
        if owner is not None:
            values = self.evaluator.member(owner, self.facts.definitions[one.scope].name, past=True)
            yield from self._found(one, self._callable(values, -1), "receiver")

    def _found(
        self, one: Reference, refs: list[Ref], confidence: str, *, of_receiver: bool = False
    ) -> Iterator[Edge]:
        """The edges of a call that means one of `refs`; `of_receiver`: the receiver is passed for
        the first parameter (C#).
        """
        if refs and self.facts.language == "csharp":
            refs = of_arity(self.project, refs, one.types)
        if self.facts.language == "kotlin" and one.arguments >= 0:
            refs = self.extended.that_take(refs, one.arguments)
        skipped = int(of_receiver and self.facts.language == "csharp")
        if len(refs) > 1 and (one.passed or skipped):
            refs, self.narrowed = self.extended.chosen(refs, one, skipped), True
        if len(refs) == 1 and self.rules.family == "script":
            refs = [*refs, *beside(self.project, self.evaluator, refs[0])]
        if len(refs) == 1 or self._are_twins(refs):
            each = self.extended.for_each_system(refs) if self.facts.language == "kotlin" else refs
            for ref in each[:TWINS_MAX]:
                yield self._edge(
                    one.scope, self.project.id_of(ref), "calls", (one.line, one.column), confidence
                )
        elif len(refs) <= CANDIDATES_MAX and refs:
            yield self._ambiguous(one, refs, confidence)

    def _are_twins(self, refs: Sequence[Ref]) -> bool:
        """Whether these are one function that is written several times, for each system once or in
        the branches of a condition: a call of it is a call of each.
        """
        if self.rules.family == "script":  # one that is declared in a file beside it
            return len(refs) == 2 and sum(ref[0].endswith(DECLARATIONS) for ref in refs) == 1
        if self.facts.language not in _TWINS:
            return False
        return len({self._shape(ref) for ref in refs}) == 1

    def _shape(self, ref: Ref) -> tuple[object, ...]:
        """The same for one function, wherever it is written."""
        if self.facts.language == "kotlin":
            return shape(self.project, ref)
        one = self.project.definition(ref)
        types = () if self.facts.language in _UNTYPED else tuple(each.type for each in one.parameters)
        return self.project.home(ref[0]), one.qualified, one.kind in TYPE_KINDS, types

    def _is_constant(self, value: Value) -> bool:
        if value.tag != "def":
            return False
        one = self.project.definition(value.ref)
        return one.kind == "constant" and not one.has_members

    def _callable(self, values: Iterable[Value], arguments: int) -> list[Ref]:
        values = self.evaluator.worth(tuple(values))
        whole = [one for value in values for one in self.evaluator.exports.commonjs.unwrapped(value)]
        whole += [one for value in values if value.tag == "inst" for one in self.evaluator.call_of(value)]
        refs = [
            value.ref
            for value in dict.fromkeys(whole)
            if value.tag == "def"
            and self.project.definition(value.ref).kind in (*CALLABLE_KINDS, *TYPE_KINDS, "constant")
        ]
        if len(refs) > 1:  # a constant that holds another of them, or is declared to have a signature
            others = [ref for ref in refs if self.project.definition(ref).kind != "constant"]
            constants = [ref for ref in refs if ref not in others]
            signed = all(CALLED in self.project.definition(ref).flags for ref in others)
            declared = [ref for ref in constants if signed and self._is_declared(ref)]
            refs = declared[:1] or others or refs[:1]
        if len(refs) > 1 and not any(PLATFORM in self.project.definition(ref).flags for ref in refs):
            refs = first_parts(self.project, refs)
        if len(refs) > 1 and self.facts.language == "c":  # a struct's name is no function's
            refs = [ref for ref in refs if self.project.definition(ref).kind in CALLABLE_KINDS] or refs
        if len(refs) > 1 and arguments >= 0 and self.rules.family != "script":
            taking = [ref for ref in refs if self.takes(ref, arguments)]
            none = [ref for ref in taking if not (arguments or self.project.definition(ref).parameters)]
            fitting = none or taking or refs
            return with_systems(self.project, fitting, refs) if self.facts.language == "kotlin" else fitting
        return refs

    def _is_declared(self, ref: Ref) -> bool:
        """Whether a constant is declared with a type."""
        held = self.project.index(ref[0]).tops.get((-1, self.project.definition(ref).name), ())
        return any(one.value.startswith(":") for one in held)

    def takes(self, ref: Ref, arguments: int) -> bool:
        """Whether a definition takes so many arguments."""
        return takes(self.project.definition(ref), self.facts.language, arguments)

    def _is_outside(self, chain: str) -> bool:
        """Whether a chain that leads nowhere begins outside of the project: with a global that the
        file does not bind (`console`, `JSON`), or with a type that nothing here declares (`Math`).
        """
        root = _ROOT.match(chain)
        name = root[0] if root else "?"
        if name[0] in "?#" or name in self.rules.self_names | self.rules.super_names | self.rules.type_names:
            return False
        if self.index.may_know(name) or self.index.stars:
            return False
        return name[0].isupper() or self.rules.family in ("python", "script")

    def _by_name(self, one: Reference, name: str, owners: tuple[Value, ...]) -> Iterator[Edge]:
        if EXTERNAL in owners or name in COMMON or len(name) < 3 or self._is_outside(one.chain):
            return
        if name in RUST and self.rules.family == "rust":
            return
        if name in COMMON_EXTENSIONS and self.facts.language == "kotlin":
            return
        refs = self.evaluator.methods_named(self.rules.family, name)
        script = self.rules.family == "script"
        if len(refs) == 1 or (script and self._are_twins(refs)):
            if one.scope >= 0 and refs[0] == (self.path, one.scope):
                return  # a wrapper of something else by the same name, more likely than recursion
            for ref in refs:
                yield self._edge(one.scope, self.project.id_of(ref), "calls", (one.line, one.column), "name")
        elif 1 < len(refs) <= CANDIDATES_MAX:
            yield self._ambiguous(one, refs, "name")

    def _ambiguous(self, one: Reference, refs: Sequence[Ref], confidence: str) -> Edge:
        return Edge(
            self._source(one.scope),
            "",
            "calls",
            Location(self.path, one.line, one.column),
            confidence,
            tuple(sorted(self.project.id_of(ref) for ref in refs)),
        )
