package shop.run

import shop.model.{Disk => Store, Item}
import shop.model.Helpers._
import shop.model.Saver

object Main {
  def main(saver: Saver): Unit = {
    val disk = new Store(new Item(), "y")
    disk.save(new Item())
    saver.save(new Item())
    saver.flush()
    val found = helper(new Item())
    found.close()
  }
}
