require_relative "model"

class Left
  def turn
    Numbers.even(1)
  end
end

class Right
  attr_reader :next_one

  def initialize
    @next_one = Left.new
  end

  def turn
    @next_one.turn
  end

  alias_method :spin, :turn
end

class FarRight < Right
  def turn(times = 1)
    super
    turn(times - 1)
  end
end

module Numbers
  def self.even(n)
    n.zero? || odd(n - 1)
  end

  def self.odd(n)
    !n.zero? && even(n - 1)
  end
end

# Opened again: the same class.
class Left
  def again
    turn
  end
end

class Shadow
  Disk = Left

  def run(numbers)
    right = Right.new
    right.turn
    right = Left.new
    right.again
    even = numbers
    even(2)
    FarRight.new.turn
    Disk.new.turn
    [right].each { |one| one.turn }
    Shop::Disk.open.save(1)
  end
end
