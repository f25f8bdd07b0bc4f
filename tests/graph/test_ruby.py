"""Ruby's calls on instance variables outside of all classes, and on members from modules."""

from __future__ import annotations

from tests.graph.small_graphs import calls_in, project_of
from tests.graph.test_routes import nodes_and_edges

SHOP = """class Disk
  def on(x)
  end
end
class Tape
  def on(x)
  end
end
"""


def calls(texts: dict[str, str], path: str) -> list[tuple[int, str]]:
    edges = calls_in(project_of(texts), path)
    return sorted((edge.location.line, edge.target.partition(":")[2]) for edge in edges)


def test_instance_variables_set_before_each_test_are_known_in_its_file():
    test = """describe Disk do
  before do
    @disk = Disk.new
    @same = @disk
  end
  it "saves" do
    @disk.on "x"
    @same.on "x"
    @none.on "x"
  end
end
"""
    other = 'describe Tape do\n  before do\n    @none = Tape.new\n  end\n  it "is" do\n    @disk.on 1\n  end\nend\n'
    texts = {"shop.rb": SHOP, "a_test.rb": test, "b_test.rb": other}
    assert calls(texts, "a_test.rb") == [(3, "Disk"), (7, "Disk.on"), (8, "Disk.on")]
    assert calls(texts, "b_test.rb") == [(3, "Tape")]


def test_a_class_has_the_methods_that_an_included_module_adds():
    text = """module Made
  def build(x)
  end
end
module Mixed
  def self.included(base)
    base.extend(Made)
  end
end
class Box
  include Mixed
end
class Bare
end
Box.build(1)
Bare.build(2)
"""
    assert (15, "Made.build") in calls({"a.rb": text}, "a.rb")
    assert not [line for line, _ in calls({"a.rb": text}, "a.rb") if line == 16]


def test_a_method_is_delegated_to_the_result_of_another():
    text = (
        SHOP
        + """class Shop
  delegate :on, to: :disk
  def disk
    @disk ||= Disk.new
  end
end
Shop.new.on(1)
"""
    )
    assert (15, "Disk.on") in calls({"a.rb": text}, "a.rb")


def test_a_delegated_method_has_its_declared_name():
    text = (
        SHOP
        + """class Shop
  delegate :on, to: :disk, prefix: true
  delegate :on, to: :disk, prefix: :hard
  def_delegator :@disk, :on, :start
  def_delegator "@disk", "on", "begin_it"
  def initialize
    @disk = Disk.new
  end
  attr_reader :disk
end
shop = Shop.new
shop.disk_on(1)
shop.hard_on(2)
shop.start(3)
shop.begin_it(4)
shop.begin(5)
"""
    )
    first = text.split("\n").index("shop.disk_on(1)") + 1
    lines = {line - first for line, name in calls({"a.rb": text}, "a.rb") if name == "Disk.on"}
    assert lines & {*range(5)} == {0, 1, 2, 3}


_ALIASES = """class Disk
  def on(x)
  end
  alias start on
  alias_method :begin, :on
  alias_method "run", "on"
  alias == equal?
  class << self
    def make
    end
    alias build make
  end
end
class Fast < Disk
  alias :go :run
end
alias $old $new
disk = Disk.new
disk.start(1)
disk.begin(2)
disk.run(3)
Disk.build
Fast.new.go(4)
disk.stop(5)
"""


def test_a_call_by_an_alias_is_one_of_the_method():
    edges = calls({"a.rb": _ALIASES}, "a.rb")
    assert [edge for edge in edges if edge[0] > 18] == [
        *((line, "Disk.on") for line in (19, 20, 21)),
        (22, "Disk.make"),
        (23, "Disk.on"),
        (23, "Fast"),
    ]


def test_an_alias_is_a_node_at_its_own_line():
    nodes, _ = nodes_and_edges({"a.rb": _ALIASES})
    aliases = {node["name"]: (node["kind"], node["start_line"]) for node in nodes}
    names = {"Disk.start": 4, "Disk.begin": 5, "Disk.run": 6, "Disk.==": 7, "Disk.build": 11, "Fast.go": 15}
    assert {name: aliases.get(name) for name in names} == {
        name: ("method", line) for name, line in names.items()
    }
    assert "$old" not in aliases


def test_a_reader_is_a_method_and_hides_no_instance_variable():
    text = (
        SHOP
        + """class Shop
  attr_reader :disk
  attr_accessor 'size'
  attr_writer :late
  def initialize(tape)
    @disk = Disk.new
    @tape = tape
  end
  def tape
    @tape
  end
  def fill
    @tape = Tape.new
    @disk.on 1
    disk.on 2
    tape.on 3
    size
    late
  end
end
shop = Shop.new(1)
shop.disk.on 4
shop.size = 5
shop.late = shop.size
shop.disk = shop.late
"""
    )
    first = text.split("\n").index("    @disk.on 1") + 1
    assert [(line - first, name) for line, name in calls({"a.rb": text}, "a.rb") if line >= first] == [
        (0, "Disk.on"),
        (1, "Disk.on"),
        (1, "Shop.disk"),
        (2, "Shop.tape"),
        (2, "Tape.on"),
        (3, "Shop.size"),
        (7, "Shop"),
        (8, "Disk.on"),
        (8, "Shop.disk"),
        (9, "Shop.size="),
        (10, "Shop.late="),
        (10, "Shop.size"),
    ]


def test_a_struct_is_a_class():
    text = (
        SHOP
        + """Point = Struct.new(:x, :y) do
  def long
    short
  end
  def short
    x
  end
end
Point.new(1, 2).long
"""
    )
    assert calls({"a.rb": text}, "a.rb") == [(11, "Point.short"), (17, "Point"), (17, "Point.long")]


def test_a_module_extends_itself_by_one_inside():
    shop = "module Shop\n  module Base\n    def pack(x)\n    end\n  end\n  extend Base\nend\n"
    texts = {
        "lib/shop.rb": shop,
        "lib/base.rb": "module Base\n  def pack(x)\n  end\nend\n",
        "lib/disk.rb": "module Shop\n  class Disk\n  end\nend\n",
        "use.rb": "Shop.pack(1)\n",
    }
    assert calls(texts, "use.rb") == [(1, "Shop.Base.pack")]


_STORE = """class Base
  def initialize(a)
  end
  def run
  end
end
Sub = Class.new(Base) do
  def walk
    run
  end
end
class Store
  class << self
    attr_reader :size
  end
  def self.open(n)
    store = new(n)
    return store unless block_given?
    begin
      yield store
    ensure
      store.close
    end
  end
  def initialize(n)
    yield self
  end
  %w[dir link].each do |k|
    define_method("#{k}?") { 1 }
    class_eval <<-TEXT, __FILE__
      def #{k}!
      end
    TEXT
  end
  def size
    self.class.size
  end
  def close
  end
  def pick(a)
    if a
      Sub.new(a)
    else
      raise
    end
  end
end
class Other
  def new(x)
  end
  def close
  end
  def dir?
  end
end
"""


def test_classes_and_methods_that_code_makes_have_their_calls():
    use = """Sub.new(1).walk
Store.open(1) { |one| one.close }
Store.new(1) do |one|
  one.dir?
  one.link!
end
Store.open(2).close
Other.new.close
kind = Class.new(Base) do
  def hop
    run
  end
end
kind.new(3).hop
plain = Class.new(Base)
plain.new(4).run
Store.open(2).pick(1).walk
Store.open(2).tap { |one| one.close }
"""
    texts = {"made.rb": _STORE, "use.rb": use}
    assert calls(texts, "made.rb") == [
        (9, "Base.run"),
        (17, "Store"),
        (22, "Store.close"),
        (36, "Store.size"),
        (42, "Sub"),
    ]
    assert [name for _, name in calls(texts, "use.rb")] == [
        *("Sub", "Sub.walk", "Store.close", "Store.open", "Store", "Store.dir?", "Store.link!"),
        *("Store.close", "Store.open", "Other", "Other.close", "Base.run", "kind", "kind.hop"),
        *("Base.run", "plain", "Store.open", "Store.pick", "Sub.walk", "Store.close", "Store.open"),
    ]


def test_a_receiver_named_like_one_of_several_types_is_of_that_type():
    text = "def f(disk, old_tape, other)\n  disk.save 1\n  old_tape.save 1\n  other.save 1\nend\n"
    texts = {"shop.rb": SHOP.replace("on(x)", "save(x)"), "use.rb": text}
    assert calls(texts, "use.rb") == [(2, "Disk.save"), (3, "Tape.save"), (4, "")]


def test_helpers_of_reopened_outside_classes_and_of_test_blocks():
    helper = "class Minitest::Spec\n  def slow?\n  end\n  def trying(x)\n  end\nend\n"
    test = (
        'describe "x" do\n  def before\n  end\n  it "y" do\n    trying(1) if slow?\n    before\n  end\nend\n'
    )
    other = 'describe "z" do\n  before do\n  end\nend\n'
    texts = {"test/helper.rb": helper, "test/a_test.rb": test, "test/b_test.rb": other}
    assert calls(texts, "test/a_test.rb") == [
        (5, "Minitest.Spec.slow?"),
        (5, "Minitest.Spec.trying"),
        (6, "before"),
    ]
    assert calls(texts, "test/b_test.rb") == []


def test_a_class_method_that_makes_an_instance_makes_one_of_the_heir():
    text = """class Disk
  def self.build
    new
  end
  def save
  end
end
class Tape < Disk
  def save
  end
end
Tape.build.save
Disk.build.save
"""
    assert calls({"a.rb": text}, "a.rb") == [
        *((3, "Disk"), (12, "Disk.build"), (12, "Tape.save"), (13, "Disk.build"), (13, "Disk.save")),
    ]


def test_names_that_a_specification_gives_to_values():
    texts = {
        "lib/disk.rb": (
            "class Disk\n  def slots\n  end\n  def merge\n  end\nend\nclass Tape\n  def slots\n  end\n  def merge\n  end\nend\n"
        ),
        "spec/disk_spec.rb": (
            "RSpec.describe Disk do\n  let(:tape) { Tape.new }\n  it { tape.merge }\n  it { subject.slots }\n"
            "  it { described_class.new.merge }\n  describe 'other' do\n    subject { Tape.new }\n    it { subject.slots }\n"
            "  end\n  describe 'named' do\n    subject(:reel) { Tape.new }\n    it { reel.slots }\n  end\nend\n"
        ),
    }
    targets = calls(texts, "spec/disk_spec.rb")
    assert [call for call in targets if call[1] not in ("Disk", "Tape")] == [
        *((3, "Tape.merge"), (4, "Disk.slots"), (5, "Disk.merge"), (8, "Tape.slots"), (12, "Tape.slots")),
    ]


def test_a_default_gives_a_parameter_its_type():
    text = (
        "class Shelf\n  def slots\n  end\nend\nclass Other\n  def slots\n  end\nend\n"
        "def fill(shelf = Shelf.new, other: Other.new, last: nil)\n  shelf.slots\n  other.slots\n  last.slots\nend\n"
    )
    targets = [call for call in calls({"a.rb": text}, "a.rb") if "." in call[1]]
    assert targets == [(10, "Shelf.slots"), (11, "Other.slots")]


def test_each_variant_of_a_method_in_files_for_different_systems_is_called():
    body = "module Shop\n  module Text\n    def self.to_ascii(value)\n    end\n  end\nend\n"
    texts = {
        "lib/shop.rb": "module Shop\n  SIZE = 1\nend\n",
        "lib/text/native.rb": body,
        "lib/text/pure.rb": body.replace("value", "text"),
        "spec/a.rb": "Shop::Text.to_ascii('a')\n",
    }
    assert calls(texts, "spec/a.rb") == [(1, "Shop.Text.to_ascii"), (1, "Shop.Text.to_ascii")]


def test_the_words_of_a_macro_are_methods_that_it_defines():
    macros = """class Dash
  def self.property(name, options = {})
    define_getter(name)
    define_setter(name)
  end
  def self.define_getter(word)
    define_method(word) { self[word] }
  end
  def self.define_setter(word)
    setter = :"#{word}="
    define_method(setter) { |value| self[word] = value }
  end
  class << self
    def flag(*names)
      names.each do |one|
        define_method("#{one}?") { true }
      end
    end
    def note(name)
      name
    end
  end
end
"""
    uses = """class Person < Dash
  property :first
  flag :old, :young
  note :plain
  def go
    self.first = first
    young?
    plain
    old
  end
end
Two = Class.new(Dash) do
  property :second
end
Two.new.second
"""
    assert calls({"dash.rb": macros, "uses.rb": uses}, "uses.rb") == [
        (2, "Dash.property"),
        (3, "Dash.flag"),
        (4, "Dash.note"),
        (6, "Dash.define_getter.#{word}"),
        (6, "Dash.define_setter.#{word}="),
        (7, "Dash.flag.#{one}?"),
        (13, "Dash.property"),
        (15, "Dash.define_getter.#{word}"),
        (15, "Two"),
    ]


def test_the_methods_that_a_macro_computes_are_of_instances_unless_it_says_singleton():
    text = """class Model < Outside::Base
  def self.property(name)
    define_method(name) { 1 }
  end
  def self.flag(name)
    define_singleton_method(name) { 1 }
  end
  property :first
  flag :last
end
Model.first
Model.new.first
Model.last
"""
    assert calls({"a.rb": text}, "a.rb")[2:] == [
        (12, "Model"),
        (12, "Model.property.#{name}"),
        (13, "Model.flag.#{name}"),
    ]


def test_a_module_that_extends_a_class_gives_it_class_methods_only():
    text = """module Hooks
  def close
  end
  def open
  end
end
class Plug
  extend Hooks
  def close
  end
  def go
    close
    open
    self.class.close
  end
end
class Sub < Plug
end
class Eigen
  class << self
    include Hooks
  end
end
Plug.close
Plug.new.close
Sub.close
Eigen.open
module Mix
  def shape(key)
    Mix.shape(self, key)
  end
  module ClassMethods
    def shape(one, two)
    end
  end
  extend ClassMethods
end
"""
    assert calls({"a.rb": text}, "a.rb") == [
        (12, "Plug.close"),
        (14, "Hooks.close"),
        (24, "Hooks.close"),
        (25, "Plug"),
        (25, "Plug.close"),
        (26, "Hooks.close"),
        (27, "Hooks.open"),
        (30, "Mix.ClassMethods.shape"),
    ]


def test_the_class_of_an_added_module_has_the_class_methods_added_beside_it():
    text = """module Coercion
  def self.included(base)
    base.send :include, InstanceMethods
    base.extend ClassMethods
  end
  module InstanceMethods
    def set(key)
      self.class.coercion(key)
    end
  end
  module ClassMethods
    def coercion(key)
    end
  end
end
"""
    assert calls({"a.rb": text}, "a.rb") == [(8, "Coercion.ClassMethods.coercion")]


def test_the_methods_of_a_macro_do_not_depend_on_the_calls_before():
    macros = """class Dash
  def self.first(name)
    second(name)
  end
  def self.second(name)
    third(name)
    first(name)
  end
  def self.third(name)
    fourth(name)
  end
  def self.fourth(name)
    define_method(name) { 1 }
  end
end
"""
    uses = """class Person < Dash
  first :one
  second :two
  def go
    one
    two
  end
end
"""
    assert calls({"dash.rb": macros, "uses.rb": uses}, "uses.rb") == [
        (2, "Dash.first"),
        (3, "Dash.second"),
        (6, "Dash.fourth.#{name}"),
    ]
