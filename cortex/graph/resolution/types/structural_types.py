"""Structural types: types that implement an interface by their method set, in Go and TypeScript.
Pure.
"""

from cortex.graph.resolution.edges import Edge, Location
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import TYPE_KINDS

#: method sets in the cache: each may have hundreds of inherited methods
SETS_MAX = 2_000


class MethodSets:
    """The method sets of one state of a project."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self.project, self.evaluator = project, evaluator
        self._sets: dict[Ref, dict[str, Ref]] = {}

    def relax(self) -> None:
        """Clear the cache if it is large. Call it between two files."""
        if len(self._sets) > SETS_MAX:
            self._sets.clear()

    def of(self, ref: Ref) -> dict[str, Ref]:
        """Return name → method, with inherited and promoted methods."""
        if ref not in self._sets:
            methods: dict[str, Ref] = {}
            for owner in (ref, *self.evaluator.supertypes.of(ref).types):
                home, qualified = self.project.home(owner[0]), self.project.definition(owner).qualified
                for name, refs in self.project.members_of(home, qualified).items():
                    if self.project.definition(refs[0]).kind == "method":
                        methods.setdefault(name, refs[0])
            self._sets[ref] = methods
        return self._sets[ref]


def structural_edges(project: Project, evaluator: Evaluator) -> dict[str, list[Edge]]:
    """Return path → `implements` edges of its types that the code does not declare."""
    by_path: dict[str, list[Edge]] = {}
    every = (language.rules for language in project.languages.values())
    structural = {rules.family: rules.structural for rules in every if rules.structural}
    for family, confidence in structural.items():
        strict = confidence == "exact"
        sets = MethodSets(project, evaluator)
        interfaces, having = _interfaces_and_types(project, sets, family)
        for interface in interfaces:
            needed = sets.of(interface)
            if not needed:
                continue
            is_complete = evaluator.supertypes.of(interface).complete  # else it has unknown external methods
            rarest = min(needed, key=lambda name: (len(having.get(name, ())), name))
            for ref in having.get(rarest, ()):
                if interface in evaluator.supertypes.of(ref).types and not strict:
                    continue  # declared in the code
                if _has_methods(project, sets.of(ref), needed, strict=strict):
                    definition = project.definition(ref)
                    place = Location(ref[0], definition.line, definition.column)
                    ends = project.id_of(ref), project.id_of(interface)
                    by_path.setdefault(ref[0], []).append(
                        Edge(*ends, "implements", place, confidence if is_complete else "name")
                    )
    for edges in by_path.values():
        edges.sort(key=lambda edge: (edge.source, edge.target))
    return by_path


def _interfaces_and_types(
    project: Project, sets: MethodSets, family: str
) -> tuple[list[Ref], dict[str, list[Ref]]]:
    """Return the interfaces, and method name → other types that have it, own or inherited."""
    interfaces: list[Ref] = []
    having: dict[str, list[Ref]] = {}
    for path in sorted(path for path in project.packed if project.rules(path).family == family):
        for index, definition in enumerate(project.index(path).facts.definitions):
            ref = (path, index)
            if definition.kind == "interface":
                interfaces.append(ref)
            elif definition.kind in TYPE_KINDS:
                members = project.members_of(project.home(path), definition.qualified)
                for name in sets.of(ref) if definition.kind in ("class", "struct") else members:
                    having.setdefault(name, []).append(ref)
    return interfaces, having


def _has_methods(project: Project, have: dict[str, Ref], needed: dict[str, Ref], *, strict: bool) -> bool:
    for name, wanted in needed.items():
        method = have.get(name)
        if method is None:
            return False
        theirs, ours = project.definition(wanted), project.definition(method)
        if strict:
            if len(theirs.parameters) != len(ours.parameters) or bool(theirs.returns) != bool(ours.returns):
                return False
            pairs = zip(theirs.parameters, ours.parameters, strict=True)
            if any(
                _unqualified_type(expected.type) != _unqualified_type(other.type) for expected, other in pairs
            ):
                return False
            if _unqualified_type(theirs.returns) != _unqualified_type(ours.returns):
                return False
        elif len(ours.parameters) > len(theirs.parameters):
            return False
    return True


def _unqualified_type(text: str) -> str:
    """Return a type without its packages: the same type has another qualifier elsewhere."""
    parts = "".join(text.split()).lstrip(":")
    out: list[str] = []
    word = ""
    for character in parts:
        if character.isalnum() or character == "_":
            word += character
        elif character == ".":
            word = ""
        else:
            out.append(word + character)
            word = ""
    return "".join(out) + word
