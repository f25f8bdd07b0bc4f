namespace Shop.Rows;

public class TableAttribute : System.Attribute
{
    public TableAttribute(string name) { }
}

public partial class Row
{
    public bool IsEmpty { get; set; }
}

public class Pair
{
    public Pair(int size) { }
}

public class Pair<TLeft, TRight>
{
    public Pair(int size) { }
}

public class Command
{
    public string Text;
}

public class Connection : System.Data.Connection
{
    public void Fetch(Command command) { }
}

public static class Fetching
{
    public static void Fetch(this Connection open, string text) { }
    public static void Fetch(this Connection open, object values) { }
    public static string Join(this string text) => text;
}

public static class Counts
{
    public static int Count(string text) => 0;
}
