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


object Effects {
  case class Told(text: String)
  case class Shown(text: String)
  def all: Choice = new Choice()
}

trait Named {
  def rename(): Unit = ()
}

class User { self =>
  def stop(): Unit = ()

  def run(config: Config[Int]): Unit = {
    import config._
    opt[Int]("z") text "y"
    Effects.all.text("x")
    self.stop()
    new Choice with Named {
      text("w")
    }
  }

  def read(effect: Any): Unit = {
    import Effects._
    effect match {
      case Told(text) => Shown(text)
    }
  }
}
