"""Ruby's methods that are named like constants, and the names that RSpec gives to a class."""

from __future__ import annotations

from tests.graph.test_ruby import calls

PAINT = """module Paint
  class Brush
    def bold
    end
  end
  def self.global
    Brush.new
  end
end
def Paint(text)
  Paint.global
end
"""


def test_a_call_of_a_constants_name_is_one_of_the_method():
    user = """Paint("a").bold
module Paint
  class Text
    def bold
      Paint(self).bold
      Paint self
      self.Paint(1)
    end
  end
end
"""
    edges = calls({"lib/paint.rb": PAINT, "lib/text.rb": user}, "lib/text.rb")
    assert edges == [
        *((line, name) for line in (1, 5) for name in ("Paint.Brush.bold", "Paint~2")),
        *((6, "Paint~2"), (7, "Paint~2")),
    ]
    assert calls({"lib/paint.rb": PAINT}, "lib/paint.rb") == [(7, "Paint.Brush"), (11, "Paint.global")]


def test_a_method_of_a_types_name_hides_no_type():
    texts = {
        "lib/disk.rb": "class Disk\n  def self.at(x)\n    new\n  end\n  def save\n  end\nend\n",
        "lib/kernel.rb": "def Disk(x)\n  Disk.at(x)\nend\n",
        "lib/box.rb": "module Kernel\n  def Box(x)\n    Box.new(x)\n  end\nend\nclass Box\n  def load\n  end\nend\n",
        "lib/use.rb": "class User\n  def run\n    Box(1).load\n    Disk.at(1)\n    Disk(1).save\n  end\nend\n",
    }
    assert calls(texts, "lib/kernel.rb") == [(2, "Disk.at")]
    assert calls(texts, "lib/box.rb") == [(3, "Box")]
    assert calls(texts, "lib/use.rb") == [
        *((3, "Box.load"), (3, "Kernel.Box"), (4, "Disk.at"), (5, "Disk"), (5, "Disk.save")),
    ]


def test_a_call_of_a_member_that_is_named_like_a_type_inside_is_one_of_the_method():
    text = """module Shop
  class Disk
    def save
    end
  end
  class Tape
    def save
    end
  end
  def self.Disk(x)
    Tape.new
  end
end
Shop::Disk(1).save
Shop.Disk(1).save
Shop::Disk.new.save
"""
    assert calls({"a.rb": text}, "a.rb") == [
        (11, "Shop.Tape"),
        *((line, name) for line in (14, 15) for name in ("Shop.Disk~2", "Shop.Tape.save")),
        *((16, "Shop.Disk"), (16, "Shop.Disk.save")),
    ]


def test_rubys_own_conversions_are_no_calls_of_the_projects_types():
    text = "module Shop\n  class Integer\n  end\n  class Cart\n    def add(x)\n      Integer(x)\n    end\n  end\nend\n"
    assert calls({"a.rb": text}, "a.rb") == []


def test_the_names_of_a_described_class_hold_in_its_group_also_in_a_module():
    shop = "module Shop\n" + "".join(
        f"  class {name}\n    def save\n    end\n    def load\n    end\n  end\n" for name in ("Disk", "Tape")
    )
    spec = """module Shop
  RSpec.describe Disk do
    let(:part) { described_class.new }
    it { part.save }
    it { subject.load }
    describe "other" do
      subject { part.load }
      it { subject.save }
    end
  end
  RSpec.describe Tape do
    let(:part) { described_class.new }
    it { part.save }
    it { subject.load }
  end
end
"""
    edges = calls({"lib/shop.rb": f"{shop}end\n", "spec/shop_spec.rb": spec}, "spec/shop_spec.rb")
    assert edges == [
        *((3, "Shop.Disk"), (4, "Shop.Disk.save"), (5, "Shop.Disk.load"), (7, "Shop.Disk.load"), (8, "")),
        *((12, "Shop.Tape"), (13, "Shop.Tape.save"), (14, "Shop.Tape.load")),
    ]


def test_a_group_in_a_module_has_no_methods_of_the_module():
    shop = """module Shop
  def self.amount
  end
  def self.fill(x)
  end
  class Disk
    attr_reader :label
  end
end
"""
    spec = """module Shop
  RSpec.describe Disk do
    def part
    end
    let(:disk) { described_class.new(amount, label, part) }
  end
  fill(2)
end
"""
    edges = calls({"lib/shop.rb": shop, "spec/shop_spec.rb": spec}, "spec/shop_spec.rb")
    assert edges == [(5, "Shop.Disk"), (5, "Shop.part"), (7, "Shop.fill")]
