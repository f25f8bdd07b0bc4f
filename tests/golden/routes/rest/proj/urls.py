from django.urls import include, path
from rest_framework.routers import SimpleRouter
from shop import views
from shop.api import router as shop_router
from shop.api import several

plain = SimpleRouter(trailing_slash=False)
plain.register("tags", views.Tags, basename="tag")

urlpatterns = [
    path("api/", include(shop_router.urls)),
    path("v2/", include((plain.urls, "plain"))),
    path("many/", include(several.urls)),
    path("bills/", views.Bills.as_view()),
    path("bills/<int:pk>/", views.Bill.as_view()),
    path("status/", views.Status.as_view()),
    path("pick/<int:pk>/", views.Orders.as_view({"get": "retrieve", "post": "ship"})),
]
urlpatterns += plain.urls
