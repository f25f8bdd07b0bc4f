namespace Shop.Rows;

public partial class Row
{
    public Row(string text) { }
}
