package measures

class Meter {
  def +(other: Meter): Meter = other
  def ::(other: Meter): Meter = other
  def ends(): Unit = ()
}

class Gram {
  def +(other: Gram): Gram = other
}

object Measures {
  def measure(meter: Meter, number: Int): Unit = {
    (meter + meter).ends()
    number + number
    number :: meter
  }

  def weigh(gram: Gram): Unit = gram + gram
}
