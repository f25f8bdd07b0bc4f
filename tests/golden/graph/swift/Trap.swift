protocol Turner {
    associatedtype Out
    func turn() -> Bool
}

extension Turner {
    func twice() -> Bool { return turn() && turn() }
}

class Left: Turner {
    typealias Out = Int
    func turn() -> Bool { return even(1) }
}

class Right {
    let next = Left()
    @discardableResult
    func turn() -> Bool { return next.turn() }
    func turn(times: Int) -> Bool { return turn() && turn(times: times - 1) }
}

final class FarRight: Right {
    override func turn() -> Bool { return super.turn() }
}

func even(_ n: Int) -> Bool { return n == 0 || odd(n - 1) }
func odd(_ n: Int) -> Bool { return n != 0 && even(n - 1) }

struct Couple<A: Turner> {
    let first: A
    var rest: [Right] = []
    func turn() -> Bool {
        for one in rest { one.turn() }
        rest[0].turn(times: 2)
        return first.turn()
    }
}

func run(right: Right?, left: Left) {
    right?.turn()
    let right = Left()
    right.turn()
    left.twice()
    let even = { (n: Int) in n }
    FarRight().turn(times: 3)
    guard let some = Optional(left) else { return }
    some.turn()
}
