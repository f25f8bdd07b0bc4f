package casts

class Crate {
  def open(): Unit = ()
}

class Chest {
  def open(): Unit = ()
}

object Casts {
  def run(thing: Any): Unit = {
    thing.asInstanceOf[Crate].open()
    val held = thing.asInstanceOf[Chest]
    held.open()
  }
}
