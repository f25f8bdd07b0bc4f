from django.urls import include, path

prefix = ""
urlpatterns = [path(f"{prefix}bills/", include("bills.urls")), path(prefix + "both/", include("bills.both"))]
