package shop.trap

import shop.model.Disk as Shelf
import shop.model.Item

annotation class Marked

open class Left {
    open fun turn(): Boolean = even(1)
}

open class Right(private val next: Left) {
    @Marked
    open fun turn(): Boolean = next.turn()
    fun turn(times: Int): Boolean = turn() && turn(times - 1)
}

class FarRight : Right(Left()) {
    override fun turn(): Boolean = super.turn()
}

fun even(n: Int): Boolean = n == 0 || odd(n - 1)
fun odd(n: Int): Boolean = n != 0 && even(n - 1)

class Pair<A : Left>(val first: A, val rest: List<Right>) {
    fun turn(): Boolean {
        for (one in rest) { one.turn() }
        return rest.first().turn(2)
    }
}

class Disk { fun save(item: Any) {} }

fun Right.spin(): Boolean = turn()

fun run(disk: Disk, shelf: Shelf, right: Right?) {
    disk.save(1)
    shelf.save(Item())
    right?.turn()
    val left = Left()
    left.turn()
    val even = { n: Int -> n }
    FarRight().turn(3)
    FarRight().spin()
    Pair(left, listOf()).turn()
}
