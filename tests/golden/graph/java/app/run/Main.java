package app.run;

import app.model.Disk;
import app.model.Saver;
import static app.model.Disk.open;
import app.other.*;

record Point(int x) implements Comparable<Point> {
    public int compareTo(Point o) { return helper(); }
    int helper() { return 0; }
}

enum Mode { ON; Mode next() { return ON; } }

public class Main {
    public static void main(String[] args) {
        Disk disk = open();
        disk.save(null);
        Saver<String> saver = disk;
        saver.save("x");
        saver.flush();
        new Disk("y").save(null);
        Disk.open().flush();
        var other = Disk.open();
        other.save(null);
        open = null;
        Mode.ON.next();
    }

    void save(Main save) { save.main(null); Main.main(null); }
}
