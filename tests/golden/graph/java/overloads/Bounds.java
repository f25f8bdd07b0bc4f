package overloads;

interface Gate {
    void pass();
}

interface Lamp {
    void glow();
    void pass();
}

class Holder<Inner extends Gate> {
    Inner inner;

    void through() {
        inner.pass();
    }

    <T extends Object & Lamp> void light(T one) {
        one.pass();
    }
}
