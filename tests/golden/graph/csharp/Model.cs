using System;
using System.Collections.Generic;

namespace Shop.Model;

public interface IFlusher { void Flush(); }

public interface ISaver<T> : IFlusher { void Save(T item); }

public abstract class Base
{
    protected Base(string name) { }
    public virtual void Close() { Log(); }
    protected void Log() { }
}

public class Item
{
    public Item Touch() => this;
}

public class Disk : Base, ISaver<Item>
{
    private readonly Journal journal = new Journal();
    private List<Item> items;
    public Item First { get; set; }

    public Disk(string name) : base(name) { }

    public static Disk Open() => new Disk("x");

    public void Save(Item item)
    {
        journal.Line("a");
        this.journal.Line("b", 1);
        foreach (var one in items) { one.Touch(); }
        items[0].Touch();
        First?.Touch();
        Check(1);
        base.Close();
        Flush();
        var second = new Item();
        second.Touch().Touch();
        items.ForEach(one => one.UnknownHere());
    }

    public void Flush() { Log(); }

    private int Check(int n) { return n > 0 ? Check(n - 1) : 0; }
}

class Journal
{
    public void Line(string text) { Line(text, 0); }
    public void Line(string text, int level) { }
}
