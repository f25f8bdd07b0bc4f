// Properties run code where they are read and assigned; fields of the same name do not.
namespace Uses
{
    interface ISized
    {
        int Size { get; }
    }

    class Scale
    {
        public int Weigh(int n) { return n; }
        public void Note(int n) { }
    }

    class Crate : ISized
    {
        Scale scale = new Scale();
        public int Plain { get; set; } = 1;
        public int Size => scale.Weigh(1);
        public int Weight { get { return scale.Weigh(2); } set { scale.Note(value); } }
        public static int Count { get { return new Scale().Weigh(3); } }
        public int this[int at] { get { return scale.Weigh(at); } set { scale.Note(value); } }
        public event System.Action Moved { add { scale.Note(1); } remove { scale.Note(2); } }
        int Own() { return Size + this.Weight; }
        int Hidden(int Size) { return Size; }
    }

    class Box : Crate
    {
        int Above() { return Weight + base.Size; }
    }

    class Sack
    {
        public int Size;
        public int Weight;
    }

    class User
    {
        int Read(Crate crate, Box box, ISized sized) { return crate.Size + box.Weight + sized.Size; }
        int Far(Crate crate) { return crate.Plain + Crate.Count; }
        void Assign(Crate crate) { crate.Weight = 1; }
        void Change(Crate crate) { crate.Weight += 1; }
        void Element(Crate crate) { crate[0] = crate[1]; }
        void Listen(Crate crate) { crate.Moved += Stop; }
        void Stop() { }
        int Other(Sack sack, dynamic any) { sack.Weight = sack.Size; return any.Size; /* crate.Size */ }
        Crate Made() { return new Crate { Weight = 1 }; }
    }
}
