using Microsoft.Extensions.DependencyInjection;

namespace Shop;

public interface IOrders { object List(); }
public interface IRepository<T> { T Load(); }
public interface ISender { void Send(); }
public interface IStock { int Count(); }
public interface IClock { int Now(); }

public class Orders(IRepository<Order> orders) : IOrders {
    public object List() => orders.Load();
}
public class Repository<T> : IRepository<T> { public T Load() => default; }
public class SlowSender : ISender { public void Send() {} }
public class FastSender : ISender { public void Send() {} }
public class Shelf : IStock { public int Count() => 1; }
public class Warehouse : IStock { public int Count() => 2; }
public class SystemClock : IClock { public int Now() => 1; }
public class Order { }

public static class ShopServices {
    public static void AddShop(this IServiceCollection services) {
        services.TryAddScoped<IOrders, Orders>();
        services.AddTransient<IStock, Shelf>();
        services.AddTransient<IStock>(provider => provider.GetRequiredService<Warehouse>());
        services.AddSingleton<IClock>(new SystemClock());
    }
}
