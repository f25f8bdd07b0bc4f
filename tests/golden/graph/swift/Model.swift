protocol Flusher {
    func flush()
}

protocol Saver: Flusher {
    func save(_ item: Item)
}

class Base {
    func close() { log() }
    func log() {}
}

struct Item {
    func touch() -> Item { return self }
}

class Disk: Base, Saver {
    var first: Item?
    let third = Item()
    var items: [Item] = []

    static func open() -> Disk { return Disk() }

    func save(_ item: Item) {
        item.touch().touch()
        first?.touch()
        self.third.touch()
        for one in items { one.touch() }
        super.close()
        check(1)
        flush()
        helper(item)
        items.forEach { $0.unknownHere() }
    }

    func flush() { log() }

    private func check(_ n: Int) -> Int { return n > 0 ? check(n - 1) : 0 }
}

func helper(_ item: Item) -> Disk { return Disk.open() }
