package app.model;

public interface Saver<T> extends Flusher {
    void save(T item);
}

interface Flusher {
    default void flush() { log(); }
    void log();
}
