"""Aliases of Ruby's methods, types that include a module, and constants that tests stub."""

from __future__ import annotations

import pytest

from tests.graph.small_graphs import calls_in, facts_in, project_of

_LOG = "class Log\n  def put(text)\n  end\n  def put_twice(text)\n  end\nend\n"
_USER = "class User\n  def run(other)\n    log = Log.new\n    log.put 1\n    other.note 2\n    log.old_put 3\n  end\nend\n"
#: subject → (file that reopens `Log`, what `log.put`, `other.note` and `log.old_put` mean)
ALIASES = {
    "an alias of another file": (
        "class Log\n  alias_method :put, :put_twice\nend\n",
        {4: {"lib:Log.put", "lib:Log.put_twice"}},
    ),
    "a method of another file after its alias": (
        "class Log\n  alias put put_twice\n  def put(text)\n  end\nend\n",
        {4: {"lib:Log.put"}},
    ),
    "an alias of the class itself": (
        "class Log\n  class << self\n    def all(text)\n    end\n    alias put all\n  end\nend\n",
        {4: {"lib:Log.put"}},
    ),
    "an alias of an heir": (
        "class Loud < Log\n  alias put put_twice\nend\n",
        {4: {"lib:Log.put"}},
    ),
    "a method that keeps the one which it replaces": (
        "class Log\n  alias_method :old_put, :put\n  alias_method :put, :loud_put\n  def loud_put(text)\n    old_put text\n  end\nend\n",
        {4: {"lib:Log.put"}, 6: {"lib:Log.put"}},
    ),
    "a name by which a method is by_line": (
        "class Page\n  def write(text)\n  end\n  alias note write\nend\n",
        {4: {"lib:Log.put"}, 5: {"more:Page.write"}},
    ),
    "a name that a later method takes": (
        "class Page\n  def write(text)\n  end\n  alias note write\n  def note(text)\n  end\nend\n",
        {4: {"lib:Log.put"}, 5: {"more:Page.note"}},
    ),
    "the method of a class from outside that an alias keeps": (
        "class Page < Outside::Page\n  alias_method :old_note, :note\n  def note(text)\n    old_note text\n  end\nend\n",
        {4: {"lib:Log.put"}, 5: {"more:Page.note"}},
    ),
}


def targets(project, path):
    """Return line → targets of the sure calls, those of `new` apart."""
    by_line: dict[int, set[str]] = {}
    for edge in calls_in(project, path):
        if edge.target and not edge.target.endswith(":Log"):
            by_line.setdefault(edge.location.line, set()).add(edge.target)
    return by_line


@pytest.mark.parametrize("case", ALIASES)
def test_a_name_means_the_method_that_its_type_gave_it_last(case):
    more, expected = ALIASES[case]
    files = {"lib.rb": _LOG, "a.rb": _USER}
    project = project_of(files | {"more.rb": more})
    assert targets(project, "a.rb") == expected
    assert "a.rb" in project.update({"more.rb": None})
    assert targets(project, "a.rb") == {4: {"lib:Log.put"}}
    project.update({"more.rb": facts_in("more.rb", more)})
    assert targets(project, "a.rb") == expected


def test_the_kept_method_is_not_the_one_that_replaces_it():
    outside = ALIASES["the method of a class from outside that an alias keeps"][0]
    assert targets(project_of({"more.rb": outside}), "more.rb") == {}
    inside = ALIASES["a method that keeps the one which it replaces"][0]
    assert targets(project_of({"lib.rb": _LOG, "more.rb": inside}), "more.rb") == {5: {"lib:Log.put"}}


def test_in_one_file_a_later_alias_replaces_a_method():
    text = _LOG.replace("end\nend\n", "end\n  alias put put_twice\nend\n")
    assert targets(project_of({"lib.rb": text, "a.rb": _USER}), "a.rb") == {4: {"lib:Log.put_twice"}}


_STORE = "module Stored\n  def save\n    self.class.table 1\n    self.class.label 2\n  end\nend\n"
_TYPES = {
    "a.rb": _STORE,
    "b.rb": "module Named\n  def label(n)\n  end\nend\nclass Disk\n  include Stored\n  extend Named\n  def self.table(n)\n  end\nend\n",
    "c.rb": "class Other\n  extend Stored\n  def self.table(n)\n  end\n  def self.label(n)\n  end\nend\n",
}


def test_the_class_in_a_module_is_any_type_that_includes_it():
    project = project_of(_TYPES)
    assert targets(project, "a.rb") == {3: {"b:Disk.table"}, 4: {"b:Named.label"}}
    tape = "module Kept\n  include Stored\nend\nclass Tape\n  include Kept\n  def self.table(n)\n  end\nend\n"
    assert "a.rb" in project.update({"d.rb": facts_in("d.rb", tape)})
    assert targets(project, "a.rb") == {3: {"b:Disk.table", "d:Tape.table"}, 4: {"b:Named.label"}}
    plain = _TYPES["b.rb"].replace("  extend Named\n", "")
    assert "a.rb" in project.update({"b.rb": facts_in("b.rb", plain), "d.rb": None})
    assert targets(project, "a.rb") == {3: {"b:Disk.table"}}


def test_a_types_own_element_has_the_result_of_its_method():
    text = (
        "class Result\n  def self.[](n)\n    Row.new\n  end\n  def [](n)\n    Cell.new\n  end\nend\n"
        "class Row\n  def show\n  end\nend\nclass Cell\n  def show\n  end\nend\nclass Plain\nend\n"
        "Result[1].show\nResult.new[1].show\nPlain[1].show\n"
    )
    by_line = targets(project_of({"a.rb": text}), "a.rb")
    assert {line: names - {"a:Result"} for line, names in by_line.items() if line > 18} == {
        19: {"a:Row.show"},
        20: {"a:Result.[]~2", "a:Cell.show"},
    }


def test_a_stubbed_constant_holds_in_its_group():
    disk = "class Disk\n  def spin\n  end\nend\n"
    spec = (
        "describe 'x' do\n  before do\n    stub_const('Disk', Class.new do\n      def spin\n      end\n    end)\n  end\n"
        "  it { Disk.new.spin }\nend\ndescribe 'y' do\n  it { Disk.new.spin }\nend\n"
    )
    by_line = targets(project_of({"lib/disk.rb": disk, "spec/a_spec.rb": spec}), "spec/a_spec.rb")
    assert by_line == {
        8: {"spec/a_spec:{}", "spec/a_spec:{}.spin"},
        11: {"lib/disk:Disk", "lib/disk:Disk.spin"},
    }


def test_a_concern_extends_the_types_that_include_it():
    text = (
        "module Stored\n  extend ActiveSupport::Concern\n  module ClassMethods\n    def table(n)\n    end\n  end\nend\n"
        "module Plain\n  module ClassMethods\n    def row(n)\n    end\n  end\nend\n"
        "class Disk\n  include Stored\n  include Plain\nend\nDisk.table 1\nDisk.row 2\n"
    )
    for concern in (text, text.replace("ActiveSupport", "::ActiveSupport")):
        assert targets(project_of({"a.rb": concern}), "a.rb") == {18: {"a:Stored.ClassMethods.table"}}


def test_the_method_above_an_alias_is_kept_where_a_later_one_of_its_file_replaces_it():
    text = (
        "class Log\n  def put(n)\n  end\n  alias_method :old_put, :put\n  def loud_put(n)\n    old_put n\n  end\n"
        "  alias_method :put, :loud_put\nend\n"
    )
    project = project_of({"lib.rb": text, "a.rb": _USER})
    assert targets(project, "lib.rb") == {6: {"lib:Log.put"}}
    assert targets(project, "a.rb") == {4: {"lib:Log.loud_put"}, 6: {"lib:Log.put"}}


def test_an_alias_of_the_class_itself_is_no_name_of_the_instances_method():
    text = "class Page\n  def self.write(n)\n  end\n  def write(n)\n  end\n  class << self\n    alias note write\n  end\nend\n"
    assert targets(project_of({"lib.rb": text, "a.rb": _USER}), "a.rb") == {5: {"lib:Page.write"}}


def test_an_element_of_an_heir_is_one_of_the_heir():
    text = (
        "class Row\n  def self.[](n)\n    new\n  end\n  def show\n  end\nend\n"
        "class Cell < Row\n  def show\n  end\nend\nCell[1].show\n"
    )
    assert targets(project_of({"a.rb": text}), "a.rb")[12] == {"a:Cell.show"}
