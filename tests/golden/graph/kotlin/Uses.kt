// Properties with accessors run code where they are read and assigned; others do not.
package uses

class Scale {
    fun weigh(n: Int): Int = n
    fun note(n: Int) {}
}

open class Crate {
    private val scale = Scale()
    val plain: Int = 1
    val size: Int
        get() = scale.weigh(1)
    var weight: Int
        get() { return scale.weigh(2) }
        set(value) { scale.note(value) }
    var noted: Int = 0
        set(value) { scale.note(value) }

    fun own(): Int = size + this.weight
    fun hidden(size: Int): Int = size
}

class Box : Crate() {
    fun above(): Int = super.size
}

class Sack(var size: Int, var weight: Int)

val whole: Int get() = Crate().size

fun read(crate: Crate, box: Box?): Int = crate.size + (box?.weight ?: whole)
fun assign(crate: Crate) { crate.weight = 1; crate.noted = 2 }
fun change(crate: Crate) { crate.weight += 1 }
fun other(sack: Sack, crate: Crate): Int { sack.weight = sack.size; return crate.plain + crate.noted }
