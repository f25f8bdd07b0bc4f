"""Calls in Ruby's idioms: unnamed classes, lists, blocks with another `self`, narrowed types."""

from __future__ import annotations

import pytest

from tests.graph.small_graphs import calls_in, project_of

BASE = """class Disk
  attr_reader :label
  def spin(x = 1)
    self
  end
  def self.open(x = 1)
    new
  end
end
class Tape
  def spin(x = 1)
  end
  def wind
    Disk.new
  end
end
"""
SPIN = "Disk.spin"


def calls_below(text: str) -> list[tuple[int, str]]:
    """Return (line, target) of the calls in a text behind BASE."""
    above = BASE.count("\n")
    edges = calls_in(project_of({"a.rb": BASE + text}), "a.rb")
    return [
        (edge.location.line - above, edge.target.partition(":")[2])
        for edge in edges
        if edge.location.line > above
    ]


@pytest.mark.parametrize(
    ("text", "spins"),
    [
        ("[Disk.new, Disk.new].each { |d| d.spin }\n", [1]),
        ("%w[a].map { |n| Disk.new(n) }.each { |d| d.spin }\n", [1]),
        ("[Tape.new].map { |t| t.wind }.first.spin\n", [1]),
        ("Array.new(3) { Disk.new }.first.spin\n", [1]),
        ("h = {}\nh[:a] = Disk.new\nh.each { |k, d| d.spin }\nh.values.first.spin\nh[:a].spin\n", [3, 4, 5]),
        ("H = { a: Disk.new }\nH[:a].spin\nH.each { |k, d| d.spin }\n", [2, 3]),
        ("H = Hash.new { |h, k| h[k] = Disk.new }\nH[1].spin\n", [2]),
        ("class K\n  def go(d)\n    @ds << Disk.new\n    @ds.each { |d| d.spin }\n  end\nend\n", [4]),
        ("[Disk.new].each_with_index { |d, n| d.spin }\n", [1]),
    ],
)
def test_lists_and_hashes_have_elements_of_a_type(text, spins):
    assert [line for line, name in calls_below(text) if name == SPIN] == spins


def test_a_local_list_gets_a_type_only_if_it_begins_empty():
    text = "t = Tape.new\nt << Disk.new\nt.spin\na = []\na << Disk.new\na.first.spin\n"
    spins = [call for call in calls_below(text) if call[1].endswith("spin")]
    assert spins == [(3, "Tape.spin"), (6, SPIN)]


@pytest.mark.parametrize(
    ("text", "spins"),
    [
        ("a, b = Disk.new, Tape.new\na.spin\n", [2]),
        ("def q\n  d = begin\n    Disk.new\n  rescue\n    nil\n  end\n  d.spin\nend\n", [7]),
        ("case x\nwhen Disk\n  x.spin\nend\nx.spin\n", [3]),
        ("def q(x)\n  if x.is_a?(Disk)\n    x.spin\n  end\n  x.spin\nend\n", [3]),
        ("Tape.new.then { |t| t.wind }.spin\n", [1]),
        ("class K\n  def a = Disk.new\nend\nK.new.a.spin\n", [4]),
        (
            "class K\n  attr_accessor :d\n  def a\n    self.d = Disk.new\n  end\n  def go\n    d.spin\n  end\nend\n",
            [7],
        ),
        ("def q(x)\n  unless x.is_a?(Disk)\n    x.spin\n  end\nend\n", []),
        ("case x\nwhen Tape, Disk\n  x.spin\nwhen Disk\n  x.spin\nend\n", [5]),
        ("class K\n  attr_accessor :d\n  def a\n    self.d ||= Disk.new\n    d.spin\n  end\nend\n", [5]),
    ],
)
def test_values_have_types_by_their_form(text, spins):
    assert [line for line, name in calls_below(text) if name == SPIN] == spins


@pytest.mark.parametrize("adds", ["a << Disk.new\na << Tape.new\n", "a.push(Disk.new, Tape.new)\n"])
def test_a_list_of_two_types_has_elements_of_either(adds):
    calls = calls_below(f"a = []\n{adds}a.each {{ |d| d.spin }}\n")
    assert [name for _, name in calls if name.endswith("spin")] == [SPIN, "Tape.spin"]


def test_a_call_without_arguments_may_have_a_block():
    assert (1, "Disk.open") in calls_below("Disk.open() { |d| d.spin }\nClass.new() { |k| k.spin }\n")


@pytest.mark.parametrize(
    "text",
    [
        "Disk.new.instance_eval do\n  spin\nend\n",
        "Disk.open do\n  spin\nend\n",
    ],
)
def test_a_bare_name_in_a_block_may_mean_what_the_call_returns(text):
    assert (2, SPIN) in calls_below(text)


def test_a_method_named_instance_eval_may_do_anything_with_its_block():
    text = "class Disk\n  def instance_eval\n    yield\n  end\nend\nDisk.new.instance_eval do\n  spin\nend\n"
    assert (7, SPIN) not in calls_below(text)


def test_a_conversion_of_all_objects_is_no_method_of_a_module():
    text = "module Utils\n  def URI(text)\n  end\n  def pack(text)\n  end\nend\nURI('a')\npack('a')\n"
    assert calls_below(text) == [(8, "Utils.pack")]


@pytest.mark.parametrize("passed", ["super", "super(name)", "super name, 1"])
def test_a_macro_of_a_module_passes_its_word_on_by_super(passed):
    text = f"""module Made
  def property(name, kind = 0)
    {passed}
  end
end
class Shelf
  def self.property(name, kind = 0)
    define_method(name) {{ kind }}
  end
end
class Rack < Shelf
  extend Made
  property :width
end
Rack.new.width
"""
    assert [name for line, name in calls_below(text) if line == 15] == ["Shelf.property.#{name}", "Rack"]


@pytest.mark.parametrize(
    "value", ["begin Disk.new rescue Tape.new end", "(Disk.new rescue Tape.new)", "Disk.new rescue Tape.new"]
)
def test_a_guarded_value_is_one_of_two(value):
    calls = calls_below(f"d = {value}\nd.spin\n")
    assert [name for line, name in calls if line == 2] == [SPIN, "Tape.spin"]


def test_definitions_in_branches_of_a_condition_are_both_called():
    text = "class Disk\n  if NEW\n    def put(*rows, &block)\n    end\n  else\n    def put(row)\n    end\n  end\nend\n"
    calls = {name for line, name in calls_below(f"{text}Disk.new.put(1)\n") if line == 10}
    assert calls == {"Disk", "Disk.put", "Disk.put~2"}


@pytest.mark.parametrize(
    "body",
    ["block.call(Disk.new)", "[Disk.new].each(&block)", "inner(&block)"],
)
def test_a_method_may_pass_its_block_on(body):
    text = f"""def inner
  yield Disk.new
end
def outer(&block)
  {body}
end
outer {{ |d| d.spin }}
"""
    assert (7, SPIN) in calls_below(text)


def test_an_unnamed_class_has_its_methods_and_those_of_its_base():
    text = """describe 'x' do
  let(:kind) do
    Class.new(Disk) do
      def hum(x)
      end
    end
  end
  let(:other) do
    Class.new(Disk) do
      def hum(x)
      end
    end
  end
  it { kind.new.hum(1) }
  it { kind.new.spin }
  it { other.new.hum(1) }
end
"""
    expected = {(14, "Disk{}.hum"), (15, SPIN), (16, "Disk{}.hum~2")}
    assert expected <= set(calls_below(text))


def test_a_method_in_a_block_of_a_method_is_called_by_its_name():
    text = """module Its
  def its(&block)
    describe do
      def expected_now(x)
      end
    end
  end
end
its { expected_now(1) }
"""
    assert (9, "Its.its.expected_now") in calls_below(text)


def test_words_of_a_constant_or_of_a_hash_name_methods():
    text = """class K
  WORDS = %w[a].freeze
  WORDS.each { |word| define_method("#{word}!") { 1 } }
  { b: 1 }.each { |key, value| define_method(key) { value } }
end
K.new.a!
K.new.b
"""
    assert {(6, "K.a!"), (7, "K.b")} <= set(calls_below(text))


def test_words_that_a_call_changes_name_no_methods():
    text = """class K
  %w[a].map { |word| "#{word}_b" }.each { |word| define_method(word) { 1 } }
  %i[c].map(&:to_s).each { |word| define_method(word) { 1 } }
end
K.new.a
K.new.c
"""
    assert [call for call in calls_below(text) if call[1] in ("K.a", "K.c")] == [(6, "K.c")]


def test_a_type_that_many_files_reopen_has_instances():
    files = {f"part{n}.rb": f"class Box\n  def of_{n}(x)\n  end\nend\n" for n in range(9)}
    other = "class Other\n  def of_3(x)\n  end\nend\n"
    project = project_of({**files, "other.rb": other, "use.rb": "Box.new.of_3(1)\n"})
    edges = [(edge.target, edge.confidence) for edge in calls_in(project, "use.rb")]
    assert ("part3:Box.of_3", "receiver") in edges
