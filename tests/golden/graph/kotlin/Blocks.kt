package blocks

enum class Tone { LOUD, SOFT }

class Lamp {
    fun on() {}
    fun dim(by: Int = 1, vararg tones: Tone) = apply { on() }
    fun dim(how: String) {}
    fun tone(one: Tone) {}
    fun tone(name: String) {}

    companion object {
        operator fun invoke(name: String, size: Int): Lamp = Lamp()
    }
}

typealias Light = Lamp

fun lamp(set: Lamp.() -> Unit): Lamp = Lamp()

fun Light.shine(times: Int) {}

fun Light.shine(how: String) {}

fun String.loud(): Lamp = Lamp()

fun <T, SomeLamp : T> SomeLamp.each() {}

fun run(lamps: List<Lamp>, other: Lamp) {
    Lamp().apply { on() }
    with(other) { tone(Tone.LOUD) }
    lamps.forEach { it.on() }
    lamps.map { one -> one.tone("x") }
    lamp { dim() }
    other.dim(2, Tone.LOUD).tone(name = "x")
    other.shine("far")
    "a".loud().on()
    other.each()
    Lamp("big", 3)
}
