"""A call costs only the extensions of its receiver, however many have its name."""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import Source


@pytest.mark.parametrize("ending", ["kt", "cs"])
def test_a_call_looks_at_few_of_a_thousand_extensions_of_one_name(ending, monkeypatch):
    files = {}
    for number in range(400):
        type_name = f"Part{number}"
        text = (
            f"class {type_name} {{}}\nfun {type_name}.mend() {{}}\nfun use{number}(it: {type_name}) {{ it.mend() }}\n"
            if ending == "kt"
            else f"class {type_name} {{}}\nstatic class Of{type_name} {{ public static void Mend(this {type_name} it) {{}}\n"
            f" static void Use({type_name} it) {{ it.Mend(); }} }}\n"
        )
        path = f"{type_name}.{ending}"
        files[path] = facts_of(Source(path, tuple(text.split("\n"))), "0")
    project = Project(LANGUAGES)
    project.update(files)
    looked_up = 0
    definition = Project.definition

    def counted(self, ref):
        nonlocal looked_up
        looked_up += 1
        return definition(self, ref)

    monkeypatch.setattr(Project, "definition", counted)
    evaluator = Evaluator(project)
    edges = [edge for path in files for edge in edges_of(project, evaluator, path) if edge.type == "calls"]
    assert len([edge for edge in edges if edge.target.lower().endswith("mend")]) == 400
    assert looked_up < 400 * 100, looked_up
