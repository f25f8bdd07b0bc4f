"""An edit of one file changes the edges of others: those are resolved again."""

import pytest

from cortex.graph.resolution.evaluation.evaluate import Evaluator
from cortex.graph.resolution.resolve import edges_of
from tests.graph.test_truth import load

_PROTOCOL = "from typing import Protocol\nclass Handler(Protocol):\n    def __call__(self, a): ...\n"
_TAKERS = (
    "from a import Handler\ndef use(h: Handler): ...\nclass Box:\n    def __init__(self, h: Handler): ...\n"
)
_GIVERS = "from b import Box, use\ndef run(a): ...\ndef give():\n    use(run)\n    Box(lambda a: 1)\n"
PYTHON = {"a.py": _PROTOCOL, "b.py": _TAKERS, "c.py": _GIVERS}
INCLUDED = {
    "lib/a.rb": "module Util\n  def fetch; end\nend\nmodule Other\n  def fetch; end\nend\n",
    "test/help.rb": "include Util\n",
    "test/one_test.rb": "class OneTest\n  def test_one\n    fetch\n  end\nend\n",
}
HEIRS = {
    "a.rb": "class Base\n  def run\n    prepare(1)\n  end\nend\n",
    "b.rb": "class Middle < Base\nend\n",
    "c.rb": "class Heir < Middle\n  def prepare(n); end\nend\n",
}
LITERALS = {
    "a.rb": "module Loud\n  def shout; end\nend\nmodule Calm\n  def shout; end\nend\n",
    "b.rb": "class String\n  include Loud\nend\n",
    "c.rb": "'x'.shout\n",
}
GROUPS = {
    "spec/a.rb": "shared_context 'x' do\n  def turn(n); end\nend\n",
    "spec/b_spec.rb": "describe 'y' do\n  it { turn(1) }\nend\n",
}
BLOCKS = {
    "spec/a_spec.rb": "describe 'x' do\n  class Disk\n    def spin; end\n  end\nend\n",
    "spec/b_spec.rb": "Disk.new.spin\n",
}
DELEGATES = {
    "Act.cs": "namespace K { public delegate void Act(); }",
    "Menu.cs": "namespace K { class Menu { public void Do(object o) {} public void Do(Act a) {} } }",
    "User.cs": "namespace K { class User { void Run(Menu menu) { menu.Do(() => 1); } } }",
}
INCLUDERS = {
    "a.rb": "module Stored\n  def save\n    self.class.table 1\n  end\nend\n",
    "b.rb": "module Base\n  include Stored\nend\n",
    "c.rb": "class Disk\n  include Base\n  extend Named\nend\n",
    "d.rb": "module Named\n  def table(n); end\nend\nmodule Other\n  def table(n); end\nend\n",
}
ALIASES = {
    "a.rb": "class Page\n  def write(n); end\n  def draw(n); end\n  alias note write\nend\n",
    "b.rb": "class User\n  def run(other)\n    other.note 1\n  end\nend\n",
}
OUTSIDE = {
    "src/lib.rs": "mod a;\nmod b;\nmod c;\n",
    "src/a.rs": "pub trait Paint { fn paint(&self); fn other(&self) {} }\n",
    "src/b.rs": "use crate::a::Paint;\nuse crate::c::*;\nimpl Paint for Wall { fn paint(&self) {} fn other(&self) {} }\n",
    "src/c.rs": "pub struct Roof;\n",
}
#: what changes → (files, path, text before the edit, text after it)
EDITS = {
    "a protocol loses its call": (PYTHON, "a.py", "def __call__", "def go"),
    "a protocol becomes a class": (PYTHON, "a.py", "(Protocol)", ""),
    "a test's helper includes no module": (INCLUDED, "test/help.rb", "include Util", "SIZE = 1"),
    "a test's helper includes another module": (INCLUDED, "test/help.rb", "Util", "Other"),
    "a reopened class of literals includes another module": (LITERALS, "b.rb", "Loud", "Calm"),
    "a class of literals is another one": (LITERALS, "b.rb", "String", "Page"),
    "a shared group becomes a plain one": (GROUPS, "spec/a.rb", "shared_context", "describe"),
    "a class in a block gets another name": (BLOCKS, "spec/a_spec.rb", "Disk", "Tape"),
    "a function type vanishes": (DELEGATES, "Act.cs", "delegate void Act();", "class Other { }"),
    "a function type becomes a class": (DELEGATES, "Act.cs", "delegate void Act();", "class Act { }"),
    "a class appears in place of an unknown type": (
        DELEGATES | {"Act.cs": "namespace K { class Other { } }"},
        "Act.cs",
        "Other",
        "Act",
    ),
    "a type includes other class methods": (INCLUDERS, "c.rb", "extend Named", "extend Other"),
    "a module between a type and another includes nothing": (INCLUDERS, "b.rb", "  include Stored\n", ""),
    "a name means another method": (ALIASES, "a.rb", "note write", "note draw"),
    "a method loses its other name": (ALIASES, "a.rb", "  alias note write\n", ""),
    "a trait of an outside type loses a method": (OUTSIDE, "src/a.rs", "fn other", "fn another"),
    "a trait of an outside type becomes a type": (OUTSIDE, "src/a.rs", "Paint", "Draw"),
    "an outside type becomes the project's": (OUTSIDE, "src/c.rs", "Roof", "Wall"),
    "a class between two loses its base": (HEIRS, "b.rb", " < Base", ""),
}


def _edges(project, paths):
    evaluator = Evaluator(project)
    return {path: set(edges_of(project, evaluator, path)) for path in paths if path in project.packed}


@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("edit", EDITS)
def test_files_whose_edges_change_with_another_file_are_resolved_again(edit, back):
    files, path, old, new = EDITS[edit]
    texts = [files[path], files[path].replace(old, new)]
    before, after = reversed(texts) if back else texts
    project, edited = load(files | {path: before}), load(files | {path: after})
    edges = _edges(project, project.packed)
    last = {name: lines for name, lines in edges.items() if name != path}
    edges |= _edges(project, project.update({path: edited.packed[path]}))
    assert edges == (wanted := _edges(edited, edited.packed))
    assert any(wanted[name] != lines for name, lines in last.items())  # another file's edges differ


def test_a_name_of_thousands_of_meanings_is_compared():
    text = "package a\n\nfunc f() int { return 1 }\n" + "var _ = f()\n" * 3_000
    project = load({"a.go": text, "b.go": "package a\n\nfunc g() { f() }\n"})
    assert "b.go" not in project.update({"a.go": load({"a.go": text + "\n"}).packed["a.go"]})
    assert "b.go" in project.update(
        {"a.go": load({"a.go": text.replace("() int", "() int8")}).packed["a.go"]}
    )
