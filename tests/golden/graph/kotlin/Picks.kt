package picks

class Wheel

class Picks {
    fun take(n: Int) {}
    fun take(n: Long) {}
    fun take(s: String) {}
    fun take(go: (Int) -> Int) {}
    fun take(wheel: Wheel) {}

    fun run(text: String, given: Wheel) {
        take(1)
        take(2L)
        take(text)
        take(given)
    }
}
