using Microsoft.AspNetCore.Mvc;

namespace Shop.Old.Controllers;

public class BillsController : Controller
{
    public IActionResult Index() => View();
}
