"""References of files → edges: who calls, inherits from, imports and names the type of whom. Says
how it knows.

Confidence: `exact` (same scope, file or package), `import`, `receiver` (the type of what it is
called on), `name` (the only method of that name in the project, or one of its `candidates` when
there are several).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from cortex.graph.facts.chains import split
from cortex.graph.facts.facts import ALIAS, MADE, Definition, Import, Reference
from cortex.graph.facts.grammars import RULES
from cortex.graph.facts.tables import asks_fixtures
from cortex.graph.facts.types import alternatives
from cortex.graph.resolution.calls import Calls
from cortex.graph.resolution.edges import Edge, Edges, Location
from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.fixtures import fixture_of
from cortex.graph.resolution.overloads import unnamed
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.reaching_definitions import Stages
from cortex.graph.resolution.targets import Targets
from cortex.terms.kinds import CALLABLE_KINDS, TYPE_KINDS

#: families in which a type is a value as well
VALUE_KINDS = dict.fromkeys(("python", "script"), CALLABLE_KINDS | TYPE_KINDS)


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
        self.stages = Stages(self.index)
        self._leading: dict[tuple[str, str], bool] = {}
        self._edges = Edges(project, path)
        self._targets = Targets(project, evaluator, path, self._edges)
        self._calls = Calls(project, evaluator, path, self._edges, self._targets)

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
                    yield self._edges.to(
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
                if target != self._edges.module:
                    yield self._edges.to(one.scope, target, "imports", place, "import")
            if one.member and one.member != "*" and key:
                for value in self.evaluator.exports.imported(one, self.path):
                    if value.tag == "def":
                        yield self._edges.to(
                            one.scope, self.project.id_of(value.ref), "imports", place, "import"
                        )
                    elif value.tag == "mod" and value.path in self.project.files:
                        yield self._edges.to(
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
                        yield self._edges.to(
                            at, self.project.id_of(ref), "calls", (one.line, one.column), near
                        )

    def _references(self) -> Iterator[Edge]:
        """One answer for all that say the same in one scope, unless it matters where in the scope
        they stand.
        """
        answers: dict[tuple[object, ...], tuple[int, list[Edge]]] = {}
        for one in self.index.references:
            if not self._may_lead(one):
                continue
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
                self._targets.narrowed = False
                first = one.at if one.passed else self.stages.first(one.scope, name, stage, one.at)
                asked = one if first == one.at else msgspec.structs.replace(one, at=first)
                edges = list(self._meant(asked))
                answers[passed if one.passed and self._targets.narrowed else key] = one.column, edges
                yield from edges
            else:
                column, edges = known
                for edge in edges:
                    before = column - edge.location.column  # of `f.call()` the place is that of `f`
                    place = Location(self.path, one.line, max(0, one.column - before))
                    yield Edge(edge.source, edge.target, edge.type, place, edge.confidence, edge.candidates)

    def _meant(self, one: Reference) -> Iterator[Edge]:
        # No table of methods: each would refer to this, which would then hold the whole unpacked
        # file until somebody looks for garbage.
        match one.kind:
            case "call":
                return self._calls.of(one)
            case "type":
                return self._type(one)
        return self._value(one)

    def _may_lead(self, one: Reference) -> bool:
        """Whether the project has anything by the name that a reference ends with."""
        said = one.kind, one.chain
        known = self._leading.get(said)
        if known is None:
            known = self._leading[said] = self.project.known_names.may_lead(one, self.index)
        return known

    def _type(self, one: Reference) -> Iterator[Edge]:
        for name in alternatives(one.chain) or (one.chain,):
            for value in self.evaluator.evaluate(name.rstrip("*"), self.path, one.scope):
                if value.tag == "def" and self.project.definition(value.ref).kind in TYPE_KINDS:
                    same = self.project.home(value.path) == self.project.home(self.path)
                    confidence = "exact" if same else "import"
                    target = self.project.id_of(value.ref)
                    if target != self._edges.source(one.scope):
                        yield self._edges.to(
                            one.scope, target, "uses_type", (one.line, one.column), confidence
                        )

    def _value(self, one: Reference) -> Iterator[Edge]:
        """A function or method, in languages that have them as values a type too, that is passed,
        assigned or stored; nothing when syntax cannot tell which.
        """
        receiver, name = split(one.chain)
        if not receiver:
            values, confidence = self.evaluator.scopes.lookup(name, self.path, one.scope, one.at)
        elif one.types == MADE or self._may_be_member(one.chain, name):
            owners = self.evaluator.evaluate(receiver, self.path, one.scope, one.at)
            values = tuple(v for owner in owners for v in self.evaluator.attribute(owner, name))
            confidence = "import" if any(owner.tag == "mod" for owner in owners) else "receiver"
            if not owners and one.chain.startswith("\\"):  # PHP: a function with its whole name
                values, confidence = self.evaluator.evaluate(one.chain, self.path, one.scope), "import"
        else:
            return
        kinds = TYPE_KINDS if one.types == MADE else VALUE_KINDS.get(self.rules.family, CALLABLE_KINDS)
        meant = [v for v in values if v.tag == "def" and self.project.definition(v.ref).kind in kinds]
        for edge in self._targets.found(one, self._targets.called(meant, -1), confidence):
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
