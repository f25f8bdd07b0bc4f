"""The classes that containers pass for a type or a name, and edges from calls on a field with such
a type to the methods of the class.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import compress

from cortex.graph.facts.facts import Binding, Fragment, Parameter, Reference
from cortex.graph.facts.reaching_bindings import ANYWHERE
from cortex.graph.resolution.calling.targets import CANDIDATES_MAX
from cortex.graph.resolution.edges import Edge, Edges
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import TYPE_KINDS
from cortex.terms.paths import is_test

#: services of one type or name: a hostile project has a million
_SERVICES_MAX = 200
#: a call on a field or parameter
_CALL = re.compile(r"((?:this\.|self\.)?([\w$]+))\.([\w$]+)")
#: the qualifier of a type
_QUALIFIER = re.compile(r"(?:\w+\.)+")


@dataclass(frozen=True, slots=True)
class _Service:
    """A service with its classes, () for an unknown one. `is_primary`: it is the first choice of
    several; `is_conditional`: the container makes it only under a condition.
    """

    refs: tuple[Ref, ...]
    name: str
    is_primary: bool
    is_conditional: bool


class Services:
    """The services of a project's containers, by the types and names for which they are passed."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self._project, self._evaluator = project, evaluator
        self._by_token: dict[Ref | str, list[_Service]] = {}
        for path in sorted(project.binding):
            for fragment in project.index(path).facts.fragments:
                if fragment.kind == "binds":
                    self._add(path, fragment)

    def _add(self, path: str, fragment: Fragment) -> None:
        target = fragment.target
        if target.startswith("#"):
            refs: tuple[Ref, ...] = ((path, int(target[1:])),)
            tokens: list[Ref | str] = [refs[0], *self._evaluator.supertypes.of(refs[0]).types]
        else:
            refs = tuple(self.classes(target, path, fragment.scope))
            tokens = self.tokens(fragment.router, path, fragment.scope)
            types = [token for token in tokens if not isinstance(token, str)] if fragment.methods else []
            refs = refs or tuple(ref for ref in types if self._project.definition(ref).kind == "class")
            tokens += [base for ref in types for base in self._evaluator.supertypes.of(ref).types]
        flags = (name in fragment.flags for name in ("primary", "conditional"))
        service = _Service(refs, fragment.template, *flags)
        for token in tokens:
            services = self._by_token.setdefault(token, [])
            if len(services) < _SERVICES_MAX:
                services.append(service)

    @cached_property
    def methods(self) -> set[str]:
        """The names of all methods of the services' classes."""
        classes = {ref for services in self._by_token.values() for row in services for ref in row.refs}
        classes |= {base for ref in classes for base in self._evaluator.supertypes.of(ref).types}
        names = set[str]()
        for path, at in sorted(classes):
            definitions = self._project.index(path).facts.definitions
            scope = definitions[at].qualified
            names |= {definition.name for definition in definitions if definition.scope == scope}
        return names

    def classes(self, chain: str, path: str, scope: int) -> Iterator[Ref]:
        """Yield the classes of a class's name or of a value's chain."""
        if not chain.endswith("()"):
            yield from (types := self._evaluator.types_of(chain, path, scope))
            if types:
                return
        for value in self._evaluator.evaluate(chain, path, scope) if chain else ():
            if value.tag == "inst":
                yield value.ref

    def tokens(self, chain: str, path: str, scope: int) -> list[Ref | str]:
        """Return the types that a chain means; of a name its text, or that of its constant."""
        if chain.startswith("'"):
            return [chain]
        return list(self._evaluator.types_of(chain, path, scope)) or [f"'{chain.rpartition('.')[2]}"]

    def find(self, token: Ref | str, name: str, field: str) -> tuple[list[Ref], bool]:
        """Return the classes of a type's or name's services, and whether there is no other. `name`
        is that which a field asks for; else the first choice wins, or the service of the field's
        own name.
        """
        services = self._by_token.get(token, [])
        if name:
            services = [row for row in services if row.name == name] or services
        elif len(services) > 1 and not any(row.is_conditional for row in services):
            services = (
                [row for row in services if row.is_primary]
                or [row for row in services if row.name == field]
                or services
            )
        refs = dict.fromkeys(ref for row in services for ref in row.refs)
        return list(refs), all(row.refs for row in services) and len(services) < _SERVICES_MAX


def service_edges(
    project: Project, evaluator: Evaluator, path: str, edges: Iterable[Edge], handlers: set[int]
) -> list[Edge]:
    """Return edges from calls on fields, and on parameters of constructors and `handlers`
    (definitions), to the methods of the services that a container passes there. `edges` are the
    file's other edges.
    """
    fragments = project.index(path).facts.fragments
    if not project.binding and all(fragment.kind != "wants" for fragment in fragments):
        return []
    finder = _Calls(project, evaluator, path, edges, handlers)
    references = (row for row in project.index(path).references if row.kind == "call")
    return [edge for reference in references for edge in finder.edges(reference)]


def _types_of(parameters: Iterable[Parameter]) -> tuple[str, ...]:
    """The types of parameters, without qualifiers: each file may write its own."""
    return tuple(_QUALIFIER.sub("", parameter.type) for parameter in parameters)


class _Calls:
    def __init__(
        self, project: Project, evaluator: Evaluator, path: str, edges: Iterable[Edge], handlers: set[int]
    ) -> None:
        self._project, self._evaluator, self._path = project, evaluator, path
        #: place of a call → the definitions that it means by the declared type
        self._declared: dict[tuple[int, int], set[str]] = {}
        for edge in edges:
            if edge.type == "calls":
                place = edge.location.line, edge.location.column
                self._declared.setdefault(place, set()).update((edge.target, *edge.candidates))
        self._services = evaluator.helper(Services)
        self._index, self._handlers = project.index(path), handlers
        self._facts = self._index.facts
        self._edges = Edges(project, path)
        self._wanted = {row.router: row for row in self._facts.fragments if row.kind == "wants"}
        self._has_values = any("value" in row.flags for row in self._wanted.values())
        #: (field, scope, place of a variable of the file) → the classes of its services
        self._classes: dict[tuple[str, int, int], tuple[list[Ref], list[Ref], bool]] = {}

    def edges(self, reference: Reference) -> Iterator[Edge]:
        if not self._has_values and reference.chain.rpartition(".")[2] not in self._services.methods:
            return
        match = _CALL.fullmatch(reference.chain)
        if match is None:
            return
        scope = reference.scope
        key = match[1], scope, reference.at if scope < 0 else ANYWHERE
        if key not in self._classes:
            self._classes[key] = self._find(match[2], *key)
        types, classes, are_all = self._classes[key]
        declared = [ref for owner in types for ref in self._members(owner, match[3])]
        meant = self._declared.get((reference.line, reference.column), ())
        fitting = [ref for ref in declared if self._project.id_of(ref) in meant] if classes else []
        signatures = {self._project.definition(ref).parameters for ref in fitting}
        methods = (self._methods(owner, match[3], reference, signatures) for owner in classes)
        refs = [ref for ref in dict.fromkeys(ref for row in methods for ref in row) if ref not in declared]
        if len(refs) == 1 and are_all and len(classes) == 1:
            yield self._edges.call(reference, refs[0], "exact")
        elif 0 < len(refs) <= CANDIDATES_MAX:
            yield self._edges.ambiguous(reference, refs, "receiver")

    def _members(self, owner: Ref, name: str) -> list[Ref]:
        return [value.ref for value in self._evaluator.member(owner, name) if value.tag == "def"]

    def _methods(
        self, owner: Ref, name: str, reference: Reference, signatures: Collection[tuple[Parameter, ...]]
    ) -> list[Ref]:
        """Return the methods of a class that a call may mean: those with the parameters of the
        declared ones, else with as many as the call has arguments.
        """
        types = set(map(_types_of, signatures))
        every = list[Ref]()
        for owner_or_base in (owner, *self._evaluator.supertypes.of(owner).types):
            refs = self._members(owner_or_base, name)
            parameters = [self._project.definition(ref).parameters for ref in refs]
            same = [_types_of(row) in types for row in parameters]
            if any(same):
                return list(compress(refs, same))
            every = every or refs
            if not types:
                break
        taking = [ref for ref in every if self._takes(ref, reference)]
        return taking or every

    def _takes(self, ref: Ref, reference: Reference) -> bool:
        return len(self._project.definition(ref).parameters) == reference.arguments

    def _find(self, name: str, chain: str, scope: int, at: int) -> tuple[list[Ref], list[Ref], bool]:
        """Return the types of a field or parameter, the classes of its services, and whether there
        is no other.
        """
        wanted = self._find_wanted(name.strip("_"), scope)
        if wanted is not None and "value" in wanted.flags:
            return [], list(self._services.classes(wanted.target, self._path, wanted.scope)), True
        # Of the fields of a test a container passes those that ask by name; most others are mocks.
        if not self._is_passed(chain, name, scope) or (wanted is None and is_test(self._path)):
            return [], [], True
        types = [
            value.ref
            for value in self._evaluator.evaluate(chain, self._path, scope, at)
            if value.tag == "inst" and self._project.definition(value.ref).kind in TYPE_KINDS
        ]
        tokens: list[Ref | str] = [*types]
        label = wanted.template if wanted is not None else ""
        if wanted is not None:
            chain = f"'{label}" if label else wanted.target
            tokens = [*self._services.tokens(chain, self._path, wanted.scope), *tokens]
        for token in tokens:
            refs, are_all = self._services.find(token, label, name.strip("_"))
            if refs:
                return types, [] if refs == types else refs, are_all
        return [], [], True

    def _find_wanted(self, name: str, scope: int) -> Fragment | None:
        while scope >= 0 and self._wanted:
            qualified = self._facts.definitions[scope].qualified
            if (fragment := self._wanted.get(f"={qualified}.{name}")) is not None:
                return fragment
            scope = self._facts.definitions[scope].parent
        return None

    def _is_passed(self, chain: str, name: str, scope: int) -> bool:
        """Return False for a variable of a function, and for a parameter that a caller passes."""
        while scope >= 0 and chain == name:
            definition = self._facts.definitions[scope]
            if definition.kind in TYPE_KINDS:
                return True
            if any(parameter.name == name for parameter in definition.parameters):
                return (
                    scope in self._handlers or definition.is_constructor or definition.name == "constructor"
                )
            if any(isinstance(place, Binding) for place in self._index.places(scope, name)):
                return False
            scope = definition.parent
        return True
