package extended

open class Shop
open class Corner : Shop()

class Order {
    fun add(name: String): Order = this
}

class Ctx {
    fun fail(why: String) {}
}

typealias Check = Ctx.(Order) -> Unit

fun Shop.visit(names: List<String>) {}

fun <T : Corner> T.visit(name: String): T {
    visit(listOf(name))
    return this
}

fun <S : Shop, T : S> T.close(vararg others: Shop): T = this

fun <T : Shop> T.close(others: List<Shop>): T = this

fun Order.check(which: Check = {}): Order = this

fun Order.each(seen: (Order) -> Unit) {}

fun Order?.show(name: String, loud: Boolean = false) {}

fun Order?.show(vararg names: String) {}

class Night {
    val order = Order().apply { add("late") }

    fun run(corner: Corner, order: Order) {
        corner.visit("a").close(corner).visit(listOf("b"))
        corner.close(listOf(corner))
        order.check { fail("no") }
        order.check(which = { it.add("x") })
        order.each { it.add("y") }
        order.show("z")
        unknown().single()
    }
}

fun Shop.single() {}

fun late(clock: Clock) {
    clock.tell()
}
