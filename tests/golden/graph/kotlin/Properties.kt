package measures.extended

import measures.Litre
import measures.Scaled

class Crate(val size: Int, val wide: Int) {
    fun weigh(): Int { return half }
    fun count(): Int { return 1 }
}

class Pallet(val crate: Crate)

interface Stacked : Scaled

val Crate.half: Int
    get() = count()
var Crate.load: Int
    get() { return count() }
    set(value) { put(value) }
val Crate.wide: Int
    get() = count()
val <T> List<T>.second: Int
    get() = first()
val Litre.deep: Int
    get() = depth()
val Pallet.half: Int
    get() = first()
val Scaled.high: Int
    get() = first()
val <T : Scaled> T.low: Int
    get() = first()

fun put(value: Int) {}
fun first(): Int { return 1 }
fun depth(): Int { return 1 }

fun pack(crate: Crate, pallet: Pallet, crates: List<Crate>, stacked: Stacked) {
    val half = crate.half + pallet.crate.half
    crate.load = 3
    val second = crates.second
}
fun stack(stacked: Stacked) { val sum = stacked.high + stacked.low }
fun pour(litre: Litre) { val deep = litre.deep }
fun Crate.own(): Int { return half }
fun inside(crate: Crate): Int { return with(crate) { load } }

// traps: a member of that name, an unknown receiver, another type
fun trap(crate: Crate, litre: Litre, other: Any, outside: java.io.File) {
    crate.wide
    litre.half
    other.half
    outside.second
    unknown().half
}
