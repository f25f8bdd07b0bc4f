using Microsoft.AspNetCore.Mvc;
public class BlogController : Controller
{
    public IActionResult Article(string article) => View();
}
