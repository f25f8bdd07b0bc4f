"""Types in several parts have the bases of each part; a package's variable may come from any
build.
"""

from __future__ import annotations

import pytest

from cortex.graph.languages.table import LANGUAGES
from cortex.graph.resolution.project import Project
from cortex.indexer.store.graph_facts import facts_of
from cortex.indexer.syntax.source import decode
from tests.graph.small_graphs import calls_in

RUBY = {
    "lib/base.rb": "module K\n  class Base\n    def keep(a)\n    end\n  end\nend\n",
    "lib/main.rb": "module K\n  class Disk < Base\n    def run\n    end\n  end\nend\n",
    "lib/more.rb": "module K\n  class Disk\n    def save\n      keep(1)\n    end\n  end\nend\n",
}
CSHARP = {
    "Base.cs": "namespace K { public class Base { protected void Keep(int a) {} } }\n",
    "Main.cs": "namespace K { public partial class Disk : Base { void Run() {} } }\n",
    "More.cs": "namespace K { public partial class Disk { void Save() { Keep(1); } } }\n",
}
GO = {
    "app/run.go": "package app\n\nfunc Run() { enc.Add(1) }\n",
    "app/a.go": "//go:build linux\n\npackage app\n\nvar enc = Binary{}\n",
    "app/b.go": "//go:build !linux\n\npackage app\n\nvar enc = Text{}\n",
    "app/types.go": "package app\n\ntype Binary struct{}\n\nfunc (e Binary) Add(a int) {}\n\n"
    "type Text struct{}\n\nfunc (e Text) Add(a int) {}\n",
}


def _read(path, text):
    return facts_of(decode(path, text.encode()), text)


def _calls(project, path):
    edges = calls_in(project, path)
    return [(edge.target, edge.candidates) for edge in edges]


@pytest.mark.parametrize(
    ("files", "path", "target"),
    [(RUBY, "lib/more.rb", "lib/base:K.Base.keep"), (CSHARP, "More.cs", "Base:Base.Keep")],
)
def test_each_part_of_a_type_inherits_the_bases_of_the_others(files, path, target):
    project = Project(LANGUAGES)
    project.update({file: _read(file, text) for file, text in files.items()})
    assert _calls(project, path) == [(target, ())]


@pytest.mark.parametrize(
    ("files", "main", "more", "base"),
    [(RUBY, "lib/main.rb", "lib/more.rb", " < Base"), (CSHARP, "Main.cs", "More.cs", " : Base")],
)
def test_a_removed_base_resolves_the_other_parts_of_the_type_anew(files, main, more, base):
    project = Project(LANGUAGES)
    project.update({file: _read(file, text) for file, text in files.items()})
    changed = project.update({main: _read(main, files[main].replace(base, ""))})
    assert more in changed
    assert _calls(project, more) == []


def test_a_variable_that_each_system_binds_may_be_any_of_them():
    project = Project(LANGUAGES)
    project.update({file: _read(file, text) for file, text in GO.items()})
    assert _calls(project, "app/run.go") == [("", ("app/types:Binary.Add", "app/types:Text.Add"))]
