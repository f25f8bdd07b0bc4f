using Microsoft.AspNetCore.Mvc;

namespace Shop.Web.Areas.Admin.Controllers;

[Area("Admin")]
public class UsersController : Controller
{
    public IActionResult Index() => View();

    public IActionResult Show(int id) => View();
}

[Area("Stock")]
public class BoxesController : Controller
{
    public IActionResult Index() => View();
}
