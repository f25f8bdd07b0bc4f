using Shop.Model;
using Store = Shop.Model.Disk;

namespace Shop.Run
{
    public class Program
    {
        public static void Main(string[] args)
        {
            Disk disk = Disk.Open();
            disk.Save(null);
            ISaver<Item> saver = disk;
            saver.Save(null);
            saver.Flush();
            new Store("y").Flush();
            var other = Store.Open();
            other.Close();
            Helper<int>(1);
        }

        static void Helper<T>(T value) { }

        public void Save(Program save) { save.Save(null); }
    }
}
