# Names without parentheses: calls of methods, or variables that hide them.
module Weighed
  def weight
    1
  end
end

class Crate
  include Weighed
  attr_reader :label

  def self.largest
    new
  end

  def volume
    2
  end

  def volume=(value)
    @volume = value
  end

  def tags
    []
  end

  def report(tags, *rest, unit: volume)
    total = volume + weight
    label
    "#{volume} #{tags} #{rest}"
    tags.each { |weight| puts weight }
    rest.map { weight }
  end

  def locals
    volume = 3
    one, weight = volume, 4
    [volume, weight, one]
  rescue StandardError => tags
    raise tags
  end

  def assign(other)
    other.volume = 1
    self.volume, other.volume = weight, weight
  end
end

class Shelf
  def fill
    volume
    crate = Crate.largest
    crate.volume = crate.weight
    label = ->(weight) { weight }
    label
  end
end

# The same class under its full name, with a name of the outermost scope.
class Crate::Lid < ::Crate
  def open
    weight
    ::Crate.largest
  end

  class Crate
    def self.largest
    end
  end
end
