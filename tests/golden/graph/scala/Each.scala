package shop
package each

class Box(val label: String, val lid: Lid) {
  def shut(): Box = this
  def lids: List[Lid] = List(lid)
}
class Lid { def turn(): Int = 1 }

class Shelf[A](held: List[A]) {
  def one(f: A => Unit): Unit = held.foreach(f)
  def both(f: PartialFunction[Box, Unit]): Unit = ()
}

class Keeper(boxes: List[Box], spare: Option[Box], shelf: Shelf[Lid]) {
  def all(): Unit = boxes.foreach(_.shut())
  def named(): Unit = boxes.filter(box => box.label == "a").map { box => box.shut() }
  def inner(): Unit = for (box <- boxes; lid <- box.lids; more = lid) more.turn()
  def some(): Unit = spare.foreach { case box => box.shut() }
  def sum(): Int = boxes.foldLeft(0)((sum, box) => sum + box.lid.turn())
  def own(): Unit = shelf.one(_.turn())
  def part(): Unit = shelf.both { case box: Box => box.shut() }
  def later(box: => Box): Unit = box.shut()
  def make(maker: Lid => Box, lid: Lid): Unit = maker(lid).shut()
  def apart(one: Any): Unit = one match {
    case Pair(box, lid) => lid.turn()
    case held @ Pair(_, _) => held.box.shut()
  }
}
case class Pair(box: Box, lid: Lid)
