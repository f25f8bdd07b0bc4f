"""Which types implement an interface without saying so: Go's and TypeScript's method sets. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from cortex.graph.evaluate import Evaluator
from cortex.graph.grammars import RULES
from cortex.graph.project import Project, Ref
from cortex.graph.resolve import Edge, Location

#: families with structural types, and what a match by method set is worth there: TypeScript's members are compared by
#: name and number of parameters alone
CONFIDENCE = {"go": "exact", "script": "name"}


class MethodSets:
    """The method sets of one state of a project."""

    def __init__(self, project: Project, evaluator: Evaluator) -> None:
        self.project = project
        self.evaluator = evaluator
        self._sets: dict[Ref, dict[str, Ref]] = {}

    def of(self, ref: Ref) -> dict[str, Ref]:
        """Name → method, own and inherited or promoted ones."""
        if ref not in self._sets:
            found: dict[str, Ref] = {}
            for one in (ref, *self.evaluator.supers(ref)[0]):
                scope = (self.project.home(one[0]), self.project.definition(one).qualified)
                for name, refs in self.project.members.get(scope, {}).items():
                    if self.project.definition(refs[0]).kind == "method":
                        found.setdefault(name, refs[0])
            self._sets[ref] = found
        return self._sets[ref]


def structural_edges(project: Project, evaluator: Evaluator) -> dict[str, list[Edge]]:
    """Path → `implements` edges of the types in it that are not written anywhere."""
    sets = MethodSets(project, evaluator)
    found: dict[str, list[Edge]] = {}
    for family, confidence in CONFIDENCE.items():
        for interface in _types(project, family, {"interface"}):
            needed = sets.of(interface)
            if not needed or not evaluator.supers(interface)[1]:
                continue  # empty, or with methods of an interface outside: nobody knows its set
            for ref in _having(project, family, needed):
                if ref == interface or project.definition(ref).kind == "interface":
                    continue
                if interface in evaluator.supers(ref)[0] and family == "script":
                    continue  # written
                if _fits(project, sets.of(ref), needed, strict=family == "go"):
                    one = project.definition(ref)
                    found.setdefault(ref[0], []).append(
                        Edge(
                            project.id_of(ref),
                            project.id_of(interface),
                            "implements",
                            Location(ref[0], one.line, one.column),
                            confidence,
                        )
                    )
    for edges in found.values():
        edges.sort(key=lambda edge: (edge.source, edge.target))
    return found


def _types(project: Project, family: str, kinds: set[str]) -> Iterator[Ref]:
    for path in sorted(project.files):
        facts = project.files[path].facts
        if RULES[facts.language].family == family:
            for index, one in enumerate(facts.definitions):
                if one.kind in kinds:
                    yield path, index


def _having(project: Project, family: str, needed: dict[str, Ref]) -> list[Ref]:
    """Types that have the rarest of the needed methods, themselves or through a type that they embed."""
    rarest = min(needed, key=lambda name: (len(project.methods.get((family, name), ())), name))
    owners: set[Ref] = set()
    homes: set[tuple[str, str]] = set()
    for path, index in project.methods.get((family, rarest), ()):
        home, scope = project.home(path), project.definition((path, index)).scope
        if (home, scope) not in homes:
            homes.add((home, scope))
            owners |= set(project.types_named(home, scope))
    for ref in _types(project, family, {"class", "struct"}):
        one = project.definition(ref)
        if one.bases and ref not in owners:
            owners.add(ref)
    return sorted(owners)


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
