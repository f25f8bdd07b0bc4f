from shop.routers import ShopRouter
from . import views

router = ShopRouter()
router.register(r"orders", views.Orders, basename="order")
router.register("items", views.Items, "item")
