"""Which types implement an interface without saying so: Go's and TypeScript's method sets. Pure."""

from __future__ import annotations

from cortex.graph.facts.grammars import RULES
from cortex.graph.resolution.edges import Edge, Location
from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Ref
from cortex.terms.kinds import TYPE_KINDS

#: families with structural types, and what a match by method set is worth there: TypeScript's
#: members are compared by name and number of parameters alone
CONFIDENCE = {"go": "exact", "script": "name"}
#: method sets that are remembered from file to file: each may name hundreds of inherited methods
SETS_MAX = 2_000


class MethodSets:
    """The method sets of one state of a project."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self.project = project
        self.evaluator = evaluator
        self._sets: dict[Ref, dict[str, Ref]] = {}

    def relax(self) -> None:
        """Forget what was found when it has become much; called between two files."""
        if len(self._sets) > SETS_MAX:
            self._sets.clear()

    def of(self, ref: Ref) -> dict[str, Ref]:
        """Name → method, own and inherited or promoted ones."""
        if ref not in self._sets:
            found: dict[str, Ref] = {}
            for one in (ref, *self.evaluator.supertypes.of(ref).types):
                home, qualified = self.project.home(one[0]), self.project.definition(one).qualified
                for name, refs in self.project.members_of(home, qualified).items():
                    if self.project.definition(refs[0]).kind == "method":
                        found.setdefault(name, refs[0])
            self._sets[ref] = found
        return self._sets[ref]


def structural_edges(project: Project, evaluator: Evaluator) -> dict[str, list[Edge]]:
    """Path → `implements` edges of the types in it that are not written anywhere."""
    found: dict[str, list[Edge]] = {}
    for family, confidence in CONFIDENCE.items():
        sets = MethodSets(project, evaluator)
        interfaces, having = _types(project, sets, family)
        for interface in interfaces:
            needed = sets.of(interface)
            if not needed:
                continue
            whole = evaluator.supertypes.of(
                interface
            ).whole  # else what it takes over from outside is unknown
            rarest = min(needed, key=lambda name: (len(having.get(name, ())), name))
            for ref in having.get(rarest, ()):
                if interface in evaluator.supertypes.of(ref).types and family == "script":
                    continue  # written
                if _fits(project, sets.of(ref), needed, strict=family == "go"):
                    one = project.definition(ref)
                    place = Location(ref[0], one.line, one.column)
                    ends = project.id_of(ref), project.id_of(interface)
                    found.setdefault(ref[0], []).append(
                        Edge(*ends, "implements", place, confidence if whole else "name")
                    )
    for edges in found.values():
        edges.sort(key=lambda edge: (edge.source, edge.target))
    return found


def _types(project: Project, sets: MethodSets, family: str) -> tuple[list[Ref], dict[str, list[Ref]]]:
    """The interfaces, and by the name of each method the other types that have it, themselves or
    through another type.
    """
    interfaces: list[Ref] = []
    having: dict[str, list[Ref]] = {}
    for path in sorted(path for path, one in project.packed.items() if RULES[one.language].family == family):
        for index, one in enumerate(project.index(path).facts.definitions):
            ref = (path, index)
            if one.kind == "interface":
                interfaces.append(ref)
            elif one.kind in TYPE_KINDS:
                own = project.members_of(project.home(path), one.qualified)
                for name in sets.of(ref) if one.kind in ("class", "struct") else own:
                    having.setdefault(name, []).append(ref)
    return interfaces, having


def _fits(project: Project, have: dict[str, Ref], needed: dict[str, Ref], *, strict: bool) -> bool:
    for name, wanted in needed.items():
        method = have.get(name)
        if method is None:
            return False
        theirs, ours = project.definition(wanted), project.definition(method)
        if strict:
            if len(theirs.parameters) != len(ours.parameters) or bool(theirs.returns) != bool(ours.returns):
                return False
            pairs = zip(theirs.parameters, ours.parameters, strict=True)
            if any(_bare(one.type) != _bare(other.type) for one, other in pairs):
                return False
            if _bare(theirs.returns) != _bare(ours.returns):
                return False
        elif len(ours.parameters) > len(theirs.parameters):
            return False
    return True


def _bare(text: str) -> str:
    """A type without its packages: the same type has another qualifier elsewhere."""
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
