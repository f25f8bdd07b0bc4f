package app.named;

class Ink { void say() { } }
class Hue { void say() { } }
interface Pen { void say(); }

class Box {
    Ink Ink = new Ink();
    Ink spare;
    Ink Hue;
    Hue tone;

    void own() { this.Ink.say(); Ink.say(); }
    void sibling() { spare.say(); }
    void wrong() { this.Hue.say(); }
    void right() { tone.say(); }
    void given(Ink Ink) { Ink.say(); }
}

class Crate extends Box {
    private Ink kept;
    private final Box box = new Box();

    void inherited() { kept.say(); this.Ink.say(); }
    void far() { box.Ink.say(); }
}

class Bounded<Hue extends Pen> {
    private Hue one;

    void bound() { one.say(); }
}
