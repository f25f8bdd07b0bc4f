package overloads;

import java.util.Date;

class Base {}

class Leaf extends Base {}

class Picks {
    private long count;

    void take(int n) {}
    void take(long n) {}
    void take(double n) {}
    void take(char c) {}
    void take(boolean b) {}
    void take(String s) {}
    void take(Object o) {}
    void take(int[] many) {}
    void take(Base base) {}

    void pair(Date when, int how) {}
    void pair(Object when, int how) {}

    void many(String first, final Object... rest) {}
    void many(int first, int... rest) {}

    String name() { return ""; }

    void literals() {
        take(1);
        take(1L);
        take(1.5);
        take('c');
        take(!true);
    }

    void texts(String given) {
        take("a" + 1);
        take(given);
        take(name());
    }

    void objects(Date when) {
        take(new Leaf());
        take(new int[] {1});
        take((Object) "x");
    }

    void fields(Date when) {
        take(count);
        pair(when, Unknown.HOW);
    }

    void lists() {
        many("a", 1, 2, 3);
        many(1, 2, 3);
    }

    void unknown(Unknown what) {
        take(what.thing());
    }

    void hidden() {
        int name = 3;
        name();
    }
}
