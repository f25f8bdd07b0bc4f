using Shop;

var builder = WebApplication.CreateBuilder(args);
builder.Services.AddShop();
builder.Services.AddSingleton(typeof(IRepository<>), typeof(Repository<>));
builder.Services.AddKeyedScoped<ISender, SlowSender>("slow");
builder.Services.AddKeyedScoped<ISender>("fast", (provider, key) => new FastSender());
var app = builder.Build();
app.MapGet("/inline", (IOrders orders) => orders.List());
app.MapGet("/named", Handlers.Named);
app.MapControllers();
app.Run();
