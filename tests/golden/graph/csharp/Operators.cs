// Operators, indexers and initialisers of the project's types; numbers, texts and lists have others.
using System.Collections.Generic;

namespace Measures {
    public class Meter {
        private int size;
        public int Size { get { return size; } set { Check(value); } }
        public int Plain { get; set; }
        void Check(int value) { }
        public void Ends() { }
        public static Meter operator +(Meter a, Meter b) { return a.With(b); }
        public static Meter operator *(Meter a, int times) { return a; }
        public static Meter operator *(int times, Meter a) { return a; }
        public static bool operator ==(Meter a, Meter b) { return true; }
        public static bool operator !=(Meter a, Meter b) { return !(a == b); }
        Meter With(Meter other) { return other; }
    }

    public class Gram {
        public Gram this[int at] { get { return At(at); } set { Put(at, value); } }
        Gram At(int at) { return this; }
        void Put(int at, Gram value) { }
        public static Gram operator -(Gram a, Meter b) { return a; }
    }

    public class Plain { public int Count; }

    public class Measuring {
        void Add(Meter a, Meter b) { var c = a + b; }
        void AddTo(Meter a, Meter b) { a += b; }
        void Scale(Meter a) { var c = a * 2; }
        void ScaleRight(Meter a) { var c = 2 * a; }
        bool Same(Meter a, Meter b) { return a == b; }
        void Left(Gram gram, Meter meter) { var c = gram - meter; }
        Gram Read(Gram gram) { return gram[1]; }
        void Write(Gram gram) { gram[1] = gram; }
        Meter Make() { return new Meter { Size = 3, Plain = 4 }; }
        // traps: no operator of the project
        int Numbers(int a, int b, int[] all) { return a + b * all[0]; }
        string Texts(Meter a, string b) { return b + a; }
        Meter Elements(List<Meter> meters, Meter[] array, Dictionary<string, Gram> grams) {
            if (meters == null || array != null) { return meters[0]; }
            meters += array;
            return array[1] ?? grams["x"];
        }
        Plain Others() { return new Plain { Count = 1 }; }
        bool Unknown(Meter a) { return a.Size == 3 && a == null; }
    }
}
