// Operators of the project's types; numbers, texts and lists have others.
infix operator <+>

struct Meter {
    var size: Int
    static func + (one: Meter, other: Meter) -> Meter { return one.with(other) }
    static func == (one: Meter, other: Meter) -> Bool { return true }
    static func += (one: inout Meter, other: Meter) { one.grow() }
    static prefix func - (one: Meter) -> Meter { return one }
    func with(_ other: Meter) -> Meter { return other }
    func grow() {}
}

struct Gram {
    static func + (one: Gram, other: Gram) -> Gram { return other }
}

extension Gram {
    static func < (one: Self, other: Self) -> Bool { return true }
}

func * (one: Meter, times: Double) -> Meter { return one }
func * (one: Gram, times: Double) -> Gram { return one }
func <+> (one: Meter, other: Gram) -> Meter { return one }

func add(one: Meter, other: Meter) { let sum = one + other }
func addTo(one: Meter, other: Meter) {
    var sum = one
    sum += other
}
func addGrams(one: Gram, other: Gram) { let sum = one + other }
func same(one: Meter, other: Meter) -> Bool { return one == other }
func less(one: Gram, other: Gram) -> Bool { return one < other }
func scale(one: Meter) { let more = one * 2.0 }
func scaleGram(one: Gram, times: Double) { let more = one * times }
func own(one: Meter, gram: Gram) { let sum = one <+> gram }

func trap(one: Int, other: Int, texts: [Meter], text: String, gram: Gram) -> Bool {
    let sum = one + other * one
    let all = texts + texts
    let more = text + "x"
    var count = one
    count += other
    let sizes = texts[0].size + one
    return one == other || one < other || texts[0].size == one
}
