from shop.routers import BulkRouter, ShopRouter
from . import views

router = ShopRouter()
router.register(r"orders", views.Orders, basename="order")
router.register("items", views.Items, "item")
several = BulkRouter()
several.register("stocks", views.Stocks, basename="stock")
