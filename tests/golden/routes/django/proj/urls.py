from django.contrib import admin
from django.urls import include, path, re_path
from orders import views
from orders.urls import extra

api = [
    path("orders/", include("orders.urls")),
    path("more/", include((extra, "extra"))),
]
urlpatterns = [
    path("", views.home, name="home"),
    path("api/", include(api)),
    re_path(r"^archive/(?P<year>[0-9]{4})/$", views.archive),
    path("cls/<int:pk>/", views.Detail.as_view()),
]
urlpatterns += [path("late/", views.home)]
