package bounds

interface Gate {
    fun pass()
}
interface Lamp {
    fun pass()
}

class Holder<Inner : Gate>(val inner: Inner) {
    fun through() {
        inner.pass()
    }
    fun <T : Lamp> light(one: T) {
        one.pass()
    }
}
