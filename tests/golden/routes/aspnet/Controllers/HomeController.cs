using Microsoft.AspNetCore.Mvc;

namespace Shop.Controllers;

public class HomeController : Controller
{
    [HttpGet]
    public string Index() => "";

    [Route("about")]
    [Route("about/us")]
    public string About() => "";
}
