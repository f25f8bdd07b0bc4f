using Microsoft.AspNetCore.Mvc;

namespace Shop.Web.Controllers;

public class HomeController : PageController
{
    public IActionResult Index() => View();

    public IActionResult About(string id) => View();

    [Route("contact")]
    public IActionResult Contact() => View();

    [NonAction]
    public string Title() => "";

    public static string Name() => "";

    public T Find<T>() => default;

    private string Own() => "";

    public override void OnActionExecuting(ActionExecutingContext context) { }
}

public abstract class PageController : Controller
{
    public IActionResult Language(string name) => View();
}
