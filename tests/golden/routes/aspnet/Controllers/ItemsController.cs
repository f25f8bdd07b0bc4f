using Microsoft.AspNetCore.Mvc;

namespace Shop.Controllers;

public class ItemsController : BaseController
{
    private const string One = "{id}";

    [HttpGet]
    public string List() => Find();

    [HttpGet(One, Name = "item"), HttpHead(One)]
    public string Get(int id) => "";

    [HttpPost]
    [Route("[action]")]
    public string ImportAsync() => "";

    [AcceptVerbs("PUT", "PATCH", Route = "{id}")]
    public string Change(int id) => "";

    [HttpDelete("~/drop/{id}")]
    public string Drop(int id) => "";

    [NonAction]
    public string Find() => "";
}
