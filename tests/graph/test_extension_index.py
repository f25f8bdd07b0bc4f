"""Extensions of one name, however many there are, cost a call those of its receiver alone."""

from __future__ import annotations

import pytest

from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import Source


@pytest.mark.parametrize("ending", ["kt", "cs"])
def test_a_call_looks_at_few_of_a_thousand_extensions_of_one_name(ending, monkeypatch):
    files = {}
    for number in range(400):
        one = f"Part{number}"
        text = (
            f"class {one} {{}}\nfun {one}.mend() {{}}\nfun use{number}(it: {one}) {{ it.mend() }}\n"
            if ending == "kt"
            else f"class {one} {{}}\nstatic class Of{one} {{ public static void Mend(this {one} it) {{}}\n"
            f" static void Use({one} it) {{ it.Mend(); }} }}\n"
        )
        path = f"{one}.{ending}"
        files[path] = facts_of(Source(path, tuple(text.split("\n"))), "0")
    project = Project()
    project.update(files)
    asked = 0
    definition = Project.definition

    def counted(self, ref):
        nonlocal asked
        asked += 1
        return definition(self, ref)

    monkeypatch.setattr(Project, "definition", counted)
    evaluator = Evaluator(project)
    edges = [edge for path in files for edge in edges_of(project, evaluator, path) if edge.type == "calls"]
    assert len([edge for edge in edges if edge.target.lower().endswith("mend")]) == 400
    assert asked < 400 * 100, asked
