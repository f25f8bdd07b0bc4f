using Shop.Apis;

var builder = WebApplication.CreateBuilder(args);
builder.Services.AddControllers();
var app = builder.Build();

app.MapGet("/", () => "ok");
app.MapGet("/health", Health.Check).WithName("health");
app.MapMethods("/both", new[] { "GET", "PUT" }, Health.Check);
app.MapGet(builder.Configuration["path"], Health.Check);

var api = app.MapGroup("/api").WithTags("api");
api.MapGroup("orders").MapOrders().RequireAuthorization();
app.MapBasket();
app.Run();
