package app.trap;

import app.model.Disk;
import java.util.List;

@interface Marked { String value(); }

class Left {
    boolean turn() { return Numbers.even(1); }
}

class Right {
    Left next;
    @Marked("x")
    boolean turn() { return next.turn(); }
    boolean turn(int times) { return turn() && turn(times - 1); }
}

class Numbers {
    static boolean even(int n) { return n == 0 || odd(n - 1); }
    static boolean odd(int n) { return n != 0 && even(n - 1); }
}

class Pair<A extends Left, B> {
    A first;
    List<Right> rest;
    <C extends Right> boolean turn(C third) {
        for (Right one : rest) one.turn();
        third.turn();
        return first.turn();
    }
}

class Shadow {
    /** Another Disk than the imported one. */
    static class Disk { void save(Object item) {} }
    void run(Disk disk, app.model.Disk other) {
        disk.save(null);
        Runnable work = () -> new Right().turn(2);
        Object turn = new Object() { boolean turn() { return false; } };
        Left Right = new Left();
        Right.turn();
    }
}
