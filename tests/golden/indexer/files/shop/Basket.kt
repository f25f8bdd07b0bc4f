package shop.basket

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.map

const val BASKET_MAX = 100
private val emptyLines = emptyList<BasketLine>()

typealias Cents = Long

/** One article and how many of it. */
data class BasketLine(val article: String, val count: Int, val price: Cents)

enum class Currency(val sign: String) {
    EUR("€"),
    USD("$"),
}

sealed interface BasketEvent {
    data class Added(val line: BasketLine) : BasketEvent
    object Cleared : BasketEvent
}

/**
 * What a customer means to buy.
 */
class Basket(private val lines: MutableList<BasketLine> = mutableListOf()) {
    val total: Cents
        get() = lines.sumOf { it.count * it.price }

    /** Adds a line, or raises when the basket is full. */
    fun add(line: BasketLine): BasketEvent {
        require(lines.size < BASKET_MAX) { "the basket is full" }
        lines += line
        return BasketEvent.Added(line)
    }

    suspend fun watch(events: Flow<BasketEvent>): Flow<Cents> =
        events.map { total }

    companion object {
        fun of(vararg lines: BasketLine) = Basket(lines.toMutableList())
    }
}

object Baskets {
    private val open = HashMap<String, Basket>()

    fun find(customer: String): Basket? = open[customer]
}

fun Basket.isEmpty(): Boolean = total == 0L
