package shop.picks

import shop.model.Item

class Part
class Wheel extends Part
trait Order[A]

case class Crate(label: String, size: Int = 1)(implicit order: Order[Crate]) {
  def put(part: Part): Unit = ()
  def put(text: String): Unit = ()
  def put(count: Int)(implicit order: Order[Crate]): Unit = ()
  def put(each: Part => Boolean): Unit = ()
}

object Crate {
  def apply(part: Part): Crate = apply("of a part", 2)
  def apply(parts: Part*): Crate = Crate("of many")
  def open(crate: Crate): Crate = crate.copy(label = "open")
}

object Stamps extends Stamping
trait Stamping { def apply(times: Int)(implicit order: Order[Crate]): Crate = Crate(new Part) }

class Packer(crate: Crate, parts: List[Wheel], last: Option[Item]) {
  def pack(what: Any): Unit = {
    crate.put(new Wheel)
    crate.put("text")
    crate.put(1)
    crate.put(part => true)
    Stamps(2)
    what match {
      case other: Crate => other.put(s"other $what")
    }
  }
}
