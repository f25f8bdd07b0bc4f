# Whose methods a call without a receiver sees: not those of the classes around, nor class methods of
# a module, nor what a module adds to the types that include it.
class Depot
  def self.label(text)
  end

  def pack(crate)
  end

  class Shelf
    label "shelf"

    def fill
      pack(1)
    end
  end

  label "depot"
end

module Stamps
  def self.included(base)
    base.extend Sheets
    base.send :include, Ink
  end

  class << self
    def press(times = 1)
    end

    alias_method :push, :press
  end

  module Sheets
    def sheet(size)
    end
  end

  module Ink
    def dip(colour)
    end
  end

  def stamp
    press 2
    self.class.sheet(3)
  end
end

class Letter
  include Stamps
  sheet 1

  class << self
    def dip(colour)
    end
  end

  def send_off
    dip("red")
    press 3
  end
end

class Parcel < Letter
  def send_off
    dip("blue")
  end
end

class Courier
  def self.new(name)
    name.is_a?(self) ? name : super
  end

  def parse(route)
  end
end

module Elsewhere
  def parse(route)
  end
end

Stamps.push(1)
Stamps.sheet(2)
Letter.sheet(3)
Letter.press(4)
Courier.new("a").parse("b")
[1].each { |courier| courier.parse("c") }
[1].each { |string| string.parse("d") }

class Rates < Struct
  def self.from(value)
  end

  def sum(times)
  end
end

Tariff = Rates.new(:near, :far) do
  def total
    sum 2
  end
end

Tariff.from(1)

class Office
  def self.opens(hour)
  end

  self.opens(8)

  def queue(length)
  end

  test "queues" do
    queue(3)
  end
end

module Codes
  def self.decode(text)
  end
end

describe Codes do
  it { subject.decode("x") }
end
