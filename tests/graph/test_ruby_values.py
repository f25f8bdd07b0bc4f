"""Types of Ruby's values that no declaration tells: results, variables of classes, errors, and what
tests prepare.
"""

from __future__ import annotations

from tests.graph.small_graphs import calls_in, project_of
from tests.graph.test_ruby import SHOP, calls


def test_variables_of_a_class_and_of_its_body_have_types():
    text = (
        SHOP
        + """module Shop
  @tape = Tape.new
  def self.tape
    @tape
  end
end
class Box
  def disk
    @@disk ||= Disk.new
  end
  def self.fill
    @@disk.on 1
  end
end
Shop.tape.on 2
Box.new.disk.on 3
"""
    )
    assert calls({"a.rb": text}, "a.rb")[2:] == [
        (20, "Disk.on"),
        *((23, name) for name in ("Shop.tape", "Tape.on")),
        *((24, name) for name in ("Box", "Box.disk", "Disk.on")),
    ]


def test_a_case_has_the_values_of_its_branches_and_an_operator_its_methods_result():
    text = """class Sum
  def +(other)
    Sum.new
  end
  def join(other)
    Sum.new
  end
  alias_method :*, :join
  def show(x)
  end
end
class Other
  def show(x)
  end
end
def pick(kind)
  case kind
  when 1
    Sum.new
  else
    raise
  end
end
pick(1).show 1
(Sum.new + 2).show 3
(Sum.new * 2).show 4
(3 * 2).show 5
"""
    shown = [line for line, name in calls({"a.rb": text}, "a.rb") if name == "Sum.show"]
    assert shown == [24, 25, 26]


def test_an_expected_error_is_of_its_class():
    text = """class Full < StandardError
  attr_reader :size
end
class Empty < StandardError
  attr_reader :size
end
begin
  run
rescue Full => full
  full.size
end
error = assert_raises(Empty) { run }
error.size
expect { run }.to raise_error(Full) { |one| one.size }
expect { run }.to raise_error(Empty) do |one|
  one.size
end
"""
    sizes = [(line, name) for line, name in calls({"a.rb": text}, "a.rb") if name.endswith("size")]
    assert sizes == [(10, "Full.size"), (13, "Empty.size"), (14, "Full.size"), (16, "Empty.size")]


def test_a_class_that_a_class_method_makes_from_itself_is_its_heir():
    text = """class Page
  def self.sub
    Class.new(self) do
      define_method(:x) { 1 }
    end
  end
  def show
  end
end
class Other
  def show
  end
end
module Shop
end
Shop::Front = Page.sub { 1 }
Shop::Front.new.show
"""
    assert (17, "Page.show") in calls({"a.rb": text}, "a.rb")


def test_a_class_method_that_makes_instances_makes_those_of_the_heir_that_is_named():
    text = """class Option
  def self.from(x)
    x ? new.fill(x) : new
  end
  def fill(x)
    self
  end
end
class Fast < Option
  def speed
  end
end
class Slow < Option
  def speed
  end
end
Slow.from(1).speed
"""
    assert calls({"a.rb": text}, "a.rb")[-2:] == [(17, "Option.from"), (17, "Slow.speed")]


def test_a_file_that_includes_a_module_has_its_constants_and_aliases():
    module = """module Shop
  module Words
    class Word
      def show
      end
    end
    def translate(x)
    end
    alias _t translate
  end
end
"""
    other = "class Word\n  def initialize\n  end\nend\n"
    test = (
        "include Shop::Words\nclass WordTest < Base\n  def test_it\n    Word.new.show\n    _t 1\n  end\nend\n"
    )
    plain = test.replace("include Shop::Words\n", "")
    texts = {"lib/shop.rb": module, "test/a_test.rb": test, "plain/a_test.rb": plain}
    expected = ["Shop.Words.Word", "Shop.Words.Word.show", "Shop.Words.translate"]
    assert [name for _, name in calls(texts, "test/a_test.rb")] == expected
    assert calls(texts, "plain/a_test.rb") == []
    assert next(name for _, name in calls({**texts, "lib/word.rb": other}, "test/a_test.rb")) == "Word"


def test_methods_from_a_text_return_what_they_delegate_to():
    text = (
        SHOP
        + """class Config
  def disk
    @@disk ||= Disk.new
  end
end
module Shop
  class << self
    def config
      Config.new
    end
    %w(disk tape).each do |name|
      module_eval <<-TEXT, __FILE__
        def #{name}
          config.#{name}
        end
        def #{name}=(value)
          config.#{name} = (value)
        end
      TEXT
    end
  end
end
Shop.disk.on 1
"""
    )
    assert calls({"a.rb": text}, "a.rb")[-2:] == [(31, "Disk.on"), (31, "Shop.disk")]


def test_a_value_of_a_before_block_holds_in_the_tests_of_its_group():
    text = """describe "one" do
  before { @x = Disk.new }
  it("is") { @x.on 1 }
  describe "inner" do
    before do
      tape = Tape.new
      @x = tape
    end
    it("is") { @x.on 2 }
  end
end
describe "two" do
  before { @x = Tape.new }
  it "is" do
    @x.on 3
  end
  it "is other" do
    @x = Disk.new
    @x.on 4
  end
end
"""
    on = [
        (line, name)
        for line, name in calls({"shop.rb": SHOP, "a_test.rb": text}, "a_test.rb")
        if name.endswith("on")
    ]
    assert on == [(3, "Disk.on"), (9, "Tape.on"), (15, "Tape.on"), (19, "Disk.on")]


def test_a_call_that_a_class_leaves_to_its_heirs_is_one_of_each():
    text = """class Base
  def run
    prepare
    finish
  end
  def self.make
    default
  end
end
class One < Base
  def prepare
  end
  def self.default
  end
end
class Two < Base
  def prepare
  end
end
class Other
  def prepare
  end
  def default
  end
  def finish
  end
end
"""
    assert calls({"a.rb": text}, "a.rb") == [(3, "One.prepare"), (3, "Two.prepare"), (7, "One.default")]


def test_heirs_have_no_part_in_calls_of_what_every_object_has_or_others_may_have():
    text = """class Base
  def run
    puts
    prepare 1
  end
end
class Heir < Base
  def puts
  end
  def prepare
  end
end
class Page < Outside::Base
  def run
    prepare 1
  end
end
class Long < Page
  def prepare(n)
  end
end
"""
    in_tests = "class Drawn < Base\n  def prepare(n)\n  end\nend\n"
    assert not calls({"lib/a.rb": text, "test/a_test.rb": in_tests}, "lib/a.rb")


def test_the_module_that_a_class_includes_last_precedes_the_others():
    text = """module One
  def save
  end
end
module Two
  def save
  end
end
class Page
  include One
  include Two
end
class Plain
  include One, Two
end
Page.new.save
Plain.new.save
"""
    saves = [call for call in calls({"a.rb": text}, "a.rb") if call[1].endswith("save")]
    assert saves == [(16, "Two.save"), (17, "One.save")]


def test_an_included_module_of_another_file_is_seen_by_tests_alone():
    files = {
        "lib/util.rb": "module Util\n  def fetch(n)\n  end\nend\n",
        "lib/script.rb": "include Util\n",
        "lib/page.rb": "class Page\n  def run\n    fetch 1\n  end\nend\n",
    }
    assert not calls(files, "lib/page.rb")


def test_an_unknown_receiver_is_an_instance_unless_it_is_named_like_a_class():
    text = """class Page
  def self.show(x)
  end
  def show(x)
  end
end
def run(page, klass, stubs)
  page.show 1
  klass.show 2
  stubs = Outside::Stubs.new
  stubs.show 3
end
"""
    edges = calls_in(project_of({"a.rb": text}), "a.rb")
    targets = [(edge.location.line, edge.target.partition(":")[2] or len(edge.candidates)) for edge in edges]
    assert targets == [(8, "Page.show~2"), (9, 2)]


def test_a_module_calls_the_reader_of_another_module():
    text = """module Shell
  attr_accessor :padding
  def shell
  end
end
module Actions
  def copy
    shell
  end
end
class Plain < Outside
  def copy
    shell
  end
end
"""
    assert calls({"a.rb": text}, "a.rb") == [(8, "Shell.shell")]


def test_a_method_that_overrides_freeze_returns_its_object():
    text = """class Page
  def freeze
    @text = text.to_s
    super
  end
  def show
  end
end
class Other
  def show
  end
end
Page.new.freeze.show
"""
    assert calls({"a.rb": text}, "a.rb")[-1] == (13, "Page.show")


def test_a_variable_of_a_block_in_a_module_is_no_member_of_it():
    text = """module Shop
  describe Disk do
    it "is" do
      part = Disk.new
      part.on 1
    end
    it "is not" do
      part = Tape.new
      part.on 2
    end
  end
end
part.on 3
"""
    edges = calls({"shop.rb": SHOP, "a_test.rb": text}, "a_test.rb")
    assert edges == [(4, "Disk"), (5, "Disk.on"), (8, "Tape"), (9, "Tape.on")]


def test_a_constant_of_a_test_group_gives_its_variables_types():
    text = """describe "x" do
  Part = Shop::Disk
  it "is" do
    part = Part.new
    part.on 1
  end
end
"""
    shop = f"module Shop\n{SHOP}end\n"
    on = [name for _, name in calls({"shop.rb": shop, "a_test.rb": text}, "a_test.rb")]
    assert on == ["Shop.Disk", "Shop.Disk.on"]


def test_an_included_module_and_what_it_adds_precede_the_base_class():
    text = """class Base
  def self.property(x)
  end
  def save
  end
end
module Renamed
  def self.included(base)
    base.extend(ClassMethods)
  end
  module ClassMethods
    def property(x)
    end
  end
  def save
  end
end
class Page < Base
  include Renamed
  property 1
end
class Plain < Base
  property 2
end
Page.new.save
"""
    assert calls({"a.rb": text}, "a.rb") == [
        (20, "Renamed.ClassMethods.property"),
        (23, "Base.property"),
        (25, "Page"),
        (25, "Renamed.save"),
    ]
