namespace Shop.Named
{
    public class Ink { public void Say() { } }
    public class Hue { public void Say() { } }
    public interface IPen { void Say(); }

    public class Box
    {
        public Ink Ink { get; set; } = new Ink();
        public Ink Spare { get; set; }
        public Ink Hue { get; set; }
        public Hue Tone { get; set; }

        public void Own() { Ink.Say(); }
        public void Sibling() { Spare.Say(); }
        public void Wrong() { Hue.Say(); }
        public void Right() { Tone.Say(); }
        public void Given(Ink Ink) { Ink.Say(); }
        public Ink Made() { var made = new Ink(); made.Say(); return made; }
    }

    public class Crate : Box
    {
        private Ink kept;
        private readonly Box box = new Box();
        public void Inherited() { kept.Say(); Ink.Say(); }
        public void Far() { box.Ink.Say(); }
    }

    public class Bounded<Hue> where Hue : IPen
    {
        private Hue one;
        public void Bound() { one.Say(); }
    }
}
