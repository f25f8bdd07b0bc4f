class Ink { func say() {} }
class Hue { func say() {} }
protocol Pen { func say() }

class Box {
    let Ink: Ink
    let spare: Ink
    let Hue: Ink
    let tone: Hue

    func own() { Ink.say(); self.Ink.say() }
    func sibling() { spare.say() }
    func wrong() { self.Hue.say() }
    func right() { tone.say() }
    func given(Ink: Ink) { Ink.say() }
}

class Crate: Box {
    let kept: Ink
    let box: Box
    func inherited() { kept.say(); self.Ink.say() }
    func far() { box.Ink.say() }
}

class Bounded<Hue: Pen> {
    let one: Hue
    func bound() { one.say() }
}
