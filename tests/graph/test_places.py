"""The location of a call is that of the called name, in every language."""

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.project import Project, Roots
from cortex.graph.resolution.resolve import edges_of
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import Source

#: each with a call of `save` on a `disk`
CALLS = {
    "a.py": "class Disk:\n    def save(self): ...\n\ndef run(disk: Disk):\n    disk.save()\n",
    "a.go": "package a\n\ntype Disk struct{}\n\nfunc (d Disk) save() {}\n\nfunc run(disk Disk) {\n\tdisk.save()\n}\n",
    "a.ts": "class Disk { save() {} }\nfunction run(disk: Disk) {\n  disk?.save();\n}\n",
    "A.java": "class Disk {\n  void save() {}\n  void run(Disk disk) {\n    disk.save();\n  }\n}\n",
    "a.kt": "class Disk { fun save() {} }\nfun run(disk: Disk?) {\n  disk?.save()\n}\n",
    "a.scala": "class Disk { def save(): Unit = () }\nobject Run {\n  def run(disk: Disk) = {\n    disk.save()\n  }\n}\n",
    "a.cs": "class Disk {\n  void Save() {}\n  void Run(Disk disk) {\n    disk?.Save();\n  }\n}\n",
    "a.swift": "class Disk { func save() {} }\nfunc run(disk: Disk?) {\n  disk?.save()\n}\n",
    "a.rb": "class Disk\n  def save; end\n\n  def run(disk)\n    disk = Disk.new\n    disk.save()\n  end\nend\n",
    "a.php": "<?php\nclass Disk { function save() {} }\nfunction run(Disk $disk) {\n  $disk->save();\n}\n",
    "a.rs": "struct Disk;\nimpl Disk { fn save(&self) {} }\nfn run(disk: Disk) {\n    disk.save();\n}\n",
    "a.cpp": "struct Disk { void save() {} };\nvoid run(Disk* disk) {\n  disk->save();\n}\n",
}


@pytest.mark.parametrize("path", CALLS)
def test_a_call_is_placed_at_the_called_name(path):
    lines = CALLS[path].split("\n")
    packed = facts_of(Source(path, tuple(lines)), "0")
    assert packed is not None
    project = Project(LANGUAGES, Roots())
    project.update({path: packed})
    edges = edges_of(project, Evaluator(project), path)
    places = [
        edge.location for edge in edges if edge.type == "calls" and edge.target.lower().endswith(".save")
    ]
    assert [lines[place.line - 1][place.column :][:4].lower() for place in places] == ["save"]
