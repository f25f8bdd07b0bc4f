using Microsoft.AspNetCore.Mvc;

namespace Shop;

[ApiController]
[Route("orders")]
public class OrdersController : ControllerBase {
    private readonly IOrders _orders;
    private readonly ISender _slow;

    public OrdersController(IOrders orders, [FromKeyedServices("slow")] ISender slow) {
        _orders = orders;
        _slow = slow;
    }

    [HttpGet] public object List() => this._orders.List();

    [HttpPost] public void Send() => _slow.Send();
}

[ApiController]
[Route("stock")]
public class StockController(IStock stock, IClock clock, [FromKeyedServices("fast")] ISender sender) : ControllerBase {
    [HttpGet] public int Count() => stock.Count() + clock.Now();

    [HttpPost] public void Send() => sender.Send();

    [HttpPut] public int Own([FromServices] IClock own) => own.Now();
}

public static class Handlers {
    public static object Named(IOrders orders) {
        IStock local = new Shelf();
        return local.Count();
    }
}
