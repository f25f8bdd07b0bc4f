// Unary operators and subscripts of the project's types; numbers, texts and lists have others.
prefix operator √
postfix operator ++

struct Coin {
    static prefix func - (one: Coin) -> Coin { return one.turned() }
    static func - (one: Coin, other: Coin) -> Coin { return one }
    static prefix func ! (one: Coin) -> Bool { return one.empty() }
    static postfix func ++ (one: inout Coin) {}
    func turned() -> Coin { return self }
    func empty() -> Bool { return true }
}

prefix func √ (one: Coin) -> Coin { return one }

struct Box {
    subscript(at: Int) -> Coin {
        get { return read() }
        set { write() }
    }
    subscript(named name: String) -> Coin { return lookUp() }
    func read() -> Coin { return Coin() }
    func lookUp() -> Coin { return Coin() }
    func write() {}
}

protocol Shelf {
    subscript(at: Int) -> Box { get }
}

extension Array {
    subscript(safe at: Int) -> Element? { return nil }
}

func turn(coin: Coin) { let turned = -coin }
func lacks(coin: Coin) -> Bool { return !coin }
func root(coin: Coin) { let found = √coin }
func later(coin: Coin) {
    var next = coin
    next++
}
func element(box: Box) { let coin = box[1] }
func put(box: Box, coin: Coin) {
    var changed = box
    changed[1] = coin
}
func named(box: Box) { let coin = box[named: "gold"] }
func shelved(shelf: Shelf) { let box = shelf[2] }
func safely(coins: [Coin]) { let coin = coins[safe: 3] }

// traps
func trap(one: Int, flag: Bool, coins: [Coin], names: [String: Coin], coin: Coin, maybe: Coin?) -> Bool {
    let less = -one
    let first = coins[0]
    let named = names["x"]
    let sure = maybe!
    let box = coin[1]
    return !flag
}
func wrongLabel(box: Box) { let coin = box[other: 1] }
