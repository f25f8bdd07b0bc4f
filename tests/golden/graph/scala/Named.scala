package shop.named

class Ink { def say(): Unit = () }
class Hue { def say(): Unit = () }
trait Pen { def say(): Unit }

class Box(val Ink: Ink, kept: Ink) {
  val spare: Ink = kept
  val Hue: Ink = kept
  var tone: Hue = null

  def own(): Unit = { Ink.say(); this.Ink.say() }
  def sibling(): Unit = { spare.say(); kept.say() }
  def wrong(): Unit = this.Hue.say()
  def right(): Unit = tone.say()
  def taken(Ink: Ink): Unit = Ink.say()
}

class Crate(last: Ink, box: Box) extends Box(last, last) {
  def inherited(): Unit = { last.say(); this.Ink.say() }
  def far(): Unit = box.Ink.say()
}

class Bounded[Hue <: Pen](one: Hue) {
  def bound(): Unit = one.say()
}
