protocol BoundGate { func pass() }
protocol BoundLamp { func pass() }

class BoundHolder<Inner: BoundGate> {
    let inner: Inner
    func through() { inner.pass() }
    func light<Other: BoundLamp>(one: Other) { one.pass() }
}

func boundly<Third>(one: Third) where Third: BoundGate {
    one.pass()
}
