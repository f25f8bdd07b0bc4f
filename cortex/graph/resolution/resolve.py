"""Edges of a file's references: calls, inheritance, imports, types and function values, each with
its confidence.

Confidence: `exact` (same scope, file or package), `import`, `receiver` (by the receiver's type),
`name` (the only method of that name in the project, or one of several `candidates`).
"""

import functools
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from cortex.graph.facts.declared.pytest_marks import FIXTURE, NO_FIXTURE
from cortex.graph.facts.declared.types import alternatives
from cortex.graph.facts.expressions.chains import split_chain
from cortex.graph.facts.facts import (
    ALIAS,
    CONSTANT,
    DERIVED,
    LITERAL_ARGUMENT,
    OPERATOR,
    PROPERTY,
    REQUIRED,
    Definition,
    Extension,
    Reference,
)
from cortex.graph.facts.tables import takes_fixtures
from cortex.graph.resolution.calling.calls import ROOT_NAME, Calls
from cortex.graph.resolution.calling.fixtures import find_fixture, fixture_of
from cortex.graph.resolution.calling.function_values import FunctionValues
from cortex.graph.resolution.calling.properties import Properties
from cortex.graph.resolution.calling.targets import Targets
from cortex.graph.resolution.defined_names import PLAIN_NAME
from cortex.graph.resolution.edges import Edge, Edges, Location
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.evaluation.reaching_definitions import Stages
from cortex.graph.resolution.project import Project, Ref
from cortex.graph.resolution.types.overloads import strip_name
from cortex.terms.code.components import is_component
from cortex.terms.kinds import TYPE_KINDS


def edges_of(project: Project, evaluator: Evaluator, path: str) -> list[Edge]:
    """Return all edges written in `path`; structural_types.py adds the structural ones."""
    return resolve_file(project, evaluator, path)[0]


def resolve_file(
    project: Project, evaluator: Evaluator, path: str
) -> tuple[list[Edge], dict[str, list[int]]]:
    """Return the edges of a file, and its unresolved uses: name → lines."""
    evaluator.relax()
    resolver = _Resolver(project, evaluator, path)
    return resolver.edges(), resolver.unresolved


class _Resolver:
    def __init__(self, project: Project, evaluator: Evaluator, path: str) -> None:
        self.project, self.evaluator, self.path = project, evaluator, path
        self.index = project.index(path)
        self.facts = self.index.facts
        self.rules = self.index.rules
        self.stages = Stages(self.index)
        # Read before the local bindings, which are unpacked with them.
        self._references: Sequence[Reference] = self.index.references
        self._marks = list[Reference]()
        if self.rules.fixtures:
            self._marks = [use for use in self._references if use.kind in (FIXTURE, NO_FIXTURE)]
            self._references = [use for use in self._references if use.kind not in (FIXTURE, NO_FIXTURE)]
        self._leading: dict[tuple[str, str], bool] = {}
        #: name that the project defines → lines of its uses that are not resolved
        self.unresolved: dict[str, list[int]] = {}
        self._edges = Edges(project, path)
        self._targets = Targets(project, evaluator, path, self._edges)
        self._calls = Calls(project, evaluator, path, self._edges, self._targets)
        self._properties = Properties(project, evaluator, path, self._edges)
        self._values = FunctionValues(project, evaluator, path, self._edges, self._targets)

    def edges(self) -> list[Edge]:
        unique: dict[tuple[Any, ...], Edge] = {}
        for edge in (
            *self._base_edges(),
            *self._extension_edges(),
            *self._import_edges(),
            *self._fixture_edges(),
            *self._reference_edges(),
        ):
            unique.setdefault((edge.source, edge.target, edge.type, edge.location, edge.candidates), edge)
        return list(unique.values())

    def _base_edges(self) -> Iterator[Edge]:
        for index, definition in enumerate(self.facts.definitions):
            for base in definition.bases:
                if base.relation in (ALIAS, REQUIRED):
                    continue
                for ref in self.evaluator.supertypes.of_base((self.path, index), base):
                    kind = self._base_relation(base.relation, definition, self.project.definition(ref), ref)
                    confidence = (
                        "exact" if self.project.home(ref[0]) == self.project.home(self.path) else "import"
                    )
                    yield self._edges.edge_to(
                        index, self.project.id_of(ref), kind, (base.line, base.column), confidence
                    )

    def _extension_edges(self) -> Iterator[Edge]:
        for extension in self.facts.extensions:
            owner = self.evaluator.supertypes.extended_type(self.path, extension.type)
            base = extension.base
            if owner is None:
                yield from self._outside_type_edges(extension)
                continue
            for ref in self.evaluator.types_of(base.chain, self.path):
                ends = self.project.definition(owner), self.project.definition(ref)
                kind = self._base_relation(base.relation, *ends, ref)
                place = Location(self.path, base.line, base.column)
                source, target = self.project.id_of(owner), self.project.id_of(ref)
                yield Edge(source, target, kind, place, "exact")

    def _outside_type_edges(self, extension: Extension) -> Iterator[Edge]:
        """Yield the edges of `impl Shop for String`: the type has no node, so that its methods
        implement the trait and its methods; without any the file does.
        """
        base, definitions = extension.base, self.facts.definitions
        if not extension.end:
            return
        places = self._places_of_methods.get(extension.type, [])
        first, last = (bisect_left(places, (at, -1)) for at in (extension.begin, extension.end))
        inside = [at for _, at in places[first:last]]
        for ref in self.evaluator.types_of(base.chain, self.path):
            is_abstract = self.project.definition(ref).kind in ("interface", "trait")
            kind = "implements" if is_abstract else base.relation
            trait, place = self.project.id_of(ref), (base.line, base.column)
            yield self._edges.edge_to(min(inside, default=-1), trait, kind, place, "exact")
            for at in inside:
                method = definitions[at]
                for value in self.evaluator.member(ref, method.name):
                    if value.tag == "def":
                        upper, place = self.project.id_of(value.ref), (method.line, method.column)
                        yield self._edges.edge_to(at, upper, kind, place, "exact")

    @functools.cached_property
    def _places_of_methods(self) -> dict[str, list[tuple[int, int]]]:
        """(byte offset, index) of the definitions of each scope, in the order of the text."""
        places = defaultdict[str, list[tuple[int, int]]](list)
        for at, definition in enumerate(self.facts.definitions):
            places[definition.scope].append((definition.begin, at))
        return {scope: sorted(listed) for scope, listed in places.items()}

    def _base_relation(self, written: str, definition: Definition, target: Definition, ref: Ref) -> str:
        if written != "extends":
            return "implements" if written == DERIVED else written
        abstract = target.kind in ("interface", "trait") and definition.kind not in ("interface", "trait")
        if self.rules.abstract_bases:
            names = {base.chain.rpartition(".")[2] for base in self.project.definition(ref).bases}
            abstract = bool(names & self.rules.abstract_bases)
        return "implements" if abstract else "extends"

    def _import_edges(self) -> Iterator[Edge]:
        for statement in self.facts.imports:
            key = self.project.find_module(statement.module, self.path)
            place = (statement.line, 0)
            if key and (paths := self.project.paths_of(key)):
                target = key.rstrip("/") or "." if key.endswith("/") else self.project.module_id(paths[0])
                if target != self._edges.module:
                    yield self._edges.edge_to(statement.scope, target, "imports", place, "import")
            if statement.member and statement.member != "*" and key:
                for value in self.evaluator.exports.imported(statement, self.path):
                    if value.tag == "def":
                        yield self._edges.edge_to(
                            statement.scope, self.project.id_of(value.ref), "imports", place, "import"
                        )
                    elif value.tag == "mod" and value.path in self.project.packed:
                        yield self._edges.edge_to(
                            statement.scope, self.project.module_id(value.path), "imports", place, "import"
                        )

    def _fixture_edges(self) -> Iterator[Edge]:
        """Yield the calls of fixtures that pytest makes for a test's parameters and marks."""
        if not self.rules.fixtures:
            return
        without = set[tuple[int, str]]()
        for mark in self._marks:
            scope = self._marked(mark)
            if mark.kind == NO_FIXTURE:
                without.add((scope, mark.chain))
            elif (ref := find_fixture(self.project, mark.chain, self.path, scope)) is not None:
                yield self._fixture_edge(scope, ref, (mark.line, mark.column))
        for at, definition in enumerate(self.facts.definitions):
            if takes_fixtures(self.rules, definition):
                for parameter in definition.parameters:
                    ref = fixture_of(self.project, parameter.name, self.path, at)
                    if ref is not None and (at, parameter.name) not in without:
                        yield self._fixture_edge(at, ref, (definition.line, definition.column))

    def _fixture_edge(self, scope: int, ref: Ref, place: tuple[int, int]) -> Edge:
        near = "exact" if ref[0] == self.path else "import"
        return self._edges.edge_to(scope, self.project.id_of(ref), "calls", place, near)

    def _marked(self, mark: Reference) -> int:
        """Return the definition that a mark is for: below a decorator, or around another mark."""
        if mark.arguments < 1:
            return mark.scope
        ends = self._ends.get(mark.scope, [])
        below = bisect_left(ends, (mark.at + 1, -1))
        return ends[below][1] if below < len(ends) else mark.scope

    @functools.cached_property
    def _ends(self) -> dict[int, list[tuple[int, int]]]:
        """(end in bytes, index) of the definitions in each definition, in the order of the text."""
        ends = defaultdict[int, list[tuple[int, int]]](list)
        for at, definition in enumerate(self.facts.definitions):
            ends[definition.parent].append((definition.end, at))
        return {parent: sorted(listed) for parent, listed in ends.items()}

    def _reference_edges(self) -> Iterator[Edge]:
        """Yield the edges of all references: one answer for equal ones in a scope.

        The place matters only if a binding of a name in between changes the stage.
        """
        answers: dict[tuple[object, ...], tuple[int, list[Edge], str]] = {}
        binds = self.project.language(self.path).bind_references is not None
        for reference in self._references:
            if not self._may_lead(reference):
                continue
            name, stage = self.stages.at(reference.scope, reference.chain, reference.at)
            if binds:  # copies of variables are constant
                stage = (*stage, self.index.meanings(reference.scope, CONSTANT).at(reference.at).number)
            key = (
                reference.kind,
                reference.chain,
                reference.scope,
                stage,
                reference.arguments,
                reference.types,
                reference.functions,
            )
            answer = answers.get(key)
            if answer is None and reference.passed:
                stages = [
                    self.stages.at(reference.scope, chain, reference.at)[1]
                    for chain in map(strip_name, reference.passed)
                    if chain[:1] != ":"
                ]
                passed = (key, reference.passed, *stages)
                answer = answers.get(passed)
            if answer is None:
                self._targets.narrowed = False
                first = (
                    reference.at
                    if reference.passed
                    else self.stages.first(reference.scope, name, stage, reference.at)
                )
                canonical = (
                    reference if first == reference.at else msgspec.structs.replace(reference, at=first)
                )
                edges = list(self._resolve_reference(canonical))
                answers[passed if reference.passed and self._targets.narrowed else key] = (
                    reference.column,
                    edges,
                    missed := "" if edges else self._unresolved_name(canonical),
                )
                yield from edges
            else:
                column, edges, missed = answer
                for edge in edges:
                    before = column - edge.location.column  # the location of `f.call()` is that of `f`
                    place = Location(self.path, reference.line, max(0, reference.column - before))
                    yield Edge(edge.source, edge.target, edge.type, place, edge.confidence, edge.candidates)
            if missed:
                self.unresolved.setdefault(missed, []).append(reference.line)

    def _unresolved_name(self, reference: Reference) -> str:
        """Return the last name of a reference without edges, if it may name a definition of the
        project: its receiver is unknown, or nothing in the file binds the name. Else "".
        """
        if reference.kind == LITERAL_ARGUMENT or reference.types == OPERATOR:
            return ""
        receiver, last = split_chain(reference.chain)
        match = PLAIN_NAME.fullmatch(last)
        name = match[1] if match is not None else ""
        if not self.project.named[self.rules.family].get(name):
            return ""
        place = self.path, reference.scope, reference.at
        if self._calls.is_outside(reference.chain) and not self._defines_root(receiver, place):
            return ""
        if not receiver:
            return "" if self.index.may_bind(name) or self.evaluator.scopes.lookup(name, *place)[0] else name
        for owner in self.evaluator.evaluate(receiver, *place):
            if owner.tag == "ext" or any(v.tag == "ext" for v in self.evaluator.attribute(owner, name)):
                return ""
        return name

    def _defines_root(self, receiver: str, place: tuple[str, int, int]) -> bool:
        """Return True if a receiver begins with a type of the project, without an import."""
        root = ROOT_NAME.match(receiver)
        return root is not None and bool(self.evaluator.scopes.lookup(root[0], *place)[0])

    def _resolve_reference(self, reference: Reference) -> Iterator[Edge]:
        # No table of methods: each would refer to this object, which would then hold the whole
        # unpacked file until a garbage collection.
        match reference.kind:
            case "call" if (ref := registered_component(self.project, self.path, reference)) is not None:
                return iter([self._edges.call(reference, ref, "name")])
            case "call":
                return self._call_edges(reference)
            case "type":
                return self._type_edges(reference)
            case "given":
                return self._values.edges_of_given(reference)
            case "property":
                return self._properties.edges_of(reference)
        return self._values.edges_of(reference)

    def _call_edges(self, reference: Reference) -> Iterator[Edge]:
        """Yield the edges of a call, and those of the functions among its arguments."""
        self._targets.called = []
        yield from self._calls.edges_of(reference)
        if self._targets.called and (reference.functions or reference.passed):
            yield from self._values.edges_of_arguments(reference, self._targets.called)

    def _may_lead(self, reference: Reference) -> bool:
        """Return True if the project defines the last name of a reference."""
        if reference.kind == PROPERTY:  # most name fields
            last = reference.chain.rpartition(".")[2]
            return self.project.known_names.are_properties(self.rules.family, last)
        key = reference.kind, reference.chain
        leads = self._leading.get(key)
        if leads is None:
            leads = self._leading[key] = self.project.known_names.may_lead(reference, self.index)
        return leads

    def _type_edges(self, reference: Reference) -> Iterator[Edge]:
        for name in alternatives(reference.chain) or (reference.chain,):
            for value in self.evaluator.named_by_type(name.rstrip("*"), self.path, reference.scope):
                if value.tag == "def" and self.project.definition(value.ref).kind in TYPE_KINDS:
                    same = self.project.home(value.path) == self.project.home(self.path)
                    confidence = "exact" if same else "import"
                    target = self.project.id_of(value.ref)
                    if target != self._edges.source(reference.scope):
                        yield self._edges.edge_to(
                            reference.scope,
                            target,
                            "uses_type",
                            (reference.line, reference.column),
                            confidence,
                        )


def registered_component(project: Project, path: str, reference: Reference) -> Ref | None:
    """Return the only component of the project with the name that a component calls; None if the
    file binds the name, or for several.
    """
    name = reference.chain
    if not is_component(path) or not name[:1].isupper() or project.index(path).may_bind(name):
        return None
    paths = project.components.get(name, ())
    if len(paths) != 1:
        return None
    definitions = project.index(paths[0]).facts.definitions
    return next(
        ((paths[0], at) for at, definition in enumerate(definitions) if definition.name == name), None
    )
