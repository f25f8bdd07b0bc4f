package shop.named

class Ink { fun say() {} }
class Hue { fun say() {} }
interface Pen { fun say() }

open class Box(val Ink: Ink, private val kept: Ink) {
    val spare: Ink = kept
    val Hue: Ink = kept
    lateinit var tone: Hue

    fun own() { Ink.say(); this.Ink.say() }
    fun sibling() { spare.say(); kept.say() }
    fun wrong() { this.Hue.say() }
    fun right() { tone.say() }
    fun given(Ink: Ink) { Ink.say() }
}

class Crate(private val last: Ink, private val box: Box) : Box(last, last) {
    fun inherited() { last.say(); this.Ink.say() }
    fun far() { box.Ink.say() }
}

class Bounded<Hue : Pen>(private val one: Hue) {
    fun bound() { one.say() }
}
