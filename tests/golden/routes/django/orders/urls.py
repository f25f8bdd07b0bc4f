from django.urls import path
from . import views
from .views import Detail, create
app_name = "orders"
extra = [path("x/", create)]
urlpatterns = [
    path("", views.home),
    path("new/", create, name="create"),
    path("<int:pk>/", Detail.as_view(), name="detail"),
]
