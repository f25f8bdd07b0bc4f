namespace Bounding
{
    interface IGate { void Pass(); }
    interface ILamp { void Pass(); }

    class Holder<Inner> where Inner : IGate
    {
        private Inner inner;
        void Through() { inner.Pass(); }
        void Light<T>(T one) where T : ILamp { one.Pass(); }
    }
}
