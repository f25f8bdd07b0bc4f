package overloads;

class Knot {
    Knot() {}

    Knot tie() { return this; }

    String tie(int times) { return "x"; }

    boolean equals(Knot other) { return this == other; }

    void pull() {}
}

class Rope extends Knot {
    Knot first() { return new Knot(); }

    void use(Rope rope) {
        rope.first().pull();
        rope.tie().pull();
        rope.tie(2).equals("x");
    }
}
