from django.urls import path


def show(request): ...


urlpatterns = [path("paid/", show, name="paid")]
