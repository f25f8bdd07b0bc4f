package overloads;

import java.lang.reflect.Type;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

class Sort implements Comparable<Sort> {
    static Sort of(Type type) { return null; }
    public int compareTo(Sort other) { return 0; }
    Sort with(Leaf leaf) { return this; }
}

class Exact extends Sort {
    static Exact of(Number number) { return null; }
    Exact with(List<Leaf> leaves) { return this; }
    String name() { return ""; }

    class Part {
        String name() { return Exact.this.name(); }
    }
}

class Evident {
    void put(Class<?> of, String name) {}
    void put(Base of, String name) {}
    void set(Iterable<Locale> where) {}
    void set(Locale... where) {}
    void join(Number one, Map<String, Base> known) {}
    void join(Type one, Map<Leaf, Base> known) {}
    void rank(Appendable one, Leaf... rest) {}
    void rank(Sort one, Leaf... rest) {}
    void write(char one) {}
    void write(int one) {}
    void write(String one) {}

    void classes() {
        put(Base.class, "a");
        Exact.of(Base.class);
    }

    void inherited(Exact exact) {
        exact.with(new Leaf());
        rank(exact, new Leaf());
    }

    void outside(Type type, StringBuilder text) {
        set(Locale.US);
        join(type, new LinkedHashMap<>());
        write(text.toString());
    }

    void arrays(char[] letters) {
        write(letters[0]);
        write(letters.length);
    }

    private String label;
    static final char[] LETTERS = {};

    void constants(Grade grade) {
        Grade.HIGH.up();
        Known.BEST.up();
        write(this.label);
        write(Evident.LETTERS[1]);
        write(Integer.MAX_VALUE);
        clear();
    }

    void clear() {}
    void clear(int... some) {}

    String body() {
        return new Exact() { String name() { return "x"; } }.name();
    }
}

enum Grade {
    LOW, HIGH { int more() { return 2; } };

    Grade up() { return this; }
}

interface Known {
    Grade BEST = Grade.valueOf("HIGH");
}
