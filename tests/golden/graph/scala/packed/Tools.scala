package shop
package packed

trait Tools { def tool(): Int = 1 }
object Hammer { def hit(): Int = tool() }
class Wrapper {
  def wrap(): String = wrapped("a")
  def hit(): Int = packed.Hammer.hit()
  def build(): Any = new each.Lid().turn()
}
