package com.example.shop;

import java.util.ArrayList;
import java.util.List;

/** An order of a customer. */
public class Order implements Comparable<Order> {
    /** The most lines. */
    public static final int LINES_MAX = 100;

    private final List<String> lines = new ArrayList<>();

    public enum State { OPEN, PAID }

    public record Line(String article, int count) {}

    interface Listener {
        void onPaid(Order order);
    }

    public Order(String first) {
        lines.add(first);
    }

    /** Adds a line. */
    @Deprecated
    public void add(String line) {
        if (lines.size() >= LINES_MAX) {
            throw new IllegalStateException("full");
        }
        lines.add(line);
    }

    @Override
    public int compareTo(Order other) {
        return Integer.compare(lines.size(), other.lines.size());
    }
}
