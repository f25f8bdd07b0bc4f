package measures

class Meter(val size: Int) {
    operator fun plus(other: Meter): Meter = other
    operator fun get(at: Int): Int = size
    operator fun set(at: Int, value: Int) {}
    operator fun contains(other: Meter): Boolean = true
    operator fun compareTo(other: Meter): Int = 0
    infix fun beside(other: Meter): Meter = other
    fun each(take: (Int) -> Unit) {}
    fun ends() {}
}

class Gram {
    operator fun plus(other: Gram): Gram = other
    infix fun beside(other: Gram): Gram = other
    fun each(take: (Int) -> Unit) {}
}

infix fun Gram.over(other: Gram): Gram = other

fun measure(meter: Meter, meters: List<Meter>, number: Int) {
    (meter + meter).ends()
    meter[1] = meter[2]
    meter in meter
    meter < meter
    (meter beside meter).ends()
    number + number
    meters[0]
    meter.each { }
}

fun weigh(gram: Gram) {
    gram + gram
    gram beside gram
    gram over gram
    gram.each { }
}

class Litre {
    operator fun minus(other: Litre): Litre = other
    operator fun minusAssign(times: Int) {}
    operator fun plus(other: Litre): Litre = other
    operator fun unaryMinus(): Litre = this
    operator fun not(): Boolean = false
    operator fun inc(): Litre = this
    operator fun rangeTo(other: Litre): Litre = other
    operator fun invoke(times: Int) {}
}

class Filled(val litre: Litre) {
    operator fun getValue(owner: Any?, property: Any): Litre = litre
}

class Tank(filled: Filled) {
    val content: Litre by filled
    val later by lazy { 1 }
}

fun empty(litre: Litre, other: Litre, number: Int, list: MutableList<Litre>) {
    var left = litre
    left -= 2
    left += other
    val less = -left
    val no = !left
    left++
    left..other
    left(3)
}

fun count(number: Int, list: MutableList<Litre>, flag: Boolean) {
    var left = number
    left -= 2
    left += number
    list += Litre()
    val less = -left
    val no = !flag
    left++
    0..left
}

interface Scaled {
    var scale: Int
    val name: String
}

class Narrow : Scaled {
    override var scale: Int
        get() = check()
        set(value) { check() }
    override val name: String get() = text()
    fun check(): Int { return 1 }
    fun text(): String { return "" }
}

fun scaleBy(scaled: Scaled): Int {
    scaled.scale = scaled.name.length
    return scaled.scale
}
