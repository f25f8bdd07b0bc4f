package shop.trap

import shop.model.{Disk => Shelf}
import shop.model.Item

class marked extends scala.annotation.StaticAnnotation

class Left {
  def turn(): Boolean = Numbers.even(1)
}

class Right(val next: Left) {
  @marked
  def turn(): Boolean = next.turn()
  def turn(times: Int): Boolean = turn() && turn(times - 1)
}

class FarRight(left: Left) extends Right(left) {
  override def turn(): Boolean = super.turn()
}

object Numbers {
  def even(n: Int): Boolean = n == 0 || odd(n - 1)
  def odd(n: Int): Boolean = n != 0 && even(n - 1)
}

class Couple[A <: Left](val first: A, val rest: List[Right]) {
  def turn(): Boolean = {
    for (one <- rest) one.turn()
    rest.foreach(one => one.turn(2))
    first.turn()
  }
}

class Disk { def save(item: Any): Unit = () }

object Run {
  def run(disk: Disk, shelf: Shelf, other: shop.model.Disk): Unit = {
    disk.save(1)
    shelf.save(new Item())
    other.flush()
    val right = new Right(new Left())
    right.turn(2)
    val even = (n: Int) => n
    new FarRight(new Left()).turn(3)
  }
}
