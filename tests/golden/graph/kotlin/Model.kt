package shop.model

interface Flusher {
    fun flush()
}

interface Saver : Flusher {
    fun save(item: Item)
}

abstract class Base(name: String) {
    fun close() { log() }
    fun log() {}
}

class Item {
    fun touch(): Item = this
}

class Disk(private val second: Item, name: String) : Base(name), Saver {
    val first: Item? = null
    val third = Item()
    private val items: List<Item> = listOf()

    override fun save(item: Item) {
        item.touch().touch()
        first?.touch()
        this.second.touch()
        third.touch()
        for (one in items) { one.touch() }
        super.close()
        check(1)
        flush()
        helper(item)
        items.forEach { it.unknownHere() }
    }

    override fun flush() { log() }

    private fun check(n: Int): Int {
        return if (n > 0) check(n - 1) else 0
    }
}

fun helper(item: Item): Disk = Disk(item, "x")

fun Item.extended(): Int {
    return 1
}
