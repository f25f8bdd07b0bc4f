namespace Picking
{
    class Wheel { }

    class Picks
    {
        private long count;

        void Take(int n) { }
        void Take(long n) { }
        void Take(string s) { }
        void Take(bool b) { }
        void Take(object o) { }
        void Take(Wheel w) { }

        void Run(string text, Wheel given)
        {
            Take(1);
            Take(count);
            Take(text);
            Take(1 < 2);
            Take((object)text);
            Take(given);
            var made = new Wheel();
            Take(made);
        }
    }
}
