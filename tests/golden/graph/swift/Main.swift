protocol Shown {
    func show()
}

extension Item: Shown {
    func show() { self.touch() }
}

func main(saver: Saver) {
    let disk = Disk()
    disk.save(Item())
    saver.save(Item())
    saver.flush()
    let found = helper(Item())
    found.close()
    Item().show()
    if let item = found.first { item.touch() }
}
