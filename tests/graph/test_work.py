"""How much is looked for: by counts of walks and questions, which say the same on any machine."""

from collections import Counter

import pytest

from cortex.graph.facts.standing import Meanings
from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.graph.resolution.scopes import Scopes
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import Source, decode, digest

FUNCTIONS = 40


def read(text: str, path: str = "a.kt") -> Project:
    source = decode(path, text.encode())
    assert isinstance(source, Source)
    facts = facts_of(source, digest(text.encode()))
    assert facts is not None
    project = Project()
    project.update({path: facts})
    return project


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Name → how often it was looked for through the scopes around a place."""
    counted: Counter[str] = Counter()
    walk = Scopes._looked_up

    def counting(self: Scopes, name: str, path: str, scope: int, at: int) -> object:
        counted[name] += 1
        return walk(self, name, path, scope, at)

    monkeypatch.setattr(Scopes, "_looked_up", counting)
    return counted


def test_a_name_that_a_file_does_not_have_is_looked_for_once_for_all_functions_of_a_type(walks):
    bodies = "\n".join(f"    fun f{n}(): Foreign {{ return foreign({n}) }}" for n in range(FUNCTIONS))
    project = read(f"class Disk {{\n{bodies}\n}}\n")
    edges_of(project, Evaluator(project), "a.kt")
    assert 1 <= walks["foreign"] <= 2
    assert 1 <= walks["Foreign"] <= 2


def test_blocks_are_looked_for_only_in_scopes_that_have_some(monkeypatch):
    plain = "\n".join(f"    fun f{n}() {{ disk.save({n}); other({n}) }}" for n in range(FUNCTIONS))
    block = "    fun last() { disk.apply { save(1) } }"
    project = read(f"class Disk {{\n    val disk = Disk()\n    fun save(n: Int) {{}}\n{plain}\n{block}\n}}\n")
    asked, at = Counter[str](), Meanings.at

    def counting(self: Meanings, place: int) -> object:
        asked["at"] += 1
        return at(self, place)

    monkeypatch.setattr(Meanings, "at", counting)
    edges = edges_of(project, Evaluator(project), "a.kt")
    assert [edge.target for edge in edges if edge.source == "a:Disk.last"] == ["a:Disk.save"]
    assert asked["at"] <= FUNCTIONS, asked
