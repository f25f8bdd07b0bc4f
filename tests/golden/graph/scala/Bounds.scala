package bounds

trait Gate { def pass(): Int }
trait Lamp { def pass(): Int }

class Holder[Inner <: Gate](inner: Inner) {
  def through(): Int = inner.pass()
  def light[Other <: Lamp](one: Other): Int = one.pass()
}
