package shop

class Kit[C] {
  def opt[A](name: String): Part = new Part()
  def head(text: String): Unit = ()
}

class Part {
  def text(t: String): Part = this
  def far = new Kit[Int]()
}

class Elsewhere {
  def text(t: String): Unit = ()
  def head(text: String): Unit = ()
}

object Use {
  def make(part: Part) = {
    new Kit[Int]() {
      head("x")
      opt[Int]("y").text("z")
    }
    part.far.head("x")
  }
}
