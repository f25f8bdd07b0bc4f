package app.model;

import java.util.List;
import java.util.Map;

public class Disk extends Base implements Saver<Item> {
    private final Log log = new Log();
    private List<Item> items;
    private Map<String, Item> byKey;

    public Disk(String name) { super(name); }

    public static Disk open() { return new Disk("x"); }

    @Override
    public void save(Item item) {
        log.line("a");
        this.log.line("b", 1);
        for (Item one : items) one.touch();
        for (var two : items) two.touch();
        byKey.get("x").touch();
        check(1);
        super.close();
        flush();
        items.forEach(it -> it.unknownHere());
        Item item2 = new Item(), item3 = item2;
        item3.touch();
        try { check(2); } catch (Failure e) { e.show(); }
        if (item instanceof Item i) { i.touch(); }
    }

    public void log() {}

    private int check(int n) { return n > 0 ? check(n - 1) : 0; }

    static class Inner {
        void go() { new Inner().go(); open(); }
    }
}
