// Unary operators and conversions of the project's types; numbers and texts have others.
namespace Coins {
    public class Coin {
        public static Coin operator -(Coin one) { return one.Turned(); }
        public static Coin operator -(Coin one, Coin other) { return other; }
        public static Coin operator ++(Coin one) { return one; }
        public static bool operator !(Coin one) { return one.Empty(); }
        public static bool operator true(Coin one) { return one.Empty(); }
        public static bool operator false(Coin one) { return !one.Empty(); }
        public static implicit operator string(Coin one) { return one.Text(); }
        public static explicit operator Coin(int worth) { return Make(); }
        Coin Turned() { return this; }
        bool Empty() { return true; }
        string Text() { return ""; }
        static Coin Make() { return null; }
    }

    public class Ring {
        public Coin Held;
        public static implicit operator Coin(Ring ring) { return ring.Held; }
    }

    public class Gold : Coin { }

    public class Turning {
        void Turn(Coin coin) { var turned = -coin; }
        void Take(Coin coin) { var less = coin - coin; }
        void Next(Coin coin) { ++coin; }
        void Later(Coin coin) { coin++; }
        bool Lacks(Ring ring) { return !ring.Held; }
        string Shown(Coin coin) { return (string)coin; }
        Coin Worth(int worth) { return (Coin)worth; }
        Coin OfRing(Ring ring) { return (Coin)ring; }
        // traps
        int Numbers(int one, bool flag, int[] all) {
            one++;
            all[0]++;
            return -one + ~one + (flag ? 1 : 2);
        }
        Coin Given(Coin coin) { return coin!; }
        Coin Unboxed(object item) { return (Coin)item; }
        Coin Upcast(Gold gold) { return (Coin)gold; }
        Coin Texts(string text) { return (Coin)text; }
        int Casts(Ring ring, double one) { return (int)one; }
        Coin Unknown(System.Uri uri) { return (Coin)uri.Worth; }
        Coin Free<T>(T item) { return (Coin)item; }
        object Lacking(Ring ring) { return -ring; }
    }
}
