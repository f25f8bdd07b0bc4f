namespace Shop.Apis;

public static class OrdersApi
{
    public static RouteGroupBuilder MapOrders(this RouteGroupBuilder group)
    {
        group.MapGet("/", ListAsync);
        group.MapPost("/{id:int}/pay", Pay).WithName("pay");
        return group;
    }

    static string ListAsync() => "";
    static string Pay(int id) => "";
}

public static class BasketApi
{
    public static IEndpointRouteBuilder MapBasket(this IEndpointRouteBuilder app)
    {
        var basket = app.MapGroup("basket");
        basket.MapDelete("{id}", async (int id) => await Task.CompletedTask);
        return app;
    }
}

public static class Health
{
    public static string Check() => "";
}
