using Microsoft.AspNetCore.Mvc;

namespace Shop.Web.Controllers;

public class OrdersController : Controller
{
    public IActionResult Index() => View();

    public async Task<IActionResult> DetailsAsync(int id) => View();

    [HttpPost]
    public IActionResult Edit(int id, Order order) => View();

    [HttpGet, ActionName("Remove")]
    public IActionResult Ask(int id) => View();
}
