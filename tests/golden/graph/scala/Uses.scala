// Methods without parameter lists run where they are named; values do not.
package uses

class Scale {
  def weigh(n: Int): Int = n
  def note(n: Int): Unit = {}
}

class Crate {
  val scale = new Scale()
  val plain = 1
  def size: Int = scale.weigh(1)
  def weight: Int = scale.weigh(2)
  def weight_=(n: Int): Unit = scale.note(n)
  def own: Int = size + this.weight
  def hidden(size: Int): Int = size
}

object Crate {
  def count: Int = new Scale().weigh(3)
}

class Sack {
  val size = 1
  var weight = 2
}

object User {
  def read(crate: Crate): Int = crate.size + Crate.count
  def assign(crate: Crate): Unit = { crate.weight = 1 }
  def other(sack: Sack, crate: Crate): Int = { sack.weight = sack.size; crate.plain }
}
