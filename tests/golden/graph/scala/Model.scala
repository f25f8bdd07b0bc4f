package shop.model

trait Flusher {
  def flush(): Unit
}

trait Saver extends Flusher {
  def save(item: Item): Unit
}

abstract class Base(name: String) {
  def close(): Unit = { log() }
  def log(): Unit = {}
}

class Item {
  def touch(): Item = this
}

class Disk(val second: Item, name: String) extends Base(name) with Saver {
  val third = new Item()
  private val items: List[Item] = Nil

  def save(item: Item): Unit = {
    item.touch().touch()
    this.second.touch()
    third.touch()
    for (one <- items) one.touch()
    super.close()
    check(1)
    flush()
    Helpers.helper(item)
  }

  def flush(): Unit = { log() }

  private def check(n: Int): Int = if (n > 0) check(n - 1) else 0
}

object Helpers {
  def helper(item: Item): Disk = new Disk(item, "x")
}
