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
