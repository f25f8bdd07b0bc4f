"""A call on what comes from outside is none of the only method of its name in the project."""

from __future__ import annotations

import pytest

from cortex.graph.resolution.evaluate import Evaluator
from cortex.graph.resolution.project import Project
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode, digest

#: file → its text; in each `weighIt` is a method of the project's
CASES = {
    "app.js": "class Scale {\n  weighIt() {}\n}\nfunction run(thing) {\n  console.weighIt();\n  Reflect.weighIt();\n  thing.weighIt();\n}\n",
    "app.py": "class Scale:\n    def weighIt(self): ...\ndef run(thing):\n    str.weighIt()\n    memoryview.weighIt()\n    thing.weighIt()\n",
    "App.java": "class Scale {\n  void weighIt() {}\n}\nclass App {\n  void run(var thing) {\n    Objects.weighIt();\n"
    "    Math.weighIt();\n    unknown().weighIt();\n  }\n}\n",
}


@pytest.mark.parametrize("path", CASES)
def test_only_a_receiver_that_may_be_the_projects_is_guessed_by_the_name(path):
    raw = CASES[path].encode()
    project = Project()
    project.update({path: facts_of(decode(path, raw), digest(raw))})
    found = [edge for edge in edges_of(project, Evaluator(project), path) if edge.type == "calls"]
    lines = raw.decode().split("\n")
    assert [lines[edge.location.line - 1].strip(" ;") for edge in found] in (
        ["thing.weighIt()"],
        ["unknown().weighIt()"],
    )
    assert [edge.confidence for edge in found] == ["name"]
