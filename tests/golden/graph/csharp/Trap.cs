using System;
using System.Collections.Generic;
using Shop.Model;
using Near = Shop.Trap.Left;

namespace Shop.Trap
{
    [AttributeUsage(AttributeTargets.Method)]
    public class MarkedAttribute : Attribute { }

    public class Left
    {
        public bool Turn() => Numbers.Even(1);
    }

    public class Right
    {
        public Left Next;
        [Marked]
        public virtual bool Turn() { return Next.Turn(); }
        public bool Turn(int times) { return Turn() && Turn(times - 1); }
    }

    public class FarRight : Right
    {
        public override bool Turn() { return base.Turn(); }
    }

    public static class Numbers
    {
        public static bool Even(int n) => n == 0 || Odd(n - 1);
        public static bool Odd(int n) => n != 0 && Even(n - 1);
    }

    public class Pair<A, B> where A : Left
    {
        private A first;
        private Dictionary<string, Right> rest;
        public bool Turn<C>(C third) where C : Right
        {
            foreach (var one in rest.Values) { one.Turn(); }
            rest["x"].Turn(2);
            return first.Turn();
        }
    }

    public class Shadow
    {
        public class Disk { public void Save(object item) { } }

        public void Run(Disk disk, Near near, Shop.Model.Disk other)
        {
            disk.Save(null);
            near.Turn();
            other.Flush();
            Left Right = new Left();
            Right.Turn();
            Func<int, bool> even = Numbers.Even;
            even(2);
            new FarRight().Turn(3);
        }
    }
}

namespace Shop.More
{
    public static class Extensions
    {
        public static int Ask(this System.Data.IDbConnection self, string text, object more = null) => text.Shorten(3);
        public static int Shorten(this string self, int length) => length;
        public static int Shorten(this string self) => self.Shorten(9);
    }

    public class Asker
    {
        private System.Data.IDbConnection connection;

        public void Go(string text)
        {
            connection.Ask(text);
            text.Shorten();
            Extensions.Ask(connection, text);
        }
    }
}
