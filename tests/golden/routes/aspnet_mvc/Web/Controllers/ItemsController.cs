using Microsoft.AspNetCore.Mvc;

namespace Shop.Web.Controllers;

[Route("api/[controller]")]
public class ItemsController : Controller
{
    public IActionResult All() => Ok();

    [HttpGet("{id}")]
    public IActionResult One(int id) => Ok();
}
