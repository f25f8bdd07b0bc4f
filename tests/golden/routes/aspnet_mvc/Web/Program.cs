var builder = WebApplication.CreateBuilder(args);
builder.Services.AddControllersWithViews();
var app = builder.Build();

app.MapControllerRoute(name: "blog", pattern: "blog/{*article}", defaults: new { controller = "Blog", action = "Article" });
app.MapControllerRoute("slugs", "{controller:slugify}/{action:slugify}");
app.MapAreaControllerRoute("stock", "Stock", "warehouse/{controller}/{action=Index}");
app.MapControllerRoute(name: "areas", pattern: "{area:exists}/{controller=Home}/{action=Index}/{id?}");
app.MapControllerRoute(name: "default", pattern: "{controller=Home}/{action=Index}/{id?}");
app.Run();
