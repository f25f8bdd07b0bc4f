namespace System.Shims
{
    static class Marker { }
}

namespace Shop.Queries
{
    using Rows;
    using static Shop.Rows.Counts;

    [Table("rows")]
    public class Reader
    {
        public Row Read(string text, object extra = null, bool fast = false) => new Row(text);
        public Row Read(Command command) => new Row(command.Text);
        public T Read<T>(string text) => default;
        public Pair<Row, Row> Read<TLeft, TRight>(string text) => new Pair<Row, Row>(1);
        public void Each(System.Func<Row, bool> keep) { }
        public void Each(System.Func<Row, int, bool> keep) { }
        public void Note(string text, params object[] rest) { }
        public void Note(int number) { }

        public void Run(Connection open)
        {
            var text = "select";
            Read(text);
            Read(new Command());
            Read<Row>(text);
            Read<Row, Row>(text);
            Each(row => row.IsEmpty);
            Each((row, at) => at > 0);
            Note("a", 1, 2);
            open.Fetch("a");
            open!.Fetch(new { a = 1 });
            open.Fetch(new Command());
            string.Join(",", text);
            Outside.Join(text);
            Count(text);
            new Pair<Row, Row>(1);
            new Pair(1);
        }
    }

    public class Special : Reader
    {
        public Row Read(int number) => Read("a", null);
    }
}
