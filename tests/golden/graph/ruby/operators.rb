# Operators: methods of a known type; arrays and numbers have their own.
class Meter
  def +(other)
    self
  end

  def [](at)
    at
  end

  def []=(at, value)
  end

  def ==(other)
    true
  end

  def ends
  end
end

class Gram
  def +(other)
    other
  end

  def measure(number)
    meter = Meter.new
    (meter + meter).ends
    meter[1] = meter[2]
    meter == self
    number + 1
    number[1]
    [meter] + [meter]
    self + self
  end
end
