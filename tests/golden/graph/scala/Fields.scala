package fields

class Config[C] {
  def opt[A](name: String): Choice = new Choice()
}

class Choice {
  def text(t: String): Choice = this
}

class Other {
  def opt(name: String): Other = this
  def text(t: String): Other = this
}

class Main {
  val parser = new Config[Int]() {
    opt[Int]("x").text("y")
  }
}
