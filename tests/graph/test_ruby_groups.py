"""Calls in Ruby's groups of tests, on constants of a table, on literals, and on values of several
types.
"""

from __future__ import annotations

import pytest

from tests.graph.small_graphs import calls_in, project_of
from tests.graph.test_ruby import calls

DISK = "class Disk\n  def spin\n  end\nend\n"
TAPE = "class Tape\n  def spin\n  end\nend\n"
SHOP = DISK + TAPE
SPINS = ["Disk.spin", "Tape.spin"]


def spins_in(text: str, path: str = "a_spec.rb", **files: str) -> list[str]:
    """Return the targets of the calls in a file beside SHOP that are no classes."""
    files = {f"{name}.rb": content for name, content in files.items()}
    edges = calls({"shop.rb": SHOP, **files, path: text}, path)
    return [name for _, name in edges if "." in name]


@pytest.mark.parametrize(
    "value",
    [
        "loud ? Disk.new : Tape.new",
        "case kind\nwhen 1 then Disk.new\nwhen 2 then Tape.new\nend",
        "if loud\n  Disk.new\nelse\n  Tape.new\nend",
    ],
)
def test_a_call_on_a_value_of_several_types_is_one_of_each(value):
    assert spins_in(f"def make(loud, kind)\n  {value}\nend\nmake(1, 2).spin\n") == SPINS


def test_a_call_of_code_that_ships_is_none_of_a_test():
    fake = "class Fake\n  def spin\n  end\nend\n"
    text = "def make(x)\n  x ? Disk.new : Fake.new\nend\nmake(1).spin\n"
    files = {"shop.rb": SHOP, "spec/fake.rb": fake}
    assert (4, "Fake.spin") not in calls({**files, "lib/a.rb": text}, "lib/a.rb")
    assert (4, "Fake.spin") in calls({**files, "spec/a_spec.rb": text}, "spec/a_spec.rb")


@pytest.mark.parametrize(
    ("head", "spins"),
    [
        ("[Disk, Tape].each do |kind|", SPINS),
        ("[Disk, Tape].freeze.each_with_index do |kind, at|", SPINS),
        ("[[Disk, 1], [Tape, 2]].each do |kind, size|", SPINS),
        ("{ 'a' => Disk, 'b' => Tape }.each do |word, kind|", SPINS),
        ("{ Disk => 'a' }.map do |kind, word|", SPINS[:1]),
        ("KINDS.each do |kind|", SPINS[1:]),
        ("[Disk, Tape].inject do |kind, other|", []),
        ("[Disk, 1].each do |kind|", SPINS[:1]),
        ("[Disk, Tape].map(&:name).each do |kind|", []),
    ],
)
def test_a_class_of_a_table_is_that_of_the_blocks_parameter(head, spins):
    assert spins_in(f"KINDS = [Tape]\n{head}\n  kind.new.spin\nend\n") == spins


def test_an_instance_variable_holds_a_class_of_a_table():
    text = "describe 'x' do\n  [Disk].each do |kind|\n    before { @kind = kind }\n  end\n  it { @kind.new.spin }\nend\n"
    assert spins_in(text) == SPINS[:1]


def test_a_method_of_a_group_reads_what_the_tests_assign():
    text = "describe 'x' do\n  def run\n    @disk.spin\n  end\n  before { @disk = Disk.new }\nend\n"
    assert spins_in(text) == SPINS[:1]


def test_a_class_that_a_block_defines_is_one_of_the_file():
    text = (
        "describe 'x' do\n  before do\n    class Page < Disk\n    end\n  end\n  it { Page.new.spin }\nend\n"
    )
    assert spins_in(text) == SPINS[:1]


def test_a_class_allocates_instances_of_its_own():
    text = "Disk.allocate.spin\n"
    assert calls({"shop.rb": SHOP, "a.rb": text}, "a.rb") == [(1, "Disk.spin")]


def test_a_class_of_a_stubbed_constant_is_the_value():
    assert (
        spins_in("describe 'x' do\n  let(:kind) { stub_const('X', Disk) }\n  it { kind.new.spin }\nend\n")
        == SPINS[:1]
    )


@pytest.mark.parametrize("name", ["shared_context", "shared_examples", "shared_examples_for"])
def test_a_method_of_a_shared_group_is_one_of_other_files(name):
    shared = f"{name} 'spinning' do\n  def turn(x)\n  end\nend\n"
    text = "describe 'x' do\n  include_context 'spinning'\n  it { turn(1) }\nend\n"
    files = {"spec/shared.rb": shared, "spec/a_spec.rb": text}
    assert calls(files, "spec/a_spec.rb") == [(3, "turn")]
    assert not calls({**files, "spec/shared.rb": shared.replace(name, "describe")}, "spec/a_spec.rb")


def test_a_module_that_a_group_includes_gives_its_results_there():
    mixin = "module Made\n  def part(x)\n    Disk.new\n  end\nend\n"
    group = "describe 'x' do\n  include Made\n  it { part(1).spin }\nend\n"
    assert spins_in(group, mixin=mixin) == ["Disk.spin", "Made.part"]
    matcher = group.replace("include Made", "it { expect(1).to include(Made) }")
    assert "Disk.spin" not in spins_in(matcher, mixin=mixin)


def test_a_local_variable_of_another_file_is_no_name_here():
    mixin = "module Made\n  def part(x)\n    Disk.new\n  end\nend\n"
    group = "describe 'x' do\n  include Made\n  it { part(1).spin }\nend\n"
    assert "Disk.spin" in spins_in(group, mixin=mixin, script="part = 'text'\n")


def test_a_reader_of_a_group_reads_its_instance_variable():
    text = "describe 'x' do\n  attr_reader :disk\n  before { @disk = Disk.new }\n  it { disk.spin }\nend\n"
    assert spins_in(text) == SPINS[:1]


def test_a_literal_has_the_methods_of_the_class_that_the_project_reopens():
    core = "module Loud\n  def shout\n    Disk.new\n  end\nend\nclass String\n  include Loud\nend\n"
    other = "class Page\n  def shout\n  end\nend\n"
    use = "x = 'a'\nx.shout.spin\n'b'.shout\n'c'.upcase.shout\nOutside.new.shout\n"
    assert spins_in(use, core=core, other=other) == ["Disk.spin", "Loud.shout", "Loud.shout"]


@pytest.mark.parametrize("sign", ["+", "<<", ">>", "|", "&"])
def test_an_operator_gives_the_result_of_its_method(sign):
    text = f"class Atom\n  def {sign}(other)\n    Disk.new\n  end\nend\n(Atom.new {sign} 1).spin\n"
    assert SPINS[0] in spins_in(text)


def test_a_module_that_extends_types_gives_their_instances_nothing():
    text = """module Made
  def self.included(base)
    base.extend ClassMethods
  end
  module ClassMethods
    def keep(x)
    end
  end
  module Kept
    def keep(x)
    end
  end
  include Kept
end
class Page
  include Made
  keep 1
end
Page.new.keep 2
"""
    assert calls({"a.rb": text}, "a.rb") == [
        *((17, "Made.ClassMethods.keep"), (19, "Made.Kept.keep"), (19, "Page")),
    ]


def test_a_module_may_have_a_new_of_its_own():
    text = "module Made\n  def new(x = 1)\n    Disk.new\n  end\n  module_function :new\nend\nMade.new.spin\n"
    assert SPINS[0] in spins_in(text)


def test_of_a_types_parts_the_one_with_a_constructor_is_made():
    parts = {
        "examples/a.rb": "class Shop::Disk\n  def spin\n  end\nend\n",
        "lib/shop/disk.rb": "module Shop\n  class Disk\n    def initialize\n    end\n  end\nend\n",
        "lib/a.rb": "class Shop::Disk\n  def load\n  end\nend\n",
        "lib/use.rb": "Shop::Disk.new\n",
    }
    files = {**parts, "test/fixtures/page.rb": "class Page\nend\n", "examples/page.rb": "class Page\nend\n"}
    test = "test/page_test.rb"
    ids = [edge.target for edge in calls_in(project_of({**files, test: "Page.new\n"}), test)]
    assert ids == ["test/fixtures/page:Page"]
    assert [edge.target for edge in calls_in(project_of(parts), "lib/use.rb")] == ["lib/shop/disk:Shop.Disk"]


@pytest.mark.parametrize(
    ("defined", "called"),
    [
        ("class Range\n  def include?(x)\n  end\nend\n", "[1, 2].include?(3)"),
        ("class Integer\n  def size\n  end\nend\n", '"x".size'),
        ("describe 'x' do\n  class Logger\n    def info(x)\n    end\n  end\nend\n", "Logger.new.info(1)"),
        ("class Bell\n  def first\n  end\nend\n", "[Bell].tap { |list| list.first }"),
    ],
)
def test_another_types_method_is_not_surely_called(defined, called):
    project = project_of({"spec/a_spec.rb": defined, "lib/use.rb": f"{called}\n"})
    assert not [edge for edge in calls_in(project, "lib/use.rb") if edge.confidence == "receiver"]


def test_a_method_that_is_named_allocate_is_found_by_its_name():
    files = {
        "a.rb": "class Pool\n  def allocate(n)\n  end\nend\n",
        "b.rb": "def run(pool)\n  pool.allocate(1)\nend\n",
    }
    assert [edge.target for edge in calls_in(project_of(files), "b.rb")] == ["a:Pool.allocate"]
