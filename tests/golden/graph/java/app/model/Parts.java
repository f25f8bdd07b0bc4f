package app.model;

abstract class Base {
    Base(String name) {}
    void close() {}
}

class Item { Item touch() { return this; } }

class Log {
    void line(String text) { line(text, 0); }
    void line(String text, int level) {}
}

class Failure extends Exception { void show() {} }
