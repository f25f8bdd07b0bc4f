package shop.run

import shop.model.Disk as Store
import shop.model.Item
import shop.model.Saver
import shop.model.helper

object Registry {
    fun find(): Store = helper(Item())
}

fun main(saver: Saver) {
    val disk = Store(Item(), "y")
    disk.save(Item())
    saver.save(Item())
    saver.flush()
    val found = Registry.find()
    found.close()
    helper(Item()).flush()
}
